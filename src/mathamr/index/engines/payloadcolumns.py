"""`PayloadColumns`: the payloads of many entries in columns, so that a filter is one pass over numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mathamr.core.arrays import AnyArray, BoolArray, IntArray
from mathamr.core.storage.raggedarrays import RaggedArray, Strings
from mathamr.index.engines.entry import Filter, Payload

_NO_SCORE = np.iinfo(np.int64).min
_PLAIN, _RAGGED = ("kinds", "sources", "times", "scores"), ("tags", "dates", "posts", "visual")


@dataclass(frozen=True, slots=True, eq=False)
class PayloadColumns:
    """The payloads of a segment; kinds, sources and tags are numbers in `names`."""

    names: Strings
    plain: Mapping[str, AnyArray]
    ragged: Mapping[str, RaggedArray]

    @classmethod
    def of(cls, payloads: Sequence[Payload]) -> PayloadColumns:
        """Return the payloads in columns."""
        numbers = _numbered(name for each in payloads for name in (each.kind, each.source, *each.tags))
        times = (each.time for each in payloads)
        return cls(
            Strings.of(numbers),
            {
                "kinds": np.array([numbers[each.kind] for each in payloads], np.int32),
                "sources": np.array([numbers[each.source] for each in payloads], np.int32),
                "times": np.array([np.nan if time is None else time for time in times], np.float64),
                "scores": np.array(
                    [_NO_SCORE if each.score is None else each.score for each in payloads], np.int64
                ),
            },
            {
                "tags": RaggedArray.of([[numbers[tag] for tag in each.tags] for each in payloads], "i4"),
                "dates": Strings.of(each.date or "" for each in payloads).cells,
                "posts": Strings.of(each.post for each in payloads).cells,
                "visual": Strings.of(each.visual for each in payloads).cells,
            },
        )

    def __len__(self) -> int:
        return len(self.plain["kinds"])

    def __getitem__(self, row: int) -> Payload:
        score = int(self.plain["scores"][row])
        date, post, visual = (Strings(self.ragged[name])[row] for name in ("dates", "posts", "visual"))
        return Payload(
            kind=self.names[int(self.plain["kinds"][row])],
            tags=tuple(self.names[int(tag)] for tag in self.ragged["tags"][row]),
            date=date or None,
            score=None if score == _NO_SCORE else score,
            source=self.names[int(self.plain["sources"][row])],
            post=post,
            visual=visual,
        )

    def mask(self, where: Filter) -> BoolArray:
        """Return a mask of the rows that pass a filter; `Filter.passes` does the same for one payload."""
        numbers = {name: number for number, name in enumerate(self.names.all())}
        times, scores, tags = self.plain["times"], self.plain["scores"], self.ragged["tags"]
        passing = np.ones(len(self), np.bool_)
        for column, wanted in (("kinds", where.kinds), ("sources", where.sources)):
            if wanted:
                passing &= np.isin(self.plain[column], [numbers[name] for name in wanted if name in numbers])
        owners = np.repeat(np.arange(len(self)), np.diff(tags.ends, prepend=0)) if where.tags else None
        for tag in where.tags:
            having = np.zeros(len(self), np.bool_)
            having[owners[tags.data == numbers[tag]] if tag in numbers and owners is not None else []] = True
            passing &= having
        after, before = where.times
        if after is not None:
            passing &= times >= after
        if before is not None:
            passing &= times < before
        if where.minimum_score is not None:
            passing &= (scores != _NO_SCORE) & (scores >= where.minimum_score)
        return passing

    def take(self, rows: IntArray) -> PayloadColumns:
        """Return some of the rows, in that order."""
        plain = {name: column[rows] for name, column in self.plain.items()}
        return PayloadColumns(
            self.names, plain, {name: each.take(rows) for name, each in self.ragged.items()}
        )

    @staticmethod
    def joined(parts: Sequence[PayloadColumns]) -> PayloadColumns:
        """Join columns and renumber their names."""
        names = [part.names.all() for part in parts]
        numbers = _numbered(name for own in names for name in own)
        plain: list[dict[str, AnyArray]] = []
        ragged: list[dict[str, RaggedArray]] = []
        for part, own in zip(parts, names, strict=True):
            new, tags = np.array([numbers[name] for name in own], np.int32), part.ragged["tags"]
            plain.append({**part.plain, **{name: new[part.plain[name]] for name in ("kinds", "sources")}})
            ragged.append({**part.ragged, "tags": RaggedArray(new[tags.data], tags.ends)})
        return PayloadColumns(
            Strings.of(numbers),
            {name: np.concatenate([own[name] for own in plain]) for name in _PLAIN},
            {name: RaggedArray.joined([own[name] for own in ragged]) for name in _RAGGED},
        )

    def arrays(self) -> dict[str, AnyArray]:
        """Return the columns by name, for a file."""
        ragged = {"names": self.names.cells, **self.ragged}
        return (
            dict(self.plain)
            | {name: column.data for name, column in ragged.items()}
            | {f"{name}.ends": column.ends for name, column in ragged.items()}
        )

    @classmethod
    def read(cls, arrays: Mapping[str, Any]) -> PayloadColumns:
        """Return the inverse of `arrays`."""
        ragged = {name: RaggedArray(arrays[name], arrays[f"{name}.ends"]) for name in ("names", *_RAGGED)}
        return cls(Strings(ragged.pop("names")), {name: arrays[name] for name in _PLAIN}, ragged)


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """Return the number of each name in sorted order, so that the result does not depend on the order of merges."""
    return {name: number for number, name in enumerate(sorted(set(names)))}
