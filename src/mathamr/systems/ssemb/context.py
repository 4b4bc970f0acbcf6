"""The context of a formula: the vector of the text around it (SemEmb; SSEmb, section 2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import CONFIG
from mathamr.posts.level import Level
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.systems.models import boxed, boxed_folder
from mathamr.systems.vectors import Vectors
from mathamr.text.backend import current_backend
from mathamr.text.configuration import WINDOW
from mathamr.text.wording import Span, Wording, written

if TYPE_CHECKING:
    from mathamr.text.textvectors import AnyTextEncoder

OWN, TEXT = "own", "text"
"""The name that marks a model's own text encoder in its configuration, and the folder of that encoder."""
CHARACTERS = 1024
"""The number of characters of text around a formula, including the formula (section 2.2.1)."""
MINILM = "all-MiniLM-L6-v2"
AT_A_TIME = 256


class ContextReader:
    """Computes vectors of the text around formulas, with the encoder of a model in the box or with all-MiniLM-L6-v2.

    A model may have its own encoder, in `folder`. A post is read once; the vector of a formula is the mean over the words
    around it.
    """

    def __init__(self, name: str, device: str = "cpu", folder: Path | None = None) -> None:
        self.name, self._device, self._folder = name, device, folder
        self._backend = current_backend(device)

    @cached_property
    def encoder(self) -> AnyTextEncoder:
        """The text encoder, loaded when it is first needed; MiniLM itself always has the backend `float`."""
        from mathamr.text.backend import load_encoder
        from mathamr.text.published import packaged_minilm

        if self.name == MINILM:
            return packaged_minilm(self._device)
        folder = self._folder if self.name == OWN and self._folder else _text_folder(self.name)
        if folder is None or not (folder / CONFIG).is_file():
            known = [name for name in boxed() if _text_folder(name) is not None]
            raise MathAMRError(
                f"this model reads text with the encoder of {self.name!r}, which is not installed;"
                f" there is {', '.join([*known, MINILM])}"
            )
        return load_encoder(folder, self._device, self._backend)

    def encode(self, posts: Iterable[Post]) -> Iterator[list[tuple[str, Vectors]]]:
        """Yield for every post its formulas with the vectors of the text around them, in the order of the post."""
        stream = iter(posts)
        while chosen := list(islice(stream, AT_A_TIME)):
            wordings = [surroundings(post) for post in chosen]
            vectors = self.encoder.encode(wording for wording, _ in wordings)
            for (_, formulas), found in zip(wordings, vectors, strict=True):
                yield [
                    (formulas[place], Vectors.one(row, Level.FORMULA, formulas[place]))
                    for place, row in zip(found.of.tolist(), _of_length_one(found.vectors), strict=True)
                ]

    def encode_windows(self, posts: Iterable[Post]) -> Iterator[list[tuple[str, Vectors]]]:
        """Encode like `encode`, but with each formula's surrounding text alone, as published: a long post once for each
        formula.

        Of a text that is longer than the encoder's window its beginning is read, as Sentence-BERT does.
        """
        stream = iter(posts)
        while chosen := list(islice(stream, AT_A_TIME)):
            around = [_windows(*surroundings(post)) for post in chosen]
            texts = dict.fromkeys(text for found in around for _, text in found)
            wordings = [Wording(text, (Span(0, 0, len(text)),)) for text in texts]
            first = [pieces.cut(WINDOW) for pieces in self.encoder.pieces.cut(wordings)]
            rows = {
                text: _of_length_one(found.vectors)[0]
                for text, found in zip(texts, self.encoder.encode_pieces(first), strict=True)
                if len(found.vectors)
            }
            for found in around:
                yield [
                    (formula, Vectors.one(rows[text], Level.FORMULA, formula))
                    for formula, text in found
                    if text in rows
                ]


def _of_length_one(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: FloatArray = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return found


def _windows(wording: Wording, formulas: Sequence[str]) -> list[tuple[str, str]]:
    """Return the formulas of a post, each with the text around it."""
    return [(formulas[span.representative], wording.text[span.start : span.end]) for span in wording.spans]


def _text_folder(name: str) -> Path | None:
    """Return the folder of the text encoder of a model in the box."""
    model = boxed_folder(name)
    return model / TEXT if model is not None and (model / TEXT / CONFIG).is_file() else None


def surroundings(post: Post) -> tuple[Wording, list[str]]:
    """Return the text of a post with the `CHARACTERS` around each formula in it, and the ids of these formulas.

    >>> from mathamr.posts.post import Formula
    >>> post = Post("7", "answer", "Let $x>0$.", markup="text", formulas=(Formula("7:0", "x>0"),))
    >>> surroundings(post)
    (Wording(text='Let $x>0$.', spans=(Span(representative=0, start=0, end=10),)), ['7:0'])
    """
    text, places = written(post, passage(post))
    spans: list[Span] = []
    formulas: list[str] = []
    for formula in post.formulas:
        place = places.get((Level.FORMULA, formula.id))
        if place is None:
            continue
        start, end = around(*place, len(text))
        spans.append(Span(len(formulas), start, end))
        formulas.append(formula.id)
    return Wording(text, tuple(spans)), formulas


def around(start: int, end: int, length: int) -> tuple[int, int]:
    """Return a window of `CHARACTERS` with [start, end) in its middle, moved inside a text of that length.

    >>> around(0, 10, 5000), around(4990, 5000, 5000), around(2000, 2010, 5000), around(3, 5, 9)
    ((0, 1024), (3976, 5000), (1493, 2517), (0, 9))
    """
    first = max(0, min((start + end) // 2 - CHARACTERS // 2, length - CHARACTERS))
    return first, min(length, first + CHARACTERS)
