"""An answer is given again only for the same question of the same state of the index."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from mathamr.serve.answercache import JsonAnswer
from tests.serve.conftest import WRITE_KEY, Serving

QUERY = r"Why does the series $\sum \frac{1}{n}$ diverge?"


def test_an_answer_is_written_once_and_given_again_with_seconds_of_its_own() -> None:
    answer = JsonAnswer.of({"hits": ["∑", 'a "b"'], "more": False}, {"search": 0.25})
    assert json.loads(answer.body) == {"seconds": {"search": 0.25}, "hits": ["∑", 'a "b"'], "more": False}
    again = answer.with_seconds({"search": 0.0})
    assert json.loads(again.body) == json.loads(answer.body) | {"seconds": {"search": 0.0}}
    with pytest.raises(ValueError, match="not JSON compliant"):
        JsonAnswer.of({"score": float("nan")}, {})


@pytest.fixture
def counted(own_index: Index, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Which searches the index was asked for."""
    asked: list[Any] = []
    search = own_index.search

    def counting(query: Any, **named: Any) -> Any:
        asked.append(named)
        return search(query, **named)

    monkeypatch.setattr(own_index, "search", counting)
    return asked


@pytest.mark.parametrize("task", ["answers", "formulas"])
def test_the_same_question_is_searched_for_once_until_the_index_changes(
    serving: Serving, own_index: Index, counted: list[Any], task: str
) -> None:
    client = serving(over=own_index, keys=Keys(WRITE_KEY))
    asked = {"q": QUERY, "task": task, "strategy": "lexical", "k": 3}

    def ask(**more: Any) -> Any:
        answer = client.post("/v1/search", json=asked | more).json()
        assert {"parse", "search", "snippet", "render", "total"} <= set(answer.pop("seconds"))
        return answer

    first = ask()
    assert ask() == first
    assert len(counted) == 1
    for more in ({"k": 2}, {"offset": 1}, {"filter": {"kinds": ["answer"]}}, {"q": f"{QUERY} Please"}):
        assert ask(**more) != first
    assert len(counted) == 5
    written = {
        "body": "The harmonic series $\\sum \\frac{1}{n}$: why does it diverge? Why does the series diverge?"
    }
    put = client.put("/v1/posts/written", json=written, headers={"X-API-Key": WRITE_KEY})
    assert put.status_code in (200, 201), put.text
    again = ask()
    assert len(counted) == 6
    assert task == "formulas" or "written" in [hit["id"] for hit in again["hits"]]


def test_what_is_denied_is_searched_for_again(serving: Serving, own_index: Index, counted: list[Any]) -> None:
    client = serving(over=own_index)
    for _ in range(2):
        answer = client.post("/v1/search", json={"q": "Zermelo", "strategy": "lexical"}).json()
        assert answer["found"] == "nothing"
        assert answer["absent"] == ["Zermelo"]
    assert len(counted) == 2
