"""Orders of similar formulas as training data: found by shared parts, scored by tree alignment, without a model or human judgments."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.formulas.alignment import similarity
from mathamr.graphs.formulahashes import mixed, subtree_hashes
from mathamr.graphs.formulashard import FormulaShard, FormulaTrees
from mathamr_lab.systems.formulagraph.teacher import Teacher

LARGEST_PART = 12
"""The largest subtree, in nodes, that is compared; larger ones hardly ever occur twice."""
COMMON = 20_000
"""A part that more formulas share is too common to find anything by."""
AT_A_TIME = 20_000
"""The number of formulas whose parts are computed together."""
SATURATION, LENGTH = 1.2, 0.5
"""BM25's k1 and b."""
PARTS_COUNT = 0.5
"""The weight of shared parts relative to alignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSettings:
    """The number of anchors, their size in nodes, and how many candidates each gets of the nearest, of the `among` nearest, and at random.

    All are drawn among at most `formulas` of the shard.
    """

    anchors: int = 16_000
    formulas: int = 120_000
    smallest: int = 4
    largest: int = 60
    nearest: int = 8
    others: int = 8
    among: int = 80
    any: int = 4
    seed: int = 7

    @property
    def width(self) -> int:
        """The number of candidates of an anchor."""
        return self.nearest + self.others + self.any


class SharedParts:
    """Formulas by the parts they share: labels, edges, paths of two edges and subtrees, also with anonymous variables.

    With `asked` only these formulas can be scored against all: then the parts of no other formula are kept.
    """

    def __init__(self, shard: FormulaShard, asked: AnyArray | None = None) -> None:
        self.count = len(shard)
        wanted = None if asked is None else np.unique(_distinct_parts(shard.chosen(asked))[1])
        lengths = np.zeros(self.count, np.int64)
        kept: list[tuple[AnyArray, AnyArray]] = []
        for begin in range(0, max(1, self.count), AT_A_TIME):
            block = np.arange(begin, min(begin + AT_A_TIME, self.count))
            owners, tokens = _distinct_parts(shard.chosen(block))
            lengths[block] = np.bincount(owners, minlength=len(block))
            if wanted is not None:
                own = np.isin(tokens, wanted)
                owners, tokens = owners[own], tokens[own]
            kept.append(((owners + begin).astype(np.int32), tokens))
        self._owners, tokens = (np.concatenate(each) for each in zip(*kept, strict=True))
        _, self._tokens, counts = np.unique(tokens, return_inverse=True, return_counts=True)
        self._starts = np.searchsorted(self._owners, np.arange(self.count + 1))
        self._weights = np.log1p((self.count - counts + 0.5) / (counts + 0.5))
        self._counts = counts
        spread = 1 - LENGTH + LENGTH * lengths / max(1.0, lengths.mean())
        self._norms = (SATURATION + 1) / (1 + SATURATION * spread)

    @cached_property
    def _postings(self) -> tuple[AnyArray, AnyArray]:
        order = np.argsort(self._tokens, kind="stable")
        return self._owners[order], np.append(0, np.cumsum(self._counts))

    def scores(self, formula: int) -> AnyArray:
        """Return the BM25 score of every formula for one of them."""
        owners, starts = self._postings
        tokens = self._tokens[self._starts[formula] : self._starts[formula + 1]]
        tokens = tokens[self._counts[tokens] <= COMMON]
        sums = np.zeros(self.count)
        for token in tokens:
            sums[owners[starts[token] : starts[token + 1]]] += self._weights[token]
        found: AnyArray = sums * self._norms
        return found


def _distinct_parts(shard: FormulaShard) -> tuple[AnyArray, AnyArray]:
    """Return the parts of formulas, each once a formula, ordered by formula: the numbers of the formulas, and hashes of the parts."""
    pieces = [each for kind in ("slt", "opt") for each in _parts(shard, kind)]
    owners = np.concatenate([owner for owner, _ in pieces])
    tokens = np.concatenate([token for _, token in pieces])
    order = np.lexsort((tokens, owners))
    owners, tokens = owners[order], tokens[order]
    new = np.ones(len(tokens), np.bool_)
    new[1:] = (owners[1:] != owners[:-1]) | (tokens[1:] != tokens[:-1])
    return owners[new], tokens[new]


def _parts(shard: FormulaShard, kind: str) -> list[tuple[AnyArray, AnyArray]]:
    trees = shard.slt if kind == "slt" else shard.opt
    variables = shard.labels["V!anything unknown"]
    nameless = np.where(
        shard.labels.types() == shard.labels.types()[variables], variables, np.arange(len(shard.labels))
    )
    found = []
    for salt, each in enumerate((trees, trees.renumbered(nameless))):
        found += _parts_of(each, np.uint64((2 if kind == "slt" else 3) * 16 + salt))
    return found


def _parts_of(trees: FormulaTrees, salt: Any) -> list[tuple[AnyArray, AnyArray]]:
    owners = np.repeat(np.arange(len(trees)), np.diff(trees.starts))
    above = trees.above()
    salted = mixed(np.asarray(salt, np.uint64)[None])[0]
    labels = mixed(trees.labels.astype(np.uint64) ^ salted)
    edges = mixed(trees.edges.astype(np.uint64) + salted)
    below = np.flatnonzero(above >= 0)
    pairs = mixed(mixed(labels[above[below]]) + mixed(edges[below]) ^ labels[below])
    deep = below[above[above[below]] >= 0]
    upper = above[above[deep]]
    paths = mixed(mixed(mixed(labels[upper]) + edges[above[deep]]) + edges[deep] ^ labels[deep])
    hashes, _ = subtree_hashes(trees)
    small = np.flatnonzero((trees.sizes > 1) & (trees.sizes <= LARGEST_PART))
    return [
        (owners, labels),
        (owners[below], pairs),
        (owners[deep], paths),
        (owners[small], mixed(hashes[small] ^ salted)),
    ]


def make_orders(
    shard: FormulaShard,
    settings: OrderSettings,
    workers: int = 1,
    say: Callable[[str], None] = lambda _: None,
) -> Teacher:
    """Compute for some formulas of the shard other formulas, near and far, and the score of each."""
    generator = np.random.default_rng(settings.seed)
    among = np.sort(generator.permutation(len(shard))[: settings.formulas])
    drawn = shard.chosen(among)
    sizes = np.diff(drawn.opt.starts)
    usable = np.flatnonzero((sizes >= settings.smallest) & (sizes <= settings.largest))
    anchors = generator.permutation(usable)[: settings.anchors]
    work = _OrderWork(drawn, SharedParts(drawn), settings)
    say(f"{len(anchors):,} anchors among {len(drawn):,} formulas")
    cuts = np.array_split(anchors, max(1, 8 * workers))
    if workers <= 1:
        found = [row for cut in cuts for row in work.rows(cut)]
    else:
        _WORK[:] = [work]
        # Forked workers share the parts, which are large.
        with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
            found = [row for rows in pool.map(_rows, cuts) for row in rows]
        _WORK.clear()
    say(f"{len(found):,} orders of {settings.width} formulas")
    return Teacher(
        among[np.array([row.anchor for row in found], np.int64)],
        among[np.array([row.candidates for row in found], np.int64).reshape(-1, settings.width)],
        np.array([row.scores for row in found], np.float32).reshape(-1, settings.width),
    )


class _Order(NamedTuple):
    anchor: int
    candidates: AnyArray
    scores: AnyArray


@dataclass(frozen=True, eq=False)
class _OrderWork:
    shard: FormulaShard
    parts: SharedParts
    settings: OrderSettings

    def rows(self, anchors: AnyArray) -> list[_Order]:
        """Return the orders of some anchors; an anchor with too few similar formulas has none."""
        return [row for anchor in anchors.tolist() if (row := self._row(anchor)) is not None]

    def _row(self, anchor: int) -> _Order | None:
        settings, scores = self.settings, self.parts.scores(anchor)
        nearest = np.argpartition(-scores, min(settings.among, len(scores) - 1))[: settings.among + 1]
        nearest = nearest[np.argsort(-scores[nearest], kind="stable")]
        nearest = nearest[(nearest != anchor) & (scores[nearest] > 0)]
        if len(nearest) < settings.nearest + settings.others or scores[anchor] <= 0:
            return None
        generator = np.random.default_rng([settings.seed, anchor])
        candidates = np.concatenate(
            [
                nearest[: settings.nearest],
                generator.choice(nearest[settings.nearest :], settings.others, replace=False),
                generator.integers(0, len(self.shard), settings.any),
            ]
        )
        trees = self.shard.both(anchor)
        aligned = np.array([similarity(trees, self.shard.both(other)) for other in candidates.tolist()])
        shared = scores[candidates] / scores[anchor]
        return _Order(anchor, candidates, (aligned + PARTS_COUNT * shared) / (1 + PARTS_COUNT))


_WORK: list[_OrderWork] = []
"""The objects that forked workers inherit."""


def _rows(anchors: AnyArray) -> list[_Order]:
    return _WORK[0].rows(anchors)
