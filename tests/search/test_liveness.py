"""What an open reader answers after somebody else changed the index: from the new state within one query, or it says why not."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.tuning import write_weights
from mathamr.index.admin.backup import backup, restore
from mathamr.index.catalogue.catalogue import CATALOGUE
from mathamr.index.indexing.stages import IndexStages
from mathamr.index.indexing.writer import IndexWriter
from mathamr.search.searcher import Index
from mathamr.serve.app import create_app
from mathamr.serve.limits import Limits
from mathamr.serve.service import Service
from tests.index.small import build, note, options
from tests.models import sample_posts
from tests.otheruser import Reader, allow_writing, open_folder

WORD = "quagga"


def write(folder: Path, model: Path, *names: str, **more: object) -> None:
    """Bring an index up to date with a few posts of the sample and notes of these names."""
    posts = [*sample_posts(3), *(note(name, f"The {WORD} of $x^2$ in {name}.") for name in names)]
    build(folder, posts, model, **more)


def names(index: Index) -> list[str]:
    """The notes that a search finds."""
    return sorted(hit.id for hit in index.search(WORD, strategy="lexical"))


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    write(tmp_path / "index", model_folder, "first")
    return tmp_path / "index"


@pytest.fixture
def reader(folder: Path) -> Iterator[Index]:
    with Index.open(folder, device="cpu") as opened:
        assert names(opened) == ["first"]
        yield opened


def test_after_new_weights_a_reader_ranks_by_them_and_goes_on_to_follow(
    reader: Index, folder: Path, model_folder: Path
) -> None:
    weights = {"lexical": {"text": 0.25}}
    write_weights(folder, weights)  # type: ignore[arg-type]
    before = reader.archive._snapshot
    assert names(reader) == ["first"]
    assert reader.archive.manifest.model.weights == weights
    assert reader.archive._snapshot is before, "nothing else is opened anew"
    write(folder, model_folder, "first", "second")
    assert names(reader) == ["first", "second"]
    assert not reader.archive.behind


def test_after_a_build_with_another_model_a_reader_answers_from_the_state_before_and_says_so(
    reader: Index,
    folder: Path,
    model_folder: Path,
    other_model_folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    service = Service(reader, Limits(seconds=3600))
    client = TestClient(create_app(service))
    assert client.get("/v1/ready").json()["behind"] is None
    write(folder, other_model_folder, "first", "second", rebuild=True)
    hits = reader.search(WORD, strategy="lexical")
    assert [hit.id for hit in hits] == ["first"]
    assert "earlier state of the index: it was rebuilt with another model" in " ".join(hits.notes)
    found = client.get("/v1/ready").json()
    assert (found["status"], found["behind"]) == ("ready", "it was rebuilt with another model")
    assert client.get("/v1/search", params={"q": WORD, "strategy": "lexical"}).status_code == 200
    assert [each.message for each in caplog.records if "earlier state" in each.message] == [
        f"the index {folder} is answered from its earlier state: it was rebuilt with another model"
    ]
    write(folder, model_folder, "first", "second", "third", rebuild=True)
    assert names(reader) == ["first", "second", "third"], "its own model again"
    assert client.get("/v1/ready").json()["behind"] is None
    service.close()


def test_a_reader_that_loaded_nothing_yet_takes_another_model_over(
    folder: Path, model_folder: Path, other_model_folder: Path
) -> None:
    with Index.open(folder, device="cpu") as reader:
        write(folder, other_model_folder, "first", "second", rebuild=True)
        assert {"first", "second"} <= {hit.id for hit in reader.search(WORD)}
        assert not reader.archive.behind
    with Index.open(folder, device="cpu") as reader:
        _ = reader.archive.system
        write(folder, model_folder, "first", "second", rebuild=True)
        with pytest.raises(MathAMRError, match="was rebuilt with another model; open it again"):
            names(reader)


def test_after_a_rebuild_with_the_same_model_a_reader_answers_from_it(
    reader: Index, folder: Path, model_folder: Path
) -> None:
    write(folder, model_folder, "first", "second", rebuild=True)
    assert names(reader) == ["first", "second"]


def test_after_the_folder_was_deleted_and_restored_a_reader_answers_from_the_restored_index(
    reader: Index, folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    write(folder, model_folder, "first", "second")
    assert names(reader) == ["first", "second"]
    write(folder, model_folder, "first", "third")
    backup(folder, tmp_path / "backup")
    write(folder, model_folder, "first", "fourth")
    assert names(reader) == ["first", "fourth"]
    shutil.rmtree(folder)
    restore(tmp_path / "backup", folder, options(model_folder))
    assert names(reader) == ["first", "third"]
    write(folder, model_folder, "first", "third", "fifth")
    assert names(reader) == ["fifth", "first", "third"]


def test_after_the_index_was_moved_a_reader_answers_from_the_state_before_and_says_so(
    reader: Index, folder: Path, model_folder: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    folder.rename(moved)
    write(moved, model_folder, "first", "second")
    hits = reader.search(WORD, strategy="lexical")
    assert [hit.id for hit in hits] == ["first"]
    assert "earlier state of the index: it was moved or deleted" in " ".join(hits.notes)
    moved.rename(folder)
    assert names(reader) == ["first", "second"]


def test_after_a_write_of_another_user_a_reader_without_permission_to_write_answers_from_it(
    model_folder: Path,
) -> None:
    with open_folder() as place:
        folder = place / "index"
        write(folder, model_folder, "first")
        allow_writing(folder, allowed=False)
        with closing(Reader(folder)) as other:
            assert other.search(WORD) == ["first"]
            assert not (folder / f"{CATALOGUE}-wal").exists(), "it could not see a writer"
            allow_writing(folder, allowed=True)
            with IndexWriter.open(folder, device="cpu") as writer:
                writer.put([note("second", f"The {WORD} of $x^2$.")])
                assert other.search(WORD) == ["first", "second"], "while the other user has it open"
            assert other.search(WORD) == ["first", "second"], "after it was closed"
            write(folder, model_folder, "first", "third")
            assert other.search(WORD) == ["first", "second", "third"]


def test_in_a_read_only_folder_a_reader_answers_from_what_is_written_whenever_it_is_not(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str] | str] = []
    with open_folder() as place:
        folder = place / "index"
        write(folder, model_folder, "first")
        allow_writing(folder, allowed=False)
        with closing(Reader(folder)) as other:
            assert other.search(WORD) == ["first"]
            allow_writing(folder, allowed=True)
            make = IndexStages.make_vectors

            def made(self: IndexStages, *given: Any) -> None:
                with closing(sqlite3.connect(folder / CATALOGUE)) as database:
                    database.execute("PRAGMA wal_checkpoint(PASSIVE)")  # overwrites what the reader reads
                seen.append(other.search(WORD))
                make(self, *given)

            monkeypatch.setattr(IndexStages, "make_vectors", made)
            many = [f"n{number}" for number in range(70)]  # a reader waits for the end of smaller changes
            write(folder, model_folder, "first", *many)
            assert other.search(WORD) == sorted(["first", *many])
    assert len(seen) == 1
    assert isinstance(seen[0], list), seen[0]
    assert "first" in seen[0]
