"""`drawn_symbols`: the symbols that somebody may have drawn, the most likely first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr.formulas.latex.unicode import unicode_to_latex

if TYPE_CHECKING:
    import numpy.typing as npt

Stroke = Sequence[tuple[float, float]]

SIZE, MARGIN, PEN = 224, 20, 8
"""The picture that the model reads: its width in pixels, what both margins take of it, and the width of a line."""
_FINER = 4
"""The picture is drawn this many times as large and then reduced, which smooths its lines."""
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
    """The `k` most likely symbols of mathematics."""
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
    """The strokes in white on black, as large as fits and in the middle, as the model was trained on them."""
    from PIL import Image, ImageDraw

    points = np.array([point for stroke in strokes for point in stroke], dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    width = float((high - low).max())
    scale = (SIZE - MARGIN) / width if width > 1e-6 else 1.0
    image = Image.new("L", (SIZE * _FINER, SIZE * _FINER))
    draw = ImageDraw.Draw(image)
    for stroke in strokes:
        placed = ((np.array(stroke) - (low + high) / 2) * scale + SIZE / 2).round() * _FINER
        if len(placed) == 1:
            half = np.array([_FINER * PEN / 2, 0])
            placed = np.concatenate([placed - half, placed + half])
        draw.line([tuple(point) for point in placed.tolist()], fill=255, width=PEN * _FINER, joint="curve")
    small = image.resize((SIZE, SIZE), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float32) / np.float32(255)


@cache
def _session() -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    model = (files("mathamr.serve") / "symbolmodel" / "model.onnx").read_bytes()
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@cache
def _symbols() -> list[tuple[str, str, str]]:
    """The character, LaTeX and name of every output of the model; no LaTeX for what formulas do not have (`€`, `“`)."""
    listed = json.loads((files("mathamr.serve") / "symbolmodel" / "symbols.json").read_text("utf-8"))
    return [(each["char"], _latex(each["char"]), each["names"][0].replace(".", " ")) for each in listed]


def _latex(character: str) -> str:
    if character in _NO_MATHEMATICS:
        return ""
    if character in _BY_HAND:
        return _BY_HAND[character]
    written = unicode_to_latex(character).strip()
    return written if written.startswith("\\") and written != character else ""
