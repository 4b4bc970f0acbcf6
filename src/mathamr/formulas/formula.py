"""`Formula`: one occurrence of a formula in a post, as a reader finds it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Formula:
    """One occurrence of a formula in a post."""

    id: str
    latex: str
    display: bool = False
    visual_id: str | None = None
    presentation_mathml: str | None = None
    content_mathml: str | None = None
