"""Payloads in columns: compact on disk, filtered without a loop over the entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mathamr.core.arrays import AnyArray, BoolArray, IntArray
from mathamr.core.storage.raggedarrays import RaggedArray, Strings
from mathamr.index.engines.entry import Filter, Payload

_NO_SCORE = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class PayloadColumns:
    """The payloads of a segment; kinds, sources and tags are numbers in `names`."""

    names: Strings
    kinds: AnyArray
    sources: AnyArray
    tags: RaggedArray
    times: AnyArray
    scores: AnyArray
    dates: RaggedArray
    posts: RaggedArray
    visuals: RaggedArray

    @classmethod
    def of(cls, payloads: Sequence[Payload]) -> PayloadColumns:
        """Return the payloads in columns."""
        numbers = _numbered(
            name for payload in payloads for name in (payload.kind, payload.source, *payload.tags)
        )
        kinds = np.array([numbers[payload.kind] for payload in payloads], np.int32)
        sources = np.array([numbers[payload.source] for payload in payloads], np.int32)
        tags = RaggedArray.of([[numbers[tag] for tag in payload.tags] for payload in payloads], "i4")
        times = [payload.time for payload in payloads]
        return cls(
            Strings.of(numbers),
            kinds,
            sources,
            tags,
            np.array([np.nan if time is None else time for time in times], np.float64),
            np.array([_NO_SCORE if p.score is None else p.score for p in payloads], np.int64),
            Strings.of(payload.date or "" for payload in payloads).cells,
            Strings.of(payload.post for payload in payloads).cells,
            Strings.of(payload.visual for payload in payloads).cells,
        )

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, row: int) -> Payload:
        score = int(self.scores[row])
        return Payload(
            kind=self.names[int(self.kinds[row])],
            tags=tuple(self.names[int(tag)] for tag in self.tags[row]),
            date=Strings(self.dates)[row] or None,
            score=None if score == _NO_SCORE else score,
            source=self.names[int(self.sources[row])],
            post=Strings(self.posts)[row],
            visual=Strings(self.visuals)[row],
        )

    def mask(self, where: Filter) -> BoolArray:
        """Return a mask of the rows that pass a filter; `Filter.passes` does the same for one payload."""
        numbers = {name: number for number, name in enumerate(self.names.all())}
        passing = np.ones(len(self), np.bool_)
        if where.kinds:
            passing &= np.isin(self.kinds, [numbers[kind] for kind in where.kinds if kind in numbers])
        if where.sources:
            passing &= np.isin(self.sources, [numbers[name] for name in where.sources if name in numbers])
        owners = np.repeat(np.arange(len(self)), np.diff(self.tags.ends, prepend=0)) if where.tags else None
        for tag in where.tags:
            having = np.zeros(len(self), np.bool_)
            having[
                owners[self.tags.data == numbers[tag]] if tag in numbers and owners is not None else []
            ] = True
            passing &= having
        after, before = where.times
        if after is not None:
            passing &= self.times >= after
        if before is not None:
            passing &= self.times < before
        if where.minimum_score is not None:
            passing &= (self.scores != _NO_SCORE) & (self.scores >= where.minimum_score)
        return passing

    def take(self, rows: IntArray) -> PayloadColumns:
        """Return some of the rows, in that order."""
        return PayloadColumns(
            self.names,
            self.kinds[rows],
            self.sources[rows],
            self.tags.take(rows),
            self.times[rows],
            self.scores[rows],
            self.dates.take(rows),
            self.posts.take(rows),
            self.visuals.take(rows),
        )

    @staticmethod
    def joined(parts: Sequence[PayloadColumns]) -> PayloadColumns:
        """Join columns and renumbers their names."""
        names = [part.names.all() for part in parts]
        numbers = _numbered(name for own in names for name in own)
        renumber = [np.array([numbers[name] for name in own], np.int32) for own in names]
        pairs = list(zip(parts, renumber, strict=True))
        return PayloadColumns(
            Strings.of(numbers),
            np.concatenate([new[part.kinds] for part, new in pairs]),
            np.concatenate([new[part.sources] for part, new in pairs]),
            RaggedArray.joined([RaggedArray(new[part.tags.data], part.tags.ends) for part, new in pairs]),
            np.concatenate([part.times for part in parts]),
            np.concatenate([part.scores for part in parts]),
            RaggedArray.joined([part.dates for part in parts]),
            RaggedArray.joined([part.posts for part in parts]),
            RaggedArray.joined([part.visuals for part in parts]),
        )

    def arrays(self) -> dict[str, AnyArray]:
        """Return the columns by name, for a file."""
        ragged = {
            "names": self.names.cells,
            "tags": self.tags,
            "dates": self.dates,
            "posts": self.posts,
            "visual": self.visuals,
        }
        plain = {"kinds": self.kinds, "sources": self.sources, "times": self.times, "scores": self.scores}
        return (
            plain
            | {name: column.data for name, column in ragged.items()}
            | {f"{name}.ends": column.ends for name, column in ragged.items()}
        )

    @classmethod
    def read(cls, arrays: Mapping[str, Any]) -> PayloadColumns:
        """Return the inverse of `arrays`."""

        def ragged(name: str) -> RaggedArray:
            return RaggedArray(arrays[name], arrays[f"{name}.ends"])

        return cls(
            Strings(ragged("names")),
            arrays["kinds"],
            arrays["sources"],
            ragged("tags"),
            arrays["times"],
            arrays["scores"],
            ragged("dates"),
            ragged("posts"),
            ragged("visual"),
        )


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """Numbers the names in sorted order, so that the result does not depend on the order of merges."""
    return {name: number for number, name in enumerate(sorted(set(names)))}
