"""`SafeConsole`: rich's, on which words of strangers are shown and never obeyed."""

from __future__ import annotations

from collections.abc import Iterable

from rich import console
from rich.segment import Segment

from mathamr.core.terminal import visible


class SafeConsole(console.Console):
    """A console that adds its own colours, and spells out every sign of the text that a terminal would obey."""

    def render(
        self, renderable: console.RenderableType, options: console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The pieces of what is printed."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
