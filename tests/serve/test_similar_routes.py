"""Entries that say something similar to one, for clients."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from mathamr.search.searcher import Index
from tests.index.small import build, note
from tests.serve.conftest import Serving


def test_entries_similar_to_one_leave_out_itself_and_its_answers(client: Any, index: Index) -> None:
    question = next(post for post in index.archive.catalogue.every_post() if post.kind == "question")
    hits = client.get(f"/v1/similar/{quote(question.id, safe='')}", params={"k": 4}).json()["hits"]
    assert hits
    assert not any(question.id in (hit["id"], hit["parent"]) for hit in hits)


def test_an_unknown_entry_is_told(client: Any) -> None:
    assert client.get("/v1/similar/nowhere").json()["error"]["code"] == "unknown_post"


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
