"""Graphs and vectors of new posts in one pass give what stage after stage gives, and outlive kills and lost processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mathamr.core.workers import Lost, WorkerPool
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.catalogue.journal import unpacked
from mathamr.index.indexing import encoding
from mathamr.index.indexing.builder import build_index
from mathamr.index.indexing.encoding import Derived, Encoders, Material
from mathamr.index.storage import IndexStorage
from mathamr.posts.passage import passage
from tests.conftest import ROOT
from tests.index.kills import content, differences
from tests.index.small import build, note, options
from tests.models import sample_posts

COUNT, WRITTEN = 9, 4
KILLED = f"""
import os, signal, sys
from pathlib import Path
from mathamr.index.indexing import encoding, stages
from mathamr.index.indexing.builder import build_index
from tests.index.small import options
encoding.FEW, encoding.CHUNK, stages.SECONDS = 2, 1, 0.0
written, write = 0, stages.IndexStages._write
def counting(self, store, derived, *rest):
    global written
    if written == {WRITTEN}:
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, store, derived, *rest)
    written += len(derived)
stages.IndexStages._write = counting
build_index([Path(sys.argv[1])], Path(sys.argv[2]), options(Path(sys.argv[3]), workers=2))
"""


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few posts are worth processes, one at a time."""
    monkeypatch.setattr(encoding, "FEW", 2)
    monkeypatch.setattr(encoding, "CHUNK", 1)


@pytest.mark.usefixtures("several")
def test_a_kill_loses_what_was_not_written_and_the_rest_is_what_nobody_disturbed(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = sample_posts(COUNT)
    (tmp_path / "here").mkdir()
    build(tmp_path / "here" / "index", posts, model_folder)
    source, index = tmp_path / "here" / "posts.jsonl", tmp_path / "index"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(source), str(index), str(model_folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        check=False,
        capture_output=True,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:].decode()
    with Catalogue(index / CATALOGUE, read_only=True) as catalogue:
        for stage in ("graph", "vectors"):
            assert catalogue.count_pending(stage) == COUNT - WRITTEN
        # Who read a post has cut it into sentences: nobody does so again.
        kept = catalogue.stored_previews([post.id for post in posts])
        assert {each: preview.passage() for each, preview in kept.items()} == {
            post.id: passage(post) for post in posts
        }
    made: list[str] = []
    derive = Encoders.derive

    def remembering(encoders: Encoders, materials: Iterable[Material]) -> Iterator[Derived | Lost]:
        chosen = list(materials)
        made.extend(unpacked(each.packed).id for each in chosen)
        return derive(encoders, chosen)

    monkeypatch.setattr(Encoders, "derive", remembering)
    summary = build_index([source], index, options(model_folder, workers=2))
    assert made == [post.id for post in posts[WRITTEN:]]
    assert summary.log.posts["graphs"] == summary.log.posts["vectors"] == COUNT - WRITTEN
    assert differences(content(index), content(tmp_path / "here" / "index")) == []


@pytest.mark.usefixtures("several")
def test_a_post_over_which_processes_are_lost_costs_nobody_else_anything(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = [note(f"note-{number}", f"The number ${number}$ is one of many here.") for number in range(6)]
    whole = WorkerPool.map

    def losing(pool: WorkerPool, requests: Iterable[list[Any]]) -> Iterator[tuple[list[Any], object]]:
        for request, answer in whole(pool, requests):
            posts = [
                (unpacked(each.packed).id, each.is_minimal) for each in request if isinstance(each, Material)
            ]
            lost = ("note-2", False) in posts or any(name == "note-4" for name, _ in posts)
            yield request, Lost("worker died", "too heavy") if lost else answer

    monkeypatch.setattr(WorkerPool, "map", losing)
    summary = build(tmp_path / "index", posts, model_folder, workers=2)
    assert summary.log.fallbacks["post: worker died"] == 1
    assert summary.log.fallbacks["post 'note-4' is found by its words alone: too heavy"] == 1
    with IndexStorage.open(tmp_path / "index", device="cpu") as archive:
        assert archive.catalogue.settled
        assert set(archive.lexical.posts.ids()) == set(archive.catalogue.ids())
        assert set(archive.engine.ids("posts")) == set(archive.catalogue.ids()) - {"note-4"}
