"""Checks the ids of posts, formulas and visual classes."""

from __future__ import annotations

from mathamr.core.errors import MathAMRError

LONGEST_ID = 4096
"""The largest number of characters of an id."""


def check_id(identifier: str) -> None:
    """Raise if a text cannot be an id."""
    if not identifier or len(identifier) > LONGEST_ID:
        shown = f"one of {len(identifier):,} characters" if identifier else "an empty one"
        raise MathAMRError(f"an id has 1 to {LONGEST_ID:,} characters, not {shown}")
    if "\0" in identifier:
        raise MathAMRError(
            f"the id {identifier[:100]!r} has the character 0, which not every engine can store"
        )
    try:
        identifier.encode()
    except UnicodeEncodeError as error:
        raise MathAMRError(f"the id {identifier!r} is not valid Unicode") from error
