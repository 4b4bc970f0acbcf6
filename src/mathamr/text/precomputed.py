"""Precomputed vectors of texts, for example from a machine with a GPU, found by the encoder's fingerprint and the text.

A file holds for one encoder the vectors of the spans of many texts, in eight bits with a scale per row. `PrecomputedEncoder` encodes only
texts that are in no file. It also encodes a sample of the others and refuses files whose vectors differ.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyFloatArray, ByteArray, FloatArray, Int32Array, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.text.configuration import WINDOW, WINDOWS
from mathamr.text.textvectors import AnyTextEncoder, TextVectors
from mathamr.text.wordpieces import Pieces

if TYPE_CHECKING:
    from mathamr.text.wording import Wording

AT_A_TIME = 64
"""The number of posts that are looked up at a time."""
KEY = 16
"""The length of a text's key in bytes."""
ALIKE = 0.98
"""The least cosine of a precomputed vector with the encoder's own; rounding to eight bits costs a thousandth."""
CHECKED = 200
"""One in this many precomputed texts is also encoded for comparison, and always the first."""


@dataclass(frozen=True, eq=False)
class PrecomputedVectors:
    """The vectors of texts for the encoder with this fingerprint; span i covers pieces [starts[i], ends[i]) of its text."""

    fingerprint: str
    keys: ByteArray
    counts: Int32Array
    starts: npt.NDArray[np.uint16]
    ends: npt.NDArray[np.uint16]
    codes: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float16]

    def __post_init__(self) -> None:
        spans = int(self.counts.sum())
        if self.keys.shape != (len(self.counts), KEY) or any(
            len(column) != spans for column in (self.starts, self.ends, self.codes, self.scales)
        ):
            raise MathAMRError("precomputed vectors do not fit the texts they belong to")

    @classmethod
    def of(
        cls, fingerprint: str, texts: Sequence[Pieces], vectors: Sequence[TextVectors]
    ) -> PrecomputedVectors:
        """Build it from texts and their vectors."""
        rows = np.concatenate([found.vectors for found in vectors])
        scales = (np.abs(rows).max(1, keepdims=True).clip(1e-6) / 127).astype(np.float16)
        return cls(
            fingerprint,
            np.stack([_key(text) for text in texts]),
            np.array([len(text.of) for text in texts], np.int32),
            np.concatenate([text.starts for text in texts]).astype(np.uint16),
            np.concatenate([text.ends for text in texts]).astype(np.uint16),
            np.rint(rows / scales.astype(np.float32)).clip(-127, 127).astype(np.int8),
            scales[:, 0],
        )

    @classmethod
    def joined(cls, parts: Sequence[PrecomputedVectors]) -> PrecomputedVectors:
        """Join several collections of one encoder."""
        if len({part.fingerprint for part in parts}) != 1:
            raise MathAMRError("precomputed vectors can be joined only if they belong to the same encoder")
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS)
        return cls(parts[0].fingerprint, *columns)

    def save(self, path: Path) -> None:
        """Write one `.npz` without pickles."""
        arrays = {name: getattr(self, name) for name in _COLUMNS}
        try:
            with path.open("wb") as file:
                np.savez(file, allow_pickle=False, fingerprint=np.array(self.fingerprint), **arrays)
        except OSError as error:
            raise MathAMRError(f"cannot write the precomputed vectors to {path}: {error}") from error

    @classmethod
    def load(cls, path: Path) -> PrecomputedVectors:
        """Return the inverse of `save`; refuse anything else."""
        try:
            with np.load(path, allow_pickle=False) as file:
                return cls(str(file["fingerprint"]), *(file[name] for name in _COLUMNS))
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise MathAMRError(
                f"{path} does not hold precomputed vectors, or it is damaged: {error}"
            ) from error

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {key.tobytes(): number for number, key in enumerate(self.keys)}

    @cached_property
    def _begins(self) -> IntArray:
        return np.cumsum(self.counts, dtype=np.int64) - self.counts

    def find(self, text: Pieces) -> FloatArray | None:
        """Return the vectors of a text's spans, if all are known."""
        number = self._places.get(_key(text).tobytes())
        if number is None:
            return None
        begin = int(self._begins[number])
        span = slice(begin, begin + int(self.counts[number]))
        known = {place: row for row, place in enumerate(zip(self.starts[span], self.ends[span], strict=True))}
        rows = [known.get(place) for place in zip(text.starts, text.ends, strict=True)]
        if any(row is None for row in rows):
            return None
        chosen = begin + np.array(rows, np.int64)
        found: FloatArray = self.codes[chosen].astype(np.float32)
        found *= self.scales[chosen, None].astype(np.float32)
        found /= np.linalg.norm(found, axis=1, keepdims=True).clip(1e-6)
        return found


_COLUMNS = ("keys", "counts", "starts", "ends", "codes", "scales")


def precomputed_vectors(folder: Path, fingerprint: str) -> tuple[PrecomputedVectors, ...]:
    """Read all files of a folder that belong to the encoder with this fingerprint."""
    if not folder.is_dir():
        raise MathAMRError(f"the folder {folder} of precomputed vectors does not exist")
    found = (PrecomputedVectors.load(path) for path in sorted(folder.glob("*.npz")))
    return tuple(each for each in found if each.fingerprint == fingerprint)


class PrecomputedEncoder:
    """Wraps another encoder, which encodes only texts without precomputed vectors."""

    def __init__(self, encoder: AnyTextEncoder, known: Sequence[PrecomputedVectors]) -> None:
        self.encoder, self._known, self._found = encoder, tuple(known), 0
        self.size, self.fingerprint, self.pieces = encoder.size, encoder.fingerprint, encoder.pieces

    def encode(self, wordings: Iterable[Wording]) -> Iterator[TextVectors]:
        """Yield the vectors of every wording's spans, in the order of the wordings."""
        stream = iter(wordings)
        while chosen := list(islice(stream, AT_A_TIME)):
            yield from self.encode_pieces(
                [pieces.cut(WINDOW * WINDOWS) for pieces in self.pieces.cut(chosen)]
            )

    def encode_pieces(self, posts: Sequence[Pieces]) -> list[TextVectors]:
        """Return the vectors of the spans of cut wordings, in order."""
        found = [
            next((rows for each in self._known if (rows := each.find(post)) is not None), None)
            for post in posts
        ]
        sample: dict[int, FloatArray] = {}
        for place, rows in enumerate(found):
            if rows is not None:
                if self._found % CHECKED == 0:
                    sample[place] = rows
                self._found += 1
        wanted = sorted({*sample, *(place for place, rows in enumerate(found) if rows is None)})
        encoded = dict(
            zip(wanted, self.encoder.encode_pieces([posts[place] for place in wanted]), strict=True)
        )
        for place, rows in sample.items():
            check_alike(rows, encoded[place].vectors, self.fingerprint)
        return [
            encoded[place] if rows is None else TextVectors(posts[place].of, rows)
            for place, rows in enumerate(found)
        ]


def check_alike(precomputed: AnyFloatArray, encoded: AnyFloatArray, fingerprint: str) -> None:
    """Refuses precomputed vectors that differ from those of the encoder."""
    worst = float((precomputed * encoded).sum(1).min()) if len(encoded) else 1.0
    if not worst >= ALIKE:
        raise MathAMRError(
            f"the precomputed vectors for the encoder {fingerprint} differ from those it gives: a cosine is {worst:.3f}, expected at"
            f" least {ALIKE}; compute them again"
        )


def _key(text: Pieces) -> ByteArray:
    digest = hashlib.blake2b(np.ascontiguousarray(text.numbers, "<u2").tobytes(), digest_size=KEY).digest()
    return np.frombuffer(digest, np.uint8)
