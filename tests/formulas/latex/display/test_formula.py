from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.commands import COMMANDS
from mathamr.formulas.latex.display.formula import display_mathml
from mathamr.formulas.latex.symbols import SPACES, SYMBOLS
from tests.cases import cases
from tests.formulas.mathml.test_writing import check

PIECES = st.lists(
    st.sampled_from([*sorted(COMMANDS), *sorted(SYMBOLS), *"{}[]^_&'|$.#12ab ", "\\\\", "\\left", "\\right", "\\begin{align}",
                     "\\end{align}", "\\begin{array}{l|r}", "\\end{array}", "\\begin{CD}", "\\end{CD}", "@>", "@V", "<script>",
                     "\\over", "1em", "}{", "]{", '"', "\u202e", "\x00"]),
    max_size=30,
)  # fmt: skip


@given(PIECES, st.booleans())
def test_whatever_goes_in_safe_markup_or_a_clear_error_comes_out(pieces: list[str], display: bool) -> None:
    try:
        written = display_mathml("".join(pieces), display=display)
    except FormulaError:
        return
    check(written)


def test_every_command_is_safe_at_the_end_and_before_text() -> None:
    for name in sorted({*COMMANDS, *SPACES}):
        for latex in (
            f"x{name}",
            f"x{name}{{a}}{{b}}{{c}}y",
            f"x{name}[a]{{b}}y",
            f"x{name} y",
            rf"\text{{a{name} b}}",
        ):
            check(display_mathml(latex))


def test_macros_of_the_document_hold() -> None:
    written = display_mathml(r"\half", [r"\newcommand{\half}{\frac12}"])
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in written
    assert r'alttext="\half"' in written


@cases("latex", ["", " ", "{}", r"\label{x}", "% only a comment{}"[:0]])
def test_nothing_to_draw_is_an_error(latex: str) -> None:
    with pytest.raises(FormulaError, match="empty"):
        display_mathml(latex)


def test_a_comment_that_hides_everything_is_read() -> None:
    assert "<mi>x</mi>" in display_mathml("% x")


def test_a_text_too_long_is_no_formula() -> None:
    with pytest.raises(FormulaError, match="longer"):
        display_mathml("x" * 200_000)


def test_styles_are_declarations_or_classes() -> None:
    assert 'style="border: 0.06em solid; padding: 0.3em"' in display_mathml(r"\boxed{x}")
    assert 'class="math-boxed"' in display_mathml(r"\boxed{x}", styling="classes")
