"""Writes SVG: shapes with classes for light and dark pages, all text escaped, no external fonts or scripts."""

from __future__ import annotations

import unicodedata
from xml.sax.saxutils import escape, quoteattr

ROW = 26.0
"""The height of one line of nodes."""

_FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_CHARACTER = 7.3
_LIGHT = {
    "page": "#ffffff",
    "ink": "#1f2937",
    "faint": "#9ca3af",
    "amr": "#1d4ed8",
    "amr-fill": "#eff6ff",
    "concept": "#4b5563",
    "concept-fill": "#f3f4f6",
    "opt": "#15803d",
    "opt-fill": "#f0fdf4",
    "slt": "#c2410c",
    "slt-fill": "#fff7ed",
    "formula": "#7e22ce",
    "formula-fill": "#faf5ff",
    "virtual": "#be185d",
    "virtual-fill": "#fdf2f8",
}
_DARK = {
    "page": "#111827",
    "ink": "#e5e7eb",
    "faint": "#6b7280",
    "amr": "#93c5fd",
    "amr-fill": "#172554",
    "concept": "#d1d5db",
    "concept-fill": "#1f2937",
    "opt": "#86efac",
    "opt-fill": "#052e16",
    "slt": "#fdba74",
    "slt-fill": "#431407",
    "formula": "#d8b4fe",
    "formula-fill": "#3b0764",
    "virtual": "#f9a8d4",
    "virtual-fill": "#500724",
}
KINDS = ("amr", "concept", "opt", "slt", "formula", "virtual")


def text_width(text: str) -> float:
    """The approximate width of a text in the drawings' font.

    >>> text_width("ab") < text_width("漢字")
    True
    """
    return sum(
        0.0
        if unicodedata.combining(c)
        else 2 * _CHARACTER
        if unicodedata.east_asian_width(c) in "WF"
        else _CHARACTER
        for c in text
    )


def shortened(text: str, length: int = 40) -> str:
    """A label that fits into a node: control characters become dots, and a long label is cut.

    >>> shortened("a" * 50)[-3:], shortened("a\\tb")
    ('aa…', 'a·b')
    """
    visible = "".join(c if c.isprintable() else "·" for c in text)
    return visible if len(visible) <= length else visible[: length - 1] + "…"


class Drawing:
    """Collects shapes and writes one SVG file around them; the page grows with what is drawn."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._layers: tuple[list[str], list[str], list[str]] = ([], [], [])
        self._right = self._bottom = 0.0

    def region(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """A tinted area behind everything else."""
        self._reach(x + width, y + height)
        self._layers[0].append(
            f'<rect class="region {kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="7"/>'
        )

    def line(self, points: list[tuple[float, float]], kind: str, style: str = "") -> None:
        """A line through points, behind the nodes."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._layers[1].append(f'<polyline class="line {kind} {style}" points="{path}"/>')

    def curve(self, start: tuple[float, float], end: tuple[float, float], kind: str, style: str = "") -> None:
        """A curve from left to right between two points, behind the nodes."""
        (x1, y1), (x2, y2) = start, end
        middle = (x1 + x2) / 2
        self._layers[1].append(
            f'<path class="line {kind} {style}" d="M{x1:.1f},{y1:.1f} C{middle:.1f},{y1:.1f} {middle:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"/>'
        )

    def text(self, x: float, y: float, text: str, kind: str, style: str = "") -> None:
        """Text whose left end stands at x, centred on y."""
        self._reach(x + text_width(text), y + ROW / 2)
        self._layers[2].append(
            f'<text class="{kind} {style}" x="{x:.1f}" y="{y + 4:.1f}">{escape(_clean(text))}</text>'
        )

    def node(self, x: float, y: float, label: str, kind: str, hint: str = "") -> float:
        """Draws a box with a label, its left edge at x, centred on y; returns its width."""
        shown = shortened(label) or "∅"
        width = text_width(shown) + 10
        self._reach(x + width, y + ROW / 2)
        title = f"<title>{escape(_clean(hint))}</title>" if hint else ""
        self._layers[2].append(
            f'<g class="node {kind}">{title}<rect x="{x:.1f}" y="{y - 9:.1f}" width="{width:.1f}" height="18" rx="4"/>'
            f'<text x="{x + 5:.1f}" y="{y + 4:.1f}">{escape(_clean(shown))}</text></g>'
        )
        return width

    def svg(self) -> str:
        """The complete SVG file."""
        width, height = self._right + 16, self._bottom + 16
        shapes = "\n".join(shape for layer in self._layers for shape in layer)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label={quoteattr(_clean(self.title))}>\n'
            f"<title>{escape(_clean(self.title))}</title>\n<style>{_style()}</style>\n"
            f'<rect class="page" width="100%" height="100%"/>\n{shapes}\n</svg>\n'
        )

    def _reach(self, right: float, bottom: float) -> None:
        self._right, self._bottom = max(self._right, right), max(self._bottom, bottom)


def _clean(text: str) -> str:
    """Removes the characters that XML does not allow."""
    return "".join(
        c if c >= " " and not 0xD800 <= ord(c) < 0xE000 and c not in "\ufffe\uffff" else "·" for c in text
    )


def _style() -> str:
    """The style sheet, with literal colours instead of variables, which not every SVG viewer supports."""
    shapes = (
        f"text{{font:12px {_FONT}}}.line{{fill:none;stroke-width:1}}.dotted{{stroke-dasharray:2 4}}"
        ".again{stroke-dasharray:5 3}text.role{font-size:10px}text.heading{font-weight:bold}"
        ".region{stroke-dasharray:3 3;fill-opacity:.55}"
    )
    return f"{shapes}{_colours(_LIGHT)}@media (prefers-color-scheme:dark){{{_colours(_DARK)}}}"


def _colours(of: dict[str, str]) -> str:
    rules = f"text{{fill:{of['ink']}}}.page{{fill:{of['page']}}}.line{{stroke:{of['faint']}}}text.role{{fill:{of['faint']}}}"
    for kind in KINDS:
        ink, fill = of[kind], of[f"{kind}-fill"]
        rules += f".region.{kind},.node.{kind} rect{{fill:{fill};stroke:{ink}}}.line.{kind}{{stroke:{ink}}}"
        rules += f".node.{kind} text,text.{kind}{{fill:{ink}}}"
    return rules
