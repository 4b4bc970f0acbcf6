from __future__ import annotations

import pytest

from tests.formulas.latex.display.drawing import drawn, first, shown, styles_of, text_of


@pytest.mark.parametrize(
    ("latex", "text"),
    [(r"\text{a > b | c}", "a > b | c"), (r"\text{if }", "if\u00a0"), (r"\text{\'\i}", "í"), (r"\text{na\"ive}", "naïve"),
     (r"\text{``q'' -- r}", "“q” – r"), (r"\text{50\% \& more}", "50% & more"), (r"\ce{A -> B}", "A -> B"), (r"\mbox{x  y}", "x y"),
     (r"\LaTeX", "LaTeX"), (r"\text[", "["), (r"\makebox[1cm][c]{x}", "x"), (r"\text{\LaTeX{} it}", "LaTeX it")],
)  # fmt: skip
def test_words_are_shown_as_typed(latex: str, text: str) -> None:
    assert shown(latex) == f"<mtext>{text}</mtext>"


def test_formulas_fonts_and_colours_stand_in_text() -> None:
    row = drawn(r"\text{if $x^2$ is \textbf{odd} or \textcolor{red}{red}}")
    assert [element.tag for element in row.children] == ["mtext", "msup", "mtext", "mtext", "mtext", "mtext"]
    assert row.children[3].text == "𝐨𝐝𝐝"
    assert row.children[5].attributes == {"mathcolor": "red"}


def test_mathematics_among_words_is_drawn() -> None:
    assert first(drawn(r"\text{a\phantom{xyz}b}"), "mphantom").children[0].tag == "mrow"
    assert text_of(drawn(r"\text{$\dv{f}{x}$ and more}")) == "dfdx\u00a0and more"


def test_boxes_of_text() -> None:
    assert styles_of(drawn(r"\fbox{a}")) == ["boxed"]
    assert styles_of(drawn(r"\framebox[3cm][l]{a}")) == ["boxed"]
    assert drawn(r"\raisebox{2pt}{a}").attributes == {"voffset": "0.2em"}
    assert drawn(r"\colorbox{yellow}{a}").attributes["mathbackground"] == "yellow"


def test_numbers_of_lines_stand_behind_them() -> None:
    row = drawn(r"x=1\tag{3.1}")
    assert row.children[1].attributes == {"width": "2em"}
    assert text_of(row) == "x=1(3.1)"
    assert text_of(drawn(r"x\tag*{A}")) == "xA"


def test_a_reference_shows_its_name() -> None:
    assert text_of(drawn(r"\eqref{euler}+\ref{a}")) == "(euler)+a"
