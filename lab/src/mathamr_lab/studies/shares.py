"""What the graph adds to the text, and which shares are best, on questions that neither part was trained on.

The graph network of the box is combined with text encoders in many shares; shares are chosen on other questions than
they are measured on (five folds by the hash of the id).

    MATHAMR_JUDGED="arqmath.index:task1-2020.xml:task1-2020.qrels …"    indexes with graphs, topics, judgments
    MATHAMR_TEXTS=small/model/text:…            folders of text encoders
    MATHAMR_WORK=work                           where the figures are written

For judged topics nDCG' is compared, which needs only the judged answers; if every judgment is the highest grade, it is the
reciprocal rank of the first of them among all posts of the index but the topic itself. `MATHAMR_VECTORS` names precomputed
vectors of texts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch

from mathamr.amr.parser import load_parser
from mathamr.core.arrays import BoolArray, DoubleArray, FloatArray
from mathamr.core.device import chosen_device
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import read_topics
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.store import GraphStore
from mathamr.graphs.tensor import tensorise
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.systems.mathamrplus.graphbackend import load_graph_backend
from mathamr.systems.mathamrplus.postencoder import PostEncoder, Shares
from mathamr.systems.models import GRAPH, model_folder, part_of
from mathamr.systems.vectors import Vectors
from mathamr.text.backend import load_encoder
from mathamr.text.textvectors import TextVectors
from mathamr.text.wording import Wording, wording
from mathamr_lab.studies.testsets import environment

GRAPHS = "both-hierarchy-none"
FOLDS = 5
STEPS = (0.7, 0.8, 0.9, 0.95, 1.0)
MANNERS = ("single", "maxsim", "both")
"""How posts are scored: by complete posts, by their parts, and by both as in the hybrid."""
QUESTION = "question "
"""The prefix of a topic's id, which may be that of a post."""


def run() -> None:
    work = Path(environment("MATHAMR_WORK"))
    work.mkdir(parents=True, exist_ok=True)
    _report(dict(_judged(each) for each in environment("MATHAMR_JUDGED").split()), work)


def _report(tests: dict[str, SharesTest], work: Path) -> None:
    found: dict[str, Any] = {}
    for name in environment("MATHAMR_TEXTS").split(":"):
        found[name] = _measured(name, tests)
        (work / "shares.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


@dataclass(frozen=True, eq=False)
class SharesTest:
    """Questions, the documents they are searched in, which are relevant, and the graph network's vectors of all.

    `barred` marks documents that do not count for a question. Graded judgments are measured by nDCG', others as known items.
    """

    questions: list[str]
    documents: list[str]
    grades: list[Mapping[str, int]]
    barred: BoolArray
    wordings: dict[str, Wording]
    graph: dict[str, Vectors]
    is_graded: bool = False


def _judged(given: str) -> tuple[str, SharesTest]:
    """Reads the topics of a file and builds their graphs, to be searched among the judged posts of an index or among all of them."""
    folder, topics, judgments = (Path(part) for part in given.split(":"))
    qrels = read_qrels(judgments).with_relevant()
    asked = {topic.id: topic.post for topic in read_topics(topics) if topic.id in qrels.grades}
    graded = len({grade for grades in qrels.grades.values() for grade in grades.values()}) > 1
    store = GraphStore(folder / "graphs", read_only=True)
    wanted = sorted({post for grades in qrels.grades.values() for post in grades} if graded else store.ids())
    documents = [post for post in wanted if post in store]
    vocabulary, relations = store.vocabularies()
    posts = dict(Catalogue(folder / "catalogue.db", read_only=True).posts(documents))
    tensors = {post: store.tensor(GRAPHS, post) for post in documents}
    configuration = GraphConfiguration.from_name(GRAPHS)
    for post, made in zip(asked, GraphMaker(load_parser("builtin")).make(list(asked.values())), strict=True):
        tensors[QUESTION + post] = tensorise(made.graph, vocabulary, relations, configuration)
    posts |= {QUESTION + post: each for post, each in asked.items()}
    return topics.stem, SharesTest(
        [QUESTION + post for post in asked],
        documents,
        [qrels.grades[post] for post in asked],
        np.array([[post == document for document in documents] for post in asked], np.bool_),
        {post: wording(posts[post], tensor) for post, tensor in tensors.items()},
        dict(
            zip(
                tensors,
                load_graph_backend(part_of(model_folder("mathamr-2"), GRAPH)).encode(tensors.values()),
                strict=True,
            )
        ),
        graded,
    )


def _measured(name: str, tests: dict[str, SharesTest]) -> dict[str, Any]:
    """Prints what the graph adds to one text encoder in every collection, and the shares that are best for all of them."""
    reader = load_encoder(Path(name))
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
    """Returns shares to try: the same for all levels, then another one for formulas or documents."""
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


def _cross_validated(tables: dict[str, Any], tests: dict[str, SharesTest]) -> dict[str, DoubleArray]:
    """Returns the gain of each question with the shares that are best for the other folds."""
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


def _worths(
    test: SharesTest, text: dict[str, TextVectors], shares: Shares, size: int
) -> dict[str, DoubleArray]:
    """Returns the score of every question's ranking, for each of `MANNERS`: nDCG', or the reciprocal rank of the first relevant post up to 10."""
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
