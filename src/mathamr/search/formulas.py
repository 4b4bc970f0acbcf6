"""Formula search: formulas by how they look, each look once, at the place that fits the query best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mathamr.formulas.tree import Opt
from mathamr.formulas.trees import trees_of
from mathamr.formulas.visualkey import visual_key
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.engines.engine import Engine
from mathamr.index.engines.entry import Filter, Scored
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import formula_terms
from mathamr.posts.post import Formula
from mathamr.search.analysis import Analysis
from mathamr.search.hybrid import HybridConfiguration
from mathamr.search.query import Query
from mathamr.search.ranked import Demand, Ranked
from mathamr.search.stopwatch import Stopwatch
from mathamr.search.strategies import check_strategy, filtered, with_evidence
from mathamr.search.wildcards import Fit, fit, has_wildcards

PATTERN_CANDIDATES = 400
"""Formulas of the best ranks that are tried against the wildcards of a query."""

_PLACES_AT_A_TIME = 32
_SPARE = 20
"""Looks beyond the wanted depth, should some have lost their last place since."""
_FIT_BONUS: dict[Fit, float] = {"whole": 1.0, "inside": 0.5}
_BELOW_A_BONUS = 0.49
"""What the best score counts beside a bonus: less than the difference of two bonuses."""


@dataclass(frozen=True, slots=True)
class FormulaSearch:
    """Everything that ranks formulas for one query formula.

    Where the query has one vector, MaxSim is its cosine: `single`, `rerank` and `maxsim` are the same here.
    """

    query: Query
    formula: Formula
    engine: Engine
    lexicon: LexicalPart
    catalogue: Catalogue
    analysis: Callable[[], Analysis]
    configuration: HybridConfiguration
    watch: Stopwatch

    def rank(self, strategy: str, demand: Demand) -> list[Ranked]:
        """The formulas a strategy finds, best first; by `hybrid`, what is just what was asked for before all others."""
        check_strategy(strategy)
        places: dict[str, str] = {}
        if strategy != "hybrid":
            found = self._component(strategy, demand, places)
            with self.watch("rank"):
                looks = [Ranked(hit.id, hit.score, {strategy: hit.score}) for hit in found]
                return self._placed(looks, places, demand)
        deep = replace(demand, depth=max(demand.depth, self.configuration.depth))
        blend = self.configuration.formulas
        rankings = {name: self._component(name, deep, places) for name in blend.components}
        with self.watch("rank"):
            promoted, bonuses = self._promoted(blend.fused(rankings))
            looks = [
                replace(each, evidence={**each.evidence, **bonuses.get(each.id, {})})
                for each in with_evidence(promoted[: demand.depth + _SPARE], rankings)
            ]
            return self._placed(looks, places, demand)

    def _component(self, name: str, demand: Demand, places: dict[str, str]) -> list[Scored]:
        with self.watch("search"):
            return self._lexical(demand, places) if name == "lexical" else self._dense(demand, places)

    def _dense(self, demand: Demand, places: dict[str, str]) -> list[Scored]:
        """Looks by the cosine of their best formula, whose place is remembered."""
        vector = self.analysis().formula(self.formula.id)
        asked = 4 * demand.depth
        total = self.engine.count("formulas")
        if not total:
            return []
        while True:
            found = self.engine["formula"].search(vector, min(asked, total), demand.where, demand.exact)
            visuals = self.catalogue.looks_of([hit.id for hit in found])
            best: dict[str, Scored] = {}
            for hit in found:
                look = visuals.get(hit.id)
                if look is not None and look not in best:
                    best[look] = hit
            if len(best) >= demand.depth or len(found) < asked:
                break
            asked *= 4
        for look, hit in best.items():
            places[look] = hit.id
        return [Scored(look, hit.score) for look, hit in best.items()][: demand.depth]

    def _lexical(self, demand: Demand, places: dict[str, str]) -> list[Scored]:
        """Looks by BM25 over LaTeX and paths of trees."""
        terms = formula_terms(self.formula, self.query.post.macros)

        def passing(looks: Sequence[str]) -> set[str]:
            first = {look: self._first_place(look, demand.where) for look in looks}
            known = {look: place for look, place in first.items() if place is not None}
            for look, place in known.items():
                places.setdefault(look, place)
            return set(known)

        return filtered(self.lexicon, terms, demand, passing)

    def _first_place(self, look: str, where: Filter | None) -> str | None:
        """The first formula with that look that passes the filter."""
        ids = self.catalogue.with_look(look)
        if not where:
            return ids[0] if ids else None
        for start in range(0, len(ids), _PLACES_AT_A_TIME):
            few = ids[start : start + _PLACES_AT_A_TIME]
            payloads = self.engine.payloads("formulas", few)
            for each in few:
                if each in payloads and where.passes(payloads[each]):
                    return each
        return None

    def _promoted(self, looks: list[Scored]) -> tuple[list[Scored], dict[str, dict[str, float]]]:
        """What is just what was asked for, then what holds it inside, then the rest by their scores; and the bonuses.

        Without wildcards that is the same look; with them, whatever fits.
        """
        opt, _ = self.query.trees[self.formula.id]
        bonuses: dict[str, dict[str, float]] = {self._look: {"identical": _FIT_BONUS["whole"]}}
        if opt is not None and has_wildcards(opt):
            formulas = self._formulas_of([each.id for each in looks[:PATTERN_CANDIDATES]])
            fits = {look: _fit(opt, formula) for look, formula in formulas.items()}
            bonuses = {look: {"pattern": _FIT_BONUS[found]} for look, found in fits.items() if found}
        scale = _BELOW_A_BONUS / (max((each.score for each in looks), default=0.0) or 1.0)
        raised = [
            Scored(each.id, scale * each.score + sum(bonuses.get(each.id, {}).values())) for each in looks
        ]
        return sorted(raised, key=lambda each: (-each.score, each.id)), bonuses

    @property
    def _look(self) -> str:
        """The visual key of the query formula; of one with wildcards nothing in an index has it."""
        _, slt = self.query.trees[self.formula.id]
        return visual_key(slt) if slt is not None else ""

    def _formulas_of(self, looks: Sequence[str]) -> dict[str, Formula]:
        first = {look: known[0][0] for look, known in self.catalogue.looks(looks).items()}
        entries = self.catalogue.formulas(list(first.values()))
        return {look: entries[place].formula for look, place in first.items() if place in entries}

    def _placed(self, looks: list[Ranked], places: dict[str, str], demand: Demand) -> list[Ranked]:
        """Looks as formulas at their best places."""
        lost = [each.id for each in looks if each.id not in places] if not demand.where else []
        places |= {look: known[0][0] for look, known in self.catalogue.looks(lost).items()}
        found: list[Ranked] = []
        same = self._look
        for each in looks:
            place = places.get(each.id) or self._first_place(each.id, demand.where)
            if place is not None:
                whole = each.evidence.get("pattern") == _FIT_BONUS["whole"]
                found.append(replace(each, id=place, visual=each.id, exact=whole or each.id == same))
            if len(found) == demand.depth:
                break
        return found


def _fit(pattern: Opt, formula: Formula) -> Fit | None:
    (opt, _), _ = trees_of(formula)
    return fit(pattern, opt) if opt is not None else None
