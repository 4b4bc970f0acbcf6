"""Builds the entries of a post, its formulas and visual classes for an engine, and sketches for checking them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mathamr.core.arrays import DoubleArray
from mathamr.index.catalogue.journal import PendingPost, VectorChecksum
from mathamr.index.engines.entry import Entry, Payload
from mathamr.index.storage import IndexStorage
from mathamr.posts.passage import Passage
from mathamr.posts.post import Post
from mathamr.systems.field import Field, FieldTarget
from mathamr.systems.system import Encoded
from mathamr.systems.vectors import Vectors

FEWEST_WORDS = 3
"""A note with fewer words below its title and without formulas gets no vectors; only its words are searched."""
CHECKSUM_TOLERANCE = 0.003
"""Tolerance of the sketch of one vector, since engines may store half precision."""


@dataclass(frozen=True, slots=True)
class PostEntries:
    """The entries of one post; `post` is `None` if it has no vectors of its own."""

    post: Entry | None = None
    formulas: tuple[Entry, ...] = ()


Result = tuple[PendingPost, bytes | None, PostEntries]
"""A post, a digest of the content from which its vectors were computed, and its entries."""


def says_nothing(post: Post, read: Passage) -> bool:
    """Return True if a note has hardly more than a title: the page of a part, a table of contents, a stub.

    Its vectors would be close to everything, so only its words are searched.

    >>> from mathamr.posts.passage import passage
    >>> stub, note = Post("a", "section", "\\\\maketitle", "Part II", "latex"), Post("a", "note", "Let $x > 0$.", markup="text")
    >>> says_nothing(stub, passage(stub)), says_nothing(note, passage(note))
    (True, False)
    """
    if post.role != "note" or not post.title or post.formulas:
        return False
    body = [sentence for sentence in read.sentences if sentence.field == "body"]
    return (
        not any(sentence.placeholders for sentence in body)
        and sum(len(sentence.text.split()) for sentence in body) < FEWEST_WORDS
    )


def entries_of(
    pending: PendingPost, payload: Payload, formulas: Sequence[str], encoded: Encoded
) -> PostEntries:
    """Return the entries of a post and its formulas, given their vectors; `formulas` are the formulas' ids in the post."""
    own = _filled(encoded.post)
    return PostEntries(
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


def write_vectors(archive: IndexStorage, results: Sequence[Result]) -> None:
    """Write, flush and mark the entries of some posts."""
    if not results:
        return
    engine, fields = archive.engine, archive.manifest.model.fields
    posts = [entries.post for _, _, entries in results if entries.post is not None]
    formulas = [entry for _, _, entries in results for entry in entries.formulas]
    had = {name for each, _, _ in results for name in (*each.gone, *(name for name, _ in each.formulas))}
    engine.delete("formulas", sorted(had - {entry.id for entry in formulas}))
    engine.delete("posts", [each.id for each, _, entries in results if entries.post is None])
    if posts:
        engine.upsert("posts", posts)
    if formulas:
        engine.upsert("formulas", formulas)
    engine.flush()
    own = checksums_of([each.post.rows if each.post else {} for _, _, each in results], fields, "posts")
    parts = checksums_of([entry.rows for entry in formulas], fields, "formulas")
    of_formula = {entry.id: part for entry, part in zip(formulas, parts, strict=True)}
    with archive.catalogue.transaction():
        archive.catalogue.mark_vectors(
            (each, made_of, checksum, {entry.id: of_formula[entry.id] for entry in entries.formulas})
            for (each, made_of, entries), checksum in zip(results, own, strict=True)
        )


def visual_entry(visual: str, rows: Mapping[str, Vectors]) -> Entry | None:
    """Return the entry of a visual class, given its vectors; `None` if it has none."""
    own = _filled(rows)
    return Entry(visual, own, Payload(visual=visual)) if own else None


def _filled(rows: Mapping[str, Vectors]) -> dict[str, Vectors]:
    return {name: own for name, own in rows.items() if len(own)}


def checksum_of(rows: Mapping[str, Vectors], fields: Sequence[Field], of: FieldTarget) -> VectorChecksum:
    """Return a sketch of an entry's vectors in all fields; damaged or swapped vectors have a different one."""
    return checksums_of([rows], fields, of)[0]


def checksums_of(
    entries: Sequence[Mapping[str, Vectors]], fields: Sequence[Field], of: FieldTarget
) -> list[VectorChecksum]:
    """Return the sketches of many entries, computed together."""
    values, counts = np.zeros(len(entries)), np.zeros(len(entries), np.int64)
    for number, field in enumerate(field for field in fields if field.of == of):
        places = [place for place, rows in enumerate(entries) if rows.get(field.name)]
        if not places:
            continue
        found = [entries[place][field.name].vectors for place in places]
        own = np.array([len(vectors) for vectors in found])
        starts = np.cumsum(own) - own
        vectors = np.concatenate(found).astype(np.float64)
        # As if the rows had length one, as an engine stores them.
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        lengths[lengths == 0] = 1.0
        weights = 1 + (np.arange(len(vectors)) - np.repeat(starts, own)) % 7
        sums = np.add.reduceat(vectors @ _columns(vectors.shape[1]) / lengths * weights, starts)
        values[places] += (1 + number % 3) * sums
        counts[places] += own
    return [VectorChecksum(*each) for each in zip(counts.tolist(), values.tolist(), strict=True)]


@lru_cache(maxsize=16)
def _columns(size: int) -> DoubleArray:
    columns: DoubleArray = np.random.default_rng(7).standard_normal(size)
    return columns / np.linalg.norm(columns)


def agree(found: VectorChecksum, expected: VectorChecksum) -> bool:
    """Return True if two sketches belong to the same vectors, possibly in half precision."""
    tolerance = CHECKSUM_TOLERANCE * max(1, expected.rows) ** 0.5
    return found.rows == expected.rows and abs(found.value - expected.value) <= tolerance
