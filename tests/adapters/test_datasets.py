"""Posts and topics in Hugging Face `datasets`, out and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.models import sample_posts

datasets = pytest.importorskip("datasets", reason="needs datasets: pip install datasets")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_posts_come_back_as_they_went(tmp_path: Path) -> None:
    source, back = tmp_path / "posts.jsonl", tmp_path / "back.jsonl"
    source.write_text("".join(post.to_json() + "\n" for post in sample_posts(40)), encoding="utf-8")
    loaded = datasets.load_dataset("json", data_files=str(source), cache_dir=str(tmp_path / "cache"))["train"]
    assert list(loaded["id"]) == [row["id"] for row in rows(source)]
    loaded.to_json(str(back))
    assert list(read_posts(back, Report())) == list(read_posts(source, Report()))
