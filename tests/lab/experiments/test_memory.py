"""The generated collection, and the benchmark of memory on a small one: every step has a peak, and none holds the collection."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.experiments.collection import collection_of
from mathamr_lab.experiments.miniature import TOPICS, write_many

ROOT = Path(__file__).resolve().parents[3]


def test_a_generated_collection_has_its_posts_topics_and_a_third_of_new_classes(tmp_path: Path) -> None:
    write_many(tmp_path, 1000)
    report = Report()
    posts = list(read_posts(tmp_path / "Collection", report, beside=[tmp_path / "Formulas"]))
    formulas = [formula for post in posts for formula in post.formulas]
    visuals = {formula.visual_id for formula in formulas}
    assert (len(posts), report.skipped.total()) == (1000, 0)
    assert None not in visuals
    assert len({formula.id for formula in formulas}) == len(formulas) > 10_000
    latex = {formula.visual_id: formula.latex for formula in formulas}
    assert len(set(latex.values())) > 0.99 * len(visuals)
    again = [formula for formula in formulas if "+c_{2}" in formula.latex]
    assert 0.25 < len({formula.visual_id for formula in again}) / (len(formulas) / 3) < 0.45
    collection = collection_of(
        [tmp_path / "Collection"],
        [tmp_path / "Topics" / "Topics_Task2_2022.xml"],
        [tmp_path / "Qrels" / "qrel_task2_2022_official.tsv"],
    )
    assert len(collection.tests[0].topics) == TOPICS


@pytest.mark.slow
def test_every_stage_has_a_peak_and_is_not_measured_twice(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.memory", "--folder", str(tmp_path)]
    command += ["--posts", "100", "--steps", "posts", "n-grams"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    found = {}
    for step in ("posts", "n-grams"):
        found |= json.loads((tmp_path / "100" / f"{step}.memory.json").read_text(encoding="utf-8"))
    assert {
        "posts",
        "n-grams: collection Topics_Task2",
        "n-grams: scores of Topics_Task2 by BM25, LaTeX n-grams",
        "n-grams: evaluate",
    } <= found.keys()
    assert all(20 < peak < 8192 for peak, _ in found.values())
    (tmp_path / "100" / "ARQMath" / "Collection" / "Posts.V1.3.xml").unlink()
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (again.returncode, again.stdout) == (0, done.stdout[done.stdout.index("peak MB") :])
