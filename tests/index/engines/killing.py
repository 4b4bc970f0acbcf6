"""Kills builds, updates, single changes, backups, restorations and moves of a small index, and compares what is left: run by `test_kills` in a process of its own.

python -m tests.index.engines.killing MODEL FOLDER ENGINE POINTS SEED
"""

from __future__ import annotations

import itertools
import json
import random
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.index.admin.backup import backup, restore
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.storage import IndexStorage
from mathamr.posts.post import Post
from mathamr.systems.system import SYSTEMS
from tests.index.kills import content, differences, in_child
from tests.models import sample_posts
from tests.systems.tiny import TINY

FULL_DISKS = (5_000, 40_000, 140_000)
"""The largest file a full disk takes: enough for nothing, for the parts of an index, for all but its catalogue."""
PARSER = "tests.amr.rule_parser:RuleParser"


class Killing:
    """An index before and after an update, made without disturbance, and what kills leave of both."""

    def __init__(self, model: Path, folder: Path, engine: str, points: int, seed: int) -> None:
        self.folder, self.points = folder, points
        self.options = BuildOptions(model=model, engine=engine, parser=PARSER, device="cpu")
        self.chance = random.Random(seed)
        self.kills = 0
        posts = sample_posts(11)
        self.before, self.after = folder / "before.jsonl", folder / "after.jsonl"
        changed = replace(
            posts[2], body=f"{posts[2].body} <p>Is <span class='math-container'>$z^7$</span> odd?</p>"
        )
        _write(self.before, posts[:8])
        _write(self.after, [posts[0], changed, *posts[4:]])
        self.spare = posts[:3]
        # Everything that is imported or remembered now, the children need not load again.
        warm = self.folder / "warm"
        build_index([self.before], warm, replace(self.options, engine="flat"))
        content(warm)

    def build(self, source: Path, out: Path) -> Callable[[Any], None]:
        """The work of reading a state of the posts, always from the same file, into an index."""
        posts = self.folder / "posts.jsonl"
        shutil.copyfile(source, posts)
        return lambda _: build_index([posts], out, self.options) and None

    def undisturbed(self) -> tuple[Any, Any]:
        """The contents of the index before and after the update; after must be as if built anew."""
        out = self.folder / "clean"
        steps, contents = [], []
        for source in (self.before, self.after):
            steps.append(in_child(self.build(source, out)))
            contents.append(in_child(lambda _: content(out)).value)
            shutil.copytree(out, self.folder / f"kept-{source.stem}")
        fresh = self.folder / "fresh"
        in_child(self.build(self.after, fresh))
        _same(in_child(lambda _: content(fresh)).value, contents[1], "a new build", "an update")
        self.build_steps, self.update_steps = steps
        return contents[0], contents[1]

    def run(self) -> None:
        """All kinds of kills."""
        first, second = self.undisturbed()
        assert not first["problems"]
        assert not second["problems"]
        for number, point in enumerate(self._points(self.build_steps.steps)):
            out = self.folder / f"build-{number}"
            self._kill(self.build(self.before, out), out, f"step {point} of the build", kill_at=point)
            self._finish(self.before, out, first)
        for number, point in enumerate(self._points(self.update_steps.steps)):
            out = self._copied("before", f"update-{number}")
            self._kill(self.build(self.after, out), out, f"step {point} of the update", kill_at=point)
            self._finish(self.after, out, second)
        for number in range(max(1, self.points // 4)):
            out = self._copied("before", f"later-{number}")
            moment = self.chance.uniform(0, self.update_steps.seconds)
            self._kill(self.build(self.after, out), out, f"{moment:.3f} s into the update", kill_after=moment)
            self._finish(self.after, out, second)
        self._changes()
        self._copies(first)
        if self.options.engine == "flat":
            self._moves()
        for limit in FULL_DISKS:
            self._fill(limit, second)

    def _fill(self, limit: int, expected: Any) -> None:
        """An update on a disk that takes no larger files: a clear word, and the index still opens."""
        out = self._copied("before", f"full-{limit}")
        update = self.build(self.after, out)

        def work(_: Any) -> str:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            try:
                update(None)
            except MathAMRError as error:
                return str(error)
            return ""

        assert in_child(work).value, f"files of {limit:,} bytes are enough"
        found = in_child(lambda _: content(out)).value
        assert found["posts"].keys() >= {self.spare[0].id}, "the index cannot be read after the disk was full"
        self._finish(self.after, out, expected)

    def _points(self, steps: int) -> list[int]:
        """Steps to die at, from the first to the last, one at random in each of as many stretches."""
        edges = [1 + round(number * steps / self.points) for number in range(self.points + 1)]
        return [self.chance.randrange(low, max(high, low + 1)) for low, high in itertools.pairwise(edges)]

    def _copied(self, state: str, name: str) -> Path:
        out = self.folder / name
        shutil.copytree(self.folder / f"kept-{state}", out)
        return out

    def _kill(self, work: Callable[[Any], None], out: Path, when: str, **how: Any) -> None:
        outcome = in_child(work, **how)
        self.kills += outcome.killed
        assert outcome.killed or "kill_after" in how, f"nobody died at {when}"
        in_child(lambda _: _readable(out))

    def _finish(self, source: Path, out: Path, expected: Any) -> None:
        in_child(self.build(source, out))
        found = in_child(lambda _: content(out)).value
        _same(found, expected, f"{out.name}, killed and finished", "an undisturbed index")
        shutil.rmtree(out)

    def _changes(self) -> None:
        """Single changes: after a kill all acknowledged ones are there, and at most the next one."""
        steps = [("put", self.spare[0]), ("put", replace(self.spare[1], body="<p>Short.</p>", formulas=()))]
        steps += [
            ("delete", self.spare[0]),
            ("put", replace(self.spare[2], id="new")),
            ("delete", self.spare[1]),
        ]

        def work(out: Path) -> Callable[[Any], None]:
            def change(tell: Callable[[Any], None]) -> None:
                with IndexWriter.open(out, device="cpu") as archive:
                    for number, (what, post) in enumerate(steps):
                        archive.put([post]) if what == "put" else archive.delete([post.id])
                        tell(number)

            return change

        total = in_child(work(self._copied("before", "all-changes"))).steps
        for number, point in enumerate(self._points(total)):
            out = self._copied("before", f"changes-{number}")
            outcome = in_child(work(out), kill_at=point)
            self.kills += outcome.killed
            acknowledged = len(outcome.value)
            in_child(lambda _, out=out: IndexWriter.open(out, device="cpu").close())
            found = in_child(lambda _, out=out: content(out)).value
            assert not found["problems"], found["problems"]
            possible = [self._after(steps[:count]) for count in (acknowledged, acknowledged + 1)]
            assert found["posts"] in possible, f"{out.name}: {acknowledged} changes were acknowledged"

    def _copies(self, expected: Any) -> None:
        """A backup and a restoration that are killed leave nothing that looks whole and is not."""
        index, packed = self.folder / "kept-before", self.folder / "whole.backup"
        options = replace(self.options, engine=None)

        def back_up(target: Path) -> Callable[[Any], None]:
            return lambda _: backup(index, target) and None

        def bring_back(source: Path, out: Path) -> Callable[[Any], None]:
            return lambda _: restore(source, out, options) and None

        backup_steps = in_child(back_up(packed)).steps
        restore_steps = in_child(bring_back(packed, self.folder / "restored")).steps
        _same(_content(self.folder / "restored"), expected, "a restored index", "the index")
        for number, point in enumerate(self._points(backup_steps)):
            target, out = self.folder / f"{number}.backup", self.folder / f"restored-{number}"
            self.kills += in_child(back_up(target), kill_at=point).killed
            if target.exists():
                in_child(bring_back(target, out))
                _same(_content(out), expected, f"a backup killed at step {point}", "the index")
        for number, point in enumerate(self._points(restore_steps)):
            out = self.folder / f"back-{number}"
            self.kills += in_child(bring_back(packed, out), kill_at=point).killed
            if not (out / "manifest.json").exists():
                in_child(bring_back(packed, out))
            _same(_content(out), expected, f"a restoration killed at step {point}", "the index")

    def _moves(self) -> None:
        """An index whose engine gets other options is whole as it was or, once finished, as it is wanted."""
        posts = self.folder / "posts.jsonl"
        shutil.copyfile(self.before, posts)
        options = replace(self.options, engine_options={"dtype": "float16"}, rebuild=True)

        def move(out: Path) -> Callable[[Any], None]:
            return lambda _: build_index([posts], out, options) and None

        moved = self._copied("before", "moved")
        total = in_child(move(moved)).steps
        wanted = _content(moved)
        for number, point in enumerate(self._points(total)):
            out = self._copied("before", f"moved-{number}")
            self._kill(move(out), out, f"step {point} of the move", kill_at=point)
            in_child(move(out))
            _same(_content(out), wanted, f"a move killed at step {point} and finished", "the moved index")
            shutil.rmtree(out)

    def _after(self, steps: list[tuple[str, Post]]) -> dict[str, str]:
        posts = {post.id: post for post in map(Post.from_json, self._kept_posts)}
        for what, post in steps:
            if what == "put":
                posts[post.id] = post
            else:
                posts.pop(post.id, None)
        return {post_id: post.to_json() for post_id, post in sorted(posts.items())}

    @property
    def _kept_posts(self) -> list[str]:
        kept = self.folder / "kept-before"
        return list(in_child(lambda _: list(content(kept)["posts"].values())).value)


def _write(path: Path, posts: list[Post]) -> None:
    path.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")


def _readable(out: Path) -> None:
    """A reader of a half-built index gets what is complete, or a clear word."""
    try:
        with IndexStorage.open(out, device="cpu") as archive:
            for post_id in archive.catalogue.ids():
                archive.catalogue.post(post_id)
            for field in archive.engine.fields:
                archive.engine[field.name].count()
            archive.lexical.posts.count()
    except MathAMRError:
        pass


def _content(out: Path) -> Any:
    return in_child(lambda _: content(out)).value


def _same(found: Any, expected: Any, what: str, other: str) -> None:
    names = differences(found, expected)
    assert not names, f"{what} differs from {other} in: {', '.join(names)}; problems: {found['problems']}"


if __name__ == "__main__":
    SYSTEMS._built_in.update(TINY)
    model, folder, engine, points, seed = sys.argv[1:]
    killing = Killing(Path(model), Path(folder), engine, int(points), int(seed))
    killing.run()
    print(json.dumps({"kills": killing.kills}))
