"""Whatever is typed gives LaTeX in bounded time, and a query of it is a query or a clear error."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.formulas.typed.reader import typed_to_latex
from mathamr.search.query import Query
from tests.bounded import bounded

NESTING = ["x^", "√", "sqrt ", "x^-", "\\a{", "x^(", "x_{", "(mod ", "binom(", "<a,", "|(", "sin(", "e^-", "2^a^", "log_", "x ", "⟩", "|", ")"]  # fmt: skip
"""What opens or continues something that the next part may stand in, and some that close it."""


@given(
    st.lists(
        st.tuples(st.sampled_from(NESTING), st.sampled_from([1, 2, 30, 400])).map(
            lambda part: part[0] * part[1]
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_nesting_gives_latex_and_a_query_or_a_clear_error(parts: list[str]) -> None:
    text = "".join(parts)
    assert isinstance(typed_to_latex(text), str)
    for task in ("answers", "formulas"):
        with suppress(MathAMRError):
            assert Query.of_text(text, task).post.body


@pytest.mark.parametrize("part", ["x^", "√", "\\a{", "x^(", "(mod ", "x^-"])
def test_scripts_and_arguments_nested_too_deeply_are_taken_for_latex(part: str) -> None:
    nested = part * 400
    assert typed_to_latex(nested).count(part.strip() if part != "√" else "\\sqrt") == 400


def test_bars_that_open_nothing_are_not_tried_again_and_again() -> None:
    code = "from mathamr.formulas.typed.reader import typed_to_latex; print(len(typed_to_latex('|(' * 30 + 'x⟩' + ' |' * 30)))"
    done = bounded(code, seconds=10)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 90
