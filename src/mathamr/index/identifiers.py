"""What may be the id of a post, a formula or a visual class."""

from __future__ import annotations

from mathamr.core.errors import MathAMRError

LONGEST_ID = 4096
"""Characters an id may have."""


def check_id(identifier: str) -> None:
    """Refuses what cannot be an id."""
    if not identifier or len(identifier) > LONGEST_ID:
        shown = f"one of {len(identifier):,} characters" if identifier else "an empty one"
        raise MathAMRError(f"an id has 1 to {LONGEST_ID:,} characters, not {shown}")
    try:
        identifier.encode()
    except UnicodeEncodeError as error:
        raise MathAMRError(f"the id {identifier!r} is not valid Unicode") from error
