"""The small shard of the training room serves its trainers, and some pairs of the sample with a text encoder."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.text.torchfolder import save_text_encoder
from mathamr_lab.training.export import export_store
from tests.lab.training.conftest import _one_thread, shard
from tests.models import graph_store, once_a_run, sample_posts
from tests.text.small import small_text_encoder

__all__ = ["_one_thread", "shard"]


def make_text_files(folder: Path) -> None:
    """The store, the posts, a shard of some pairs of the sample, and a tiny text encoder."""
    folder.mkdir()
    posts = sample_posts()
    wanted = {post.id for post in [post for post in posts if post.kind == "question"][:12]}
    chosen = [post for post in posts if post.id in wanted or post.parent in wanted]
    lines = "".join(post.to_json() + "\n" for post in chosen)
    (folder / "posts.jsonl").write_text(lines, encoding="utf-8")
    graph_store(folder / "graphs", chosen)
    export_store(folder / "graphs", "both-hierarchy-none", folder / "pairs.npz")
    save_text_encoder(folder / "base", small_text_encoder(projection=6))


@pytest.fixture(scope="session")
def text_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What MathAMR+ is trained on."""
    return once_a_run(tmp_path_factory, "text-files", make_text_files)
