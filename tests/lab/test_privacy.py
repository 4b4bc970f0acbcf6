"""Training looks nothing up, connects nowhere and writes only where it was told to; so does loading a published base."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.index.small import write_posts
from tests.lab.recipes.test_bases import saved
from tests.models import sample_posts
from tests.test_privacy import check
from tests.tracing import Trace


def test_training_keeps_to_itself(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    posts = sample_posts()
    answers = [post for post in posts if post.parent][:24]
    asked = {post.parent for post in answers}
    write_posts(tmp_path / "posts.jsonl", [*(post for post in posts if post.id in asked), *answers])
    trace.mathamr("graph", "posts.jsonl", "--out", "graphs")
    quick = ["--config", "small", "--set", "graph.epochs=1", "--device", "cpu"]
    trace.mathamr("train", "mathamrplus", "graphs", "--out", "model", *quick)
    check(trace, library="torch")


def test_loading_a_published_base_keeps_to_itself(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    saved(tmp_path / "base", "bert")
    trace = Trace(tmp_path)
    trace.run(
        sys.executable,
        "-c",
        "from pathlib import Path\n"
        "from mathamr_lab.recipes.bases import published_encoder\n"
        "published_encoder(Path('base'), 'cpu')\n"
        "try: published_encoder(Path('nobody/nothing'), 'cpu')\n"
        "except Exception as error: print(error)",
    )
    check(trace, library="transformers")
