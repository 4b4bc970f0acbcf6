"""Builds the entries of a post, its formulas and visual classes for an engine, and writes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mathamr.index.catalogue.journal import PendingPost
from mathamr.index.engines.entry import Entry, Payload
from mathamr.index.storage import IndexStorage
from mathamr.posts.passage import Passage
from mathamr.posts.post import Post
from mathamr.systems.system import Encoded
from mathamr.systems.vectors import Vectors

FEWEST_WORDS = 3
"""A note with fewer words below its title and without formulas gets no vectors; only its words are searched."""


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
    engine, catalogue = archive.engine, archive.catalogue
    with catalogue.transaction():  # from here on nobody may take the vectors for those of the content before
        catalogue.forget_meanings(each for each, _, _ in results)
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
    with catalogue.transaction():
        catalogue.mark_vectors(
            (
                each,
                made_of,
                count_rows(entries.post),
                {entry.id: count_rows(entry) for entry in entries.formulas},
            )
            for each, made_of, entries in results
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
