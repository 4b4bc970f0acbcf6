"""Draws an alignment as a heatmap (PNG), like Figure 4.1 of the thesis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.search.alignment import AlignedPart, Alignment
from mathamr.search.fragment import Fragment, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS, COLUMNS = 40, 48
"""The greatest number of parts that are drawn; the best matches are chosen."""
LABEL = 46
VALUES_UP_TO = 16
"""With more columns than this, cells show no numbers."""

_CELL = 0.34
_LEVEL_COLOURS = {"document": "#6b4c9a", "sentence": "#2c6e9b", "formula": "#a8572a"}
_DRAWN = re.compile(r"\\[a-zA-Z]+|[^\s{}^_\\]")
_UNKNOWN_TO_MATHTEXT = re.compile(r"\\(?:begin|end|label|tag|qvar)|[&$]|\\\\")
_TO_MATHTEXT = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\[dt]?frac\s*(\w)\s*(\w)(?![a-zA-Z])", r"\\frac{\1}{\2}"),
        (r"\\[dt]frac", r"\\frac"),
        (r"\\sqrt\s*(\d)", r"\\sqrt{\1}"),
        (r"\\(le|ge|ne)(?![a-zA-Z])", r"\\\1q"),
        (r"\\to(?![a-zA-Z])", r"\\rightarrow"),
        (r"\\(?:text|mbox|textrm)\s*\{", r"\\mathrm{"),
        (r"\\[lr]?(?:Vert|\|)", r"\\Vert "),
        (r"\\[lr]vert", "|"),
        (r"\\(?:displaystyle|textstyle|limits|nolimits|[bB]igg?[lrm]?(?![a-zA-Z]))", ""),
    )
)


def save_heatmap(alignment: Alignment, path: Path) -> None:
    """Draw the alignment: rows are parts of the query, columns parts of the post, a frame marks each row's best."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    best = alignment.similarities.argmax(axis=1)
    rows = list(range(len(alignment.query)))[:ROWS]
    columns = _columns(alignment, [int(best[row]) for row in rows])
    values = alignment.similarities[np.ix_(rows, columns)]
    width, height = len(columns) * _CELL + 5.2, len(rows) * _CELL + 4.1
    figure = Figure(figsize=(width, height), dpi=110)
    FigureCanvasAgg(figure)
    axes = figure.add_axes(
        (3.4 / width, 0.45 / height, len(columns) * _CELL / width, len(rows) * _CELL / height)
    )
    low = min(0.0, float(values.min()))
    image = axes.imshow(values, cmap="viridis", vmin=low, vmax=1.0, aspect="auto")
    _label(axes, [alignment.query[row] for row in rows], [alignment.post[column] for column in columns])
    _mark(axes, values, [columns.index(int(best[row])) for row in rows])
    bar = figure.add_axes(
        ((3.4 + len(columns) * _CELL + 0.15) / width, 0.45 / height, 0.12 / width, axes.get_position().height)
    )
    figure.colorbar(image, cax=bar, label="cosine")
    left_out = len(alignment.post) - len(columns), len(alignment.query) - len(rows)
    note = (
        f"; {left_out[0]} further parts of the post and {left_out[1]} of the query not shown"
        if any(left_out)
        else ""
    )
    figure.text(
        0.1 / width,
        0.12 / height,
        f"Query (rows) and post {alignment.post_id} (columns). MaxSim {alignment.score:.3f}; "
        f"white frames: the best match of each row{note}",
        fontsize=8,
        parse_math=False,
    )
    try:
        figure.savefig(path, format="png", bbox_inches="tight", pad_inches=0.15)
    except OSError as error:
        raise MathAMRError(f"{path}: the heatmap cannot be written ({error.strerror or error})") from error


def _columns(alignment: Alignment, best: Sequence[int]) -> list[int]:
    """The columns to draw, in order: all if they fit, else the best match of each row, then the strongest columns."""
    count = len(alignment.post)
    if count <= COLUMNS:
        return list(range(count))
    strongest = np.argsort(-alignment.similarities.max(axis=0), kind="stable")
    chosen = list(dict.fromkeys([*best, *map(int, strongest)]))[:COLUMNS]
    return sorted(chosen)


def _label(axes: Axes, query: Sequence[AlignedPart], post: Sequence[AlignedPart]) -> None:
    axes.set_yticks(range(len(query)), [_shown(part) for part in query], fontsize=8)
    axes.set_xticks(
        range(len(post)),
        [_shown(part) for part in post],
        fontsize=8,
        rotation=45,
        ha="left",
        rotation_mode="anchor",
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for labels, its_parts in ((axes.get_yticklabels(), query), (axes.get_xticklabels(), post)):
        for label, part in zip(labels, its_parts, strict=True):
            label.set_color(_LEVEL_COLOURS[part.level])
            if part.level == "document":
                label.set_fontweight("bold")
    for number, (before, after) in enumerate(pairwise(query)):
        if before.level != after.level:
            axes.axhline(number + 0.5, color="white", linewidth=2)
    for number, (before, after) in enumerate(pairwise(post)):
        if before.level != after.level:
            axes.axvline(number + 0.5, color="white", linewidth=2)


def _mark(axes: Axes, values: np.ndarray[tuple[int, ...], np.dtype[np.float32]], best: Sequence[int]) -> None:
    from matplotlib.patches import Rectangle

    for row, column in enumerate(best):
        axes.add_patch(
            Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="white", linewidth=1.6)
        )
    if values.shape[1] > VALUES_UP_TO:
        return
    for (row, column), value in np.ndenumerate(values):
        colour = "black" if value > 0.7 else "white"
        axes.text(
            column, row, f"{value:.2f}".replace("0.", "."), ha="center", va="center", fontsize=6, color=colour
        )


def _shown(part: AlignedPart) -> str:
    """The label of a part; matplotlib typesets formulas that it can parse, others stay LaTeX."""
    return "".join(map(_typeset, shortened(part.fragments, LABEL, _room)))


def _room(fragment: Fragment) -> int:
    """The approximate width of a fragment in the picture, in characters."""
    return len(_DRAWN.findall(fragment.text)) if fragment.kind == "formula" else len(fragment)


def _typeset(fragment: Fragment) -> str:
    if fragment.kind != "formula":
        return fragment.text.replace("$", r"\$")
    latex = mathtext(" ".join(fragment.text.split()))
    if latex is not None and _room(fragment) <= LABEL:
        return f"${latex}$"
    text = fragment.text if len(fragment.text) <= LABEL else fragment.text[: LABEL - 1] + "…"
    return text.replace("$", r"\$") or "(formula)"


@lru_cache(maxsize=1000)
def mathtext(latex: str) -> str | None:
    """LaTeX converted to matplotlib's mathtext, or None if that cannot typeset it.

    >>> mathtext(r"\\frac12 \\le x"), mathtext(r"\\begin{matrix}1\\end{matrix}")
    ('\\\\frac{1}{2} \\\\leq x', None)
    """
    if not latex.strip() or _UNKNOWN_TO_MATHTEXT.search(latex):
        return None
    for pattern, replacement in _TO_MATHTEXT:
        latex = pattern.sub(replacement, latex)
    from matplotlib.mathtext import MathTextParser

    try:
        MathTextParser("agg").parse(f"${latex}$")
    except (ValueError, RuntimeError):
        return None
    return latex
