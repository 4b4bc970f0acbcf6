"""Rankings as data: the order of an index's posts or formulas for a query.

A system names its rankings; one interpreter in `search/` ranks by them and scores given results by them, for users,
runs and experiments alike. A ranking refers to fields by name, never to an engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from mathamr.core.errors import MathAMRError

Task = Literal["answers", "formulas"]
"""What a query searches: posts, or visual classes of formulas."""
TASKS: tuple[Task, ...] = get_args(Task)
QueryKind = Literal["name", "formula", "mixed", "words", "question"]
"""What a query consists of: only a name, a formula alone, a formula with words, a few words, or whole sentences."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """A ranking by the cosine of an entry's one vector with the query's."""

    field: str


@dataclass(frozen=True, slots=True)
class MaxSim:
    """A ranking by the mean over the query's rows of the best cosine with a row of the entry; with `total`, by their sum.

    Mean and sum order the entries of one field alike. They differ when fields are fused: by sums, the field in which the
    query has more rows counts more.
    """

    field: str
    total: bool = False


@dataclass(frozen=True, slots=True)
class MeanMaxSim:
    """The mean of MaxSim over those of several fields that an entry has; only for reranking.

    The query's rows are those of the first field. All representations of a post count equally, however many it has (MaRF,
    Algorithm 1).
    """

    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.fields:
            raise MathAMRError("a mean of MaxSim needs at least one field")


@dataclass(frozen=True, slots=True)
class Mutual:
    """The harmonic mean of MaxSim in both directions, so that unmatched parts of an entry count against it; only for reranking."""

    field: str


@dataclass(frozen=True, slots=True)
class NearestRows:
    """Candidates for a ranking: every row of the query contributes the entries of its `rows` nearest rows, scored by the
    best cosine.
    """

    field: str
    rows: int = 1000


@dataclass(frozen=True, slots=True)
class Lexical:
    """A ranking by BM25 over words, LaTeX and paths of formula trees."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A ranking of formulas by how well their trees align with the query's, up to names of variables; only for reranking."""


@dataclass(frozen=True, slots=True)
class AlikeNodes:
    """A ranking of formulas by how similar the nodes of their trees are to the query's; only for reranking.

    The network of `model` encodes the candidates during the search, so that an index stores no vectors for it.
    """

    model: str = "formula-graph"


@dataclass(frozen=True, slots=True)
class BestFormula:
    """A ranking of posts by the best of their formulas, which a ranking of formulas finds for each formula of the query.

    Of several formulas of a query the largest `formulas` count, each by its size; `pool` visual classes are found for each.
    """

    ranking: Ranking
    formulas: int = 3
    pool: int = 100


@dataclass(frozen=True, slots=True)
class Adjust:
    """A ranking that changes the scores of what another one finds."""

    first: Ranking
    pool: int = 100

    @property
    def kinds_deepened(self) -> tuple[QueryKind, ...]:
        """The kinds of queries for which the first ranking has to find at least `pool` results."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inherit(Adjust):
    """Adds a `share` of its parent's score to the score of a post, both in standard deviations: an answer is found through its question.

    The parents of the first `pool` results are scored by the same ranking, whether a filter admits them or not. The score of a child is
    the weighted mean of both; results without a parent keep theirs. If the question that is asked is among the parents, nothing
    changes, so that known items do not find their answers through themselves. `kinds` are the kinds of queries it applies to.
    """

    share: float = 0.5
    kinds: tuple[QueryKind, ...] = ("question",)

    def __post_init__(self) -> None:
        if not 0 < self.share <= 10 or self.pool < 1:
            raise MathAMRError(
                f"Inherit needs a share above 0 and at most 10 and a pool of at least 1, got share={self.share}, pool={self.pool}"
            )

    @property
    def kinds_deepened(self) -> tuple[QueryKind, ...]:
        """The kinds that it applies to."""
        return self.kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Belongs(Adjust):
    """Adds a `share` of the score of its best member to the score of a post: a definition is found through what is said about it.

    A member is called after what it belongs to: `Subgroup.closure` belongs to `Subgroup`, or to whatever has the longest part of its
    name. Members among the first `pool` results count, and what they belong to is found even if the first ranking lacks it. Nothing
    changes for a query that names a statement ("Lagrange's theorem").
    """

    share: float = 0.2
    pool: int = 50

    def __post_init__(self) -> None:
        if not 0 < self.share <= 10 or self.pool < 1:
            raise MathAMRError(
                f"Belongs needs a share above 0 and at most 10 and a pool of at least 1, got share={self.share}, pool={self.pool}"
            )

    @property
    def kinds_deepened(self) -> tuple[QueryKind, ...]:
        """All kinds."""
        return get_args(QueryKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerank:
    """The first `pool` results of one ranking, reranked by another; without `pool`, as many as the search returns.

    With `keeps_rest`, the results beyond the pool follow in their first order.
    """

    first: Ranking
    then: Ranking
    pool: int | None = None
    keeps_rest: bool = False

    def __post_init__(self) -> None:
        if self.pool is not None and self.pool < 1:
            raise MathAMRError(f"reranking needs a pool of at least 1, not {self.pool}")


@dataclass(frozen=True, slots=True)
class Component:
    """One part of a fusion: the name under which its score is shown, and its weight.

    `weights` replace `weight` for some kinds of queries.
    """

    name: str
    ranking: Ranking
    weight: float = 1.0
    weights: tuple[tuple[QueryKind, float], ...] = ()

    def with_weights(self, weights: Mapping[QueryKind, float]) -> Component:
        """Return the part with other weights for some kinds of queries."""
        return replace(self, weights=tuple({**dict(self.weights), **weights}.items()))

    def weight_for(self, kind: QueryKind) -> float:
        """Return the weight for a kind of query."""
        return dict(self.weights).get(kind, self.weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuse:
    """Several rankings fused; a part of weight 0 is not computed. Every part contributes at least its best `depth` results."""

    parts: tuple[Component, ...]
    fusion: str = "mean"
    normalisation: str | None = None
    depth: int = 1000

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        if len(set(names)) != len(names):
            raise MathAMRError(f"the parts of a fusion must have different names, got {', '.join(names)}")
        kinds = {kind for part in self.parts for kind, _ in part.weights}
        counted = [[part.weight for part in self.parts]]
        counted += [[part.weight_for(kind) for part in self.parts] for kind in kinds]
        if not all(any(weight > 0 for weight in weights) for weights in counted):
            raise MathAMRError("a fusion needs a part with a weight above 0 for every kind of query")

    @property
    def asked(self) -> tuple[Component, ...]:
        """The parts that have a weight above 0 for some kind of query."""
        return tuple(
            part for part in self.parts if part.weight > 0 or any(weight > 0 for _, weight in part.weights)
        )

    def suited(self, kind: QueryKind) -> Fuse:
        """Return the fusion with the weights for a kind of query.

        >>> both = Fuse(parts=(Component("a", Lexical()), Component("b", Nearest("b"), 2.0, (("name", 0.0),))))
        >>> [part.weight for part in both.suited("words").asked], [part.name for part in both.suited("name").asked]
        ([1.0, 2.0], ['a'])
        """
        if not any(part.weights for part in self.parts):
            return self
        parts = (replace(part, weight=part.weight_for(kind), weights=()) for part in self.parts)
        return replace(self, parts=tuple(parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unhub(Adjust):
    """Lowers the scores of hubs among the first `pool` results: posts that are near to many others, whatever the query is.

    This is CSLS (Conneau et al., ICLR 2018, section 2.3) over the results: the hubness of a result is the mean
    cosine of its vector with those of its nearest `neighbours` in the pool. A `share` of it is taken off the score, both
    in standard deviations over the pool. Results beyond the pool follow. Kinds of queries outside `kinds`, rankings with
    fewer results than `pool`, and those in which parents took part (`Inherit`), are unchanged: a question already tells which of its
    answers are meant, and good answers to it are near each other (lab/notes/typed.md).
    """

    field: str
    share: float = 0.2
    neighbours: int = 10
    pool: int = 50
    kinds: tuple[QueryKind, ...] = get_args(QueryKind)

    def __post_init__(self) -> None:
        if not 1 <= self.neighbours < self.pool <= 1000 or not self.share > 0:
            raise MathAMRError(
                "Unhub needs 1 <= neighbours < pool <= 1000 and a share above 0, got"
                f" neighbours={self.neighbours}, pool={self.pool}, share={self.share}"
            )

    @property
    def kinds_deepened(self) -> tuple[QueryKind, ...]:
        """The kinds that it applies to."""
        return self.kinds


@dataclass(frozen=True, slots=True)
class Promote(Adjust):
    """Exact matches first, then the rest in its order.

    For formulas: the same formula, then the same in other letters, looked for among the first `pool`. For posts, if the query is only
    a name: those with the whole name in their title, then in their text, then with its rare words.
    """


Ranking = (
    Nearest
    | MaxSim
    | MeanMaxSim
    | Mutual
    | NearestRows
    | Lexical
    | Aligned
    | AlikeNodes
    | BestFormula
    | Rerank
    | Fuse
    | Adjust
)
Rankings = Mapping[Task, Mapping[str, Ranking]]
"""The named rankings of a system by task; the first of each is the default."""

Weights = Mapping[str, Mapping[QueryKind, float]]
"""Weights of the parts of a fusion, by the name of the part and the kind of query."""


def inner_of(ranking: Ranking) -> tuple[Ranking, ...]:
    """Return the rankings that a ranking is made of; none of one that scores by itself."""
    match ranking:
        case Rerank(first=first, then=then):
            return first, then
        case Fuse():
            return tuple(part.ranking for part in ranking.asked)
        case BestFormula(first) | Adjust(first):
            return (first,)
        case _:
            return ()


def fusion_of(ranking: Ranking) -> Fuse | None:
    """Return the fusion whose results a ranking adjusts, if any; None if there is none.

    >>> fusion_of(Promote(Lexical())) is None
    True
    """
    while isinstance(ranking, Adjust):
        ranking = ranking.first
    return ranking if isinstance(ranking, Fuse) else None


def with_weights(ranking: Ranking, weights: Weights) -> Ranking:
    """Return a ranking whose fusion has other weights for some kinds of queries; parts that it lacks are ignored.

    >>> both = Fuse(parts=(Component("a", Lexical()), Component("b", Nearest("b"), 2.0)))
    >>> found = fusion_of(with_weights(Promote(both), {"b": {"name": 0.5}}))
    >>> [part.weight for part in found.suited("name").parts], [part.weight for part in found.suited("words").parts]
    ([1.0, 0.5], [1.0, 2.0])
    """
    if isinstance(ranking, Adjust):
        return replace(ranking, first=with_weights(ranking.first, weights))
    if isinstance(ranking, Fuse):
        return replace(
            ranking, parts=tuple(part.with_weights(weights.get(part.name, {})) for part in ranking.parts)
        )
    return ranking


FORMULA_SEARCH = BestFormula(
    Promote(
        Rerank(
            first=Lexical(),
            then=Fuse(
                parts=(Component("lexical", Lexical(), 1.0), Component("aligned", Aligned(), 0.4)),
                fusion="weighted-sum",
                normalisation="top",
            ),
            pool=12,
            keeps_rest=True,
        ),
        pool=12,
    )
)
"""Posts by what a search for the formulas of the query finds: terms, then aligned trees, the same formula in any letters first."""


def fields_of(ranking: Ranking) -> Iterator[str]:
    """Yield the names of the fields that a ranking compares with the query's vectors; none if it only needs words."""
    match ranking:
        case Nearest(field) | MaxSim(field) | Mutual(field) | NearestRows(field):
            yield field
        case MeanMaxSim(fields):
            yield fields[0]
        case BestFormula():
            return
        case _:
            for inner in inner_of(ranking):
                yield from fields_of(inner)


def uses_words(ranking: Ranking) -> bool:
    """Return True if a ranking uses the lexical index."""
    return isinstance(ranking, Lexical) or any(map(uses_words, inner_of(ranking)))


def word_parts(ranking: Ranking, name: str) -> Iterator[str]:
    """Yield the names under which the results of a ranking of this name tell the words that they have.

    There are none where words only choose what other scores order.

    >>> both = Fuse(parts=(Component("words", Lexical()), Component("near", Nearest("b"))))
    >>> near = Rerank(first=Lexical(), then=Nearest("b"))
    >>> [list(word_parts(each, "mine")) for each in (Lexical(), both, near)]
    [['mine'], ['words'], []]
    """
    match ranking:
        case Lexical():
            yield name
        case Rerank(then=then):
            yield from word_parts(then, name)
        case Fuse():
            for part in ranking.asked:
                yield from word_parts(part.ranking, part.name)
        case _:
            for inner in inner_of(ranking):
                yield from word_parts(inner, name)


def default_first(named: Mapping[str, Ranking], default: str | None) -> Mapping[str, Ranking]:
    """Return the named rankings in order, but for the default, which comes first.

    >>> list(default_first({"hybrid": Lexical(), "max": Lexical()}, "max"))
    ['max', 'hybrid']
    """
    return named if default is None or default not in named else {default: named[default], **named}
