"""Writes SVG: shapes and text of any picture, all text escaped, no external fonts or scripts.

`shape`, `text` and `document` write elements; a `Drawing` collects nodes and lines with classes for light and dark pages.
`save_png` draws an SVG file as pixels.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape
from math import ceil
from pathlib import Path

from mathamr.core.errors import MathAMRError, MissingExtraError

ROW = 26.0
"""The height of one line of nodes."""

_FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
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
NAMESPACE = "http://www.w3.org/2000/svg"
_NOT_XML = re.compile("[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KINDS = ("amr", "concept", "opt", "slt", "formula", "virtual")


def shape(tag: str, *content: str, **attributes: float | str | None) -> str:
    """Return an element; `content` is markup, attributes that are None are left out, `_` in their names is a hyphen.

    >>> shape("rect", x=1.5, height=20, class_="node", rx=None), shape("title", escaped("a<b"))
    ('<rect x="1.5" height="20" class="node"/>', '<title>a&lt;b</title>')
    """
    written = "".join(
        f' {name.strip("_").replace("_", "-")}="{escaped(value) if isinstance(value, str) else _number(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{''.join(content)}</{tag}>" if content else f"<{tag}{written}/>"


def text(
    x: float, y: float, said: str, size: float, colour: str, anchor: str = "start", *, bold: bool = False
) -> str:
    """Return a text whose base line is at y."""
    weight = 600 if bold else None
    return shape(
        "text", escaped(said), x=x, y=y, font_size=size, fill=colour, text_anchor=anchor, font_weight=weight
    )


def document(width: float, height: float, title: str, *content: str, **attributes: str) -> str:
    """Return an SVG file of this size around markup."""
    body = (shape("title", escaped(title)), *content)
    width, height = ceil(width), ceil(height)
    box = {"viewBox": f"0 0 {_number(width)} {_number(height)}"}
    return shape("svg", *body, xmlns=NAMESPACE, role="img", width=width, height=height, **box, **attributes)


def escaped(said: str) -> str:
    """Return text for content or an attribute, without the characters that XML forbids."""
    return escape(_NOT_XML.sub("·", said))


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def save_png(svg: str, path: Path) -> None:
    """Draw an SVG file as a PNG file; raise `MissingExtraError` without the extra `png`."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise MissingExtraError(
            "drawing PNG", "pip install 'mathamr[png]' (SVG needs nothing: name a file that ends in .svg)"
        ) from None
    try:
        path.write_bytes(bytes(svg_to_bytes(svg_string=svg, zoom=2)))
    except OSError as error:
        raise MathAMRError(f"{path}: the picture cannot be written ({error.strerror or error})") from error


def text_width(said: str, size: float = 12.0) -> float:
    """Estimate the width of a text in an unknown font.

    >>> text_width("ab") < text_width("漢字")
    True
    """
    widths = (
        0.0 if unicodedata.combining(each) else 2.0 if unicodedata.east_asian_width(each) in "WF" else 1.0
        for each in said
    )
    return 0.61 * size * sum(widths)


def shortened(said: str, length: int = 40) -> str:
    """Return a label that fits into a node: control characters become dots, and a long label is cut.

    >>> shortened("a" * 50)[-3:], shortened("a\\tb")
    ('aa…', 'a·b')
    """
    visible = "".join(c if c.isprintable() else "·" for c in said)
    return visible if len(visible) <= length else visible[: length - 1] + "…"


class Drawing:
    """A picture that grows with the nodes, lines and texts that are drawn."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._layers: tuple[list[str], list[str], list[str]] = ([], [], [])
        self._right = self._bottom = 0.0

    def region(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """Tint an area behind everything else."""
        self._reach(x + width, y + height)
        self._layers[0].append(
            shape("rect", class_=f"region {kind}", x=x, y=y, width=width, height=height, rx=7)
        )

    def line(self, points: list[tuple[float, float]], kind: str, style: str = "") -> None:
        """Draw a line through points, behind the nodes."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._layers[1].append(shape("polyline", class_=f"line {kind} {style}", points=path))

    def curve(self, start: tuple[float, float], end: tuple[float, float], kind: str, style: str = "") -> None:
        """Draw a curve from left to right between two points, behind the nodes."""
        (x1, y1), (x2, y2) = start, end
        middle = (x1 + x2) / 2
        path = f"M{x1:.1f},{y1:.1f} C{middle:.1f},{y1:.1f} {middle:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
        self._layers[1].append(shape("path", class_=f"line {kind} {style}", d=path))

    def text(self, x: float, y: float, said: str, kind: str, style: str = "") -> None:
        """Write text whose left end stands at x, centred on y."""
        self._reach(x + text_width(said), y + ROW / 2)
        self._layers[2].append(shape("text", escaped(said), class_=f"{kind} {style}", x=x, y=y + 4))

    def node(self, x: float, y: float, label: str, kind: str, hint: str = "") -> float:
        """Draw a box with a label, its left edge at x, centred on y, and return its width."""
        shown = shortened(label) or "∅"
        width = text_width(shown) + 10
        self._reach(x + width, y + ROW / 2)
        parts = [shape("title", escaped(hint))] if hint else []
        parts.append(shape("rect", x=x, y=y - 9, width=width, height=18, rx=4))
        parts.append(shape("text", escaped(shown), x=x + 5, y=y + 4))
        self._layers[2].append(shape("g", *parts, class_=f"node {kind}"))
        return width

    def svg(self) -> str:
        """Return the complete SVG file."""
        page = shape("rect", class_="page", width="100%", height="100%")
        shapes = [f"{each}\n" for layer in self._layers for each in layer]
        return document(
            self._right + 16, self._bottom + 16, self.title, f"<style>{_style()}</style>\n{page}\n", *shapes
        )

    def _reach(self, right: float, bottom: float) -> None:
        self._right, self._bottom = max(self._right, right), max(self._bottom, bottom)


def _style() -> str:
    """Return the style sheet, with literal colours instead of variables, which not every SVG viewer supports."""
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
