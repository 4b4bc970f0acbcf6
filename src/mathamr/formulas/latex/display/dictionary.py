"""The most frequent entries of MathML Core's operator dictionary: the defaults of a browser."""

from __future__ import annotations

_THICK, _MEDIUM, _THIN = 5 / 18, 4 / 18, 3 / 18
SPACES = {
    **dict.fromkeys("=<>≤≥≠∈∉∼≈≡≅≃⊂⊆⊃⊇≪≫→←⇒⇔↦⟶⟹∝", (_THICK, _THICK)),
    **dict.fromkeys("+−±∓", (_MEDIUM, _MEDIUM)),
    **dict.fromkeys("()[]{}⟨⟩⌊⌋⌈⌉", (0.0, 0.0)),
    ",": (0.0, _THIN),
}
"""Space before and after operators that stand between two operands."""

STRETCHED = frozenset("()[]{}⟨⟩⌊⌋⌈⌉|‖∥∣/\\↑↓↕⇑⇓⇕⟦⟧⎰⎱⌈⌉⌜⌝⌞⌟√⟮⟯")
"""Operators that grow with their row in some browser unless `stretchy` is false."""


def default_spaces(text: str) -> tuple[float, float] | None:
    """Space before and after an operator between two operands, where it is known.

    >>> default_spaces(",")
    (0.0, 0.16666666666666666)
    """
    return SPACES.get(text)
