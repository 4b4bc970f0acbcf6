"""`FilterCounts`: how many of the results of a search each filter would keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import PurePosixPath

from mathamr.index.engines.entry import Payload


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """How often each kind, tag, folder and collection occurs among the best `counted` results, the most frequent first."""

    counted: int
    kinds: dict[str, int]
    tags: dict[str, int]
    folders: dict[str, int]
    """Folders of every depth below what all files share, as the filter takes them."""
    collections: dict[str, int] = field(default_factory=dict)
    """Empty where one index is searched."""

    @classmethod
    def of(cls, results: Iterable[Payload], sources: Collection[str]) -> FilterCounts:
        """Count results; `sources` are the files of the whole index.

        >>> found = [Payload("note", ("sums",), None, None, "/ada/vault/sums/b/c.md")]
        >>> FilterCounts.of(found, ["/ada/vault/sums/b/c.md", "/ada/vault/d.md"]).folders
        {'vault/sums': 1, 'vault/sums/b': 1}
        """
        shared = _shared(sources)
        kinds, tags, folders = Counter[str](), Counter[str](), Counter[str]()
        counted = 0
        for payload in results:
            counted += 1
            kinds[payload.kind] += 1
            tags.update(set(payload.tags))
            folders.update(_folders(payload.source, shared))
        return cls(counted, *(dict(each.most_common()) for each in (kinds, tags, folders)))

    @classmethod
    def together(cls, counts: Mapping[str, FilterCounts]) -> FilterCounts:
        """Return the sums over several collections, and how many results each of them has.

        >>> both = {"notes": FilterCounts(2, {"note": 2}, {}, {}), "papers": FilterCounts(3, {"note": 1, "page": 2}, {}, {})}
        >>> FilterCounts.together(both)
        FilterCounts(counted=5, kinds={'note': 3, 'page': 2}, tags={}, folders={}, collections={'papers': 3, 'notes': 2})
        """
        kinds, tags, folders = Counter[str](), Counter[str](), Counter[str]()
        for each in counts.values():
            kinds.update(each.kinds)
            tags.update(each.tags)
            folders.update(each.folders)
        found = Counter({name: each.counted for name, each in counts.items()})
        return cls(found.total(), *(dict(each.most_common()) for each in (kinds, tags, folders, found)))


def _shared(sources: Collection[str]) -> int:
    """Return the number of leading parts that the paths of all folders share."""
    folders = (PurePosixPath(source).parent.parts for source in sources if "/" in source)
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False)))


def _folders(source: str, shared: int) -> list[str]:
    parts = PurePosixPath(source).parent.parts if "/" in source else ()
    inside = [part.strip("/") for part in parts[max(0, shared - 1) :]]
    first = 1 if shared == 0 else 2
    return ["/".join(inside[:end]).strip("/") for end in range(first, len(inside) + 1)]
