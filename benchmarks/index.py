"""Posts to an index: seconds per stage, posts per second, memory, size; the cost of an update and a single change against a new build, and of the
lexical part against parsing its formulas.

MATHAMR_BENCH_POSTS posts of arqmath-mini (default 600; 0: all of them), MATHAMR_BENCH_ENGINE (default flat), and the model in the folder
MATHAMR_BENCH_MODEL; without one the model in the box, or else a small one with random weights.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from mathamr.formulas.parse import FormulaError, parse
from mathamr.index.indexing.outdated import reset_lexical, reset_outdated
from mathamr.index.indexing.writer import IndexWriter
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.data import data_folder

POSTS = int(os.environ.get("MATHAMR_BENCH_POSTS", "600")) or None
ENGINE = os.environ.get("MATHAMR_BENCH_ENGINE", "flat")
MODEL = os.environ.get("MATHAMR_BENCH_MODEL", "")
SINGLE = 10


def run() -> None:
    source = data_folder() / "arqmath-mini" / "Posts.xml"
    posts = list(islice(read_posts(source, Report()), POSTS))
    with tempfile.TemporaryDirectory(prefix="mathamr-bench-") as name:
        folder = Path(name)
        path, out = folder / "posts.jsonl", folder / "index"
        model = _model(folder, posts)
        built = _index(path, posts, out, model)
        print(
            f"  {len(posts):,} posts, {built['counts']['formulas']:,} formulas, engine {ENGINE}, 2 workers:"
            f" {built['seconds']:.1f} s, {built['posts_per_second']:.1f} posts/s, {built['cpu']:.1f} s of processors"
        )
        stages = built["seconds_by_stage"].items()
        print("  seconds by stage: " + ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in stages))
        sizes = ", ".join(f"{part} {size / 2**20:.1f}" for part, size in built["bytes"].items())
        total = sum(built["bytes"].values())
        print(
            f"  memory {built['peak_memory_bytes'] / 2**20:.0f} MiB; on disk {total / 2**20:.1f} MiB ({sizes}),"
            f" {total / len(posts) / 1024:.1f} KiB a post"
        )
        unchanged = _index(path, posts, out, model)
        changed = [_changed(post) if number % 100 == 0 else post for number, post in enumerate(posts)]
        updated = _index(path, changed, out, model)
        for what, row in (("nothing changed", unchanged), ("1 % changed", updated)):
            print(
                f"  again, {what}: {row['cpu']:.1f} s of processors,"
                f" {row['cpu'] / built['cpu']:.3f} times a new build (of which starting takes {_start():.1f} s)"
            )
        _lexical(out, posts)
        _single(out, posts)


def _index(path: Path, posts: list[Post], out: Path, model: Path | None) -> dict[str, Any]:
    path.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    command = [sys.executable, "-m", "mathamr", "index", str(path), "--out", str(out), "--engine", ENGINE]
    command += ["--workers", "2", "--device", "cpu", "--json"] + (["--model", str(model)] if model else [])
    before = os.times()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    row: dict[str, Any] = json.loads(done.stdout)
    row["cpu"] = after.children_user + after.children_system - before.children_user - before.children_system
    return row


def _start() -> float:
    """Measures the time to load the code and a model, before any work."""
    before = os.times()
    code = "import mathamr.index.indexing.builder, mathamr.systems.mathamrplus.graphencoder"
    subprocess.run([sys.executable, "-c", code], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _changed(post: Post) -> Post:
    return replace(post, body=post.body + "<p>One more remark.</p>")


def _lexical(out: Path, posts: list[Post]) -> None:
    """Compare the lexical part with parsing, because terms of formulas need their trees."""
    with IndexWriter.open(out, device="cpu") as archive:
        reset_lexical(archive)
        reset_outdated(archive)
        started = time.process_time()
        archive.update_parts()
        spent = time.process_time() - started
        entries = archive.lexical.posts.count() + archive.lexical.formulas.count()
    different = {(formula.latex, post.macros) for post in posts for formula in post.formulas if formula.latex}
    started = time.process_time()
    for latex, macros in different:
        with suppress(FormulaError):
            parse(latex, macros)
    parsing = time.process_time() - started
    print(
        f"  the lexical part rebuilt, one process: {entries / spent:,.0f} entries (posts, visual classes) a second of"
        f" a processor; {spent / parsing:.2f} times parsing the {len(different):,} different formulas alone"
    )


def _single(out: Path, posts: list[Post]) -> None:
    with IndexWriter.open(out, device="cpu") as archive:
        archive.put([replace(posts[0], id="first")])
        started, clock = time.perf_counter(), time.process_time()
        for number in range(SINGLE):
            archive.put([replace(posts[number % len(posts)], id=f"new-{number}")])
        wall, used = (time.perf_counter() - started) / SINGLE, (time.process_time() - clock) / SINGLE
        started = time.perf_counter()
        archive.delete([f"new-{number}" for number in range(SINGLE)])
        print(
            f"  a post put and acknowledged: {1000 * wall:.0f} ms ({1000 * used:.0f} ms of a processor);"
            f" {SINGLE} deleted: {1000 * (time.perf_counter() - started):.0f} ms"
        )


def _model(folder: Path, posts: list[Post]) -> Path | None:
    from mathamr.systems.models import DEFAULT, boxed_folder

    if MODEL:
        return Path(MODEL)
    if boxed_folder(DEFAULT) is not None:
        return None
    from tests.models import graph_store, tiny_model

    return tiny_model(folder / "model", graph_store(folder / "graphs", posts[:40]))
