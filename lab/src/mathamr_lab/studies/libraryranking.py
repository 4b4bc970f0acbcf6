"""The ranking of a formal library: what its parts find, many weights over these results, and weights chosen without the map they are measured on."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from statistics import fmean
from tempfile import NamedTemporaryFile
from typing import NoReturn

import numpy as np

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.table import aligned
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.engines.entry import Payload
from mathamr.index.scored import Scored
from mathamr.posts.post import Post
from mathamr.search.library import lean_query
from mathamr.search.namequery import NameQuery
from mathamr.search.options import SearchOptions
from mathamr.search.postranker import PostRanker
from mathamr.search.query import Query, QueryError
from mathamr.search.querycontext import QueryContext
from mathamr.search.queryencoder import QueryEncoder
from mathamr.search.searcher import Index
from mathamr.systems.field import FieldTarget
from mathamr.systems.mathamrplus.system import DOCUMENT, PARTS
from mathamr.systems.ranking import Component, Fuse, Lexical, MaxSim, Nearest, NearestRows, Promote, Ranking
from mathamr.systems.system import Item, System
from mathamr_lab.systems.text.mathlib import MAPS

MEASURES = ("recall@1", "recall@10", "nDCG@10")
CHOSEN_BY = "nDCG@10"
DEPTH = 1000
"""The number of results that every part of a fusion contributes."""
PORTION = 1024
BEST = 6
FIRST = 100
"""The number of results of a ranking, as many as a search reorders."""
LEAVES: dict[str, Ranking] = {"lexical": Lexical(), "single": Nearest(DOCUMENT), "maxsim": MaxSim(PARTS)}

Weights = tuple[float, float, float]
"""Of words, of one vector, and of MaxSim."""
_DENSE = ((4.0, 0.0), (2.0, 2.0), (1.0, 3.0), (0.0, 4.0))
GRID: tuple[Weights, ...] = tuple(
    (lexical, *dense) for lexical, dense in product((0.0, 0.5, 1.0, 1.5, 2.0), _DENSE)
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, the map or the style that it belongs to, and the ids of the declarations that are wanted."""

    bed: str
    text: str
    wanted: tuple[str, ...]


def fused(weights: Weights) -> Fuse:
    """The fusion of words and vectors with these weights."""
    parts = zip(LEAVES.items(), weights, strict=True)
    return Fuse(
        parts=tuple(Component(name, leaf, weight) for (name, leaf), weight in parts), normalisation="z"
    )


class _RememberedName(NameQuery):
    """A name that reads every post once."""

    @cached_property
    def _known(self) -> dict[tuple[str, str], float]:
        return {}

    def _title_bonus(self, post: Post) -> float:
        key = ("title", post.id)
        if key not in self._known:
            self._known[key] = super()._title_bonus(post)
        return self._known[key]

    def _text_bonus(self, post: Post) -> float:
        key = ("text", post.id)
        if key not in self._known:
            self._known[key] = super()._text_bonus(post)
        return self._known[key]


class _RememberedPosts:
    """The posts of a catalogue, each read once; parents and formulas take no part in the ranking of a library."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._read: dict[str, Post] = {}

    def posts(self, ids: Sequence[str]) -> Mapping[str, Post]:
        """Return the posts with these ids."""
        self._read |= self._catalogue.posts([each for each in ids if each not in self._read])
        return {each: self._read[each] for each in ids if each in self._read}

    def parents(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return nothing."""
        return {}

    def posts_with(self, visuals: Sequence[str], most: int) -> Mapping[str, Sequence[str]]:
        """Return nothing."""
        return {}


class RecordedRanker(PostRanker):
    """The interpreter of a search over what the parts of a ranking found before: only fusion and promotion are computed."""

    def __init__(self, index: Index, query: Query, found: Mapping[str, Sequence[Scored]]) -> None:
        archive = index.archive
        self._found_before = found
        self._payloads_read: dict[str, Payload] = {}

        def payloads(of: FieldTarget, ids: Sequence[str]) -> dict[str, Payload]:
            self._payloads_read |= archive.payloads(
                of, [each for each in ids if each not in self._payloads_read]
            )
            return {each: self._payloads_read[each] for each in ids if each in self._payloads_read}

        encoder = QueryEncoder(_no_parser, lambda: archive.system, archive.encoding)
        context = QueryContext(lean_query(query), encoder)
        engine = None if archive.words_only else archive.engine
        super().__init__(
            context,
            engine,
            lambda: archive.lexical.posts,
            payloads,
            _RememberedPosts(archive.catalogue),
            has_declarations=True,
        )

    @cached_property
    def _name(self) -> NameQuery | None:
        assert self._collection is not None
        found = NameQuery.of(self.context.query, self._lexicon(), self._collection.posts)
        return found and _RememberedName(
            found.words, found.rarity, found.rare, found.corrected, found.is_identifier
        )

    def _by_field(self, leaf: Nearest | MaxSim | NearestRows, options: SearchOptions) -> Sequence[Scored]:
        return self._found_before["single" if isinstance(leaf, Nearest) else "maxsim"][: options.depth]

    def _by_words(self, lexicon: object, options: SearchOptions) -> Sequence[Scored]:
        return self._found_before["lexical"][: options.depth]


def _no_parser() -> NoReturn:
    raise AssertionError("recorded rankings parse nothing")


def recorded(index: Index, asked: Sequence[Asked], leaves: Sequence[str]) -> dict[str, Run]:
    """What these parts find for every query."""
    found: dict[str, dict[str, list[tuple[str, float]]]] = {name: {} for name in leaves}
    for number, each in enumerate(asked):
        try:
            query = Query.of_text(each.text, macros=index.macros)
        except QueryError:
            continue
        for name in leaves:
            hits, _ = index.rank(query, "answers", LEAVES[name], DEPTH)
            found[name][str(number)] = [(hit.id, hit.score) for hit in hits]
    return {name: Run.of(name, rankings) for name, rankings in found.items()}


def rankers(index: Index, asked: Sequence[Asked], runs: Mapping[str, Run]) -> dict[str, RecordedRanker]:
    """A ranker for every query that was recorded."""
    found = {}
    for number, each in enumerate(asked):
        key = str(number)
        if any(key in run.rankings for run in runs.values()):
            hits = {name: [Scored(*hit) for hit in run.rankings.get(key, ())] for name, run in runs.items()}
            found[key] = RecordedRanker(index, Query.of_text(each.text, macros=index.macros), hits)
    return found


def ranked(prepared: Mapping[str, RecordedRanker], name: str, ranking: Ranking) -> Run:
    """The results of all queries by a ranking."""
    options = SearchOptions(depth=FIRST)
    hits = {key: ranker.rank(ranking, options, name) for key, ranker in prepared.items()}
    return Run.of(name, {key: [(hit.id, hit.score) for hit in own] for key, own in hits.items()})


Values = Mapping[str, Mapping[str, float]]
"""By measure and query."""


def values_of(asked: Sequence[Asked], run: Run) -> Values:
    """The measures of every query; one without results counts as zero."""
    qrels = Qrels({str(number): dict.fromkeys(each.wanted, 3) for number, each in enumerate(asked)})
    return evaluate(run, qrels, measures(list(MEASURES))).values


def table(asked: Sequence[Asked], found: Mapping[str, Values], beds: Mapping[str, Sequence[str]]) -> str:
    """The mean of every measure with its 95 % interval, for each bed and ranking."""
    rows = []
    for bed, members in beds.items():
        chosen = [str(number) for number, each in enumerate(asked) if each.bed in members]
        for name, values in found.items() if chosen else ():
            cells = ([values[measure][key] for key in chosen] for measure in MEASURES)
            rows.append([f"{bed} ({len(chosen)})", name, *map(shown, cells)])
    return aligned([["", "", *MEASURES], *rows])


def shown(values: Sequence[float]) -> str:
    """A mean with its interval by the bootstrap over queries."""
    low, high = bootstrap_interval(values) or (values[0], values[0])
    return f"{fmean(values):.3f} ({low:.3f} to {high:.3f})"


def left_out(asked: Sequence[Asked], values: Mapping[Weights, Mapping[str, float]]) -> dict[str, Weights]:
    """For each map the weights that are best on the other maps, which count alike; queries that want a declaration of that map are left out."""
    chosen = {}
    for held in MAPS:
        wanted = {name for each in asked if each.bed == held for name in each.wanted}
        others = [
            [
                str(n)
                for n, each in enumerate(asked)
                if each.bed == bed and not wanted.intersection(each.wanted)
            ]
            for bed in MAPS
            if bed != held
        ]
        chosen[held] = max(
            values,
            key=lambda weights: sum(fmean(values[weights][key] for key in keys) for keys in others if keys),
        )
    return chosen


def choice(
    asked: Sequence[Asked],
    prepared: Mapping[str, RecordedRanker],
    current: Weights,
    grid: Sequence[Weights] = GRID,
) -> str:
    """The table of weights that were chosen on other maps beside the current ones, then those that are best on all maps.

    Of these there are also the means of the other beds, on which nothing is chosen.
    """
    beds: dict[str, list[str]] = {}
    for number, each in enumerate(asked):
        beds.setdefault(each.bed, []).append(str(number))
    mapped = {key: prepared[key] for bed in MAPS for key in beds.get(bed, ()) if key in prepared}

    def measured(queries: Mapping[str, RecordedRanker], weights: Weights) -> Mapping[str, float]:
        return values_of(asked, ranked(queries, _said(weights), Promote(fused(weights))))[CHOSEN_BY]

    values = {weights: measured(mapped, weights) for weights in dict.fromkeys((current, *grid))}
    rows = [["held out", "chosen on the others", "with it", f"with {_said(current)}", "difference"]]
    differences: list[float] = []
    for held, weights in left_out(asked, values).items():
        pairs = [(values[weights][key], values[current][key]) for key in beds.get(held, ())]
        gain = [new - old for new, old in pairs]
        differences += gain
        means = (f"{fmean(column):.3f}" for column in zip(*pairs, strict=True))
        rows.append([f"{held} ({len(pairs)})", _said(weights), *means, shown(gain)])
    rows.append(["all", "", "", "", shown(differences)])
    others = [bed for bed in beds if bed not in MAPS]
    best = sorted(values, key=lambda weights: -fmean(values[weights][key] for key in mapped))[:BEST]
    listed = [["", "maps", *others]]
    for weights in dict.fromkeys((current, *best)):
        rest = (
            measured({key: each for key, each in prepared.items() if key not in mapped}, weights)
            if others
            else {}
        )
        of_others = (fmean(rest[key] for key in beds[bed]) for bed in others)
        listed.append(
            [
                _said(weights),
                *(f"{mean:.3f}" for mean in (fmean(values[weights][key] for key in mapped), *of_others)),
            ]
        )
    return f"{aligned(rows)}\n{aligned(listed)}"


def _said(weights: Weights) -> str:
    return " : ".join(f"{weight:g}" for weight in weights)


@dataclass(frozen=True, eq=False)
class Sample:
    """Declarations with their vectors by one model, searched exhaustively."""

    ids: Sequence[str]
    documents: FloatArray
    rows: FloatArray
    starts: IntArray

    @classmethod
    def encoded(cls, system: System, posts: Sequence[Post], folder: Path) -> Sample:
        """Encodes posts; the vectors are kept in the folder, a portion a file, so that the work can be interrupted."""
        folder.mkdir(parents=True, exist_ok=True)
        portions = []
        for start in range(0, len(posts), PORTION):
            some = posts[start : start + PORTION]
            path = folder / f"{zlib.crc32(' '.join(post.id for post in some).encode()):08x}.npz"
            if not path.exists():
                cls._made(system, some, path)
            with np.load(path, allow_pickle=False) as file:
                portions.append((file["documents"], file["rows"], file["counts"]))
        counts = np.concatenate([own for *_, own in portions])
        return cls(
            [post.id for post in posts],
            np.concatenate([own for own, *_ in portions]),
            np.concatenate([own for _, own, _ in portions]),
            np.cumsum(counts) - counts,
        )

    @staticmethod
    def _made(system: System, posts: Sequence[Post], path: Path) -> None:
        found = [encoded.post for encoded in system.encode(Item(post=post) for post in posts)]
        parts = [own[PARTS].vectors for own in found]
        with NamedTemporaryFile(dir=path.parent, suffix=".npz", delete=False) as file:
            np.savez(
                file,
                documents=np.stack([own[DOCUMENT].vectors[0] for own in found]),
                rows=np.concatenate(parts),
                counts=np.array([len(own) for own in parts]),
            )
        Path(file.name).rename(path)

    def single(self, query: FloatArray) -> list[Scored]:
        """By the cosine of the whole texts."""
        return self._best(self.documents @ query)

    def maxsim(self, query: FloatArray) -> list[Scored]:
        """By MaxSim."""
        return self._best(np.maximum.reduceat(self.rows @ query.T, self.starts, axis=0).mean(axis=1))

    def _best(self, scores: FloatArray) -> list[Scored]:
        order = np.argsort(-scores, kind="stable")[:DEPTH]
        return [Scored(self.ids[place], float(scores[place])) for place in order]


def sampled(index: Index, asked: Sequence[Asked], others: int) -> list[Post]:
    """The wanted declarations, and so many others by the hash of their ids."""
    catalogue = index.archive.catalogue
    wanted = dict.fromkeys(name for each in asked for name in each.wanted)
    by_hash = sorted(catalogue.ids(), key=lambda each: (zlib.crc32(each.encode()), each))
    chosen = [*wanted, *[each for each in by_hash if each not in wanted][:others]]
    posts = catalogue.posts(chosen)
    return [posts[each] for each in chosen if each in wanted or posts[each].markup == "declaration"]


def among(index: Index, asked: Sequence[Asked], words: Run, sample: Sample, system: System) -> dict[str, Run]:
    """What every part finds among the declarations of a sample."""
    known = set(sample.ids)
    found: dict[str, dict[str, Sequence[tuple[str, float]]]] = {name: {} for name in LEAVES}
    for number, each in enumerate(asked):
        key = str(number)
        if key in words.rankings:
            query = lean_query(Query.of_text(each.text, macros=index.macros))
            (encoded,) = system.encode([Item(post=query.post)])
            found["lexical"][key] = [hit for hit in words.rankings[key] if hit.id in known]
            found["single"][key] = sample.single(encoded.post[DOCUMENT].vectors[0])
            found["maxsim"][key] = sample.maxsim(encoded.post[PARTS].vectors)
    return {name: Run.of(name, rankings) for name, rankings in found.items()}
