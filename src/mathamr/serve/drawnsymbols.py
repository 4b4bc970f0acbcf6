"""`drawn_symbols`: the symbols that somebody may have drawn, the most likely first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr.formulas.latex.unicode import unicode_to_latex

if TYPE_CHECKING:
    import numpy.typing as npt

    Point = npt.NDArray[np.float64]

Stroke = Sequence[tuple[float, float]]

SIZE, MARGIN, PEN = 224, 20, 8
"""The picture that the model reads: its width in pixels, what both margins take of it, and the width of a line."""
_BY_HAND = {
    "#": r"\#",
    "%": r"\%",
    "&": r"\&",
    ":": ":",
    "\\": r"\backslash",
    "{": r"\{",
    "}": r"\}",
    "~": r"\sim",
    "א": r"\aleph",
    "ℓ": r"\ell",
    "ℑ": r"\Im",
    "ℜ": r"\Re",
    "↤": r"\mapsfrom",
    "⇝": r"\rightsquigarrow",
    "⟶": r"\longrightarrow",
    "⟹": r"\Longrightarrow",
    "⟺": r"\Longleftrightarrow",
    "∙": r"\bullet",
    "∗": r"\ast",
    "∥": r"\parallel",
    "⌣": r"\smile",
}
"""LaTeX of characters that a query would read as another one or not at all."""
_NO_MATHEMATICS = frozenset("£¥€§¶©®✠•")


@dataclass(frozen=True, slots=True)
class DrawnSymbol:
    """A symbol, the LaTeX that writes it, what it is called, and how likely it is among all symbols."""

    character: str
    latex: str
    name: str
    probability: float


def drawn_symbols(strokes: Sequence[Stroke], k: int = 5) -> list[DrawnSymbol]:
    """Return the `k` most likely symbols of mathematics."""
    session = _session()
    picture = _picture(strokes)[None, None]
    (scores,) = session.run(None, {session.get_inputs()[0].name: picture})[0]
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    found: dict[str, DrawnSymbol] = {}
    for place in np.argsort(-scores, kind="stable").tolist():
        character, latex, name = _symbols()[place]
        if latex and latex not in found:
            found[latex] = DrawnSymbol(character, latex, name, round(float(shares[place]), 4))
        if len(found) == k:
            break
    return list(found.values())


def _picture(strokes: Sequence[Stroke]) -> npt.NDArray[np.float32]:
    """Return the strokes in white on black, as large as fits and in the middle, as the model was trained on them."""
    points = np.array([point for stroke in strokes for point in stroke], dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    width = float((high - low).max())
    scale = (SIZE - MARGIN) / width if width > 1e-6 else 1.0
    image = np.zeros((SIZE, SIZE), dtype=np.float32)
    for stroke in strokes:
        placed = ((np.array(stroke) - (low + high) / 2) * scale + SIZE / 2).round()
        if len(placed) == 1:
            half = np.array([PEN / 2, 0])
            placed = np.concatenate([placed - half, placed + half])
        for start, end in pairwise(placed):
            _draw_line(image, start, end)
        for joint in placed[1:-1]:
            _draw_line(image, joint, joint)
    return image


def _draw_line(image: npt.NDArray[np.float32], start: Point, end: Point) -> None:
    """Draw a line with straight ends, or a dot where both are the same; a pixel is as light as the line covers it."""
    left, top = np.maximum(np.minimum(start, end) - PEN, 0).astype(int)
    right, bottom = np.minimum(np.maximum(start, end) + PEN, SIZE).astype(int)
    y, x = np.mgrid[top:bottom, left:right] + 0.5 - np.array([start[1], start[0]])[:, None, None]
    length = float(np.hypot(*(end - start)))
    if length:
        across, down = (end - start) / length
        along = x * across + y * down
        outside = np.maximum(np.abs(x * down - y * across) - PEN / 2, np.maximum(-along, along - length))
    else:
        outside = np.hypot(x, y) - PEN / 2
    part = image[top:bottom, left:right]
    np.maximum(part, np.clip(0.5 - outside, 0, 1), out=part, casting="same_kind")


@cache
def _session() -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    model = (files("mathamr.serve") / "symbolmodel" / "model.onnx").read_bytes()
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@cache
def _symbols() -> list[tuple[str, str, str]]:
    """Return the character, LaTeX and name of every output of the model; no LaTeX for what formulas do not have (`€`, `“`)."""
    listed = json.loads((files("mathamr.serve") / "symbolmodel" / "symbols.json").read_text("utf-8"))
    return [(each["char"], _latex(each["char"]), each["names"][0].replace(".", " ")) for each in listed]


def _latex(character: str) -> str:
    if character in _NO_MATHEMATICS:
        return ""
    if character in _BY_HAND:
        return _BY_HAND[character]
    written = unicode_to_latex(character).strip()
    return written if written.startswith("\\") and written != character else ""
