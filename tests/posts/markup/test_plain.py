"""Plain text: formulas, paragraphs, and what is reported."""

from __future__ import annotations

from mathamr.posts.markup import pieces


def test_text_formulas_and_paragraphs_come_in_order() -> None:
    found = [(piece.kind, piece.text) for piece in pieces("Let $x$.\n\nThen \\[y.\\]", "text")]
    assert found == [
        ("text", "Let "),
        ("formula", "x"),
        ("text", "."),
        ("break", "paragraph"),
        ("text", "Then "),
        ("formula", "y"),
        ("text", "."),
    ]


def test_an_escaped_dollar_is_a_dollar() -> None:
    assert "".join(piece.text for piece in pieces("\\$5 is $x$", "text")) == "$5 is x"


def test_a_reference_to_an_equation_is_its_mark() -> None:
    for markup in ("text", "html"):
        assert "".join(piece.text for piece in pieces("by \\eqref{eq:1}, $x$", markup)) == "by (*), x"


def test_what_is_repaired_is_reported_with_its_place() -> None:
    notes: list[tuple[str, int]] = []
    list(pieces("see $$ $$ and one open $ here", "text", lambda what, offset: notes.append((what, offset))))
    assert notes == [("empty formula", 4), ("unclosed $", 23)]


def test_two_dollars_that_do_not_close_leave_the_next_formula_whole() -> None:
    assert [piece.text for piece in pieces("$$x$ is", "text") if piece.kind == "formula"] == ["x"]
