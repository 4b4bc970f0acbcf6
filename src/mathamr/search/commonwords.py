"""Common words: stop words, which snippets do not mark and which alone do not make a query, and words of general English."""

from __future__ import annotations

from functools import cache

from mathamr.core.listing import names
from mathamr.systems.models import boxed, boxed_folder

STOP_WORDS = names(
    """
    a about after again all also am an and any are as at be because been before being both but by can cannot could
    did do does doing don't each either else ever every few for from further get give given had has have having he
    help her here his how however i i'm if in into is it it's its just know let like many may me might more most much
    must my need no nor not now of off on once one only or other our out over own please same see she should so some
    such take than thank thanks that that's the their them then there these they this those through thus to too under
    until up us use using very want was we well were what when where whether which while who whom why will with within
    without would you your
    """
)


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
