"""`SafeConsole`: a rich console that makes control characters of untrusted text visible."""

from __future__ import annotations

from collections.abc import Iterable

from rich import console
from rich.segment import Segment

from mathamr.core.terminal import visible


class SafeConsole(console.Console):
    """Prints styled text, with every control character that came with the text escaped."""

    def render(
        self, renderable: console.RenderableType, options: console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments to print, control characters escaped."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
