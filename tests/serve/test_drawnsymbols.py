"""Symbols that were drawn: what is recognised, and what a client may send."""

from __future__ import annotations

from typing import Any

import pytest

from mathamr.formulas.parse import parse
from mathamr.serve import drawnsymbols
from mathamr.serve.drawnsymbols import drawn_symbols
from tests.cases import cases
from tests.serve.drawings import DRAWINGS


@cases("latex", DRAWINGS)
def test_a_clear_drawing_is_recognised_wherever_and_however_large_it_is(latex: str) -> None:
    strokes = DRAWINGS[latex]
    assert drawn_symbols(strokes)[0].latex == latex
    moved = [[(3.7 * x - 500, 3.7 * y + 90) for x, y in stroke] for stroke in strokes]
    assert drawn_symbols(moved)[0].latex == latex


def test_every_symbol_that_is_offered_can_be_searched_for() -> None:
    offered = [latex for _, latex, _ in drawnsymbols._symbols() if latex]
    assert len(offered) > 300
    assert [latex for latex in offered if parse(latex).to_dict()["repairs"]] == []


def test_a_dot_and_the_same_point_again_and_again_are_drawings_too() -> None:
    assert len(drawn_symbols([[(5, 5)]], 3)) == 3
    assert len(drawn_symbols([[(5, 5)] * 50, [(5, 5)]], 3)) == 3


def test_a_drawing_in_four_thousand_small_steps_is_recognised(client: Any) -> None:
    steps = [(number / 10, 0.0) for number in range(400)]
    answer = client.post("/v1/symbols", json={"strokes": [steps] * 10, "k": 1})
    assert answer.json()["symbols"][0]["latex"] == drawn_symbols([[steps[0], steps[-1]]], 1)[0].latex


def test_a_client_draws_and_gets_symbols(client: Any) -> None:
    answer = client.post("/v1/symbols", json={"strokes": DRAWINGS["\\sum"], "k": 2}).json()
    assert [symbol["latex"] for symbol in answer["symbols"]] == ["\\sum", "\\Sigma"]
    assert answer["symbols"][0]["character"] == "∑"


@pytest.mark.parametrize(
    "strokes",
    [
        [],
        [[]],
        [[[1]]],
        [[[1e300, 0]]],
        [[["x", 0]]],
        [[[0, 0]] * 501],
        [[[0, 0]]] * 41,
        [[[0, 0]] * 500] * 9,
        [[[0, 0], [9, 9]] * 250] * 8,
    ],
)
def test_what_is_no_drawing_or_too_large_is_refused(client: Any, strokes: Any) -> None:
    answer = client.post("/v1/symbols", json={"strokes": strokes})
    assert answer.status_code == 422
    assert answer.json()["error"]["field"].startswith("strokes")
