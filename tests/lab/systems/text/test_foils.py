"""Foils: one small change that changes the meaning."""

from __future__ import annotations

import pytest

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr_lab.systems.text.foils import foils_of


def _foils(body: str) -> dict[str, str]:
    post = Post("7", "lemma", body, markup="latex", formulas=formulas_of("7", "", body, "latex"))
    return {foil.kind: foil.post.body for foil in foils_of(post)}


@pytest.mark.parametrize(
    ("kind", "body", "changed"),
    [
        ("order", r"Then $a \leq b$.", r"Then $a \geq b$."),
        ("map", "Every injective map is nice.", "Every surjective map is nice."),
        ("quantifier", "It holds for every $x$.", "It holds for some $x$."),
        ("sign", "We have $a+b=c$.", "We have $a-b=c$."),
        ("index", "Then $x_1=y$.", "Then $x_2=y$."),
        (
            "direction",
            "If $f$ is differentiable, then $f$ is continuous.",
            "If $f$ is continuous, then $f$ is differentiable.",
        ),
    ],
)
def test_a_foil_changes_one_place(kind: str, body: str, changed: str) -> None:
    assert _foils(body)[kind] == changed


def test_words_inside_other_words_are_left_alone() -> None:
    assert "opposite" not in _foils("The opening is a brightness.")
    assert _foils("An infinite set.") == {"opposite": "An finite set."}


def test_a_text_without_anything_to_change_has_no_foil() -> None:
    assert _foils("Hello.") == {}
