"""`FormulaRanker`: what the leaves of a ranking ask an index where formulas are looked for: each look once, at its best place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from mathamr.formulas.alignment import similarity, work
from mathamr.formulas.renaming import FEWEST_SYMBOLS, count_letters, form_key
from mathamr.formulas.tree import Opt, Slt
from mathamr.formulas.trees import Trees
from mathamr.index.engines.engine import Engine, FieldReader
from mathamr.index.engines.entry import Filter
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import reading_in_force
from mathamr.index.scored import Scored
from mathamr.search.options import SearchOptions
from mathamr.search.querycontext import QueryContext
from mathamr.search.ranker import FoundHits, Payloads, Ranker, filtered, of_rows
from mathamr.search.results import RankedResult
from mathamr.search.wildcards import Fit, fit, has_wildcards
from mathamr.systems.nodematch import node_comparer
from mathamr.systems.ranking import MaxSim, Nearest, NearestRows

PATTERN_CANDIDATES = 400
"""Formulas of the best ranks that are tried against the wildcards of a query."""
FORM_CANDIDATES = 100
"""Formulas of the best ranks that are looked at for the query's form in other letters."""
ALIGNED_NODES = 400_000
"""Pairs of nodes that are compared for one query: trees are aligned, best ranks first, until they are spent."""
ALIKE_NODES = 20_000
"""Nodes of found formulas that a network reads for one query, best ranks first."""

_PLACES_AT_A_TIME = 32
_SPARE = 20
"""Looks beyond the wanted depth, should some have lost their last place since."""
_FIT_BONUS: dict[Fit, float] = {"whole": 1.0, "inside": 0.5}
_FORM_BONUS = 0.5
_BELOW_A_BONUS = 0.49
"""What the best score counts beside a bonus: less than the difference of two bonuses."""


class VisualFormulas(Protocol):
    """Which formulas look the same: how a catalogue, or a table of formulas, answers."""

    def visuals_of(self, formulas: Sequence[str]) -> dict[str, str]:
        """The looks of formulas; unknown ones are left out."""
        ...

    def with_visual(self, visual: str) -> list[str]:
        """The formulas with a look, in the order of the index."""
        ...

    def first_with(self, visuals: Sequence[str]) -> dict[str, str]:
        """The first formula with each look; looks that nothing has are left out."""
        ...

    def trees(self, visuals: Sequence[str], reading: str = "published") -> dict[str, Trees]:
        """The trees of one formula of each look, read as is said; what cannot be read has none."""
        ...


class FormulaRanker(Ranker):
    """Ranks looks by the fields of formulas and of looks, and by the terms of their trees."""

    def __init__(
        self,
        context: QueryContext,
        engine: Engine | None,
        lexicon: Callable[[], LexicalPart],
        visuals: VisualFormulas,
        payloads: Payloads | None = None,
    ) -> None:
        super().__init__(context, engine, lexicon, payloads)
        self._visuals = visuals
        self._places: dict[str, str] = {}
        """The formula that stands for a look: the one that fits best, as far as is known."""
        self._meant: dict[str, Trees] = {}
        """The trees of looks, read as lexical terms are, as far as they were asked for."""

    def _by_field(self, leaf: Nearest | MaxSim | NearestRows, options: SearchOptions) -> Sequence[Scored]:
        field = self.engine[leaf.field]
        vectors = self.context.rows(field.field).vectors

        def search(k: int, where: Filter | None) -> Sequence[Scored]:
            match leaf:
                case Nearest():
                    return field.search(vectors[0], k, where, options.exact)
                case MaxSim():
                    return field.search_maxsim(vectors, k, where, options.exact)
                case NearestRows(rows=rows):
                    # Looks are filtered after they were found: then as many as may be needed.
                    return of_rows(
                        field, vectors, max(rows, k if options.where else 0), where, options.exact
                    )[:k]

        if field.field.of == "visual":
            return filtered(
                lambda k: search(k, None), options, lambda visuals: self._passing(visuals, options)
            )
        return self._gathered(field, search, options)

    def _gathered(
        self,
        field: FieldReader,
        search: Callable[[int, Filter | None], Sequence[Scored]],
        options: SearchOptions,
    ) -> Sequence[Scored]:
        """Looks by their best formula, whose place is remembered: more are asked for until there are enough."""
        total = field.count()
        if not total:
            return []
        asked = 4 * options.depth
        while True:
            found = search(min(asked, total), options.where)
            visuals = self._visuals.visuals_of([hit.id for hit in found])
            best: dict[str, Scored] = {}
            for hit in found:
                visual = visuals.get(hit.id)
                if visual is not None and visual not in best:
                    best[visual] = hit
            if len(best) >= options.depth or len(found) < asked:
                break
            asked *= 4
        for visual, hit in best.items():
            self._places[visual] = hit.id
        return [Scored(visual, hit.score) for visual, hit in best.items()][: options.depth]

    def _by_words(self, lexicon: LexicalPart, options: SearchOptions) -> Sequence[Scored]:
        return filtered(
            lambda k: lexicon.search(self.context.terms, k),
            options,
            lambda visuals: self._passing(visuals, options),
        )

    def _passing(self, visuals: Sequence[str], options: SearchOptions) -> set[str]:
        first = {visual: self._first_place(visual, options.where) for visual in visuals}
        known = {visual: place for visual, place in first.items() if place is not None}
        for visual, place in known.items():
            self._places.setdefault(visual, place)
        return set(known)

    def _field_scores(self, name: str, ids: Sequence[str], asked_by: str) -> Sequence[Scored]:
        field = self.engine[name]
        vectors = self.context.rows(self.engine[asked_by].field).vectors
        if field.field.of == "visual":
            return field.score(vectors, ids)
        visual_of = {formula: visual for visual in ids for formula in self._visuals.with_visual(visual)}
        best: dict[str, Scored] = {}
        for hit in field.score(vectors, list(visual_of)):
            best.setdefault(visual_of[hit.id], hit)
        self._places.update({visual: hit.id for visual, hit in best.items()})
        return [Scored(visual, hit.score) for visual, hit in best.items()]

    def _aligned(self, ids: Sequence[str]) -> Sequence[Scored]:
        opt, slt = self.context.lexical_trees
        known = self._trees(ids)
        left = ALIGNED_NODES
        scored: list[Scored] = []
        for visual in ids:
            if visual not in known:
                continue
            left -= work((opt, slt), known[visual])
            if left < 0 and scored:
                break
            scored.append(Scored(visual, similarity((opt, slt), known[visual])))
        return sorted(scored, key=lambda each: (-each.score, each.id))

    def _alike(self, ids: Sequence[str], model: str) -> Sequence[Scored]:
        known = self._trees(ids)
        left = ALIKE_NODES
        read: list[str] = []
        for visual in ids:
            if visual not in known:
                continue
            left -= sum(len(tree) for tree in known[visual] if tree is not None)
            if left < 0:
                break
            read.append(visual)
        if (
            not read
            or sum(len(tree) for tree in self.context.lexical_trees if tree is not None) > ALIKE_NODES
        ):
            return []
        worth = node_comparer(model).alike(self.context.lexical_trees, [known[visual] for visual in read])
        scored = map(Scored, read, worth)
        return sorted(scored, key=lambda each: (-each.score, each.id))

    def _trees(self, visuals: Sequence[str]) -> dict[str, Trees]:
        """The trees of looks, each read once for a query."""
        unread = [visual for visual in visuals if visual not in self._meant]
        if unread:
            self._meant |= self._visuals.trees(unread, reading_in_force())
        return {visual: self._meant[visual] for visual in visuals if visual in self._meant}

    def _first_place(self, visual: str, where: Filter | None) -> str | None:
        """The first formula with that look that passes the filter."""
        ids = self._visuals.with_visual(visual)
        if not where:
            return ids[0] if ids else None
        for start in range(0, len(ids), _PLACES_AT_A_TIME):
            few = ids[start : start + _PLACES_AT_A_TIME]
            payloads = self._payloads("formulas", few)
            for each in few:
                if each in payloads and where.passes(payloads[each]):
                    return each
        return None

    def _promoted(self, found: FoundHits) -> FoundHits:
        """What is just what was asked for, then the same in other letters, then the rest by their scores.

        With wildcards: whatever fits them, then what holds such a part inside, then the rest.
        """
        opt, slt = self.context.trees
        if opt is not None and has_wildcards(opt):
            bonuses = {"pattern": self._fitting(opt, found)}
        else:
            bonuses = {"identical": {self.context.visual: _FIT_BONUS["whole"]}}
            if slt is not None and len(slt) >= FEWEST_SYMBOLS:
                bonuses["renamed"] = self._renamed(slt, found)
        scale = _BELOW_A_BONUS / (max((each.score for each in found.hits), default=0.0) or 1.0)
        raised = [
            Scored(each.id, scale * each.score + sum(part.get(each.id, 0.0) for part in bonuses.values()))
            for each in found.hits
        ]
        return FoundHits(
            sorted(raised, key=lambda each: (-each.score, each.id)),
            {**found.evidence, **bonuses},
            found.own_shares,
        )

    def _fitting(self, pattern: Opt, found: FoundHits) -> dict[str, float]:
        known = self._visuals.trees([each.id for each in found.hits[:PATTERN_CANDIDATES]])
        fits = {visual: fit(pattern, opt) for visual, (opt, _) in known.items() if opt is not None}
        return {visual: _FIT_BONUS[each] for visual, each in fits.items() if each}

    def _renamed(self, asked: Slt, found: FoundHits) -> dict[str, float]:
        # The layout is the same in every reading, and these are read already where trees were aligned.
        known = self._trees([each.id for each in found.hits[:FORM_CANDIDATES]])
        form, letters = form_key(asked), count_letters(asked)
        return {
            visual: _FORM_BONUS
            for visual, (_, slt) in known.items()
            if visual != self.context.visual
            and slt is not None
            and count_letters(slt) == letters
            and form_key(slt) == form
        }

    def _finished(self, found: FoundHits, options: SearchOptions) -> list[RankedResult]:
        """Looks as formulas at their best places."""
        places, same, shares = self._places, self.context.visual, found.own_shares
        hits = found.hits[: options.depth + _SPARE]
        if not options.where:
            places |= self._visuals.first_with([each.id for each in hits if each.id not in places])
        finished: list[RankedResult] = []
        for each in hits:
            place = places.get(each.id) or self._first_place(each.id, options.where)
            if place is not None:
                evidence = found.of(each.id)
                whole = evidence.get("pattern") == _FIT_BONUS["whole"]
                finished.append(
                    RankedResult(
                        place,
                        each.score,
                        evidence,
                        visual=each.id,
                        exact=whole or each.id == same,
                        share=shares[each.id],
                    )
                )
            if len(finished) == options.depth:
                break
        return finished
