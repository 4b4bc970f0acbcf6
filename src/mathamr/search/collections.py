"""`Collections`: several indexes searched at once, each by itself, and their hits joined into one list.

Scores of different indexes can be compared where they are similarities of vectors by the same model (`single`,
`maxsim`): these hits stand in the order that one index of all posts would give. Other rankings weigh words by how rare they are in
their collection, so their scores cannot be compared; hits are then joined by what they are to the query (the same formula, strong,
weak, similar), and among equals by their ranks. No index changes the order of its own hits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import astuple, replace
from heapq import merge
from itertools import accumulate
from pathlib import Path
from typing import Any

from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.index.catalogue.holdings import Holdings
from mathamr.index.freshness import FileChanges
from mathamr.search.filtercounts import FilterCounts
from mathamr.search.hits import MATCHES, Found, Hit, Hits
from mathamr.search.query import Query
from mathamr.search.receipt import Receipt
from mathamr.search.results import GRADE
from mathamr.search.searcher import Index
from mathamr.systems.ranking import MaxSim, Nearest, NearestRows, Ranking, Rerank, Task

FOUND: tuple[Found, ...] = (*MATCHES, "nothing")
Asked = Query | str | Callable[[Index], Query]


class Collections(Closing):
    """Several open indexes by name, in the order in which they were named.

    >>> from mathamr import Collections                                                # doctest: +SKIP
    >>> with Collections.open(["notes", "papers"]) as collections:                     # doctest: +SKIP
    ...     for hit in collections.search("Bernoulli inequality"):
    ...         print(hit.collection, hit)
    """

    def __init__(self, indexes: Mapping[str, Index]) -> None:
        if not indexes:
            raise MathAMRError("name at least one index")
        self.indexes = dict(indexes)

    @classmethod
    def open(
        cls, paths: Sequence[Path | str], *, device: str = "auto", model: Path | str | None = None
    ) -> Collections:
        """Open indexes for reading, by their folders or by the notes they were made from."""
        with ExitStack() as stack:
            opened = [stack.enter_context(Index.open(path, device=device, model=model)) for path in paths]
            names = collection_names(index.archive.folder for index in opened)
            stack.pop_all()
        return cls(dict(zip(names, opened, strict=True)))

    def close(self) -> None:
        """Close all indexes."""
        for index in self.indexes.values():
            index.close()

    def search(
        self,
        query: Asked,
        task: Task = "answers",
        strategy: str | None = None,
        k: int = 10,
        *,
        offset: int = 0,
        options: Callable[[Index], Mapping[str, Any]] = lambda _: {},
        names: Collection[str] = (),
    ) -> Hits:
        """Return the `k` best hits of all collections, or of those with these names, after the first `offset`.

        A function as the query is called with each index, whose macros it may use; `options` returns further arguments of
        `Index.search` for each.
        """
        if len(self.indexes) == 1:
            (index,) = self.indexes.values()
            asked = query(index) if callable(query) else query
            return index.search(asked, task, strategy, k, offset=offset, **options(index))
        if offset < 0:
            raise MathAMRError(f"the offset must be at least 0, got {offset}")
        found = {
            name: index.search(
                query(index) if callable(query) else query, task, strategy, offset + k, **options(index)
            )
            for name, index in self.indexes.items()
            if not names or name in names
        }
        return joined(found, k, offset, comparable=self._are_comparable(task, strategy))

    def _are_comparable(self, task: Task, strategy: str | None) -> bool:
        models = {
            (each.archive.manifest.model.fingerprint, each.archive.manifest.model.text_backend)
            for each in self.indexes.values()
        }
        rankings = [index.ranking(task, strategy)[1] for index in self.indexes.values()]
        return len(models) == 1 and all(rankings[0] == each and _is_absolute(each) for each in rankings)


def collection_names(folders: Iterable[Path]) -> list[str]:
    """Return short names of indexes that differ: their folders' names, with as many folders above as that takes.

    >>> collection_names([Path("/a/notes.index"), Path("/b/notes.index"), Path("/b/papers")])
    ['a/notes', 'b/notes', 'papers']
    """
    found = [folder.resolve() for folder in folders]
    if len(set(found)) < len(found):
        raise MathAMRError("an index was named twice; name each once")
    parts = [(*each.parent.parts, each.name.removesuffix(".index") or each.name) for each in found]
    return [_shortest(own, parts) or str(folder) for own, folder in zip(parts, found, strict=True)]


def _shortest(own: Sequence[str], every: Sequence[Sequence[str]]) -> str:
    """Return the last parts of a path, as few as no other path ends with; empty if another path is the same."""
    for depth in range(1, len(own) + 1):
        if sum(each[-depth:] == own[-depth:] for each in every) == 1:
            return "/".join(own[-depth:])
    return ""


def joined(found: Mapping[str, Hits], k: int, offset: int = 0, *, comparable: bool) -> Hits:
    """Return one list of the hits of several collections, which were asked for their first `offset + k`.

    With `comparable` scores they stand by score, otherwise by what they are to the query, then by rank.
    """
    key = _by_score if comparable else _by_match
    first, *rest = found.values()
    every = [[_named(hit, name) for hit in hits] for name, hits in found.items()]
    order = list(merge(*(_in_order(hits, key) for hits in every), key=lambda each: each[0]))
    page = [hit for _, hit in order[offset : offset + k]]
    hits = tuple(replace(hit, rank=offset + place) for place, hit in enumerate(page, 1))
    best = min((each.found for each in found.values()), key=FOUND.index)
    absent = [word for word in first.absent if all(word in each.absent for each in rest)]
    return replace(
        first,
        hits=hits,
        offset=offset,
        more=len(order) > offset + k or any(each.more for each in found.values()),
        strategy=" / ".join(dict.fromkeys(each.strategy for each in found.values())),
        seconds={
            stage: sum(each.seconds.get(stage, 0.0) for each in found.values())
            for stage in dict.fromkeys(stage for each in found.values() for stage in each.seconds)
        },
        notes=tuple(_notes(found)),
        absent=tuple(absent),
        counts=FilterCounts.together({name: each.counts for name, each in found.items() if each.counts})
        if first.counts
        else None,
        found=best,
        collections={name: each.found for name, each in found.items()},
        checked=_together([each.checked for each in found.values() if each.checked is not None]),
    )


def _named(hit: Hit, collection: str) -> Hit:
    others = tuple(replace(other, collection=collection) for other in hit.others)
    return replace(hit, collection=collection, others=others)


def _is_absolute(ranking: Ranking) -> bool:
    """Return True for a ranking whose scores say the same in every index of one model."""
    if isinstance(ranking, Rerank):
        return not ranking.keeps_rest and _is_absolute(ranking.then)
    return isinstance(ranking, MaxSim | Nearest | NearestRows)


def _by_score(hit: Hit) -> tuple[float, ...]:
    return (-hit.score,)


def _by_match(hit: Hit) -> tuple[float, ...]:
    return (MATCHES.index(hit.match), -round(hit.evidence.get(GRADE, 0.0), 6), hit.rank)


def _in_order(
    hits: Sequence[Hit], key: Callable[[Hit], tuple[float, ...]]
) -> list[tuple[tuple[float, ...], Hit]]:
    """Return hits with keys that never fall, so that joining keeps their order: none is worse than what stands below it."""
    keys = list(accumulate(map(key, reversed(hits)), min))
    return list(zip(reversed(keys), hits, strict=True))


def _notes(found: Mapping[str, Hits]) -> Iterator[str]:
    """Yield what all collections note, and what some do with their names."""
    said: dict[str, list[str]] = {}
    for name, hits in found.items():
        for note in hits.notes:
            said.setdefault(note, []).append(name)
    for note, names in said.items():
        yield note if len(names) == len(found) else f"{', '.join(names)}: {note}"


def _together(receipts: Sequence[Receipt]) -> Receipt | None:
    if not receipts:
        return None
    held = Holdings(*map(sum, zip(*(astuple(each.holdings) for each in receipts), strict=True)))
    changed = FileChanges(*map(sum, zip(*(astuple(each.changes) for each in receipts), strict=True)))
    return Receipt(held, min(each.updated for each in receipts), changed)
