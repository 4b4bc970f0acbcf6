"""`OnnxTextEncoder`: the text encoder in eight bits by ONNX Runtime, several times as fast as in 32 bits on a processor.

Its vectors are those of `TextEncoder` up to rounding (cosines of .999 on average). It needs no torch, which takes longer to load
than a query takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.core.batches import portions
from mathamr.core.cancellation import check_cancelled
from mathamr.core.errors import MathAMRError
from mathamr.core.memory import give_back
from mathamr.core.prioritylock import give_way
from mathamr.text.configuration import WINDOW, WINDOWS, TransformerConfiguration, relative_buckets
from mathamr.text.onnxgraph import SCALE, OnnxTransformer
from mathamr.text.textvectors import TextVectors
from mathamr.text.wordpieces import MOST_CHARACTERS, PieceNumbers, Pieces, WordPieces

if TYPE_CHECKING:
    from mathamr.text.wording import Wording

RECENT = 192
"""The number of windows whose states wait for their vectors after a parser read them: those of one portion of posts."""
AT_A_TIME = 64
"""The number of posts whose states are in memory at a time; a window that occurs twice among them is read once."""


class OnnxTextEncoder:
    """Encodes wordings like `TextEncoder`, from weights in eight bits with a scale per row."""

    def __init__(
        self,
        configuration: TransformerConfiguration,
        weights: Mapping[str, AnyArray],
        pieces: WordPieces,
        *,
        fingerprint: str = "",
        source: Path | None = None,
    ) -> None:
        check_weights(configuration, weights, source)
        self.configuration, self.pieces = configuration, pieces
        self.fingerprint, self.source = fingerprint, source
        self.size = configuration.projection or configuration.size
        self._weights = weights
        self._transformer = OnnxTransformer(configuration, weights)
        self._mix: dict[int, float] = {}
        self._recent: dict[bytes, FloatArray] = {}
        self._lock = Lock()
        self._positions = restored_array(weights, "positions.weight")
        self._head = restored_array(weights, "head.weight") if configuration.projection else None

    def encode(self, wordings: Iterable[Wording], windows: int = WINDOWS) -> Iterator[TextVectors]:
        """Yield the vectors of every wording's spans in its first windows, in the order of the wordings."""
        for chosen in portions(wordings, AT_A_TIME, lambda wording: len(wording.text), MOST_CHARACTERS):
            cut = [pieces.cut(WINDOW * windows) for pieces in self.pieces.cut(chosen)]
            yield from self.encode_pieces(cut)
            if len(chosen) == AT_A_TIME:
                give_back()

    def encode_pieces(self, posts: Sequence[Pieces]) -> list[TextVectors]:
        """Return the vectors of the spans of cut wordings, in order; a window that several wordings share is read once."""
        windows = [
            [post.numbers[start : start + WINDOW] for start in range(0, max(1, len(post)), WINDOW)]
            for post in posts
        ]
        distinct = {window.tobytes(): window for own in windows for window in own}
        states = {}
        for key, window in distinct.items():
            give_way()
            check_cancelled()
            states[key] = self._known(key, window)
        return [
            self._vectors(post, [states[window.tobytes()] for window in own])
            for post, own in zip(posts, windows, strict=True)
        ]

    def mixed_states(
        self, window: PieceNumbers, mix: Mapping[int, float], *, keep: bool = True
    ) -> FloatArray:
        """Return the states of one window, without the marks, as the sum of layers times their shares.

        The window's vectors are usually wanted soon after; its last states are kept for them, unless it has none.
        """
        with self._lock:
            if self._mix != mix:
                self._mix = dict(mix)
                self._transformer = OnnxTransformer(self.configuration, self._weights, self._mix)
            transformer = self._transformer
        states, mixed = self._states(window, transformer)
        if keep:
            with self._lock:
                self._recent[window.tobytes()] = states
                while len(self._recent) > RECENT:
                    del self._recent[next(iter(self._recent))]
        return mixed[1:-1]

    def _known(self, key: bytes, window: PieceNumbers) -> FloatArray:
        """Return the last states of a window: those that `mixed_states` kept, or new ones."""
        with self._lock:
            kept = self._recent.pop(key, None)
        return self._states(window, self._transformer)[0] if kept is None else kept

    def _states(self, window: PieceNumbers, transformer: OnnxTransformer) -> list[FloatArray]:
        """Return the states of one window, including the marks, and the mixed ones.

        Windows are read one by one: products are as fast as in batches, and no window's rounding depends on another.
        """
        width = len(window) + 2
        numbers = np.empty(width, np.int64)
        numbers[0], numbers[1:-1], numbers[-1] = self.pieces.begin, window, self.pieces.end
        embedded = self._weights["pieces.weight"][numbers].astype(np.float32)
        embedded *= self._weights[f"pieces.weight{SCALE}"][numbers][:, None]
        embedded += self._positions[:width]
        added = self._added
        return transformer.run(
            embedded, None if added is None else np.ascontiguousarray(added[:, :width, :width])
        )

    def _vectors(self, post: Pieces, states: list[FloatArray]) -> TextVectors:
        """Return unit vectors of the projected means over spans; a span over the complete post includes the marks."""
        # States between two span boundaries are summed first; the spans are sums of these few sums.
        cuts = np.array(sorted({*post.starts.tolist(), *post.ends.tolist()}), np.int64)
        inside = np.concatenate([own[1:-1] for own in states])
        sums = np.zeros((len(cuts), self.configuration.size))
        for number, (start, end) in enumerate(pairwise(cuts.tolist()), start=1):
            sums[number] = inside[start:end].sum(axis=0)
        np.cumsum(sums, axis=0, out=sums)
        totals = sums[np.searchsorted(cuts, post.ends)] - sums[np.searchsorted(cuts, post.starts)]
        counts = (post.ends - post.starts).astype(np.float64)
        whole = counts == len(post)
        totals[whole] += sum(own[0] + own[-1] for own in states)
        counts[whole] += 2 * len(states)
        means = (totals / counts[:, None]).astype(np.float32)
        if self._head is not None:
            means = means @ self._head.T
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        return TextVectors(post.of, means / np.maximum(lengths, 1e-12))

    @cached_property
    def _added(self) -> FloatArray | None:
        """The bias of attention by distance, for the widest window; narrower windows use its corner."""
        if not self.configuration.buckets:
            return None
        table = restored_array(self._weights, "relative.table.weight")
        return table[relative_buckets(WINDOW + 2, self.configuration.buckets)].transpose(2, 0, 1)


def restored_array(weights: Mapping[str, AnyArray], name: str) -> FloatArray:
    """Restore a matrix in 32 bits."""
    numbers = weights[name].astype(np.float32)
    return numbers * weights[f"{name}{SCALE}"][:, None] if f"{name}{SCALE}" in weights else numbers


def check_weights(
    configuration: TransformerConfiguration,
    weights: Mapping[str, AnyArray],
    source: Path | None,
) -> None:
    """Raise an error for weights that are missing, not finite, or not of the shape that the configuration requires."""
    for name, shape in _shapes(configuration).items():
        found = weights.get(name)
        if found is None or found.shape != shape:
            seen = "is missing" if found is None else f"has shape {found.shape}"
            raise MathAMRError(
                f"{source or 'the text encoder'}: {name} {seen}, the configuration requires {shape}"
            )
        finite = weights.get(f"{name}{SCALE}", found)
        if len(shape) == 2 and (found.dtype != np.int8 or finite is found or finite.shape != shape[:1]):
            raise MathAMRError(
                f"{source or 'the text encoder'}: {name} is not in eight bits with a scale per row"
            )
        if not np.isfinite(finite).all():
            raise MathAMRError(
                f"{source or 'the text encoder'}: {name} holds numbers that are not finite; the file is damaged"
            )


def _shapes(configuration: TransformerConfiguration) -> dict[str, tuple[int, ...]]:
    size, inner = configuration.size, configuration.inner
    shapes: dict[str, tuple[int, ...]] = {
        "pieces.weight": (configuration.pieces, size),
        "positions.weight": (configuration.positions, size),
        "norm.weight": (size,),
        "norm.bias": (size,),
    }
    if configuration.projection:
        shapes["head.weight"] = (configuration.projection, size)
    if configuration.buckets:
        shapes["relative.table.weight"] = (configuration.buckets, configuration.heads)
    for number in range(configuration.layers):
        name = f"layers.{number}."
        for part, (rows, columns) in {
            "attention": (3 * size, size),
            "attended": (size, size),
            "inner": (inner, size),
            "outer": (size, inner),
        }.items():
            shapes[f"{name}{part}.weight"], shapes[f"{name}{part}.bias"] = (rows, columns), (rows,)
        for part in ("attention_norm", "outer_norm"):
            shapes[f"{name}{part}.weight"] = shapes[f"{name}{part}.bias"] = (size,)
    return shapes
