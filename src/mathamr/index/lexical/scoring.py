"""`Scorer`: BM25 scores of all entries in one state of a lexical index, in one pass over the postings of all fields.

What a frequent term adds is kept as a column of numbers, one for every entry: adding up columns takes a tenth of the time of adding up postings.
In an index that is too large for columns, long runs of postings are added up one by one: their rows ascend, so that memory is read in order.
The postings of all other terms are added up together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mathamr.core.arrays import AnyArray, BoolArray, DoubleArray, IntArray
from mathamr.core.cache import Cache
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.index.lexical.bags import NUMBER, bag_of
from mathamr.index.lexical.segments import Segments
from mathamr.index.lexical.terms import FIELDS, Terms

FREQUENT = 8
"""A term has a column if at least one in this many entries of a segment has the term."""
LARGEST = 1 << 18
"""The most entries of an index whose frequent terms have columns."""
COLUMNS = 32 << 20
"""The bytes of all columns that are kept."""
LONG = 2_048
"""From how many postings on a run is added up by itself."""
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Weighting:
    """How terms are weighted: BM25 with a stronger preference for rare terms, and a weight for each field.

    A term that occurs n times in the query and f times in an entry adds
    ``log(1 + n) · idf^rarity · f / (f + k1 · (1 - b + b · length / average length))`` to the entry's score.
    """

    fields: Mapping[str, float]
    k1: float = 2.0
    b: float = 0.9
    rarity: float = 1.5

    def __post_init__(self) -> None:
        for field, weight in self.fields.items():
            if field not in FIELDS:
                raise UnknownNameError("field", field, list(FIELDS))
            if not math.isfinite(weight) or weight < 0:
                raise MathAMRError(f"the weight of the field {field!r} must be at least 0, not {weight}")


class Postings(NamedTuple):
    """All postings of a field in a segment."""

    rows: AnyArray
    counts: AnyArray
    size: int
    """The number of entries of the segment."""
    start: int
    """The number of entries before it."""
    norm: int
    """The place in `Scorer._norm` of its first entry for the field."""


@dataclass(frozen=True, eq=False)
class WeightedTerms:
    """The postings of a query's terms, one run for every term and segment, and the weight of every term.

    Weights are shares of the highest possible score, that of an entry with infinitely many occurrences of every term.
    """

    weights: DoubleArray
    postings: list[Postings]
    terms: IntArray
    """The term of every run, as its place in `weights`."""
    places: IntArray
    """The place of every run in `postings`."""
    begins: IntArray
    ends: IntArray

    def runs(self, chosen: BoolArray) -> list[tuple[Postings, slice]]:
        """Return the postings of some runs, and where these stand in them."""
        places, begins, ends = (each[chosen].tolist() for each in (self.places, self.begins, self.ends))
        return list(zip(map(self.postings.__getitem__, places), map(slice, begins, ends), strict=True))

    @cached_property
    def frequent(self) -> BoolArray:
        """The runs of frequent terms."""
        sizes = np.array([each.size for each in self.postings], np.int64)
        return FREQUENT * (self.ends - self.begins) >= sizes[self.places]

    @property
    def long(self) -> BoolArray:
        """The long runs."""
        return self.ends - self.begins >= LONG


class Scorer:
    """Scores the entries of one state; safe from several threads."""

    def __init__(self, state: Segments) -> None:
        self.state = state
        self._has_columns = len(state) <= LARGEST
        self._last: tuple[Terms, Weighting, DoubleArray] | None = None
        self._norms: dict[tuple[tuple[str, ...], float, float], DoubleArray] = {}
        self._columns = Cache[tuple[object, ...], DoubleArray](
            weight=COLUMNS, weigh=lambda _, column: column.nbytes
        )

    @cached_property
    def alive(self) -> BoolArray:
        """The entries that are not deleted."""
        return self.state.mask(None)

    def find_best(
        self, terms: Terms, weighting: Weighting, k: int, among: BoolArray
    ) -> tuple[IntArray, DoubleArray]:
        """Return the k best of some entries that share a term with the query, and those that tie with the last: rows and scores."""
        scores = np.where(among, self._totals(terms, weighting), 0.0)
        least = np.partition(scores, -k)[-k] - _ROUNDING if k < len(scores) else 0.0
        chosen = np.flatnonzero((scores > 0) & (scores >= least))
        return chosen, scores[chosen]

    def score(self, terms: Terms, weighting: Weighting, rows: IntArray) -> DoubleArray:
        """Return the scores of some entries."""
        return self._totals(terms, weighting)[rows]

    def _totals(self, terms: Terms, weighting: Weighting) -> DoubleArray:
        """Return the scores of all entries; those of the last query are kept, since a search that found entries often scores others."""
        last = self._last
        if last is None or last[0] is not terms or last[1] != weighting:
            found = self._read(terms, weighting)
            alone = found.frequent if self._has_columns else found.long
            totals = self._add_up(found, weighting, ~alone)
            weights, scratch = found.weights[found.terms[alone]].tolist(), np.empty(len(totals))
            for (own, run), weight in zip(found.runs(alone), weights, strict=True):
                part = totals[own.start : own.start + own.size]
                if self._has_columns:
                    part += np.multiply(self._column(own, run, weighting), weight, out=scratch[: own.size])
                else:
                    part[own.rows[run]] += weight * self._shares(own, run, weighting)
            last = self._last = terms, weighting, totals
        return last[2]

    def _shares(self, own: Postings, run: slice, weighting: Weighting) -> DoubleArray:
        """Return what a term of weight 1 adds to the entries that have it."""
        often = own.counts[run].astype(np.float64)
        shares: DoubleArray = often / (self._norm(weighting)[own.norm :].take(own.rows[run]) + often)
        return shares

    def _column(self, own: Postings, run: slice, weighting: Weighting) -> DoubleArray:
        """Return what a term of weight 1 adds to every entry of a segment."""

        def make() -> DoubleArray:
            column = np.zeros(own.size)
            column[own.rows[run]] = self._shares(own, run, weighting)
            return column

        key = (run.start, own.norm, *weighting.fields, weighting.k1, weighting.b)
        return self._columns.get_or_make(key, make)

    def _read(self, terms: Terms, weighting: Weighting) -> WeightedTerms:
        weights: list[DoubleArray] = [np.empty(0)]
        runs: list[IntArray] = [np.empty((4, 0), np.int64)]
        postings: list[Postings] = []
        done = 0
        for place, (field, share) in enumerate(weighting.fields.items()):
            asked = bag_of({field: terms.get(field, ()) if share else ()})[field]
            if not asked:
                continue
            numbers, often = np.unique(np.frombuffer(asked, NUMBER), return_counts=True)
            living, start = np.zeros(len(numbers)), 0
            for (segment, alive), is_complete in zip(self.state.parts, self.state.is_complete, strict=True):
                found, begins, ends = segment.find(field, numbers)
                rows, counts = segment.postings(field)
                living[found] += (
                    ends - begins
                    if is_complete
                    else [
                        np.count_nonzero(alive[rows[begin:end]])
                        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
                    ]
                )
                runs.append(np.array([found + done, np.full(len(found), len(postings)), begins, ends]))
                postings.append(Postings(rows, counts, len(alive), start, place * len(self.state) + start))
                start += len(alive)
            rarity = np.log1p((self.state.count - living + 0.5) / (living + 0.5)) ** weighting.rarity
            weights.append(share * rarity * np.log1p(often.astype(np.float64)))
            done += len(numbers)
        every = np.concatenate(weights)
        return WeightedTerms(every / (every.sum() or 1.0), postings, *np.concatenate(runs, axis=1))

    def _add_up(self, found: WeightedTerms, weighting: Weighting, chosen: BoolArray) -> DoubleArray:
        """Return what some runs add to every entry."""
        if not chosen.any():
            return np.zeros(len(self.state))
        runs, sizes = found.runs(chosen), (found.ends - found.begins)[chosen]
        firsts = np.array([(own.start, own.norm) for own in found.postings], np.int64)
        starts, norms = firsts[found.places[chosen]].T
        rows = np.concatenate([own.rows[run] for own, run in runs])
        often = np.concatenate([own.counts[run] for own, run in runs])
        norms = rows + np.repeat(norms, sizes)
        rows = rows + np.repeat(starts, sizes)
        weights = np.repeat(found.weights[found.terms[chosen]], sizes)
        often = often.astype(np.float64)
        shares = self._norm(weighting).take(norms)
        shares += often
        np.divide(often, shares, out=shares)
        shares *= weights
        totals: DoubleArray = np.bincount(rows, shares, minlength=len(self.state))  # type: ignore[assignment]
        return totals

    def _norm(self, weighting: Weighting) -> DoubleArray:
        """Return ``k1 · (1 - b + b · length / average length)`` of every entry, field by field of a weighting."""
        key = tuple(weighting.fields), weighting.k1, weighting.b
        if key not in self._norms:
            flat, scale = weighting.k1 * (1 - weighting.b), weighting.k1 * weighting.b
            self._norms[key] = np.concatenate(
                [
                    flat + scale / max(self.state.averages[field], 1e-9) * segment.lengths(field)
                    for field in weighting.fields
                    for segment, _ in self.state.parts
                ]
            )
        return self._norms[key]
