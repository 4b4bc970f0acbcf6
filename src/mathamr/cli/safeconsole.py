"""`SafeConsole`: a rich console that makes control characters of untrusted text visible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich import console
from rich.segment import Segment

from mathamr.core.terminal import visible

UNWRAPPED = 1_000_000
"""The width of output that is no terminal: programs read it by lines, so none is wrapped."""


class SafeConsole(console.Console):
    """Prints styled text, with every control character that came with the text escaped.

    Lines are wrapped at the width of a terminal; output to a pipe or a file is never wrapped.
    """

    def __init__(self, *, width: int | None = None, **options: Any) -> None:
        super().__init__(width=width, **options)
        if width is None and not self.is_terminal:
            self.width = UNWRAPPED

    def render(
        self, renderable: console.RenderableType, options: console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments to print, control characters escaped."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
