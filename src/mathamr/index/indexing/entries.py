"""Builds the entries of a post, its formulas and visual classes for an engine, and writes them.

A post takes over the vectors of another one with the same content, or its own: ids follow the paths of files, so a renamed file adds
new posts and removes the old ones, and a post that changed only in votes, tags or place has its vectors already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mathamr.core.batches import batches
from mathamr.graphs.maker import digest
from mathamr.graphs.store import GraphStore
from mathamr.index.catalogue.journal import Duplicate, PendingPost, meaning_of
from mathamr.index.engines.entry import Entry, Payload
from mathamr.index.payloads import payload_of, question_tags
from mathamr.index.storage import GRAPHS, IndexStorage
from mathamr.posts.identifiers import rename
from mathamr.posts.post import Post
from mathamr.systems.field import FieldTarget
from mathamr.systems.system import Encoded
from mathamr.systems.vectors import Vectors


@dataclass(frozen=True, slots=True)
class PostEntries:
    """The entries of one post, and a digest of the content from which they were computed; `post` is `None` without vectors of its own."""

    pending: PendingPost
    made_of: bytes | None = None
    post: Entry | None = None
    formulas: tuple[Entry, ...] = ()


def entries_of(
    pending: PendingPost, made_of: bytes, payload: Payload, formulas: Sequence[str], encoded: Encoded
) -> PostEntries:
    """Return the entries of a post and its formulas, given their vectors; `formulas` are the formulas' ids in the post."""
    own = _filled(encoded.post)
    return PostEntries(
        pending,
        made_of,
        Entry(pending.id, own, payload) if own else None,
        _formula_entries(pending, formulas, encoded, payload),
    )


def _formula_entries(
    pending: PendingPost, formulas: Sequence[str], encoded: Encoded, payload: Payload
) -> tuple[Entry, ...]:
    # A post may use one id for several formulas: their order distinguishes them.
    known: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for formula, names in zip(formulas, pending.formulas, strict=True):
        known[formula].append(names)
    entries = []
    for reference, rows in encoded.formulas:
        if not known[reference]:
            continue  # the same formula again, as part of several sentences
        formula_id, visual = known[reference].pop(0)
        own = _filled(rows)
        if own:
            entries.append(Entry(formula_id, own, replace(payload, post=pending.id, visual=visual)))
    return tuple(entries)


def write_vectors(archive: IndexStorage, results: Sequence[PostEntries]) -> None:
    """Write, flush and mark the entries of some posts."""
    if not results:
        return
    engine, catalogue = archive.engine, archive.catalogue
    with catalogue.transaction():  # from here on nobody may take the vectors for those of the content before
        catalogue.forget_meanings(each.pending for each in results)
    posts = [each.post for each in results if each.post is not None]
    formulas = [entry for each in results for entry in each.formulas]
    had = {name for each in results for name in each.pending.formula_ids}
    engine.delete("formulas", sorted(had - {entry.id for entry in formulas}))
    engine.delete("posts", [each.pending.id for each in results if each.post is None])
    if posts:
        engine.upsert("posts", posts)
    if formulas:
        engine.upsert("formulas", formulas)
    engine.flush()
    with catalogue.transaction():
        catalogue.mark_vectors(
            (
                each.pending,
                each.made_of,
                count_rows(each.post),
                {own.id: count_rows(own) for own in each.formulas},
            )
            for each in results
        )


def count_rows(entry: Entry | None) -> int:
    """Return the number of rows of an entry, in all fields."""
    return 0 if entry is None else sum(map(len, entry.rows.values()))


def visual_entry(visual: str, rows: Mapping[str, Vectors]) -> Entry | None:
    """Return the entry of a visual class, given its vectors; `None` if it has none."""
    own = _filled(rows)
    return Entry(visual, own, Payload(visual=visual)) if own else None


def _filled(rows: Mapping[str, Vectors]) -> dict[str, Vectors]:
    return {name: own for name, own in rows.items() if len(own)}


BATCH = 1024
"""Posts in a batch."""


def take_over(archive: IndexStorage) -> int:
    """Give posts the vectors of duplicates; return the number of posts that need not be encoded."""
    catalogue, count = archive.catalogue, 0
    if not catalogue.has_vectors:
        return 0
    for batch in batches(catalogue.pending("vectors"), BATCH):
        taken = list(_taken(archive, batch))
        write_vectors(archive, taken)
        count += len(taken)
    return count


def _taken(archive: IndexStorage, batch: list[PendingPost]) -> Iterator[PostEntries]:
    """Yield the entries of the posts of a batch whose duplicates have complete and unchanged vectors in the engine."""
    chosen = _chosen(archive, batch)
    posts = fetch(archive, "posts", [duplicate.id for _, _, duplicate in chosen])
    formulas = fetch(
        archive,
        "formulas",
        [rename(name, each.id, duplicate.id) for each, _, duplicate in chosen for name, _ in each.formulas],
    )
    tags = question_tags(archive.catalogue, [post for _, post, _ in chosen])
    for each, post, duplicate in chosen:
        own = _renamed(posts.get(duplicate.id, {}), duplicate.id, post.id)
        parts = tuple(
            (
                formula.id,
                _renamed(formulas.get(rename(name, each.id, duplicate.id), {}), duplicate.id, post.id),
            )
            for formula, (name, _) in zip(post.formulas, each.formulas, strict=True)
        )
        rows = sum(len(found) for _, by in parts for found in by.values())
        if own and (sum(map(len, own.values())), rows) == (duplicate.rows, duplicate.formulas):
            encoded = Encoded(id=post.id, post=own, formulas=parts)
            names = [formula.id for formula in post.formulas]
            payload = payload_of(post, tags.get(post.id))
            yield entries_of(each, meaning_of(post), payload, names, encoded)


def _chosen(archive: IndexStorage, batch: list[PendingPost]) -> list[tuple[PendingPost, Post, Duplicate]]:
    """Return the posts of a batch that have a duplicate; where there are graphs, which are not renamed, only themselves."""
    duplicates, parser = archive.catalogue.duplicates(batch), archive.manifest.parser
    chosen = [(each, each.post, duplicates[each.id]) for each in batch if each.post and each.id in duplicates]
    if parser is None or not chosen:
        return chosen
    with GraphStore(archive.folder / GRAPHS, create=True) as store:
        return [
            (each, post, duplicate)
            for each, post, duplicate in chosen
            if duplicate.id == post.id and store.digest(post.id) == digest(post, parser.fingerprint)
        ]


def _renamed(rows: dict[str, Vectors], old: str, new: str) -> dict[str, Vectors]:
    return {name: found.renamed(old, new) for name, found in rows.items()}


def fetch(archive: IndexStorage, of: FieldTarget, ids: list[str]) -> dict[str, dict[str, Vectors]]:
    """Fetch the vectors of entries by field from the engine."""
    found: dict[str, dict[str, Vectors]] = {}
    for field in archive.manifest.model.fields:
        if field.of == of and ids:
            for name, rows in archive.engine[field.name].fetch(ids).items():
                found.setdefault(name, {})[field.name] = rows
    return found
