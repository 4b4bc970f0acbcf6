"""What all markups share: the choice of one, ids, and both kinds of MathML."""

from __future__ import annotations

import pytest

from mathamr.core.errors import UnknownNameError
from mathamr.posts.markup import formulas_of, pieces
from tests.cases import cases


def test_an_unknown_markup_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="known: html, markdown, latex, text"):
        pieces("", "rst")


def test_formulas_are_counted_through_title_and_body() -> None:
    body = '<p>and <span class="math-container" id="9">$y$</span> and $$z.$$</p>'
    found = formulas_of("p", "On $x$", body, "html")
    assert [(f.id, f.latex, f.display) for f in found] == [
        ("p:0", "x", False),
        ("9", "y", False),
        ("p:2", "z", True),
    ]


def test_presentation_and_content_mathml_are_distinguished() -> None:
    presentation = "<math><mi>x</mi></math>"
    content = "<math><apply><sin/><ci>x</ci></apply></math>"
    both = (
        '<math><semantics><mi>x</mi><annotation-xml encoding="MathML-Content"><apply><sin/><ci>x</ci></apply>'
        "</annotation-xml></semantics></math>"
    )
    found = formulas_of("p", "", presentation + content + both, "html")
    assert [(f.presentation_mathml, f.content_mathml) for f in found] == [
        (presentation, None),
        (None, content),
        (both, content),
    ]


@cases("markup", ["html", "markdown", "latex", "text"])
def test_control_characters_that_stand_for_formulas_are_replaced(markup: str) -> None:
    read = [piece.text for piece in pieces("a\0b\1c\2d $x$", markup) if piece.kind == "text"]
    assert "".join(read).strip() == "a\ufffdb\ufffdc\ufffdd"


@pytest.mark.parametrize("markup", ["markdown", "text", "latex"])
def test_line_ends_of_windows_change_nothing(markup: str) -> None:
    source = "# One\n\nTwo $x$\n- b\n===\n\n```\ncode\n```\n\n---\n$$\na\n\nb\n$$\nend"

    def read(text: str) -> list[tuple[str, list[str]]]:
        found = ((piece.kind, piece.text.split()) for piece in pieces(text, markup))
        return [(kind, words) for kind, words in found if words]

    assert read(source.replace("\n", "\r\n")) == read(source)
