"""The most frequent entries of MathML Core's operator dictionary: the defaults of browsers."""

from __future__ import annotations

_THICK, _MEDIUM, _THIN = 5 / 18, 4 / 18, 3 / 18
SPACES = {
    **dict.fromkeys("=<>≤≥≠∈∉∼≈≡≅≃⊂⊆⊃⊇≪≫→←⇒⇔↦⟶⟹∝", (_THICK, _THICK)),
    **dict.fromkeys("+−±∓", (_MEDIUM, _MEDIUM)),
    **dict.fromkeys("()[]{}⟨⟩⌊⌋⌈⌉", (0.0, 0.0)),
    ",": (0.0, _THIN),
}
"""The space before and after operators between two operands."""

STRETCHED = frozenset("()[]{}⟨⟩⌊⌋⌈⌉|‖∥∣/\\↑↓↕⇑⇓⇕⟦⟧⎰⎱⌈⌉⌜⌝⌞⌟√⟮⟯")
"""Operators that some browser stretches with their row unless `stretchy` is false."""


def default_spaces(text: str) -> tuple[float, float] | None:
    """Returns the space before and after an operator between two operands, if it is known.

    >>> default_spaces(",")
    (0.0, 0.16666666666666666)
    """
    return SPACES.get(text)
