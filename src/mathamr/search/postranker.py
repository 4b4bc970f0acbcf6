"""`PostRanker`: what the leaves of a ranking ask an index where posts are looked for (thesis, section 3.5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.index.engines.engine import FieldReader
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.scored import Scored
from mathamr.search.ranked import Demand, Ranked
from mathamr.search.ranker import FoundHits, Ranker, filtered, of_rows, unsuited
from mathamr.systems.ranking import MaxSim, Nearest, NearestRows


class PostRanker(Ranker):
    """Ranks posts by their fields and their words."""

    def _by_field(self, leaf: Nearest | MaxSim | NearestRows, demand: Demand) -> list[Scored]:
        field = self._field(leaf.field)
        vectors = self.asked.rows(field.field).vectors
        match leaf:
            case Nearest():
                return field.search(vectors[0], demand.depth, demand.where, demand.exact)
            case MaxSim():
                return field.search_maxsim(vectors, demand.depth, demand.where, demand.exact)
            case NearestRows(rows=rows):
                found = field.search_rows(vectors, rows, demand.where, demand.exact)
                return of_rows([Scored(hit.id, hit.score) for hit in hits] for hits in found)[: demand.depth]

    def _by_words(self, lexicon: LexicalPart, demand: Demand) -> list[Scored]:
        def passing(ids: Sequence[str]) -> set[str]:
            payloads = self._payloads("posts", ids)
            return {
                identifier
                for identifier, payload in payloads.items()
                if demand.where is None or demand.where.passes(payload)
            }

        return filtered(lambda k: lexicon.search(self.asked.terms, k), demand, passing)

    def _field_scores(self, name: str, ids: Sequence[str]) -> list[Scored]:
        field = self._field(name)
        return field.score(self.asked.rows(field.field).vectors, ids)

    def _field(self, name: str) -> FieldReader:
        field = self.engine[name]
        if field.field.of != "posts":
            raise unsuited(f"by the field {name!r} of {field.field.of}", "answers")
        return field

    def _aligned(self, ids: Sequence[str]) -> list[Scored]:
        raise unsuited("that aligns trees of formulas", "answers")

    def _promoted(self, found: FoundHits) -> FoundHits:
        raise unsuited("that promotes what is identical", "answers")

    def _finished(self, found: FoundHits, demand: Demand) -> list[Ranked]:
        return [Ranked(hit.id, hit.score, found.of(hit.id)) for hit in found.hits[: demand.depth]]
