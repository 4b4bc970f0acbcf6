"""Graph or string: one pretrained encoder trained on the same pairs as raw text, as linearised MathAMR and as linearised MathAMR+.

`MATHAMR_SHARD` is a shard of MathAMR+ graphs (`both-hierarchy-none`) of all posts, and of the known items of the pairs under the ids
`known-pairs|asked|TOPIC` and `known-pairs|renamed|TOPIC`. `MATHAMR_SEEDS` is the number of seeds (default 3), `MATHAMR_EPOCHS` of epochs (2). A graph is written as
the labels of its nodes, depth first, as the authors of MathAMR do. In the arm `roles`, raw text has the number of each variable, in order
of appearance, beside its letter. The table has MRR@10 of the 1,283 held-out pairs, as asked and in other letters.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from mathamr.core.arrays import FloatArray
from mathamr.evaluation.significance import bootstrap_interval
from mathamr.evaluation.table import aligned
from mathamr.graphs.flatgraph import NodePart
from mathamr.graphs.tensor import GraphTensor
from mathamr.posts.post import Post
from mathamr.text.encoder import BUDGET, TextEncoder
from mathamr.text.wording import Span, Wording, wording_alone
from mathamr.text.wordpieces import Pieces
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import environment
from mathamr_lab.systems.mathamrplus.text.configuration import TextTraining
from mathamr_lab.systems.mathamrplus.text.corpus import TextCorpus, vocabulary_checksum
from mathamr_lab.systems.mathamrplus.text.shard import TextShard
from mathamr_lab.systems.mathamrplus.text.trainer import TextTrainer
from mathamr_lab.systems.text.letters import Letters, variables_of

if TYPE_CHECKING:
    from mathamr.graphs.shard import Shard

LONGEST = 510
"""The most word pieces of a text: a graph has more than the text that it was made from."""
MATHAMR = frozenset({NodePart.CONCEPT, NodePart.CONSTANT, NodePart.FORMULA, NodePart.OPT})
MATHAMRPLUS = MATHAMR | {NodePart.SLT}
FORMS = ("asked", "renamed")

_SENSE = re.compile(r"-\d\d+$")
_WORD = re.compile(r"[a-z]+")


def linearised(
    graph: GraphTensor,
    labels: Sequence[str],
    parts: frozenset[NodePart],
    words: Mapping[str, str] | None = None,
) -> str:
    """Writes the labels of the nodes of some parts of a graph, depth first; `words` gives words for stems."""
    half = graph.forward_edges
    kept = np.isin(graph.parts, [int(part) for part in parts])
    children: dict[int, list[int]] = {}
    roots = set(np.flatnonzero(kept).tolist())
    for source, target in graph.edge_index[:, :half].T.tolist():
        if kept[source] and kept[target]:
            children.setdefault(source, []).append(target)
            roots.discard(target)
    found: list[str] = []
    seen: set[int] = set()
    for root in (*sorted(roots), *np.flatnonzero(kept).tolist()):
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                if graph.parts[node] != NodePart.FORMULA:
                    known = words if words is not None and graph.parts[node] == NodePart.CONCEPT else {}
                    found.append(_written(labels[graph.node_ids[node]], known))
                waiting += reversed(children.get(node, []))
    return " ".join(found)


def _written(label: str, words: Mapping[str, str]) -> str:
    label = _SENSE.sub("", label.rpartition("!")[2] or label)
    return words.get(label, label)


def with_roles(post: Post) -> Post:
    """Returns a post whose formulas have the number of every variable beside its letter."""
    variables = variables_of(formula.latex for formula in post.formulas)
    names = Letters({letter: f"{letter} v{number}" for number, letter in enumerate(variables, 1)})
    return replace(
        post, formulas=tuple(replace(formula, latex=names(formula.latex)) for formula in post.formulas)
    )


def stems_to_words(texts: Iterable[str]) -> dict[str, str]:
    """Returns for every stem the commonest word of the texts that has it: the labels of graphs are stems."""
    from Stemmer import Stemmer

    counts = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    known = sorted(counts, key=lambda word: (counts[word], word))
    return dict(zip(Stemmer("porter").stemWords(known), known, strict=True))


def whole(text: str) -> Wording:
    """A text as one part."""
    return Wording(text, (Span(0, 0, len(text)),))


def corpus_of(pieces: Mapping[str, Pieces], pairs: Sequence[tuple[str, str]], vocabulary: int) -> TextCorpus:
    """Returns the corpus of training pairs; answers of one question are no negatives of each other."""
    kept = [
        (a, b) for a, b in pairs if a in pieces and b in pieces and len(pieces[a].of) and len(pieces[b].of)
    ]
    ids = list(dict.fromkeys(name for pair in kept for name in pair))
    place = {name: number for number, name in enumerate(ids)}
    groups = {name: place[question] for question, answer in kept for name in (question, answer)}
    return TextCorpus(
        ids=tuple(ids),
        texts=TextShard(tuple(pieces[name] for name in ids)),
        groups=np.array([groups[name] for name in ids], np.int64),
        pairs=np.array([(place[a], place[b]) for a, b in kept], np.int64),
        held=np.zeros(len(kept), np.bool_),
        kinds=("answer of pairs",) * len(kept),
        vocabulary=vocabulary,
    )


class Unvalidated(TextTrainer):
    """Trains without validation: every arm takes the same steps."""

    def validate(self) -> None:
        return None


def trained(corpus: TextCorpus, start: TextEncoder, settings: TextTraining, device: str) -> TextEncoder:
    """Returns the encoder after all steps of the settings."""
    trainer = Unvalidated(corpus, corpus.texts, start, settings, torch.device(device))
    number = 0
    for epoch in range(settings.epochs):
        for batch in trainer.plan(epoch):
            trainer.learn(trainer.step(batch, epoch), number)
            number += 1
    trainer.encoder.model.eval()
    return trainer.encoder


def reciprocal_ranks(
    encoder: TextEncoder, questions: Sequence[Pieces], answers: Sequence[Pieces], own: Sequence[int]
) -> FloatArray:
    """Returns 1/rank of every question's own answer among all, 0 beyond the tenth."""
    budget = BUDGET * (16 if encoder.device.type == "cuda" else 1)

    def vectors(texts: Sequence[Pieces]) -> torch.Tensor:
        rows = encoder.encode_pieces(texts, budget)
        empty = np.zeros(encoder.size, np.float32)
        found = np.stack([row.vectors[-1] if len(row.vectors) else empty for row in rows])
        return torch.from_numpy(found).to(encoder.device)

    scores = vectors(questions) @ vectors(answers).T
    target = scores.gather(1, torch.tensor(own, device=scores.device)[:, None])
    ranks = (scores > target).sum(1) + 1
    return torch.where(ranks <= 10, 1 / ranks, 0.0).cpu().numpy()


SETTINGS = TextTraining(batch_size=128, epochs=2, learning_rate=5e-5, projection=0, neighbours=1, warmup=0.05)


def run() -> None:
    from mathamr.graphs.shard import load
    from mathamr.posts.reader import read_posts
    from mathamr.posts.report import Report
    from mathamr.text.minilm import packaged_minilm
    from mathamr_lab.studies.testsets import read_topic_files
    from mathamr_lab.training.export import ids_in, listed

    data = data_folder()
    shard = load(Path(environment("MATHAMR_SHARD")))
    settings = replace(SETTINGS, epochs=int(os.environ.get("MATHAMR_EPOCHS", SETTINGS.epochs)))
    posts = {
        post.id: post
        for path in (data / "arqmath-mini" / "Posts.xml", data / "pairs" / "pairs.jsonl.gz")
        for post in read_posts(path, Report())
    }
    files = [(data / "pairs" / "known-items.xml", data / "pairs" / "known-items.qrels")]
    topics, qrels = read_topic_files(files)
    unwanted = {
        name
        for path in ("arqmath-mini/heldout-questions.txt", "pairs/heldout-pairs.txt")
        for name in ids_in(data / path)
    }
    pairs = [
        (post.parent, post.id)
        for post in posts.values()
        if post.parent in posts and not listed(post.parent, unwanted) and not listed(post.id, unwanted)
    ]
    asked = {f"known-pairs|asked|{topic.id}": topic.post for topic in topics}
    asked |= {f"known-pairs|renamed|{topic.id}": _in_other_letters(topic.post) for topic in topics}
    wanted = {topic.id: next(iter(qrels.grades[topic.id])) for topic in topics}
    start = packaged_minilm()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows = [["arm", *FORMS]]
    for arm, written in arms(posts | asked, shard).items():
        rows.append([arm, *_measured(written, start, pairs, wanted, settings, device)])
    print(aligned(rows))


def _in_other_letters(post: Post) -> Post:
    from mathamr_lab.studies.letters import SALT
    from mathamr_lab.systems.text.letters import letters_for, renamed

    return renamed(post, letters_for(post, SALT))


def arms(posts: Mapping[str, Post], shard: Shard) -> dict[str, Callable[[], dict[str, Wording]]]:
    """Returns the ways to write posts, by name; each writes all of them when it is called."""
    labels = shard.vocabulary.labels
    number = {name: place for place, name in enumerate(shard.ids)}
    words = stems_to_words(post.body for post in posts.values())

    def graphs(parts: frozenset[NodePart]) -> dict[str, Wording]:
        return {
            name: whole(linearised(shard[number[name]], labels, parts, words))
            for name in posts
            if name in number
        }

    return {
        "raw text": lambda: {name: whole(wording_alone(post)[0].text) for name, post in posts.items()},
        "MathAMR": lambda: graphs(MATHAMR),
        "MathAMR+": lambda: graphs(MATHAMRPLUS),
        "roles": lambda: {
            name: whole(wording_alone(with_roles(post))[0].text) for name, post in posts.items()
        },
    }


def _measured(
    written: Callable[[], dict[str, Wording]],
    start: TextEncoder,
    pairs: Sequence[tuple[str, str]],
    wanted: Mapping[str, str],
    settings: TextTraining,
    device: str,
) -> list[str]:
    wordings = written()
    cut = (found.cut(LONGEST) for found in start.pieces.cut(list(wordings.values())))
    pieces = dict(zip(wordings, cut, strict=True))
    corpus = corpus_of(pieces, pairs, vocabulary_checksum(start.pieces))
    answers = [name for name in pieces if name.endswith("/answer")]
    place = {name: number for number, name in enumerate(answers)}
    found: dict[str, list[FloatArray]] = {form: [] for form in FORMS}
    for seed in range(int(os.environ.get("MATHAMR_SEEDS", "3"))):
        encoder = trained(corpus, start, replace(settings, seed=seed), device)
        for form, values in found.items():
            questions = [pieces[f"known-pairs|{form}|{topic}"] for topic in wanted]
            own = [place[answer] for answer in wanted.values()]
            values.append(reciprocal_ranks(encoder, questions, [pieces[name] for name in answers], own))
    cells = []
    for values in found.values():
        low, high = bootstrap_interval(np.mean(values, axis=0).tolist()) or (0.0, 0.0)
        seeds = " ".join(f"{each.mean():.3f}" for each in values)
        cells.append(f"{np.mean(values):.3f} ({low:.3f} to {high:.3f}; {seeds})")
    return cells
