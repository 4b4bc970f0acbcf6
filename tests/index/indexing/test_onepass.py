"""Graphs and vectors of new posts in one pass give what stage after stage gives, and outlive kills and lost processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from mathamr.core.workers import Lost, WorkerPool
from mathamr.formulas.trees import trees_of, written_trees
from mathamr.graphs.corpus import MINIMAL
from mathamr.index.archive import Archive
from mathamr.index.indexing import encoding
from mathamr.index.indexing.builder import build_index
from mathamr.index.indexing.encoding import Encoders, NewPost, portions
from mathamr.posts.passage import passage
from mathamr.posts.post import Formula, Post
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
written, write = 0, stages.IndexStages._write_new
def counting(self, *part):
    global written
    if written == {WRITTEN}:
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, *part)
    written += 1
stages.IndexStages._write_new = counting
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
    with Archive.open(index, device="cpu") as archive:
        for stage in ("graph", "vectors"):
            assert archive.catalogue.count_pending(stage) == COUNT - WRITTEN
        # Who parsed a post has cut it into sentences: nobody does so again.
        kept = archive.catalogue.stored_previews([post.id for post in posts])
        assert {each: preview.passage for each, preview in kept.items()} == {
            post.id: passage(post) for post in posts[:WRITTEN]
        }
    made: list[str] = []
    new = Encoders.new

    def remembering(encoders: Encoders, posts: Iterable[Post]) -> Iterator[NewPost | Lost]:
        chosen = list(posts)
        made.extend(post.id for post in chosen)
        return new(encoders, chosen)

    monkeypatch.setattr(Encoders, "new", remembering)
    summary = build_index([source], index, options(model_folder, workers=2))
    assert made == [post.id for post in posts[WRITTEN:]]
    assert summary.log.posts["graphs"] == summary.log.posts["vectors"] == COUNT - WRITTEN
    assert differences(content(index), content(tmp_path / "here" / "index")) == []


@pytest.mark.usefixtures("several")
def test_a_post_over_which_processes_are_lost_costs_nobody_else_anything(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = [note(f"note-{number}", f"The number ${number}$ is one of many here.") for number in range(6)]
    whole, trees = WorkerPool.map, set()

    def losing(pool: WorkerPool, requests: Iterable[list[str]]) -> Iterator[tuple[list[str], object]]:
        for request, answer in whole(pool, requests):
            is_hard = any('"note-2"' in line and not line.startswith(MINIMAL) for line in request[1:])
            is_hopeless = any('"note-4"' in line for line in request[1:])
            trees.update(line.partition("\n")[2] for line in request[1:] if request[0] == "new")
            lost = request[0] == "new" and (is_hard or is_hopeless)
            yield request, Lost("worker died", "too heavy") if lost else answer

    monkeypatch.setattr(WorkerPool, "map", losing)
    summary = build(tmp_path / "index", posts, model_folder, workers=2)
    # The trees of its formula go with every post, whatever becomes of it.
    assert trees == {
        written_trees([Formula("", str(number))], ())
        for number in range(6)
        if trees_of(Formula("", str(number)))
    }
    assert summary.log.fallbacks["post: worker died"] == 1
    assert summary.log.fallbacks["post 'note-4' is left out: too heavy"] == 1
    with Archive.open(tmp_path / "index", device="cpu") as archive:
        assert sorted(archive.catalogue.ids()) == [f"note-{number}" for number in (0, 1, 2, 3, 5)]
        assert archive.catalogue.settled
        assert archive.catalogue.quarantined("note-4") is not None
        assert set(archive.engine.ids("posts")) == set(archive.catalogue.ids())


def test_a_portion_is_a_few_short_posts_or_one_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "CHUNK", 3)
    monkeypatch.setattr(encoding, "LETTERS", 1_000)
    sizes = [10, 10, 10, 10, 5_000, 10]
    posts = [note(str(number), "x" * size) for number, size in enumerate(sizes)]
    made = [[Post.from_json(line).id for line in portion] for portion in portions(posts)]
    assert made == [["0", "1", "2"], ["3"], ["4"], ["5"]]


def test_long_portions_are_the_same_again_wherever_somebody_begins() -> None:
    posts = [note(str(number), f"Post {number} says " + "x" * (number**3 % 997)) for number in range(400)]
    whole = [tuple(portion) for portion in portions(posts, 2)]
    assert 12 < len(whole) < 40
    for start in range(1, 200, 7):
        again = [tuple(portion) for portion in portions(posts[start:], 2)]
        anew = [portion for portion in again if portion not in whole]
        assert len(anew) <= 1, "only where we begin"
        assert [line for portion in again for line in portion] == [post.to_json() for post in posts[start:]]
