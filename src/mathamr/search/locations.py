"""Posts by their location: filters by folder, and posts that a label names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile
from pathlib import PurePosixPath

from mathamr.core.errors import MathAMRError
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.engines.entry import Filter
from mathamr.posts.post import Post
from mathamr.search.results import RankedResult

MOST_LABELLED = 200
"""The largest number of posts that one label brings before all others."""
AUXILIARY = frozenset(["undocumented", "generated", "instance", "deprecated", "private"])
"""Tags of declarations that are rarely what is looked for."""
LABEL_MARK = "label:"
"""A prefix that marks a query as a label."""


def lies_in(source: str, folder: str) -> bool:
    """Return True if a source is a file in a folder, or the file itself; any part of a path names a folder.

    >>> lies_in("/home/ada/notes/limits/a.md", "notes/limits"), lies_in("/home/ada/notes/a.md", "note")
    (True, False)
    """
    return _path_key(folder.strip()) in _path_key(source)


def _path_key(path: str) -> str:
    """Return the parts of a path, each between two NULs: one path has the parts of another in a row if it contains its key."""
    return "\0".join(["", *PurePosixPath(path).parts, ""])


def within(catalogue: Catalogue, folders: Sequence[str], where: Filter) -> Filter:
    """Return the filter narrowed to posts of files in any of the folders."""
    if not folders and not where.sources:
        return where
    sources = catalogue.sources()
    for source in where.sources:
        if source not in sources:
            name = PurePosixPath(min(sources, default="notes.md")).name
            raise MathAMRError(
                f"no post of the index is from {source!r}; a source is the full path of a file, as in '/…/{name}'"
                " (see the JSON output of a search); use --folder for a part of a path"
            )
    if not folders:
        return where
    among = frozenset(where.sources)
    candidates = (source for source in sources if source in among) if among else sources
    inside = _inside(tuple(folders), tuple(candidates))
    if not inside:
        raise MathAMRError(
            f"no post of the index is in {' or '.join(map(repr, folders))}; its files have names like"
            f" {PurePosixPath(min(sources, default='')).name!r}"
        )
    return replace(where, sources=inside)


@lru_cache(maxsize=16)
def _inside(folders: tuple[str, ...], sources: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of some sources that lie in one of some folders; remembered, since a user stays in a folder for several queries."""
    wanted = {_path_key(folder.strip()) for folder in folders}
    keys = ((source, _path_key(source)) for source in sources)
    return tuple(source for source, key in keys if any(each in key for each in wanted))


def folder_counts(sources: Mapping[str, int]) -> dict[str, int]:
    """Return the sibling folders of the files, as `within` accepts them, with the number of posts in each.

    >>> folder_counts({"/ada/vault/limits/a.md": 2, "/ada/vault/sums/b/c.md": 1, "/ada/vault/d.md": 1})
    {'vault/limits': 2, 'vault/sums': 1}
    """
    folders = {source: PurePosixPath(source).parent.parts for source in sources if "/" in source}
    shared = [
        each[0] for each in takewhile(lambda each: len(set(each)) == 1, zip(*folders.values(), strict=False))
    ]
    found: Counter[str] = Counter()
    for source, parts in folders.items():
        if len(parts) > len(shared):
            inside = parts[max(0, len(shared) - 1) : len(shared) + 1]
            found["/".join(part.strip("/") for part in inside).strip("/")] += sources[source]
    return dict(found.most_common())


def labelled_first(
    catalogue: Catalogue, text: str, found: list[RankedResult], passing: Collection[str] | None, depth: int
) -> list[RankedResult]:
    """Return the results, preceded by the posts whose label the query names, those that are `passing` if there is a filter."""
    label = text.strip().removeprefix(LABEL_MARK).strip()
    if not label or len(label.split()) > 1:
        return found
    order = catalogue.labelled(label, MOST_LABELLED)
    named = catalogue.posts([name for name in order if passing is None or name in passing])
    best = max((each.score for each in found), default=0.0)
    order = sorted((name for name in order if name in named), key=lambda name: _asides(named[name], label))
    most = max((each.shown for each in found), default=0.0)
    first = [RankedResult(name, best + 1.0, {"label": 1.0}, own=most) for name in order]
    return [*first, *(each for each in found if each.id not in named)][:depth]


def _asides(post: Post, label: str) -> tuple[bool, int, int]:
    """Return the sort key of a post that a label leads to: its own label first, and among declarations the more central ones."""
    own = post.place is not None and post.place.label.lower() == label.lower()
    if post.markup != "declaration":
        return not own, 0, 0
    return not own, len(AUXILIARY.intersection(post.tags)), len(post.title)
