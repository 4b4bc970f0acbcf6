"""An answer is given again only for the same question of the same state of the index."""

from __future__ import annotations

from typing import Any

import pytest

from mathamr.search.library import Index
from mathamr.serve.access import Keys
from mathamr.serve.answers import RememberedAnswers
from tests.serve.conftest import WRITE_KEY, Serving

QUERY = r"Why does the series $\sum \frac{1}{n}$ diverge?"


def test_the_answer_that_was_asked_for_longest_ago_is_forgotten_first() -> None:
    answers = RememberedAnswers(most=2, longest=50)
    answers.put("a", {"hits": [1]})
    answers.put("b", {"hits": [2]})
    assert answers.get("a") == {"hits": [1]}
    answers.put("c", {"hits": [3]})
    assert answers.get("b") is None
    assert answers.get("a") == {"hits": [1]}
    answers.put("long", {"hits": "x" * 50})
    assert answers.get("long") is None
    assert len(answers) == 2


def test_what_is_remembered_is_not_changed_by_whoever_was_given_it() -> None:
    answers = RememberedAnswers()
    answers.put("a", {"hits": [1]})
    found = answers.get("a")
    assert found is not None
    found["hits"].append(2)
    assert answers.get("a") == {"hits": [1]}


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
