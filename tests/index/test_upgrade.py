"""An index of the last release is opened, searched, updated, checked and restored by the present code.

`scripts/release_index.py` made the archives with that release: one whose vectors are in files, one with a dump of those on a
Postgres server.
"""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mathamr.index.admin.backup import backup, restore
from mathamr.index.admin.check import check_index
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.indexing.builder import build_index
from mathamr.index.indexing.fingerprints import Fingerprints
from mathamr.index.manifest import Manifest
from mathamr.search.searcher import Index
from tests.folders import write_files
from tests.postgres import PostgresServer, missing

RELEASES = Path(__file__).parent / "releases"
LAST = "d4fab550"


@dataclass(frozen=True)
class Release:
    """An index as the release left it, the inputs it was made from, and what it answered."""

    index: Path
    notes: Path
    answers: dict[str, list[str]]
    backup: Path


def unpack(name: str, folder: Path) -> Release:
    with tarfile.open(RELEASES / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    place(folder / "index", folder / "notes")
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    return Release(folder / "index", folder / "notes", answers, folder / "backup.tar")


def place(index: Path, notes: Path) -> None:
    """Let the records of an index name the folder in which its inputs are now: those of the release were in another."""
    (before,) = Manifest.read(index).inputs
    now = str(notes.resolve())
    with Catalogue(index / CATALOGUE) as catalogue, catalogue.transaction():
        for table, *columns in (
            ("posts", "input"),
            ("units", "input", "name", "files"),
            ("files", "input", "path"),
        ):
            for column in columns:
                sql = f"UPDATE {table} SET {column} = replace({column}, ?, ?)"
                catalogue._db.execute(sql, (before.path, now))
    manifest = Manifest.read(index)
    replace(manifest, inputs=(replace(before, path=now),)).write(index)


@pytest.fixture(params=["flat", "postgres"])
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Release]:
    if request.param == "flat":
        yield unpack(LAST, tmp_path)
        return
    if why := missing():
        pytest.skip(why)
    import psycopg

    found = unpack(f"{LAST}-postgres", tmp_path)
    server = PostgresServer()
    try:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector WITH SCHEMA public")
            connection.execute((tmp_path / "vectors.sql").read_bytes())
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MATHAMR_POSTGRES_URL", server.url)
            yield found
    finally:
        server.stop()


def first_hits(folder: Path, queries: dict[str, list[str]]) -> dict[str, str]:
    with Index.open(folder) as index:
        return {query: index.search(query, k=1)[0].id for query in queries}


def test_the_archives_are_small() -> None:
    assert sum(each.stat().st_size for each in RELEASES.iterdir()) < 1 << 20


def test_an_index_of_the_last_release_is_searched_before_anything_is_done_to_it(release: Release) -> None:
    assert first_hits(release.index, release.answers) == {
        query: hits[0] for query, hits in release.answers.items()
    }


def test_a_search_says_which_parts_of_the_index_the_last_release_made_otherwise(release: Release) -> None:
    with Index.open(release.index) as index:
        parts = Fingerprints(index.archive.catalogue, index.archive.needs).outdated_parts()
        notes = [note for note in index.search("squeeze theorem").notes if "another version" in note]
    assert len(notes) == bool(parts)
    assert all(part in note for part in parts for note in notes)


def test_an_index_of_the_last_release_is_brought_up_to_date(release: Release) -> None:
    write_files(release.notes, {"new.md": "# Chromatic polynomials\n\nThey count colourings $P(G, k)$.\n"})
    (release.notes / "triangles.md").unlink()
    summary = build_index([release.notes], release.index)
    assert (summary.intake.new, summary.intake.deleted, summary.intake.held_back) == (1, 1, 0)
    with Index.open(release.index) as index:
        assert index.search("chromatic polynomials")[0].id == "new.md"
        hits = index.search("$a^2+b^2=c^2$")
        assert "triangles.md" not in [hit.id for hit in hits]
        assert not any("another version" in note for note in hits.notes)
    assert check_index(release.index, repair=False).problems == []
    again = build_index([release.notes], release.index)
    assert (again.intake.new, again.intake.changed, again.intake.deleted) == (0, 0, 0)
    assert not again.log.posts["vectors"]


def test_a_file_of_the_last_release_that_can_no_longer_be_read_keeps_its_posts(release: Release) -> None:
    (release.notes / "triangles.md").write_bytes(b"")
    (release.notes / "squeeze.md").unlink()
    summary = build_index([release.notes], release.index)
    assert (summary.intake.new, summary.intake.deleted, summary.intake.held_back) == (0, 2, 1)


def test_an_index_of_the_last_release_is_checked_and_damage_to_it_repaired(release: Release) -> None:
    assert check_index(release.index).sound
    shutil.rmtree(release.index / "lexical")
    assert not check_index(release.index, repair=False).sound
    assert check_index(release.index).sound
    assert first_hits(release.index, release.answers) == {
        query: hits[0] for query, hits in release.answers.items()
    }


def test_a_backup_of_an_index_of_the_last_release_is_restored(release: Release, tmp_path: Path) -> None:
    backup(release.index, tmp_path / "now.tar")
    assert restore(tmp_path / "now.tar", tmp_path / "restored").sound
    assert first_hits(tmp_path / "restored", release.answers) == {
        query: hits[0] for query, hits in release.answers.items()
    }


def test_a_backup_that_the_last_release_made_is_restored(tmp_path: Path) -> None:
    release = unpack(LAST, tmp_path)
    assert restore(release.backup, tmp_path / "restored").sound
    assert first_hits(tmp_path / "restored", release.answers) == {
        query: hits[0] for query, hits in release.answers.items()
    }
