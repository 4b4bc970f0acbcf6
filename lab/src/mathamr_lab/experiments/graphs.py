"""The first stage: graphs of the posts and of the topics, their tensors, and the pairs to train on."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mathamr.amr.parser import load_parser
from mathamr.core.errors import MathAMRError
from mathamr.core.progress import Progress
from mathamr.graphs import shard as shards
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.corpus import build_graphs, build_tensors, build_vocabularies, use_vocabularies
from mathamr.graphs.maker import digest
from mathamr.graphs.store import GraphStore
from mathamr.posts.post import Post
from mathamr.posts.report import Report
from mathamr_lab.experiments.collection import TestCollection
from mathamr_lab.experiments.stage import Figures
from mathamr_lab.experiments.visualtable import VisualTable
from mathamr_lab.training.export import listed

POSTS, VISUALS, FURTHER = "posts.tsv", "formulas.sqlite", "further.tsv"


@dataclass(frozen=True, slots=True)
class CorpusCatalogue:
    """The searched items: answers by id, and every formula with a visual id.

    `further` are posts that are only learned from.
    """

    posts: tuple[str, ...]
    answers: tuple[str, ...]
    visuals: VisualTable
    further: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path) -> CorpusCatalogue:
        """Return the catalogue that `build_corpus` wrote."""
        rows = [line.split("\t") for line in (folder / POSTS).read_text(encoding="utf-8").splitlines()]
        return cls(
            tuple(post_id for post_id, _ in rows),
            tuple(post_id for post_id, kind in rows if kind == "answer"),
            VisualTable(folder / VISUALS),
            tuple((folder / FURTHER).read_text(encoding="utf-8").splitlines()),
        )


def build_corpus(
    collection: TestCollection,
    folder: Path,
    store_folder: Path,
    parser: str,
    model: str | None = None,
    *,
    given: bool,
    workers: int = 1,
) -> Figures:
    """Build the graphs and vocabularies of all posts, and the catalogue beside them; return figures.

    A store that was `given` must have the posts already, made by this parser; none of it is parsed again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    report = Report()
    with GraphStore(store_folder, create=not given) as store:
        posts = _catalogued(collection, folder, report)
        if given:
            fingerprint = load_parser(parser, model).fingerprint
            missing, foreign = [], []
            for post in posts:
                if post.id not in store:
                    missing.append(post.id)
                elif store.digest(post.id) != digest(post, fingerprint):
                    foreign.append(post.id)
            if foreign:
                raise MathAMRError(
                    f"the graphs of {len(foreign):,} posts in the store {store_folder}, the first of {foreign[0]!r}, are"
                    f" of another text or another AMR parser than {parser} ({fingerprint}); topics must be parsed"
                    " by the parser that made the graphs: name it with --parser, or build them again with: mathamr graph"
                    f" {collection.paths[0]} --out {store_folder}"
                )
            if missing:
                raise MathAMRError(
                    f"the graph store {store_folder} lacks {len(missing):,} posts of the corpus, the first is"
                    f" {missing[0]!r}; add them with: mathamr graph {collection.paths[0]} --out {store_folder}"
                )
        else:
            with Progress("graphs", "posts") as progress:
                build_graphs(posts, store, parser=parser, model=model, workers=workers, progress=progress)
            catalogue = CorpusCatalogue.read(folder)
            _forget_others(store, (*catalogue.posts, *catalogue.further))
        with Progress("vocabularies", "posts", total=len(store)) as progress:
            build_vocabularies(store, workers=workers, progress=progress)
        catalogue = CorpusCatalogue.read(folder)
        if not catalogue.answers:
            raise MathAMRError(f"{collection.paths[0]} holds no answers, so there is nothing to find")
        return {
            "output": _fingerprint(store, (*catalogue.posts, *catalogue.further))
            + (" judged only" if collection.judged_only else ""),
            "posts": len(catalogue.posts),
            "answers": len(catalogue.answers),
            "further": len(catalogue.further),
            "pairs": len(_pairs(store, catalogue, collection.without)),
            "formulas": len(catalogue.visuals),
            "skipped": report.skipped.total(),
        }


def _catalogued(collection: TestCollection, folder: Path, report: Report) -> Iterator[Post]:
    """Yield the posts and list them in the catalogue; of two with the same id, the searched one is kept."""
    searched: set[str] = set()
    with (
        (folder / POSTS).open("w", encoding="utf-8") as listed_posts,
        VisualTable.writing(folder / VISUALS) as add,
    ):
        for post in _rankable(collection.posts(report)):
            searched.add(post.id)
            listed_posts.write(f"{post.id}\t{post.role if collection.searches(post) else 'unsearched'}\n")
            add((formula.id, formula.visual_id) for formula in post.formulas if formula.visual_id)
            yield post
    with (folder / FURTHER).open("w", encoding="utf-8") as listed_posts:
        for post in _rankable(collection.further_posts(report)):
            if post.id not in searched:
                listed_posts.write(f"{post.id}\n")
                yield post


def _rankable(posts: Iterable[Post]) -> Iterator[Post]:
    for post in posts:
        if "\t" in post.id or post.id.splitlines() != [post.id]:
            raise MathAMRError(f"an id with a tab or a line break cannot be ranked: {post.id!r}")
        yield post


def _forget_others(store: GraphStore, wanted: Iterable[str]) -> None:
    """Delete posts of an earlier corpus in the same folder."""
    kept = set(wanted)
    others = [post_id for post_id in store.ids() if post_id not in kept]
    with store.transaction():
        for post_id in others:
            store.delete(post_id)


def build_topics(
    collection: TestCollection,
    corpus: Path,
    folder: Path,
    parser: str,
    model: str | None = None,
    workers: int = 1,
) -> Figures:
    """Build the graphs of the topics of all test sets, numbered by the vocabularies of the corpus."""
    with GraphStore(corpus) as known:
        vocabularies = known.vocabularies()
    posts = list(collection.topic_posts())
    with GraphStore(folder, create=True) as store:
        with Progress("graphs of topics", "topics", total=len(posts)) as progress:
            build_graphs(posts, store, parser=parser, model=model, workers=workers, progress=progress)
        _forget_others(store, [post.id for post in posts])
        use_vocabularies(store, *vocabularies)
        return {"output": _fingerprint(store, [post.id for post in posts]), "topics": len(posts)}


def build_both_tensors(
    corpus: Path, topics: Path, configuration: GraphConfiguration, workers: int = 1
) -> Figures:
    """Build the tensors of one configuration, of posts and of topics; return how many were made."""
    made = 0
    for folder, unit in ((corpus, "posts"), (topics, "topics")):
        with (
            GraphStore(folder) as store,
            Progress(f"tensors {configuration.name}", unit, total=len(store)) as progress,
        ):
            made += build_tensors(store, configuration, workers=workers, progress=progress)
    return {"made": made}


def export_pairs(
    corpus: Path,
    catalogue: CorpusCatalogue,
    graphs: str,
    without: frozenset[str],
    most: int | None,
    path: Path,
    *,
    accepted: bool = False,
) -> Figures:
    """Write the pairs to train on, at most `most` of them drawn at random, into the file that training reads; return figures."""
    with GraphStore(corpus) as store:
        pairs = _pairs(store, catalogue, without, accepted=accepted)
        if accepted and not pairs:
            raise MathAMRError("the corpus does not know which answers were accepted; run without --accepted")
        if len(pairs) < 4:
            raise MathAMRError(f"the corpus has {len(pairs)} pairs of question and answer to train on")
        left_out = max(0, len(pairs) - (most or len(pairs)))
        if left_out:
            chosen = sorted(random.Random(0).sample(range(len(pairs)), len(pairs) - left_out))
            pairs = [pairs[place] for place in chosen]
        path.parent.mkdir(parents=True, exist_ok=True)
        shard = shards.export(store, graphs, pairs, path)
    return {
        "output": hashlib.sha256(path.read_bytes()).hexdigest(),
        "pairs": len(pairs),
        "posts": len(shard),
        "not drawn": left_out,
    }


def _pairs(
    store: GraphStore, catalogue: CorpusCatalogue, without: frozenset[str], *, accepted: bool = False
) -> list[tuple[str, str]]:
    wanted = {*catalogue.posts, *catalogue.further}
    return [
        pair
        for pair in store.pairs(accepted_only=accepted)
        if wanted.issuperset(pair) and not any(listed(post_id, without) for post_id in pair)
    ]


def _fingerprint(store: GraphStore, ids: Iterable[str]) -> str:
    """Return a hash of graphs and vocabularies, equal for the same posts."""
    check = hashlib.sha256()
    for post_id in ids:
        check.update(post_id.encode("utf-8", "surrogatepass") + b"\0" + (store.digest(post_id) or b""))
    check.update(store.vocabulary_path.read_bytes())
    check.update(store.relations_path.read_bytes())
    return check.hexdigest()
