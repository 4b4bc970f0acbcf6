"""An index of a system that keeps vectors of visual classes: made once a visual class, followed, checked and mended; no graphs, no parser."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mathamr.amr.parser import load_parser
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.notation import write
from mathamr.index.admin.check import check_index
from mathamr.index.engines.entry import Entry
from mathamr.index.indexing.analysis import visual_keys
from mathamr.index.indexing.builder import BuildOptions, BuildSummary, build_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.manifest import Manifest
from mathamr.index.storage import IndexStorage
from mathamr.posts.post import Post
from mathamr.systems.system import SYSTEMS
from tests.index.kills import content, differences
from tests.index.small import build, note, options, write_posts
from tests.models import sample_posts
from tests.systems.tiny import TINY, NodeSystem, WordSystem

SQUARE = "$x^2$"
POSTS = [
    note("a", f"One {SQUARE} and $y$."),
    note("b", "Two $x^{2}$, and again $x^2$."),
    note("c", r"Three $\sin z$."),
]


@pytest.fixture(autouse=True)
def _tiny_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, place in TINY.items():
        monkeypatch.setitem(SYSTEMS._built_in, name, place)


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The visual classes that were encoded, in order."""
    names: list[str] = []
    encode = NodeSystem.encode_visuals

    def counting(self: NodeSystem, visuals: Iterable[Any]) -> Any:
        def each() -> Any:
            for visual in visuals:
                names.append(visual.key)
                yield visual

        return encode(self, each())

    monkeypatch.setattr(NodeSystem, "encode_visuals", counting)
    return names


def made(folder: Path, posts: list[Post], **more: Any) -> BuildSummary:
    NodeSystem().save(folder / "model")
    source = write_posts(folder / "posts.jsonl", posts)
    return build_index(
        [source],
        folder / "index",
        BuildOptions(model=folder / "model", device="cpu", **more),
    )


def key(latex: str) -> str:
    return visual_keys(note("n", f"${latex}$"))[0]


def test_every_visual_has_its_rows_once(tmp_path: Path, encoded: list[str]) -> None:
    summary = made(tmp_path, POSTS)
    assert sorted(encoded) == sorted({key("x^2"), key("y"), key(r"\sin z")})
    assert summary.manifest.counts["nodes vectors"] == summary.log.posts["visual"] == 3
    with IndexStorage.open(tmp_path / "index") as archive:
        rows = archive.engine["nodes"].fetch([key("x^2")])[key("x^2")]
        assert rows.references == tuple(map(str, range(len(rows))))
        assert set(archive.engine.ids("visual")) == set(archive.catalogue.visual_keys())
        assert archive.engine.count("posts") == 0
        with pytest.raises(MathAMRError, match="has no vectors of posts"):
            archive.vectors("a")


def test_no_graph_is_made_unless_somebody_asks_for_one_and_no_parser_is_recorded(tmp_path: Path) -> None:
    summary = made(tmp_path, POSTS)
    assert summary.manifest.parser is None
    assert not (tmp_path / "index" / "graphs").exists()
    assert "graphs" not in summary.log.seconds
    with IndexStorage.open(tmp_path / "index") as archive:
        with pytest.raises(MathAMRError, match="has no graphs: its model tiny-nodes-0 reads none"):
            _ = archive.work
        (expected,) = GraphMaker(load_parser()).make([archive.catalogue.post("a")])
        assert write(archive.graph("a")) == write(expected.graph)
    assert not (tmp_path / "index" / "graphs").exists()


def test_a_visual_is_made_again_only_for_another_representative_and_goes_with_its_last_formula(
    tmp_path: Path, encoded: list[str]
) -> None:
    made(tmp_path, POSTS)
    encoded.clear()
    made(tmp_path, [POSTS[0], note("b", "Two $x^2$."), POSTS[2]])
    assert encoded == []
    made(tmp_path, POSTS)
    made(tmp_path, POSTS[1:])
    assert encoded == [key("x^2")]
    made(tmp_path, POSTS[2:])
    with IndexStorage.open(tmp_path / "index") as archive:
        assert list(archive.engine.ids("visual")) == [key(r"\sin z")]
    assert not content(tmp_path / "index")["problems"]


def test_updates_and_single_changes_equal_a_new_build(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    made(tmp_path / "one", POSTS)
    with IndexWriter.open(tmp_path / "one" / "index") as archive:
        archive.put([note("d", "Four $x^2$ and $w$.")])
        archive.delete(["a"])
        archive.put([note("d", "Four $w^3$.")])
    made(tmp_path / "two", POSTS[1:])
    with IndexWriter.open(tmp_path / "two" / "index") as archive:
        archive.put([note("d", "Four $w^3$.")])
    found, expected = content(tmp_path / "one" / "index"), content(tmp_path / "two" / "index")
    assert differences(found, expected) == ["posts", "inputs"]  # the files lie elsewhere
    assert not found["problems"]


def test_lost_and_strange_visuals_are_put_right(tmp_path: Path) -> None:
    made(tmp_path, POSTS)
    before = content(tmp_path / "index")
    with IndexWriter.open(tmp_path / "index") as archive:
        rows = archive.engine["nodes"].fetch([key("x^2")])[key("x^2")]
        archive.engine.delete("visual", [key("y")])
        archive.engine.upsert("visual", [Entry("strange", {"nodes": rows})])
    reported = "\n".join(check_index(tmp_path / "index", repair=False).lines())
    assert "1 visual classes have no vectors" in reported
    assert "1 vectors belong to none of the visual classes" in reported
    assert check_index(tmp_path / "index").sound
    assert not differences(content(tmp_path / "index"), before)
    shutil.rmtree(tmp_path / "index" / "vectors")
    assert check_index(tmp_path / "index").sound
    assert not differences(content(tmp_path / "index"), before)


def test_graphs_are_kept_for_changing_back_and_follow_deletions(model_folder: Path, tmp_path: Path) -> None:
    posts = sample_posts(4)
    build(tmp_path / "index", posts, model_folder)
    WordSystem().save(tmp_path / "words")
    rebuilt = build(tmp_path / "index", posts[1:], tmp_path / "words", rebuild=True)
    assert rebuilt.manifest.parser is None
    assert [field.name for field in rebuilt.manifest.model.fields] == ["words"]
    assert not content(tmp_path / "index")["problems"]
    back = build(tmp_path / "index", posts[1:], model_folder, rebuild=True)
    assert back.log.posts["graphs"] == 0
    build_index([tmp_path / "posts.jsonl"], tmp_path / "fresh", options(model_folder))
    assert not differences(content(tmp_path / "index"), content(tmp_path / "fresh"))


def test_an_index_of_a_system_that_is_not_known_runs_nothing(tmp_path: Path) -> None:
    made(tmp_path, POSTS)
    manifest = Manifest.read(tmp_path / "index")
    replace(manifest, model=replace(manifest.model, system="os_system")).write(tmp_path / "index")
    with pytest.raises(UnknownNameError, match="unknown system 'os_system'"):
        IndexStorage.open(tmp_path / "index")
    with pytest.raises(UnknownNameError, match="unknown system"):
        check_index(tmp_path / "index")
    replace(manifest, model=replace(manifest.model, system="os:system")).write(tmp_path / "index")
    with pytest.raises(MathAMRError, match="which such a file may not choose"):
        IndexStorage.open(tmp_path / "index")
    assert not check_index(tmp_path / "index", repair=False).sound
