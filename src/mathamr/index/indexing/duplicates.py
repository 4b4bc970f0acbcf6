"""Reuses work: a post takes over the graph and the vectors of another one with the same content, or its own.

Ids follow the paths of files, so a renamed file adds new posts and removes the old ones, although only references in their
derived data depend on the name. A post that changed only in votes, tags or place has its own vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

from mathamr.core.batches import batches
from mathamr.graphs.maker import digest
from mathamr.graphs.store import GraphStore
from mathamr.index.catalogue.journal import Duplicate, PendingPost, meaning_of
from mathamr.index.indexing.entries import PostEntries, entries_of, write_vectors
from mathamr.index.payloads import payload_of, question_tags
from mathamr.index.storage import GRAPHS, IndexStorage
from mathamr.posts.identifiers import give_id, rename
from mathamr.posts.post import Post
from mathamr.systems.field import FieldTarget
from mathamr.systems.system import Encoded
from mathamr.systems.vectors import Vectors

BATCH = 1024
"""Posts in a batch."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """A post with the entries of its duplicate."""

    pending: PendingPost
    post: Post
    duplicate: Duplicate
    entries: PostEntries


def take_over(archive: IndexStorage) -> int:
    """Give posts the graphs and vectors of duplicates; return the number of posts that need not be encoded."""
    catalogue, count = archive.catalogue, 0
    if not catalogue.has_vectors:
        return 0
    for batch in batches(catalogue.pending("vectors"), BATCH):
        taken = _with_graphs(archive, _taken(archive, batch))
        write_vectors(archive, [(each.pending, meaning_of(each.post), each.entries) for each in taken])
        count += len(taken)
    return count


def _taken(archive: IndexStorage, batch: list[PendingPost]) -> list[_Taken]:
    """Return the posts of a batch whose duplicates have complete and unchanged vectors in the engine."""
    catalogue = archive.catalogue
    duplicates = catalogue.duplicates(batch)
    chosen = [(each, each.post, duplicates[each.id]) for each in batch if each.post and each.id in duplicates]
    posts = fetch(archive, "posts", [duplicate.id for _, _, duplicate in chosen])
    formulas = fetch(
        archive,
        "formulas",
        [rename(name, each.id, duplicate.id) for each, _, duplicate in chosen for name, _ in each.formulas],
    )
    tags = question_tags(catalogue, [post for _, post, _ in chosen])
    taken = []
    for each, post, duplicate in chosen:
        own = {
            name: rows.renamed(duplicate.id, post.id) for name, rows in posts.get(duplicate.id, {}).items()
        }
        parts = tuple(
            (
                formula.id,
                _renamed(formulas.get(rename(name, each.id, duplicate.id), {}), duplicate.id, post.id),
            )
            for formula, (name, _) in zip(post.formulas, each.formulas, strict=True)
        )
        rows = sum(len(found) for _, by in parts for found in by.values())
        if not own or (sum(map(len, own.values())), rows) != (duplicate.rows, duplicate.formulas):
            continue
        encoded = Encoded(id=post.id, post=own, formulas=parts)
        names = [formula.id for formula in post.formulas]
        entries = entries_of(each, payload_of(post, tags.get(post.id)), names, encoded)
        taken.append(_Taken(each, post, duplicate, entries))
    return taken


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


def _with_graphs(archive: IndexStorage, taken: list[_Taken]) -> list[_Taken]:
    """Copy the graphs of duplicates; drop posts whose duplicate has a graph of another text or parser."""
    parser = archive.manifest.parser
    if parser is None or not taken:
        return taken
    with GraphStore(archive.folder / GRAPHS, create=True) as store:
        kept = [
            each
            for each in taken
            if store.digest(each.duplicate.id)
            == digest(give_id(each.post, each.duplicate.id), parser.fingerprint)
        ]
        # All are read before one is written: files may have swapped their names.
        copies = store.copies(
            (each.duplicate.id, each.post, digest(each.post, parser.fingerprint))
            for each in kept
            if each.duplicate.id != each.post.id
        )
        with store.transaction():
            store.put_copies(copies)
        store.flush()
    return kept
