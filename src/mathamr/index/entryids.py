"""Checks the ids of entries: posts, their formulas, which may be named after them, and visual classes.

Ids of posts that are new obey `mathamr.posts.identifiers.check_id`; an index may hold older ones.
"""

from __future__ import annotations

from mathamr.core.errors import MathAMRError
from mathamr.posts.identifiers import LONGEST_ID

LONGEST_ENTRY_ID = LONGEST_ID + 96
"""The largest number of characters of an entry's id."""


def check_entry_id(identifier: str) -> None:
    """Raise if a text cannot be the id of an entry in every engine."""
    if not identifier or len(identifier) > LONGEST_ENTRY_ID:
        shown = f"one of {len(identifier):,} characters" if identifier else "an empty one"
        raise MathAMRError(f"an id must have 1 to {LONGEST_ENTRY_ID:,} characters, got {shown}")
    if "\0" in identifier:
        raise MathAMRError(
            f"the id {identifier[:100]!r} contains a NUL character, which not every engine can store; remove it"
        )
    try:
        identifier.encode()
    except UnicodeEncodeError as error:
        raise MathAMRError(f"the id {identifier!r} is not valid Unicode") from error
