from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mathamr.formulas.jsonlines import answers
from mathamr.formulas.parse import FormulaParser


def ask(*lines: bytes) -> list[dict[str, Any]]:
    return [json.loads(answer) for answer in answers(lines, FormulaParser())]


def test_latex_is_answered_with_both_trees() -> None:
    assert ask(b'{"latex": "a+1"}') == [
        {
            "latex": "a+1",
            "slt": "[V!a[+[N!1]]]",
            "opt": "[U!plus,0[V!\U0001d44e],1[N!1]]",
            "repairs": [],
            "error": None,
        }
    ]


def test_mathml_is_answered_with_the_tree_it_has() -> None:
    presentation = b'{"pmml": "<math><mi>x</mi></math>"}'
    content = b'{"cmml": "<math><apply><sin/><ci>x</ci></apply></math>"}'
    assert [(answer["slt"], answer["opt"], answer["error"]) for answer in ask(presentation, content)] == [
        ("[V!x]", None, None),
        (None, "[F!sin,0[V!x]]", None),
    ]


def test_what_was_malformed_and_read_anyway_is_said() -> None:
    repaired, mathml, failed = ask(
        b'{"latex": "a}"}', b'{"pmml": "<math><mi>x</mi></math>"}', b'{"latex": ""}'
    )
    assert repaired["repairs"] == [{"message": "} without its opening", "offset": 1}]
    assert mathml["repairs"] is None
    assert failed["repairs"] is None


def test_what_fails_has_an_error_and_nulls_and_the_rest_goes_on() -> None:
    lines = [rb'{"latex": "\\def\\x{\\x}\\x"}', b"no json", b"[1]", b'{"latex": 3}', b"{}", b"", b"\xff\xfe",
             b'{"pmml": "<math><mi>x</math>"}', b'{"latex": "\\ud800"}', b"[" * 5000, b'{"latex": "b"}']  # fmt: skip
    found = ask(*lines)
    assert len(found) == len(lines)
    assert [bool(answer["error"]) for answer in found] == [True] * 8 + [False, True, False]
    assert all(answer["slt"] is None and answer["opt"] is None for answer in found if answer["error"])
    assert found[-1]["slt"] == "[V!b]"


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=4))
def test_every_line_gets_one_answer(lines: list[bytes]) -> None:
    assert len(ask(*lines)) == len(lines)
