"""Formulas in Unicode that stand in plain text."""

from __future__ import annotations

import pytest

from mathamr.posts.formats.document import text
from mathamr.posts.markup import pieces, title_pieces
from mathamr.posts.markup.unicodemath import unicode_formulas
from tests.bounded import bounded
from tests.cases import cases

FOUND = [
    ("Let x² ≤ 1 for all x ∈ ℝ.", ["x² ≤ 1", "x ∈ ℝ"]),
    ("π₁(S¹) ≅ ℤ, as shown", ["π₁(S¹) ≅ ℤ"]),
    ("the sum ∑ᵢ₌₁ⁿ xᵢ² = 0 vanishes", ["∑ᵢ₌₁ⁿ xᵢ² = 0"]),
    ("f: X → Y is continuous", ["f: X → Y"]),
    ("sin²x + cos²x = 1", ["sin²x + cos²x = 1"]),
    ("so sinh x ≤ y", ["sinh x ≤ y"]),
    ("in sec x ≤ y", ["x ≤ y"]),
    ("(see x ∈ A)", ["x ∈ A"]),
    ("a ∈ A: a set", ["a ∈ A"]),
    ("the map a x ∈ ℝ", ["x ∈ ℝ"]),
    ("x₁, x₂ and x₃", ["x₁", "x₂", "x₃"]),
    ("d(x,y) ≥ 0", ["d(x,y) ≥ 0"]),
    ("ℤ/nℤ is cyclic", ["ℤ/nℤ"]),
    ("σ-algebra and L²-norm of σ", ["L²", "σ"]),
    ("∀ε>0 ∃δ>0: |x−y| < δ ⇒ |f(x)−f(y)| < ε.", ["∀ε>0 ∃δ>0: |x−y| < δ ⇒ |f(x)−f(y)| < ε"]),
]
PROSE = [
    "Settings → Options",
    "word¹ and another²",
    "λόγος",
    "½ cup – or more… costs 5 € at 20 °C",
    "Größe, café, naïve",
    "5′ and 6″",
    "Theorem 3 ⇒ Lemma 2",
    "• a bullet",
    "CO₂",
]


@cases(("words", "formulas"), FOUND)
def test_formulas_in_unicode_are_found(words: str, formulas: list[str]) -> None:
    assert [words[start:end] for start, end in unicode_formulas(words)] == formulas


@cases("words", PROSE)
def test_prose_stays_prose(words: str) -> None:
    assert list(unicode_formulas(words)) == []


@pytest.mark.parametrize("markup", ["text", "markdown", "latex"])
def test_notes_have_them_as_formulas_at_their_place(markup: str) -> None:
    note = "Let $y$ and x² ≤ 1."
    found = [piece for piece in pieces(note, markup) if piece.kind == "formula"]
    assert [piece.text for piece in found] == ["y", "x² ≤ 1"]
    assert [note[piece.start : piece.end] for piece in found] == ["$y$", "x² ≤ 1"]


def test_posts_of_a_forum_keep_what_they_publish() -> None:
    assert [piece.kind for piece in pieces("<p>x² ≤ 1</p>", "html") if piece.kind == "formula"] == []
    assert [piece.kind for piece in title_pieces("Is x² ≤ 1?", "html")] == ["text"]


def test_documents_mark_them_as_formulas() -> None:
    assert text("Let x² ≤ 1.") == 'Let <span class="math-container">$x² ≤ 1$</span>.'


def test_braces_and_functions_are_latex() -> None:
    found = [piece.text for piece in pieces("the set {x ∈ ℝ | sin x < 2}", "text") if piece.kind == "formula"]
    assert found == [r"\{x ∈ ℝ | \sin  x < 2\}"]


HOSTILE = """
from mathamr.posts.markup.unicodemath import unicode_formulas
texts = ["(∈" * 100_000, "x²" * 100_000, "{ℝ|" * 60_000, "∑ " * 100_000, "a ∈ " * 50_000]
print(all(len(list(unicode_formulas(text))) >= 0 for text in texts))
"""


@pytest.mark.slow
def test_hostile_text_takes_bounded_time() -> None:
    assert bounded(HOSTILE).stdout.strip() == "True"
