from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.writerlock import InUseError, WriterLock
from mathamr.index.admin.check import check_index
from mathamr.index.admin.inspection import CheckReport
from mathamr.index.catalogue.postrow import row_of
from mathamr.index.engines.entry import Entry
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.manifest import Manifest
from mathamr.index.storage import IndexStorage
from tests.index.kills import content, differences
from tests.index.small import build, note
from tests.models import sample_posts


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    build(folder / "index", sample_posts(6), model_folder)
    return folder / "index"


@pytest.fixture
def index(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "index")
    return tmp_path / "index"


def mends(index: Path, whole: Path, *words: str) -> CheckReport:
    """The check tells of each of these, without changing anything; then it mends them, and all is as it was."""
    reported = "\n".join(check_index(index, repair=False).lines())
    for word in words:
        assert word in reported
    assert "is not whole" in reported
    report = check_index(index)
    assert report.sound, report.lines()
    assert {problem.outcome for problem in report.problems} == {"mended"}
    assert not differences(content(index), content(whole))
    assert check_index(index).problems == []
    return report


def sql(path: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(statement, values)
    database.close()


def test_an_intact_index_is_reported_as_intact(whole: Path) -> None:
    report = check_index(whole)
    assert report.sound
    assert report.problems == []
    assert report.lines() == [f"{whole} is whole: 6 posts, {report.formulas} formulas"]
    assert report.to_json()["sound"]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("torn", r"manifest\.json is damaged .*mathamr index --check"),
        ("missing", "is not an index"),
        ("changed", "its checksum is wrong"),
    ],
)
def test_a_damaged_manifest_is_restored(index: Path, whole: Path, how: str, message: str) -> None:
    path, fingerprint = index / "manifest.json", Manifest.read(index).parser.fingerprint
    if how == "missing":
        path.unlink()
    else:
        text = path.read_text()
        path.write_text(text[:20] if how == "torn" else text.replace(fingerprint, "x" + fingerprint[1:]))
    with pytest.raises(MathAMRError, match=message):
        IndexStorage.open(index)
    mends(index, whole, "manifest.json: cannot be read")


def test_lost_vectors_are_made_again(index: Path, whole: Path) -> None:
    with IndexWriter.open(index, device="cpu") as archive:
        ids = sorted(archive.engine.ids("posts"))
        formula = sorted(archive.engine.ids("formulas"))[0]
        archive.engine.delete("posts", [ids[0]])
        archive.engine.delete("formulas", [formula])
    mends(index, whole, "1 posts have no vectors", "1 formulas have no vectors")


def test_vectors_of_nothing_are_removed(index: Path, whole: Path) -> None:
    with IndexWriter.open(index, device="cpu") as archive:
        first = sorted(archive.engine.ids("posts"))[0]
        rows = {"document": archive.engine["document"].fetch([first])[first]}
        archive.engine.upsert("posts", [Entry("stranger", rows)])
        formula = sorted(archive.engine.ids("formulas"))[0]
        archive.engine.upsert(
            "formulas", [Entry("strange", {"formula": archive.engine["formula"].fetch([formula])[formula]})]
        )
    mends(
        index,
        whole,
        "1 vectors belong to none of the posts",
        "1 vectors belong to none of the formulas",
    )


@pytest.mark.parametrize("how", ["missing", "torn", "changed"])
def test_damaged_vectors_are_made_again(index: Path, whole: Path, how: str) -> None:
    files = [path for path in (index / "vectors").rglob("*.safetensors") if path.stat().st_size]
    for path in files:
        data = bytearray(path.read_bytes())
        if how == "missing":
            path.unlink()
        elif how == "torn":
            path.write_bytes(data[: len(data) // 2])
        else:
            data[-8] ^= 0xFF
            path.write_bytes(data)
    assert files
    mends(index, whole, "vectors: cannot be read")


@pytest.mark.parametrize("part", ["vectors", "lexical", "graphs"])
def test_a_missing_part_is_made_again(index: Path, whole: Path, part: str) -> None:
    shutil.rmtree(index / part)
    mends(index, whole, f"{part}: cannot be read")


def test_a_damaged_lexical_index_is_made_again(index: Path, whole: Path) -> None:
    for path in (index / "lexical").rglob("*.segment"):
        path.write_bytes(path.read_bytes()[:-20])
    mends(index, whole, "lexical: cannot be read")


@pytest.mark.parametrize("kinds", [("posts", "formulas"), ("formulas", "posts")])
def test_a_swapped_segment_is_an_error_and_made_again(
    index: Path, whole: Path, kinds: tuple[str, str]
) -> None:
    ours, theirs = (next((index / "lexical" / kind).glob("*.segment")) for kind in kinds)
    theirs.write_bytes(ours.read_bytes())
    with (
        IndexStorage.open(index) as archive,
        pytest.raises(MathAMRError, match=r"is not the file that segments\.json names.* --check "),
    ):
        _ = archive.lexical
    mends(index, whole, "is not the file that segments.json names")


def test_an_older_list_of_segments_has_no_checksums_and_is_whole(index: Path) -> None:
    for path in (index / "lexical").rglob("segments.json"):
        listed = json.loads(path.read_bytes())
        assert listed.pop("checksums")
        path.write_text(json.dumps(listed))
    assert check_index(index).problems == []


def test_lost_and_strange_lexical_entries_are_put_right(index: Path, whole: Path) -> None:
    with IndexWriter.open(index, device="cpu") as archive:
        post, visual = sorted(archive.catalogue.ids())[0], sorted(archive.catalogue.visual_keys())[0]
        archive.lexical.posts.update([("stranger", {"words": ["x"]})], [post])
        archive.lexical.formulas.update([("no visual class", {"latex": ["$x"]})], [visual])
    mends(
        index,
        whole,
        "1 posts have no entry",
        "1 entries belong to no post",
        "1 visual classes have no entry",
        "1 entries belong to no visual class",
    )


def test_lost_damaged_and_strange_graphs_are_put_right(index: Path, whole: Path) -> None:
    graphs = index / "graphs" / "graphs.db"
    posts = sample_posts(6)
    sql(graphs, "DELETE FROM posts WHERE id = ?", posts[0].id)
    sql(graphs, "UPDATE posts SET graph = x'00' WHERE id = ?", posts[1].id)
    sql(graphs, "UPDATE posts SET digest = x'00' WHERE id = ?", posts[2].id)
    sql(graphs, "UPDATE posts SET id = 'stranger' WHERE id = ?", posts[3].id)
    mends(
        index,
        whole,
        "4 posts have no graph, a damaged one, or one of another text or parser",
        "1 graphs belong to no post",
    )


def damage_pages(database: Path) -> None:
    data = bytearray(database.read_bytes())
    for page in range(3, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 512] = b"\xff" * 512
    database.write_bytes(data)


@pytest.mark.parametrize("damage", [damage_pages, lambda database: database.write_bytes(b"rubbish" * 5000)])
@pytest.mark.parametrize("repair", [True, False])
def test_a_damaged_catalogue_is_left_alone_and_the_report_says_what_is_lost(
    index: Path, damage: Callable[[Path], object], repair: bool
) -> None:
    with IndexWriter.open(index, device="cpu") as archive:
        archive.put([note("c", "from nowhere")])
    damage(index / "catalogue.db")
    before = (index / "catalogue.db").read_bytes()
    report = check_index(index, repair=repair)
    (record,) = Manifest.read(index).inputs
    lines = "\n".join(report.lines())
    assert "lost: catalogue.db: cannot be read" in lines
    assert f"restore a backup, or build a new index of {record.path}" in lines
    assert "1 posts came from no file: only a backup has them" in lines
    assert not report.sound
    assert (index / "catalogue.db").read_bytes() == before


def test_a_damaged_post_is_lost_until_its_input_is_read_again(
    index: Path, whole: Path, model_folder: Path
) -> None:
    victim = sample_posts(1)[0].id
    sql(index / "catalogue.db", "UPDATE posts SET post = x'00' WHERE id = ?", victim)
    report = check_index(index)
    assert not report.sound
    assert "lost: catalogue.db: 1 posts are damaged" in report.lines()[0]
    assert check_index(index).sound
    build(index, sample_posts(6), model_folder)
    with IndexStorage.open(index) as archive:
        assert archive.catalogue.post(victim).body == sample_posts(1)[0].body
        assert len(archive.catalogue) == 6


def test_an_interrupted_change_is_finished(index: Path, whole: Path) -> None:
    sql(index / "catalogue.db", "UPDATE posts SET graph = 0, vectors = 0, lexical = 0")
    sql(index / "catalogue.db", "UPDATE visuals SET lexical = 0")
    mends(index, whole, "6 posts wait for their vectors", "visual classes wait for their lexical entry")


def test_a_folder_that_is_no_index_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="is not an index"):
        check_index(tmp_path)
    with pytest.raises(MathAMRError, match="does not exist"):
        check_index(tmp_path / "nowhere", repair=False)


def test_an_engine_that_another_process_has_open_is_left_alone(index: Path, whole: Path) -> None:
    with (
        WriterLock(index / "vectors", "a server"),
        pytest.raises(InUseError, match=r"is being changed by .*\(a server\)"),
    ):
        check_index(index)
    assert not differences(content(index), content(whole))


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bytes_of_the_graphs_are_reported_and_repaired(index: Path, whole: Path, seed: int) -> None:
    path, chance = index / "graphs" / "graphs.db", random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(1 + 3 * seed):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    with IndexStorage.open(index) as archive:
        for post in sample_posts(6):
            with suppress(MathAMRError):
                archive.graph(post.id)
                archive.vectors(post.id)
    check_index(index, repair=False)
    assert check_index(index).sound
    assert not differences(content(index), content(whole))


@pytest.mark.parametrize("part", ["parser", "model"])
def test_nothing_is_deleted_where_what_would_make_it_again_is_another(index: Path, part: str) -> None:
    before = content(index)
    manifest = Manifest.read(index)
    changed = replace(getattr(manifest, part), fingerprint="another")
    written = replace(manifest, **{part: changed}).write(index)
    with suppress(MathAMRError):
        assert not check_index(index).sound
    written_again = replace(written, **{part: getattr(manifest, part)}).write(index)
    assert written_again.parser == manifest.parser
    assert not differences(content(index), before)


def test_a_post_that_was_changed_on_disk_is_reported_and_not_shown(index: Path) -> None:
    victim = sample_posts(1)[0]
    other = replace(victim, body="Something else.")
    sql(
        index / "catalogue.db",
        "UPDATE posts SET post = ? WHERE id = ?",
        row_of(other, [""] * len(other.formulas)).packed,
        victim.id,
    )
    with IndexStorage.open(index) as archive, pytest.raises(MathAMRError, match="not as it was stored"):
        archive.catalogue.post(victim.id)
