"""Lists of names, written as text."""

from __future__ import annotations


def names(listing: str) -> frozenset[str]:
    """Return the names in a text, which blanks and line ends separate.

    >>> sorted(names("sin cos"))
    ['cos', 'sin']
    """
    return frozenset(listing.split())
