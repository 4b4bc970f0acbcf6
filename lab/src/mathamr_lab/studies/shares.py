"""What the graph adds to a text, and which shares are best: on validation questions that neither part was trained on.

The graph network of the box has seen these questions, so a twin of it is trained without them, by the same configuration,
from the graphs that indexes already hold. Then text encoders stand beside the twin's vectors with many shares; shares are
chosen on other questions than they are measured on (five parts by the hash of the id).

    MATHAMR_INDEXES=arqmath.index:pairs.index   indexes with graphs of all questions and answers
    MATHAMR_CORPUS=prepared/corpus.npz          of `mathamr train text … --prepare`: which questions are validated on
    MATHAMR_TEXTS=small/model/text:…            folders of text encoders that were trained on that corpus
    MATHAMR_WORK=work                           where the twin is trained, or taken from if it is there

Or, with the graph network of the box itself, on questions that no part has seen:

    MATHAMR_JUDGED="arqmath.index:task1-2020.xml:task1-2020.qrels …"    indexes with graphs, topics, judgments

Of judged topics nDCG' is compared, which needs the judged answers alone; where every judgment is the highest grade, one over the
rank of the first of them among all posts of the index but the topic itself. `MATHAMR_VECTORS` spares encoding texts anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, cast
from zlib import crc32

import numpy as np
import torch

from mathamr.amr.parser import load_parser
from mathamr.core.arrays import BoolArray, DoubleArray, FloatArray
from mathamr.core.device import chosen_device
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import read_topics
from mathamr.graphs import shard as shards
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.store import GraphStore
from mathamr.graphs.tensor import GraphTensor, tensorise
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.systems.mathamrplus.graphreading import load_graph_reader
from mathamr.systems.mathamrplus.postencoder import PostEncoder, Shares
from mathamr.systems.modelfolder import FIRST, GRAPH, box, part_of
from mathamr.systems.vectors import Vectors
from mathamr.text.reading import load_text_reader
from mathamr.text.textvectors import TextVectors
from mathamr.text.wording import Wording, wording
from mathamr_lab.data import data_folder
from mathamr_lab.systems.mathamrplus.text.corpus import TextCorpus
from mathamr_lab.training.export import ids_in, listed

GRAPHS = "both-hierarchy-none"
OTHERS = 6000
"""Answers of a collection that those of its validation questions are looked for among, at most."""
FOLDS = 5
STEPS = (0.7, 0.8, 0.9, 0.95, 1.0)
MANNERS = ("single", "maxsim", "both")
"""Whole posts, their parts, and both as the hybrid weighs them."""
HIGHEST = 3
"""The grade of an answer that is known."""
QUESTION = "question "
"""Before the id of a topic, which may be that of a post."""
Ids = tuple[str, str]


class Stores:
    """The graphs of several indexes of one vocabulary, as one store."""

    def __init__(self, indexes: Sequence[Path]) -> None:
        self.stores = [GraphStore(folder / "graphs", read_only=True) for folder in indexes]
        self.catalogues = [Catalogue(folder / "catalogue.db", read_only=True) for folder in indexes]
        first, *others = [store.vocabularies() for store in self.stores]
        if any(each[0].labels != first[0].labels for each in others):
            raise MathAMRError("the indexes were made with graph networks of different vocabularies")

    def __contains__(self, post: str) -> bool:
        return any(post in store for store in self.stores)

    def ids(self) -> list[str]:
        return [post for store in self.stores for post in store.ids()]

    def tensor(self, configuration: str, post: str) -> GraphTensor:
        return next(store for store in self.stores if post in store).tensor(configuration, post)

    def vocabularies(self) -> Any:
        return self.stores[0].vocabularies()

    def posts(self, ids: Sequence[str]) -> dict[str, Any]:
        return {key: post for each in self.catalogues for key, post in each.posts(ids).items()}


def run() -> None:
    if "MATHAMR_JUDGED" in os.environ:
        work = Path(_given("MATHAMR_WORK"))
        work.mkdir(parents=True, exist_ok=True)
        _report(dict(_judged(each) for each in os.environ["MATHAMR_JUDGED"].split()), work)
        return
    stores = Stores([Path(name) for name in _given("MATHAMR_INDEXES").split(":")])
    corpus = TextCorpus.load(Path(_given("MATHAMR_CORPUS")))
    work = Path(_given("MATHAMR_WORK"))
    work.mkdir(parents=True, exist_ok=True)
    held = _held(corpus, stores)
    for kind, pairs in held.items():
        print(f"{kind}: {len(pairs)} validation pairs")
    twin = work / "twin"
    if not (twin / "config.json").exists():
        _train(stores, corpus, work, twin)
    _report({kind: _test(corpus, stores, kind, pairs, twin) for kind, pairs in held.items()}, work)


def _report(tests: dict[str, Test], work: Path) -> None:
    found: dict[str, Any] = {}
    for name in _given("MATHAMR_TEXTS").split(":"):
        found[name] = _measured(name, tests)
        (work / "shares.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _given(name: str) -> str:
    if name not in os.environ:
        raise MathAMRError(f"this benchmark needs {name}; see the text at the head of benchmarks/shares.py")
    return os.environ[name]


def _held(corpus: TextCorpus, stores: Stores) -> dict[str, list[Ids]]:
    """The validation pairs of every collection, by id."""
    found: dict[str, list[Ids]] = {}
    for number in np.flatnonzero(corpus.held):
        question, answer = (corpus.ids[place] for place in corpus.pairs[number])
        if question in stores and answer in stores:
            found.setdefault(corpus.kinds[number].rpartition(" ")[2], []).append((question, answer))
    return found


def _train(stores: Stores, corpus: TextCorpus, work: Path, twin: Path) -> None:
    """A graph network of the box's configuration that has not seen the validation questions, nor what is held out."""
    apart = {corpus.ids[place] for place in np.flatnonzero(corpus.apart)}
    data = data_folder()
    apart |= {
        *ids_in(data / "arqmath-mini" / "heldout-questions.txt"),
        *ids_in(data / "pairs" / "heldout-pairs.txt"),
    }
    pairs = [
        pair
        for store in stores.catalogues
        for pair in _answered(store)
        if all(post in stores and not listed(post, apart) for post in pair)
    ]
    shards.export(cast(GraphStore, stores), GRAPHS, pairs, work / "twin.npz")
    print(f"the twin learns from {len(pairs):,} pairs", flush=True)
    command = [sys.executable, "-m", "mathamr_lab.recipes", str(work / "twin.npz"), "--config", "box"]
    epochs = os.environ.get("MATHAMR_EPOCHS")
    command += ["--set", f"epochs={epochs}"] if epochs else []
    subprocess.run([*command, "--out", str(twin), "--threads", "2", "--half"], check=True, stdout=sys.stderr)


def _answered(catalogue: Catalogue) -> Iterator[Ids]:
    for post in catalogue.every_post():
        if post.role == "answer" and post.parent:
            yield post.parent, post.id


@dataclass(frozen=True, eq=False)
class Test:
    """Questions, the documents they are asked among, which are relevant, and the graph network's vectors of all.

    `barred` marks documents that do not count for a question. Of graded judgments nDCG' is measured, otherwise known items.
    """

    questions: list[str]
    documents: list[str]
    grades: list[Mapping[str, int]]
    barred: BoolArray
    wordings: dict[str, Wording]
    graph: dict[str, Vectors]
    is_graded: bool = False


def _test(corpus: TextCorpus, stores: Stores, kind: str, pairs: list[Ids], twin: Path) -> Test:
    own = {answer for _, answer in pairs}
    of_kind = [name.rpartition(" ")[2] == kind and name.startswith("answer") for name in corpus.kinds]
    answers = {corpus.ids[place]: int(corpus.groups[place]) for place in corpus.pairs[of_kind][:, 1]}
    groups = {corpus.ids[place]: int(corpus.groups[place]) for place in corpus.pairs[corpus.held][:, 0]}
    rest = sorted(post for post in answers if post not in own and post in stores)
    drawn = np.random.default_rng(1).permutation(len(rest))[:OTHERS]
    documents = sorted(own | {rest[place] for place in drawn})
    ids = sorted({question for question, _ in pairs} | set(documents))
    posts = stores.posts(ids)
    tensors = {post: stores.tensor(GRAPHS, post) for post in ids}
    return Test(
        [question for question, _ in pairs],
        documents,
        [{answer: HIGHEST} for _, answer in pairs],
        np.array([[groups[q] == answers[d] and d != a for d in documents] for q, a in pairs], np.bool_),
        {post: wording(posts[post], tensors[post]) for post in ids},
        dict(zip(ids, load_graph_reader(twin).encode(tensors.values()), strict=True)),
    )


def _judged(given: str) -> tuple[str, Test]:
    """The topics of a file, whose graphs are made here, among the judged posts of an index or among all of them."""
    folder, topics, judgments = (Path(part) for part in given.split(":"))
    qrels = read_qrels(judgments).with_relevant()
    asked = {topic.id: topic.post for topic in read_topics(topics) if topic.id in qrels.grades}
    graded = len({grade for grades in qrels.grades.values() for grade in grades.values()}) > 1
    stores = Stores([folder])
    wanted = sorted({post for grades in qrels.grades.values() for post in grades} if graded else stores.ids())
    documents = [post for post in wanted if post in stores]
    vocabulary, relations = stores.vocabularies()
    posts = stores.posts(documents)
    tensors = {post: stores.tensor(GRAPHS, post) for post in documents}
    configuration = GraphConfiguration.from_name(GRAPHS)
    for post, made in zip(asked, GraphMaker(load_parser("builtin")).make(list(asked.values())), strict=True):
        tensors[QUESTION + post] = tensorise(made.graph, vocabulary, relations, configuration)
    posts |= {QUESTION + post: each for post, each in asked.items()}
    return topics.stem, Test(
        [QUESTION + post for post in asked],
        documents,
        [qrels.grades[post] for post in asked],
        np.array([[post == document for document in documents] for post in asked], np.bool_),
        {post: wording(posts[post], tensor) for post, tensor in tensors.items()},
        dict(
            zip(
                tensors,
                load_graph_reader(part_of(box() / FIRST, GRAPH)).encode(tensors.values()),
                strict=True,
            )
        ),
        graded,
    )


def _measured(name: str, tests: dict[str, Test]) -> dict[str, Any]:
    """Prints what the graph adds to one text encoder in every collection, and the shares that are best for all of them."""
    reader = load_text_reader(Path(name))
    tables: dict[str, dict[Shares, dict[str, DoubleArray]]] = {}
    for kind, test in tests.items():
        ids = list(test.wordings)
        text = dict(zip(ids, reader.encode(test.wordings.values()), strict=True))
        tables[kind] = {shares: _worths(test, text, shares, reader.size) for shares in _candidates()}
    alone, rows, found = Shares(1.0, 1.0, 1.0), [["", *MANNERS, "both, 95 %"]], {}
    for kind, table in tables.items():
        rows.append(
            [f"{kind}: text alone", *(f"{table[alone][manner].mean():.4f}" for manner in MANNERS), ""]
        )
    for shares in _candidates():
        gains = {kind: table[shares]["both"] - table[alone]["both"] for kind, table in tables.items()}
        found[_said(shares)] = {
            kind: {
                **{manner: float(tables[kind][shares][manner].mean()) for manner in MANNERS},
                "gain": float(gain.mean()),
                "interval": bootstrap_interval(gain.tolist()),
            }
            for kind, gain in gains.items()
        }
        for kind, gain in gains.items():
            low, high = bootstrap_interval(gain.tolist()) or (0.0, 0.0)
            figures = (f"{tables[kind][shares][manner].mean():.4f}" for manner in MANNERS)
            rows.append(
                [f"{kind}: {_said(shares)}", *figures, f"{gain.mean():+.4f} ({low:+.4f} to {high:+.4f})"]
            )
    print(f"\n{name}")
    print(aligned(rows))
    best = _best(tables, {kind: np.ones(len(test.questions), np.bool_) for kind, test in tests.items()})
    print(f"best over all collections, each counting the same: {_said(best)}")
    for kind, gain in _cross_validated(tables, tests).items():
        low, high = bootstrap_interval(gain.tolist()) or (0.0, 0.0)
        print(
            f"{kind}: chosen on other questions the graph adds {gain.mean():+.4f} ({low:+.4f} to {high:+.4f})"
        )
    return {"best": best.to_json(), "shares": found}


def _candidates() -> list[Shares]:
    """The same share for all, then formulas or documents with another."""
    same = [Shares(step, step, step) for step in STEPS]
    others = [
        replace(shares, **{level: step})
        for shares, level, step in product(same, ("formula", "document"), STEPS)
        if step != shares.sentence and abs(step - shares.sentence) < 0.21
    ]
    return [*same, *others]


def _said(shares: Shares) -> str:
    return "/".join(f"{value:g}" for value in shares.to_json().values())


def _best(tables: dict[str, Any], chosen: dict[str, BoolArray]) -> Shares:
    return max(
        _candidates(),
        key=lambda shares: float(
            np.mean([t[shares]["both"][chosen[kind]].mean() for kind, t in tables.items()])
        ),
    )


def _cross_validated(tables: dict[str, Any], tests: dict[str, Test]) -> dict[str, DoubleArray]:
    """What is added to each question with the shares that are best for the questions of the other parts."""
    parts = {
        kind: np.array([crc32(question.encode()) % FOLDS for question in test.questions])
        for kind, test in tests.items()
    }
    gains = {kind: np.zeros(len(test.questions)) for kind, test in tests.items()}
    for part in range(FOLDS):
        best = _best(tables, {kind: own != part for kind, own in parts.items()})
        for kind, own in parts.items():
            gain = tables[kind][best]["both"] - tables[kind][Shares(1.0, 1.0, 1.0)]["both"]
            gains[kind][own == part] = gain[own == part]
    return gains


def _worths(test: Test, text: dict[str, TextVectors], shares: Shares, size: int) -> dict[str, DoubleArray]:
    """What every question's ranking is worth, in every manner: nDCG', or one over the rank of the first relevant post up to 10."""
    device = chosen_device("auto")
    joined = {
        post: PostEncoder.side_by_side(test.graph[post], text[post], shares, size) for post in test.wordings
    }
    documents = [joined[post] for post in test.documents]
    table = torch.from_numpy(np.concatenate([each.vectors for each in documents])).to(device)
    owners = torch.from_numpy(np.repeat(np.arange(len(documents)), [len(each) for each in documents])).to(
        device
    )
    wholes = torch.from_numpy(np.stack([_whole(each) for each in documents])).to(device)
    measure = (measures(["nDCG'"]) if test.is_graded else measures(["MRR@10"]))[0]
    found: dict[str, list[float]] = {manner: [] for manner in MANNERS}
    for row, question in enumerate(test.questions):
        asked = torch.from_numpy(joined[question].vectors).to(device)
        similar = asked @ table.T
        best = similar.new_full((len(asked), len(documents)), -1.0)
        best.scatter_reduce_(1, owners.expand(len(asked), -1), similar, "amax")
        one, parts = wholes @ torch.from_numpy(_whole(joined[question])).to(device), best.mean(0)
        both = (one - one.mean()) / one.std() + 2 * (parts - parts.mean()) / parts.std()
        for manner, scores in zip(MANNERS, (one, parts, both), strict=True):
            order = torch.argsort(-scores, stable=True).tolist()
            ids = [test.documents[place] for place in order if not test.barred[row, place]]
            found[manner].append(measure.of(ids, test.grades[row]))
    return {manner: np.array(values) for manner, values in found.items()}


def _whole(vectors: Vectors) -> FloatArray:
    document = vectors.document
    return np.asarray(vectors.vectors.mean(0) if document is None else document, np.float32)
