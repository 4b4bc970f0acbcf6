"""Words of general English, which are not misspelt names."""

from __future__ import annotations

from functools import cache

from mathamr.systems.models import boxed, boxed_folder


@cache
def general_words() -> frozenset[str]:
    """Return the words that are one piece to a text encoder in the box; empty if no encoder is.

    >>> "naples" in general_words(), "lemam" in general_words()
    (True, False)
    """
    for name in boxed():
        folder = boxed_folder(name)
        path = folder / "text" / "wordpieces.txt" if folder is not None else None
        if path is not None and path.is_file():
            pieces = path.read_text(encoding="utf-8").splitlines()
            return frozenset(piece for piece in pieces if piece.isalpha() and len(piece) > 2)
    return frozenset()
