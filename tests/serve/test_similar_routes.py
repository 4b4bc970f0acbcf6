"""Entries that say nearly the same, for clients."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mathamr.search.searcher import Index
from mathamr.search.similarposts import similar_posts
from mathamr.serve.routes import similar
from tests.index.small import build, note
from tests.serve.conftest import Serving


def test_pairs_are_those_of_the_command(client: Any, index: Index) -> None:
    pairs = client.get("/v1/similar", params={"least": 0.5, "k": 3}).json()["pairs"]
    expected = similar_posts(index, 0.5, 3)
    assert len(pairs) == len(expected) > 0
    for shown, pair in zip(pairs, expected, strict=True):
        assert [post["id"] for post in shown["posts"]] == [pair.first.id, pair.second.id]
        assert shown["similarity"] == pytest.approx(pair.similarity, abs=1e-4)


def test_entries_similar_to_one_leave_out_itself_and_its_answers(client: Any, index: Index) -> None:
    question = next(post for post in index.archive.catalogue.every_post() if post.kind == "question")
    hits = client.get(f"/v1/similar/{quote(question.id, safe='')}", params={"k": 4}).json()["hits"]
    assert hits
    assert not any(question.id in (hit["id"], hit["parent"]) for hit in hits)


def test_an_unknown_entry_and_too_many_entries_are_told(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/v1/similar/nowhere").json()["error"]["code"] == "unknown_post"
    monkeypatch.setattr(similar, "MOST_POSTS", 1)
    error = client.get("/v1/similar").json()["error"]
    assert error["code"] == "too_complex"
    assert "mathamr similar" in error["message"]


def test_an_entry_too_long_for_a_query_is_compared_by_its_beginning(
    serving: Serving, model_folder: Path, tmp_path: Path
) -> None:
    """It was a permanent 503."""
    many = note("many", " ".join(f"$x_{{{number}}}$" for number in range(600)))
    long = note("long", "A zebra is a group. " * 3_000)
    build(tmp_path / "index", [many, long, note("short", "A zebra is a group.")], model_folder)
    with Index.open(tmp_path / "index", device="cpu") as opened:
        client = serving(over=opened)
        for id in ("many", "long"):
            answer = client.get(f"/v1/similar/{id}")
            assert answer.status_code == 200, answer.text
            assert "short" in [hit["id"] for hit in answer.json()["hits"]]
