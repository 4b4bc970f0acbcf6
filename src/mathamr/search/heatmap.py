"""Draws an alignment as a heatmap (SVG, or PNG with the extra `png`), like Figure 4.1 of the thesis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mathamr.core.drawing import document, escaped, save_png, shape, text, text_width
from mathamr.core.errors import MathAMRError
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.display.formula import displayed
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.mathml.element import Element
from mathamr.search.alignment import AlignedPart, Alignment
from mathamr.search.fragment import Fragment, shortened

ROWS, COLUMNS = 40, 48
"""The greatest number of parts that are drawn; the best matches are chosen."""
LABEL = 46
VALUES_UP_TO = 16
"""With more columns than this, cells show no numbers."""

_CELL, _SIZE, _GAP = 30.0, 12.0, 8.0
_SLANT = 0.7071
"""The sine and cosine of the labels of columns, which rise by half a right angle."""
_LEVEL_COLOURS = {"document": "#6b4c9a", "sentence": "#2c6e9b", "formula": "#a8572a"}
_VIRIDIS = ("440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725")
"""Colours from low to high at equal steps, equally distinct also for readers who see colours differently."""
_DRAWN = re.compile(r"\\[a-zA-Z]+|[^\s{}^_\\]")
_FONT = "'DejaVu Sans', 'Noto Sans Math', 'Segoe UI', 'Helvetica Neue', sans-serif"


def heatmap_svg(alignment: Alignment) -> str:
    """Return the alignment as SVG: rows are parts of the query, columns parts of the post, a frame marks each row's best."""
    best = alignment.similarities.argmax(axis=1)
    rows = list(range(len(alignment.query)))[:ROWS]
    columns = _columns(alignment, [int(best[row]) for row in rows])
    values = alignment.similarities[np.ix_(rows, columns)]
    query, post = [alignment.query[row] for row in rows], [alignment.post[column] for column in columns]
    beside, above = [_label(part) for part in query], [_label(part) for part in post]
    left = max(map(_width, beside)) + 2 * _GAP
    top = max(map(_width, above)) * _SLANT + 3 * _GAP
    width, height = left + _CELL * len(columns), top + _CELL * len(rows)
    shapes = [shape("rect", width="100%", height="100%", fill="#ffffff")]
    for place, (part, label) in enumerate(zip(query, beside, strict=True)):
        shapes.append(_written(label, part, left - _GAP, top + _CELL * (place + 0.5) + 4, "end"))
    for place, (part, label) in enumerate(zip(post, above, strict=True)):
        x, y = left + _CELL * (place + 0.5), top - _GAP
        shapes.append(
            shape("g", _written(label, part, x, y, "start"), transform=f"rotate(-45 {x:.1f} {y:.1f})")
        )
    shapes += _cells(values, left, top)
    shapes += _borders(query, post, left, top)
    for row in range(len(rows)):
        x, y = left + _CELL * columns.index(int(best[row])), top + _CELL * row
        frame = {"width": _CELL - 4, "height": _CELL - 4, "stroke_width": 2}
        shapes.append(shape("rect", x=x + 2, y=y + 2, fill="none", stroke="#ffffff", **frame))
    shapes += _scale(values, width + 2 * _GAP, top, height - top)
    left_out = len(alignment.post) - len(columns), len(alignment.query) - len(rows)
    note = f"{left_out[0]} further parts of the post and {left_out[1]} of the query are not shown."
    said = [
        f"Query (rows) and post {alignment.post_id} (columns). MaxSim {alignment.score:.3f}.",
        "White frames: the best match of each row." + (f" {note}" if any(left_out) else ""),
    ]
    shapes += [text(_GAP, height + 24 + 16 * line, each, 11, "#333333") for line, each in enumerate(said)]
    leaning = max(
        left + _CELL * (place + 0.5) + (_width(label) + _SIZE) * _SLANT for place, label in enumerate(above)
    )
    right = max(width + 2 * _GAP + 60, leaning, *(text_width(each, 11) + 2 * _GAP for each in said))
    return document(
        right + _GAP, height + 56, f"Query and post {alignment.post_id}", *shapes, font_family=_FONT
    )


def save_heatmap(alignment: Alignment, path: Path) -> None:
    """Write the heatmap of an alignment: SVG to a file that ends in `.svg`, PNG to any other."""
    svg = heatmap_svg(alignment)
    if path.suffix.lower() != ".svg":
        save_png(svg, path)
        return
    try:
        path.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"{path}: the picture cannot be written ({error.strerror or error})") from error


def _columns(alignment: Alignment, best: Sequence[int]) -> list[int]:
    """Return the columns to draw, in order: all if they fit, else the best match of each row, then the strongest columns."""
    count = len(alignment.post)
    if count <= COLUMNS:
        return list(range(count))
    strongest = np.argsort(-alignment.similarities.max(axis=0), kind="stable")
    chosen = list(dict.fromkeys([*best, *map(int, strongest)]))[:COLUMNS]
    return sorted(chosen)


def _cells(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float32]], left: float, top: float
) -> Iterator[str]:
    low = min(0.0, float(values.min()))
    for (row, column), value in np.ndenumerate(values):
        x, y = left + _CELL * column, top + _CELL * row
        share = (float(value) - low) / (1.0 - low) if low < 1.0 else 1.0
        yield shape("rect", x=x, y=y, width=_CELL + 0.5, height=_CELL + 0.5, fill=_colour(share))
        if values.shape[1] <= VALUES_UP_TO:
            shown = f"{value:.2f}".replace("0.", ".")
            ink = "#000000" if value > 0.7 else "#ffffff"
            yield text(x + _CELL / 2, y + _CELL / 2 + 3, shown, 9, ink, "middle")


def _colour(share: float) -> str:
    """Return the colour of a value between 0 and 1.

    >>> _colour(0.0), _colour(1.0), _colour(0.0625)
    ('#440154', '#fde725', '#461768')
    """
    place = min(max(share, 0.0), 1.0) * (len(_VIRIDIS) - 1)
    low = min(int(place), len(_VIRIDIS) - 2)
    ends = [[int(_VIRIDIS[each][at : at + 2], 16) for at in (0, 2, 4)] for each in (low, low + 1)]
    mixed = (round(one + (other - one) * (place - low)) for one, other in zip(*ends, strict=True))
    return "#" + "".join(f"{each:02x}" for each in mixed)


def _borders(
    query: Sequence[AlignedPart], post: Sequence[AlignedPart], left: float, top: float
) -> Iterator[str]:
    """Draw white lines between documents, sentences and formulas."""
    right, bottom = left + _CELL * len(post), top + _CELL * len(query)
    for number, (before, after) in enumerate(pairwise(query), 1):
        if before.level != after.level:
            y = top + _CELL * number
            yield shape("line", x1=left, x2=right, y1=y, y2=y, stroke="#ffffff", stroke_width=3)
    for number, (before, after) in enumerate(pairwise(post), 1):
        if before.level != after.level:
            x = left + _CELL * number
            yield shape("line", x1=x, x2=x, y1=top, y2=bottom, stroke="#ffffff", stroke_width=3)


def _scale(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float32]], x: float, top: float, height: float
) -> Iterator[str]:
    """Draw the bar of colours with the cosines that they stand for."""
    low, steps = min(0.0, float(values.min())), 40
    for step in range(steps):
        y = top + height * (1 - (step + 1) / steps)
        yield shape(
            "rect", x=x, y=y, width=10, height=height / steps + 0.5, fill=_colour((step + 0.5) / steps)
        )
    for share in (0.0, 0.5, 1.0):
        yield text(x + 14, top + height * (1 - share) + 4, f"{low + (1 - low) * share:.2f}", 9, "#333333")
    yield text(x, top - 4, "cosine", 9, "#333333")


class LabelRun(NamedTuple):
    """Text of a label on the base line (level 0), raised (1) or lowered (-1)."""

    text: str
    level: int = 0


def _label(part: AlignedPart) -> list[LabelRun]:
    """Return the label of a part; formulas are set in one line."""
    return [run for fragment in shortened(part.fragments, LABEL, _room) for run in _runs(fragment)]


def _room(fragment: Fragment) -> int:
    """Return the approximate width of a fragment in the picture, in characters."""
    return len(_DRAWN.findall(fragment.text)) if fragment.kind == "formula" else len(fragment)


def _runs(fragment: Fragment) -> list[LabelRun]:
    if fragment.kind != "formula":
        return [LabelRun(fragment.text)]
    found = set_in_line(fragment.text)
    if found and sum(len(run.text) for run in found) <= LABEL:
        return found
    shown = fragment.text if len(fragment.text) <= LABEL else fragment.text[: LABEL - 1] + "…"
    return [LabelRun(shown or "(formula)")]


def set_in_line(latex: str) -> list[LabelRun]:
    r"""Return a formula as text in one line with raised and lowered parts; nothing if it cannot be drawn.

    >>> "".join(run.text for run in set_in_line(r"\frac{a+b}{2} \le \sqrt{x}"))
    '(a+b)/2 ≤ √x'
    >>> set_in_line("x^2")
    [LabelRun(text='x', level=0), LabelRun(text='2', level=1)]
    """
    try:
        return list(_joined(_in_line(displayed(latex, Macros(), display=False), 0)))
    except (FormulaError, RecursionError):
        return []


def _joined(runs: Iterator[LabelRun]) -> Iterator[LabelRun]:
    last: LabelRun | None = None
    for run in runs:
        if last is not None and last.level == run.level:
            last = LabelRun(last.text + run.text, run.level)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


_SCRIPTS = {
    "msub": (-1,), "msup": (1,), "msubsup": (-1, 1), "munder": (-1,), "mover": (1,), "munderover": (-1, 1),
}  # fmt: skip
_SPACED = re.compile(r"[=<>≤≥≠≈≡∼→⇒⇔∈∉⊂⊆]")


def _in_line(element: Element, level: int) -> Iterator[LabelRun]:
    tag, children = element.tag, element.children
    if tag in ("mi", "mn", "mo", "mtext"):
        yield LabelRun(
            f" {element.text} " if _SPACED.fullmatch(element.text) and not level else element.text, level
        )
    elif tag in _SCRIPTS and len(children) == len(_SCRIPTS[tag]) + 1:
        yield from _in_line(children[0], level)
        for child, shift in zip(children[1:], _SCRIPTS[tag], strict=True):
            yield from _in_line(child, level or shift)
    elif tag == "mfrac":
        yield from _grouped(children[0], level)
        yield LabelRun("/", level)
        yield from _grouped(children[1], level)
    elif tag in ("msqrt", "mroot"):
        yield LabelRun("√", level)
        yield from _grouped(children[0], level)
    elif tag == "mtr":
        for place, child in enumerate(children):
            if place:
                yield LabelRun(", ", level)
            yield from _in_line(child, level)
        yield LabelRun("; ", level)
    elif tag != "mphantom":
        for child in children:
            yield from _in_line(child, level)


def _grouped(element: Element, level: int) -> Iterator[LabelRun]:
    """Put parentheses around more than one symbol."""
    runs = list(_in_line(element, level))
    symbols = "".join(run.text for run in runs)
    if len(symbols) > 1 and not symbols.isalnum():
        yield LabelRun("(", level)
        yield from runs
        yield LabelRun(")", level)
    else:
        yield from runs


def _width(label: Sequence[LabelRun]) -> float:
    return sum(text_width(run.text, _SIZE * (0.75 if run.level else 1.0)) for run in label)


def _written(label: Sequence[LabelRun], part: AlignedPart, x: float, y: float, anchor: str) -> str:
    """Write a label with its raised and lowered parts."""
    spans, height = [], 0.0
    for run in label:
        shift = -0.35 * _SIZE * run.level
        size = 0.75 * _SIZE if run.level else _SIZE
        spans.append(shape("tspan", escaped(run.text), dy=shift - height, font_size=size))
        height = shift
    bold = 600 if part.level == "document" else None
    return shape(
        "text", *spans, x=x, y=y, fill=_LEVEL_COLOURS[part.level], text_anchor=anchor, font_weight=bold
    )
