"""JSON lines: one answer a line."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from mathamr.amr.graph import Amr
from mathamr.amr.stream import Answer, Tally, answer_lines
from tests.amr.rule_parser import RuleParser


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=20), st.text(max_size=20).map(lambda t: json.dumps({"text": t}).encode())
        )
    )
)
def test_every_line_gets_an_answer_with_a_graph_or_an_error(lines: list[bytes]) -> None:
    tally = Tally()
    answers = answer_lines(RuleParser(), lines, tally)
    assert len(answers) == len(lines)
    for line, answer in zip(lines, answers, strict=True):
        row = json.loads(answer.to_json())
        assert "\n" not in answer.to_json()
        if row["amr"] is None:
            assert row["error"]
        else:
            assert row["text"] == json.loads(line)["text"]
            Amr.from_penman(row["amr"])
    assert tally.sentences + tally.refused == len(lines)


@given(st.text())
def test_an_answer_is_one_line_that_reads_back(text: str) -> None:
    line = Answer(text, None, text).to_json()
    line.encode()
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text, "amr": None, "error": text}
