"""`HitBuilder`: turns ranked ids into hits with title, snippet and matched parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, pairwise

import numpy as np

from mathamr.core.arrays import DoubleArray
from mathamr.core.cancellation import check_cancelled
from mathamr.formulas.alignment import work
from mathamr.formulas.trees import trees_of
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.catalogue.occurrences import FormulaEntry
from mathamr.index.freshness import deleted_files
from mathamr.index.preview import Preview, PreviewHead
from mathamr.index.storage import IndexStorage
from mathamr.posts.level import Level
from mathamr.posts.post import Post
from mathamr.search.formulamatch import matched_nodes, matched_stretches, taken_nodes
from mathamr.search.hits import FormulaHit, Hit, Match
from mathamr.search.querycontext import QueryContext
from mathamr.search.results import RankedResult
from mathamr.search.snippet import Snippets, Wanted, title
from mathamr.systems.field import Field


class HitBuilder:
    """Builds the hits of one query from the posts and formulas of an archive; `matches` has the label of every result."""

    def __init__(
        self, archive: IndexStorage, context: QueryContext, wanted: Wanted, matches: Mapping[str, Match]
    ) -> None:
        self._archive, self._context, self._wanted = archive, context, wanted
        self._matches = matches
        self._unmarked = 0

    @property
    def notes(self) -> list[str]:
        """Notes on what could not be compared or marked in the hits."""
        notes: list[str] = []
        if self._unmarked:
            notes.append(
                f"what matches is not marked in {self._unmarked} of the formulas:"
                " they are too large to be compared with this query"
            )
        if self._wanted.uncompared:
            notes.append(
                f"{self._wanted.uncompared:,} formulas of the hits were not compared with those of the query:"
                " there are too many, or they are too long"
            )
        return notes

    def posts(self, page: Sequence[RankedResult], offset: int, *, near: bool) -> tuple[Hit, ...]:
        """Return ranked posts as hits, numbered from `offset` + 1; with `near`, vectors help to choose the sentences shown."""
        return self._build(page, {}, offset, near=near)

    def formulas(self, page: Sequence[RankedResult], offset: int, *, near: bool) -> tuple[Hit, ...]:
        """Return ranked formulas as hits, each in its post."""
        return self._build(
            page, self._archive.catalogue.formulas([each.id for each in page]), offset, near=near
        )

    def _build(
        self, page: Sequence[RankedResult], entries: Mapping[str, FormulaEntry], offset: int, *, near: bool
    ) -> tuple[Hit, ...]:
        catalogue, wanted = self._archive.catalogue, self._wanted
        of_post = {each.id: entries[each.id].post if each.id in entries else each.id for each in page}
        previews = catalogue.previews(list(dict.fromkeys(of_post.values())))
        kept = catalogue.kept_since(list(previews))
        sources = {preview.post.source for preview in previews.values()}
        deleted = deleted_files(catalogue, self._archive.manifest.inputs, sources)
        parents = read_parents(catalogue, previews.values())
        questions = {each: head.post for each, head in parents.items()}
        similar = self._similarities(previews) if near else {}
        titles = {
            each: parents.get(titled(preview.post, questions).id, preview.head)
            for each, preview in previews.items()
        }
        hits: list[Hit] = []
        # A concurrent update may have deleted a post already; ranks are numbered without it.
        found = [each for each in page if of_post[each.id] in previews]
        if not found:
            return ()
        shown = [previews[of_post[each.id]] for each in found]
        inside = [
            self._number_in(preview, entries.get(each.id), each.holds)
            for preview, each in zip(shown, found, strict=True)
        ]
        latex = (part[0] for head in titles.values() for part in head.title if not isinstance(part, str))
        similarities = [similar.get(preview.post.id) for preview in shown]
        snippets = Snippets(shown, wanted, similarities, inside, latex)
        for place, (each, preview) in enumerate(zip(found, shown, strict=True)):
            check_cancelled()
            post, above = preview.post, titles[preview.post.id]
            entry = entries.get(each.id)
            hits.append(
                Hit(
                    post.id,
                    offset + 1 + place,
                    each.shown,
                    post.kind,
                    title(above.title, wanted),
                    snippets[place],
                    above.post.tags or post.tags,
                    post.parent,
                    post.date,
                    post.score,
                    post.source,
                    self._formula_hit(entry, each) if entry else None,
                    each.evidence,
                    post.place,
                    each.share,
                    at_most_weak(self._matches[each.id])
                    if post.source in deleted
                    else self._matches[each.id],
                    is_deleted=post.source in deleted,
                    as_of=kept.get(post.id),
                    macros=post.macros if above is preview.head else above.post.macros + post.macros,
                )
            )
        return tuple(hits)

    def _number_in(self, preview: Preview, entry: FormulaEntry | None, visual: str) -> int | None:
        """Return the number of the formula by which a post was found, which its snippet shows; None if it was found otherwise."""
        if entry is not None:
            return next((n for n, each in enumerate(preview.formula_ids) if each == entry.formula.id), None)
        place = self._archive.catalogue.position_of(preview.post.id, visual) if visual else None
        return place if place is not None and place < len(preview.numbers.formulas) else None

    def _formula_hit(self, entry: FormulaEntry, ranked: RankedResult) -> FormulaHit:
        (opt, slt), _ = trees_of(entry.formula, entry.macros)
        context = self._context
        nodes: tuple[int, ...] = ()
        if context.budget.marked_nodes.affords(work((None, context.trees[1]), (None, slt))):
            nodes = matched_nodes(context.trees[1], slt)
        else:
            self._unmarked += 1
        return FormulaHit(
            entry.id,
            entry.formula.latex,
            entry.visual,
            entry.formula.visual_id,
            entry.formula.display,
            len(self._archive.catalogue.with_visual(entry.visual)),
            ranked.exact,
            entry.formula.id,
            matched_stretches(entry.formula, entry.macros, slt, nodes),
            nodes,
            taken_nodes(context.trees, (opt, slt), nodes, context.budget.pattern_steps)
            if context.has_wildcards
            else (),
        )

    def _similarities(self, previews: Mapping[str, Preview]) -> dict[str, DoubleArray]:
        """Return, for every sentence of some posts, its similarity to the nearest vector of the query; NaN if it has no
        vector.
        """
        field = aligned_field(self._archive)
        if field is None or not previews:
            return {}
        query = self._context.rows(field).vectors
        stored = self._archive.engine[field.name].fetch(list(previews))
        if not stored:  # found by words alone: no post of the page has vectors
            return {}
        (rows,) = np.nonzero(np.concatenate([own.levels for own in stored.values()]) == Level.SENTENCE)
        best = (query @ np.concatenate([own.vectors for own in stored.values()]).T).max(axis=0)[rows]
        references = list(chain.from_iterable(own.references for own in stored.values()))
        numbers = np.array([int(references[row]) for row in rows.tolist()], np.int64)
        counts = [len(previews[each].numbers.sentences) for each in stored]
        starts = [0, *accumulate(counts)]
        owners = np.repeat(np.arange(len(stored)), [len(own) for own in stored.values()])[rows]
        is_known = numbers < np.array(counts)[owners]  # an update may have changed either
        nearest = np.full(starts[-1], np.nan)
        np.fmax.at(nearest, (np.array(starts)[owners] + numbers)[is_known], best[is_known])
        return {each: nearest[start:end] for each, (start, end) in zip(stored, pairwise(starts), strict=True)}


def at_most_weak(match: Match) -> Match:
    """Return the match of a post whose file is gone: it may be what was asked, but is not there any more."""
    return "weak" if match == "strong" else match


def aligned_field(archive: IndexStorage) -> Field | None:
    """Return the field whose rows stand for parts of posts, if the system of an archive has one."""
    fields = archive.manifest.model.fields
    return next((field for field in fields if field.of == "posts" and field.many), None)


def read_parents(catalogue: Catalogue, previews: Iterable[Preview]) -> dict[str, PreviewHead]:
    """Return the titles of the parents of posts, by id."""
    return catalogue.preview_heads(sorted({each.post.parent for each in previews if each.post.parent}))


def titled(post: Post, parents: Mapping[str, Post]) -> Post:
    """Return the post whose title is shown for a post: for an answer its question, else the post itself."""
    return parents.get(post.parent, post) if post.parent and not post.title else post
