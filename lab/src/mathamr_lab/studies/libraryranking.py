"""The ranking of a formal library: what its parts find, many weights over these results, and weights chosen without the map they are measured on."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run, read_run, write_run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.table import aligned
from mathamr.index.engines.entry import Payload
from mathamr.index.scored import Scored
from mathamr.posts.post import Post
from mathamr.search.fusion import fuse
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
from mathamr.systems.models import load_system
from mathamr.systems.ranking import Component, Fuse, Lexical, MaxSim, Nearest, NearestRows, Promote, Ranking
from mathamr.systems.system import Item, System
from mathamr_lab.systems.text.mathlib import MAPS

MEASURES = ("recall@1", "recall@10", "nDCG@10")
CHOSEN_BY = "nDCG@10"
DEPTH = 1000
"""The number of results that every part of a fusion contributes."""
FIRST = 100
"""The number of results of a ranking, as many as a search reorders."""
LEAVES: dict[str, Ranking] = {"lexical": Lexical(), "single": Nearest(DOCUMENT), "maxsim": MaxSim(PARTS)}

Weights = tuple[float, float, float]
"""Of words, of one vector, and of MaxSim."""
_DENSE = ((4.0, 0.0), (3.0, 1.0), (2.0, 2.0), (1.0, 3.0), (0.0, 4.0))
GRID: tuple[Weights, ...] = tuple(
    (lexical, *dense) for lexical, dense in product((0.0, 0.5, 1.0, 2.0, 3.0, 4.0), _DENSE)
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


class RecordedRanker(PostRanker):
    """The interpreter of a search over what the parts of a ranking found before: only fusion and promotion are computed."""

    def __init__(self, index: Index, query: Query, found: Mapping[str, Sequence[Scored]]) -> None:
        archive = index.archive
        self._found_before = found
        self._payloads_read: dict[str, Payload] = {}
        self._posts_read: dict[str, Post] = {}

        def payloads(of: FieldTarget, ids: Sequence[str]) -> dict[str, Payload]:
            self._payloads_read |= archive.payloads(
                of, [each for each in ids if each not in self._payloads_read]
            )
            return {each: self._payloads_read[each] for each in ids if each in self._payloads_read}

        def posts(ids: Sequence[str]) -> Mapping[str, Post]:
            self._posts_read |= archive.catalogue.posts(
                [each for each in ids if each not in self._posts_read]
            )
            return {each: self._posts_read[each] for each in ids if each in self._posts_read}

        encoder = QueryEncoder(_no_parser, lambda: archive.system, archive.encoding)
        context = QueryContext(lean_query(query), encoder)
        super().__init__(context, archive.engine, lambda: archive.lexical.posts, payloads, posts)

    @cached_property
    def _name(self) -> NameQuery | None:
        found = NameQuery.of(self.context.query, self._lexicon(), self._posts) if self._posts else None
        return found and _RememberedName(found.words, found.rarity, found.rare, found.corrected)

    def _by_field(self, leaf: Nearest | MaxSim | NearestRows, options: SearchOptions) -> Sequence[Scored]:
        return self._found_before["single" if isinstance(leaf, Nearest) else "maxsim"][: options.depth]

    def _by_words(self, lexicon: object, options: SearchOptions) -> Sequence[Scored]:
        return self._found_before["lexical"][: options.depth]


def _no_parser() -> None:
    raise AssertionError("recorded rankings parse nothing")


def recorded(index: Index, asked: Sequence[Asked], folder: Path | None) -> dict[str, Run]:
    """What every part finds for every query; written into a folder, and read from it if it is there."""
    paths = {name: folder / f"{name}.run" for name in LEAVES} if folder else {}
    if paths and all(path.exists() for path in paths.values()):
        return {name: read_run(path, name) for name, path in paths.items()}
    found: dict[str, dict[str, list[tuple[str, float]]]] = {name: {} for name in LEAVES}
    for number, each in enumerate(asked):
        try:
            query = Query.of_text(each.text, macros=index.macros)
        except QueryError:
            continue
        for name, leaf in LEAVES.items():
            hits, _ = index.rank(query, "answers", leaf, DEPTH)
            found[name][str(number)] = [(hit.id, hit.score) for hit in hits]
    runs = {name: Run.of(name, rankings) for name, rankings in found.items()}
    for name, path in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_run(runs[name], path)
    return runs


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
    """The table of weights that were chosen on other maps beside the current ones, and of the best ones."""
    keys = {str(number): each.bed for number, each in enumerate(asked) if each.bed in MAPS}
    mapped = {key: ranker for key, ranker in prepared.items() if key in keys}
    values = {
        weights: values_of(asked, ranked(mapped, _said(weights), Promote(fused(weights))))[CHOSEN_BY]
        for weights in dict.fromkeys((current, *grid))
    }
    chosen = left_out(asked, values)
    rows = [["held out", "chosen on the others", "with it", f"with {_said(current)}", "difference"]]
    differences: list[float] = []
    for held, weights in chosen.items():
        own = [key for key, bed in keys.items() if bed == held]
        gain = [values[weights][key] - values[current][key] for key in own]
        differences += gain
        rows.append(
            [f"{held} ({len(own)})", _said(weights), f"{fmean(values[weights][key] for key in own):.3f}",
             f"{fmean(values[current][key] for key in own):.3f}", shown(gain)]
        )  # fmt: skip
    rows.append(["all", "", "", "", shown(differences)])
    best = sorted(values, key=lambda weights: -fmean(values[weights][key] for key in keys))[:8]
    rows += [
        ["best on all", _said(weights), f"{fmean(values[weights][key] for key in keys):.3f}", "", ""]
        for weights in best
    ]
    return aligned(rows)


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
    def of(cls, found: Iterable[tuple[str, FloatArray, FloatArray]]) -> Sample:
        """From ids, the vector of the whole text, and those of all parts."""
        ids, documents, parts = zip(*found, strict=True)
        counts = np.array([len(own) for own in parts])
        return cls(ids, np.stack(documents), np.concatenate(parts), np.cumsum(counts) - counts)

    def single(self, query: FloatArray) -> list[Scored]:
        """By the cosine of the whole texts."""
        return self._best(self.documents @ query)

    def maxsim(self, query: FloatArray) -> list[Scored]:
        """By MaxSim."""
        return self._best(np.maximum.reduceat(self.rows @ query.T, self.starts, axis=0).mean(axis=1))

    def _best(self, scores: FloatArray) -> list[Scored]:
        return [Scored(self.ids[place], float(scores[place])) for place in np.argsort(-scores)[:DEPTH]]


def sampled(index: Index, asked: Sequence[Asked], others: int) -> list[Post]:
    """The wanted declarations, and about so many others by the hash of their ids."""
    wanted = {name for each in asked for name in each.wanted}
    share = others / max(1, len(index))
    return [
        post
        for post in index.archive.catalogue.every_post()
        if post.id in wanted
        or (post.markup == "declaration" and zlib.crc32(post.id.encode()) / 2**32 < share)
    ]


def compared(
    index: Index, asked: Sequence[Asked], words: Run, posts: Sequence[Post], model: str
) -> dict[str, Values]:
    """Words, the index's model and another one among the same declarations, each alone and fused with equal parts of words."""
    known = {post.id for post in posts}
    engine, system = index.archive.engine, load_system(model)
    ids = [post.id for post in posts]
    documents, parts = engine[DOCUMENT].fetch(ids), engine[PARTS].fetch(ids)
    stored = Sample.of(
        (each, documents[each].vectors[0], parts[each].vectors) for each in ids if each in documents
    )
    made = Sample.of(
        (encoded.id, encoded.post[DOCUMENT].vectors[0], encoded.post[PARTS].vectors)
        for encoded in system.encode(Item(post=post) for post in posts)
        if encoded.post
    )
    few = {
        str(number): [Scored(*hit) for hit in words.rankings.get(str(number), ()) if hit.id in known]
        for number in range(len(asked))
    }
    found: dict[str, dict[str, Sequence[Scored]]] = {"words": {**few}}
    for reader, sample in ((index.archive.system, stored), (system, made)):
        _search(found, reader, sample, index, asked, few)
    return {name: values_of(asked, Run.of(name, hits)) for name, hits in found.items()}


def _search(
    found: dict[str, dict[str, Sequence[Scored]]],
    reader: System,
    sample: Sample,
    index: Index,
    asked: Sequence[Asked],
    words: Mapping[str, Sequence[Scored]],
) -> None:
    names = [f"{reader.name}{way}" for way in (", one vector", ", MaxSim", ", both", ", both and words")]
    for name in names:
        found[name] = {}
    for key, of_words in words.items():
        query = lean_query(Query.of_text(asked[int(key)].text, macros=index.macros))
        (encoded,) = reader.encode([Item(post=query.post)])
        single = sample.single(encoded.post[DOCUMENT].vectors[0])
        maxsim = sample.maxsim(encoded.post[PARTS].vectors)
        both = fuse("mean", [single, maxsim], [1.0, 1.0], DEPTH, "z")
        everything = fuse("mean", [of_words, single, maxsim], [1.0, 2.0, 2.0], DEPTH, "z")
        for name, hits in zip(names, (single, maxsim, both, everything), strict=True):
            found[name][key] = hits[:10]
