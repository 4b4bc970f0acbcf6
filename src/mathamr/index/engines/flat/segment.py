"""`Segment`: some points of the flat engine in one file that never changes, searched where it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mathamr.errors import MathAMRError
from mathamr.index.engines.flat.columns import Mask, PayloadColumns, Ragged, Rows, Strings
from mathamr.index.engines.flat.quantised import FEWEST_ROWS, Quantised, worthwhile
from mathamr.index.engines.flat.slots import Slots
from mathamr.index.engines.maxsim import Floats, products
from mathamr.index.engines.point import DECIMALS, Point
from mathamr.index.storage.arrays import Array, map_arrays, write_arrays

_FEW = 8
"""Where fewer than one point in so many passes a filter, only those are scored."""
_TIE = np.float32(1.5 * 10.0**-DECIMALS)
"""Scores nearer than this may be equal once they are rounded."""
_PIECE = 1 << 14
"""Vectors that are multiplied with a single vector at a time."""


@dataclass(frozen=True, eq=False)
class Segment:
    """Points in columns: ids, payloads, document or formula vectors, and for posts the slots of all vectors."""

    ids: Strings
    payloads: PayloadColumns
    documents: Array
    slots: Slots | None
    quantised: Quantised | None

    @classmethod
    def of(cls, points: Sequence[Point], size: int, dtype: str, *, multiple: bool) -> Segment:
        """The points in memory, not quantised: those that wait to be written."""
        ids = Strings.of(point.id for point in points)
        payloads = PayloadColumns.of([point.payload for point in points])
        documents = np.array([point.vector for point in points], dtype).reshape(-1, size)
        if not multiple:
            return cls(ids, payloads, documents, None, None)
        many = [point.vectors for point in points if point.vectors is not None]
        vectors = np.concatenate(many).astype(dtype, copy=False)
        return cls._sorted(ids, payloads, documents, vectors, np.array([len(one) for one in many]))

    @classmethod
    def _sorted(
        cls, ids: Strings, payloads: PayloadColumns, documents: Array, vectors: Array, counts: Rows
    ) -> Segment:
        order, slots = Slots.arrange(vectors, counts)
        return cls(Strings(ids.cells.take(order)), payloads.take(order), documents[order], slots, None)

    @classmethod
    def merged(cls, parts: Sequence[tuple[Segment, Rows]]) -> Segment:
        """The given rows of several segments in one."""
        ids = Strings(Ragged.joined([part.ids.cells.take(rows) for part, rows in parts]))
        payloads = PayloadColumns.joined([part.payloads.take(rows) for part, rows in parts])
        documents = np.concatenate([part.documents[rows] for part, rows in parts])
        if parts[0][0].slots is None:
            return cls(ids, payloads, documents, None, None)
        slots = [(part.slots, rows) for part, rows in parts if part.slots is not None]
        vectors = np.concatenate([some.gather(rows) for some, rows in slots]).astype(
            documents.dtype, copy=False
        )
        return cls._sorted(
            ids, payloads, documents, vectors, np.concatenate([some.counts[rows] for some, rows in slots])
        )

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {identifier: row for row, identifier in enumerate(self.ids.all())}

    def find(self, ids: Sequence[str]) -> Rows:
        """Where points are; unknown ids are left out."""
        rows = map(self._rows.get, ids)
        return np.array([row for row in rows if row is not None], np.int64)

    def vectors(self, rows: Rows) -> list[Floats]:
        """The vectors of points: of a post all representatives, of a formula its one."""
        if self.slots is None:
            return list(self.documents[rows, None].astype(np.float32))
        return np.split(self.slots.gather(rows), np.cumsum(self.slots.counts[rows])[:-1])

    def search(self, vector: Floats, k: int, passing: Mask | None) -> tuple[Rows, Floats]:
        """Rows and scores of the k best by their document or formula vector, and of those that tie with the last."""
        if passing is not None and passing.sum() * _FEW < len(self):
            (rows,) = np.nonzero(passing)
            return top(rows, self.documents[rows].astype(np.float32, copy=False) @ vector, k)
        scores = np.empty(len(self), np.float32)
        column = vector[:, None]
        for start in range(0, len(self), _PIECE):
            piece = self.documents[start : start + _PIECE].astype(np.float32, copy=False)
            scores[start : start + _PIECE] = products(piece, column)[:, 0]
        return top(*_passing(scores, passing), k)

    def search_maxsim(
        self, query: Floats, k: int, passing: Mask | None, first_pass: str
    ) -> tuple[Rows, Floats]:
        """Rows and scores of the k best by MaxSim, and of those that tie with the last."""
        slots = self._slots()
        count = len(self) if passing is None else int(passing.sum())
        if count * _FEW < len(self) or count <= k:
            rows = np.arange(len(self)) if passing is None else np.nonzero(passing)[0]
            return top(rows, slots.score(query, rows), k)
        if self.quantised is not None and (
            first_pass == "int8"
            or (
                first_pass == "auto"
                and len(slots.vectors) >= FEWEST_ROWS
                and count >= _FEW * k
                and worthwhile(slots.vectors.shape[1])
            )
        ):
            return self._through_int8(self.quantised, query, k, passing)
        return top(*_passing(slots.scan(query), passing), k)

    def _through_int8(
        self, quantised: Quantised, query: Floats, k: int, passing: Mask | None
    ) -> tuple[Rows, Floats]:
        """Like the exact scan: only posts that can be among the k best are scored exactly."""
        slots = self._slots()
        about, wrong = quantised.scan(slots, query)
        rows, scores = _passing(about, passing)
        wrong = wrong if passing is None else wrong[passing]
        first = np.argpartition(scores, -k)[-k:]
        exact = slots.score(query, rows[first])
        reaching = scores + wrong >= exact.min() - _TIE
        reaching[first] = False
        others = rows[reaching]
        return top(
            np.concatenate([rows[first], others]), np.concatenate([exact, slots.score(query, others)]), k
        )

    def score(self, query: Floats, rows: Rows) -> Floats:
        """The exact MaxSim of some points."""
        if self.slots is not None:
            return self.slots.score(query, rows)
        documents = self.documents[rows].astype(np.float32, copy=False)
        means: Floats = products(documents, np.ascontiguousarray(query.T)).mean(axis=1)
        return means

    def _slots(self) -> Slots:
        if self.slots is None:
            raise MathAMRError("formulas have one vector each; MaxSim searches posts")
        return self.slots

    def write(self, path: Path, *, quantised: bool) -> int:
        """Writes the segment; its size in bytes is returned."""
        arrays = {"ids": self.ids.cells.data, "ids.ends": self.ids.cells.ends, "documents": self.documents}
        arrays |= {f"payload.{name}": array for name, array in self.payloads.arrays().items()}
        if self.slots is not None:
            arrays |= {
                "vectors": self.slots.vectors,
                "counts": self.slots.counts,
                "bounds": self.slots.bounds,
            }
            if quantised:
                arrays |= Quantised.of(self.slots).arrays()
        return write_arrays(path, arrays)

    @classmethod
    def read(cls, path: Path) -> Segment:
        """The segment of a file."""
        arrays = map_arrays(path)
        try:
            payload = {name[8:]: array for name, array in arrays.items() if name.startswith("payload.")}
            slots = quantised = None
            if "vectors" in arrays:
                slots = Slots(arrays["vectors"], arrays["counts"], arrays["bounds"])
            if "int8" in arrays:
                parts = (arrays[f"int8{name}"] for name in ("", ".scales", ".errors", ".longest"))
                quantised = Quantised(*parts)
            ids = Strings(Ragged(arrays["ids"], arrays["ids.ends"]))
            segment = cls(ids, PayloadColumns.read(payload), arrays["documents"], slots, quantised)
            fitting = segment._fits()
        except (KeyError, ValueError, IndexError) as error:
            raise MathAMRError(f"{path} is damaged (no {error}); build the index again") from error
        if not fitting:
            raise MathAMRError(f"{path} is damaged: its parts do not fit together; build the index again")
        return segment

    def _fits(self) -> bool:
        """Whether the parts are of one size, as far as that can be seen without reading them."""
        columns = self.payloads
        lengths = {len(self), len(self.ids), len(columns.kinds), len(columns.sources), len(columns.tags)}
        lengths |= {len(columns.times), len(columns.scores), len(columns.dates), len(columns.posts)}
        lengths.add(len(columns.visuals))
        if self.slots is not None:
            lengths |= {len(self.slots), int(self.slots.bounds[-1])}
            if self.slots.bases[-1] != len(self.slots.vectors):
                return False
            if self.quantised is not None and self.quantised.numbers.shape != self.slots.vectors.shape:
                return False
        return len(lengths) == 1


def _passing(scores: Floats, passing: Mask | None) -> tuple[Rows, Floats]:
    """The rows that pass and their scores."""
    if passing is None:
        return np.arange(len(scores)), scores
    (rows,) = np.nonzero(passing)
    return rows, scores[rows]


def top(rows: Rows, scores: Floats, k: int) -> tuple[Rows, Floats]:
    """The k best and whatever ties with the last of them."""
    if len(scores) <= k:
        return rows, scores
    least = np.partition(scores, -k)[-k] - _TIE
    (chosen,) = np.nonzero(scores >= least)
    return rows[chosen], scores[chosen]
