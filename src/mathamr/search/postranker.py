"""`PostRanker`: the leaves of rankings of posts (thesis, section 3.5.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from mathamr.index.engines.engine import Engine, FieldReader, SkimsMaxSim
from mathamr.index.engines.entry import Payload
from mathamr.index.lexical.lexicalindex import DECLARATIONS, LexicalPart
from mathamr.index.lexical.terms import Terms
from mathamr.index.scored import Scored
from mathamr.search.namequery import CANDIDATES, NameQuery, Posts, deviation, is_module_note
from mathamr.search.options import SearchOptions
from mathamr.search.querycontext import QueryContext
from mathamr.search.ranker import FoundHits, Payloads, Ranker, filtered, of_rows, unsuited
from mathamr.search.results import RankedResult
from mathamr.systems.ranking import MaxSim, Nearest, NearestRows, Ranking

ASIDES = {
    "undocumented": 0.3,
    "generated": 0.1,
    "instance": 0.1,
    "alias": 0.1,
    "deprecated": 0.5,
    "private": 0.5,
}
"""By how many standard deviations of the scores a tag lowers a declaration."""
MODULE_NOTE = 2.0
"""By how many the documentation of a module is lowered. Both are chosen on the names of theorems and topics in Mathlib's maps
(lab/notes/lean.md)."""


class PostRanker(Ranker):
    """Ranks posts by vectors and words; with `posts`, which reads their texts, also by the names of things.

    Without declarations among the posts their tags need not be read.
    """

    def __init__(
        self,
        context: QueryContext,
        engine: Engine | None,
        lexicon: Callable[[], LexicalPart],
        payloads: Payloads | None = None,
        posts: Posts | None = None,
        *,
        has_declarations: bool = False,
    ) -> None:
        super().__init__(context, engine, lexicon, payloads)
        self._posts, self._has_declarations = posts, has_declarations
        if has_declarations:
            self._weighting = DECLARATIONS

    def _by_field(self, leaf: Nearest | MaxSim | NearestRows, options: SearchOptions) -> Sequence[Scored]:
        field = self._field(leaf.field)
        vectors = self.context.rows(field.field).vectors
        match leaf:
            case Nearest():
                return field.search(vectors[0], options.depth, options.where, options.exact)
            case MaxSim():
                return field.search_maxsim(vectors, options.depth, options.where, options.exact)
            case NearestRows(rows=rows):
                return of_rows(field, vectors, rows, options.where, options.exact)[: options.depth]

    def _fused_depth(self, options: SearchOptions) -> int | None:
        """All results, if some of them may have the name that the query consists of; of declarations those that are reordered."""
        if self._name is not None:
            return None
        return max(options.depth, CANDIDATES) if self._has_declarations else options.depth

    def _approximate_hits(self, ranking: Ranking, options: SearchOptions) -> Sequence[Scored]:
        """MaxSim over vectors that are rounded to bytes."""
        if not isinstance(ranking, MaxSim):
            return []
        field = self._field(ranking.field)
        if not isinstance(field, SkimsMaxSim):
            return []
        with self.context.timer("search"):
            return field.skim_maxsim(self.context.rows(field.field).vectors, options.depth, options.where)

    def _by_words(self, lexicon: LexicalPart, options: SearchOptions) -> Sequence[Scored]:
        def passing(ids: Sequence[str]) -> set[str]:
            payloads = self._payloads("posts", ids)
            return {
                identifier
                for identifier, payload in payloads.items()
                if options.where is None or options.where.passes(payload)
            }

        terms = self._terms()
        return filtered(lambda k: lexicon.search(terms, k, weighting=self._weighting), options, passing)

    @cached_property
    def _name(self) -> NameQuery | None:
        """The query as a name, if it is one and texts can be read."""
        if self._posts is None:
            return None
        return NameQuery.of(self.context.query, self._lexicon(), self._posts)

    def _terms(self) -> Terms:
        """The terms of the query, and the corrections of misspelt words."""
        terms = self.context.terms
        if self._name is None or not self._name.corrected:
            return terms
        more = self._name.terms
        return {field: [*own, *more.get(field, ())] for field, own in terms.items()}

    @property
    def notes(self) -> list[str]:
        """Notes for the user on how the query was interpreted."""
        return self._name.notes if self._name is not None else []

    @property
    def corrected(self) -> Mapping[str, str]:
        """Misspelt words of the query, and their corrections."""
        return self._name.corrected if self._name is not None else {}

    def _field_scores(self, name: str, ids: Sequence[str], query_field: str) -> Sequence[Scored]:
        rows = self.context.rows(self._field(query_field).field)
        return self._field(name).score(rows.vectors, ids)

    def _field(self, name: str) -> FieldReader:
        field = self.engine[name]
        if field.field.of != "posts":
            raise unsuited(f"by the field {name!r} of {field.field.of}", "answers")
        return field

    def _aligned(self, ids: Sequence[str]) -> Sequence[Scored]:
        raise unsuited("that aligns trees of formulas", "answers")

    def _alike(self, ids: Sequence[str], model: str) -> Sequence[Scored]:
        raise unsuited("that compares the nodes of formulas", "answers")

    def _promoted(self, found: FoundHits) -> FoundHits:
        """Rank auxiliary declarations later, and posts with the query's name first if the query is only a name."""
        if self._has_declarations:
            found = central_first(found, self._payloads)
        if self._name is None or self._posts is None:
            return found
        with self.context.timer("rank"):
            hits, named = self._name.first(found.hits, self._posts)
        return FoundHits(
            hits, {**found.evidence, "name": named} if named else found.evidence, found.own_shares
        )

    def _finished(self, found: FoundHits, options: SearchOptions) -> list[RankedResult]:
        hits = found.hits[: options.depth]
        shares = found.shares_of(hits)
        return [RankedResult(hit.id, hit.score, found.of(hit.id), share=shares[hit.id]) for hit in hits]


def central_first(found: FoundHits, payloads_of: Payloads) -> FoundHits:
    """Lower what is rarely looked for in a library: undocumented, generated, instances, aliases, the notes of its modules."""
    first = found.hits[:CANDIDATES]
    payloads = payloads_of("posts", [hit.id for hit in first])
    asides = {name: lowered for name, payload in payloads.items() if (lowered := _lowered(payload))}
    if not asides:
        return found
    spread, lowest, rest = (
        deviation([hit.score for hit in first]),
        first[-1].score,
        found.hits[CANDIDATES:],
    )
    scores = {hit.id: max(lowest, hit.score - spread * asides.get(hit.id, 0.0)) for hit in first}
    hits = sorted((Scored(*each) for each in scores.items()), key=lambda hit: (-hit.score, hit.id))
    return FoundHits([*hits, *rest], found.evidence, found.own_shares)


def _lowered(payload: Payload) -> float:
    """By how many standard deviations of the scores a post of a library is lowered; other posts are not."""
    if is_module_note(payload):
        return MODULE_NOTE
    if not any(tag.startswith("module:") for tag in payload.tags):
        return 0.0
    return math.fsum(ASIDES[tag] for tag in ASIDES.keys() & set(payload.tags))
