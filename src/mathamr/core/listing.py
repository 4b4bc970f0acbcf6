"""Lists of names, written as text."""

from __future__ import annotations


def names(listing: str) -> frozenset[str]:
    """Split a list of names at whitespace.

    >>> sorted(names("sin cos"))
    ['cos', 'sin']
    """
    return frozenset(listing.split())
