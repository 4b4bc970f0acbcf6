"""Does the structure of a graph help? The same network learns full graphs, chains of words in place of meaning, and bags of labels.

    python -m mathamr_lab.studies.structure posts FOLDER --pairs 10000   # posts and pairs of the evaluation data, drawn once
    python -m mathamr_lab.studies.structure prepare FOLDER               # their graphs, on all cores
    python -m mathamr_lab.studies.structure train FOLDER ARM…            # three seeds of an arm, on a GPU
    MATHAMR_STRUCTURE=FOLDER python -m mathamr_lab.studies structure     # the table

The second and third step need only FOLDER, torch, numpy and what the built-in parser reads. Every network has the thesis's shape; the
1,283 held-out questions of the pairs, as asked and in other letters, look for their answers among all answers of the folder. Intervals
resample seeds and questions together; p is corrected by Holm's method.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr.amr.graph import Amr, is_atom
from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.graphs import notation
from mathamr.graphs import shard as shards
from mathamr.graphs.flatgraph import SENTENCE_EDGE, FlatGraph, NodePart
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.shard import Shard
from mathamr.graphs.tensor import GraphTensor, tensor_of
from mathamr.graphs.virtual import flatten
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary, VocabularyCounts
from mathamr.posts.post import Post

if TYPE_CHECKING:
    import torch

    from mathamr.amr.parser import AmrParser
    from mathamr_lab.systems.mathamrplus.graph.trainer import GraphTrainer

KINDS = ("full", "words")
ARMS = {"full": "full", "words": "words", "bag": "full"}
"""Arms, and the graphs that each is made from."""
FORMS = ("asked", "renamed")
POSTS, PAIRS = "posts.jsonl.gz", "pairs.json"
SEEDS, CHUNK = 3, 24
NEXT = ":next"
SHAPE = (
    "batch_size=256", "learning_rate=2e-3", "warmup=0.05", "beta=0.7", "validation=0", "node_mask=0", "edge_drop=0", "epochs=4",
)  # fmt: skip
MARGIN, DRAWS = 0.01, 10_000
"""Two arms are equivalent if the 90 % interval of their difference, by so many draws, lies within the margin."""
COLUMNS = 256
"""Vectors of questions that are compared at a time."""


class WordParser:
    """Parse each sentence as the chain of its words."""

    name = fingerprint = "words"

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """Return the chains of sentences."""
        from mathamr.amr.builtin.words import cut

        return [word_chain(cut(sentence).words) for sentence in sentences]


def word_chain(words: Sequence[str]) -> Amr:
    """Return the words of a sentence, without marks, as a chain."""
    from mathamr.amr.builtin.mathematics import is_formula

    kept = [
        (place, word) for place, word in enumerate(words) if is_formula(word) or any(map(str.isalnum, word))
    ]
    shown = ((place, word if is_formula(word) else word.lower()) for place, word in kept)
    nodes = [(f"w{place}", word) for place, word in shown if is_atom(word)] or [("x", "amr-empty")]
    return Amr(nodes[0][0], tuple(nodes), tuple((one[0], NEXT, other[0]) for one, other in pairwise(nodes)))


def bag_of_labels(shard: Shard) -> Shard:
    """Return graphs without edges but those of virtual nodes, which constants get from their concepts."""
    node_starts, relation = shard.starts["nodes"], shard.relations.number(SENTENCE_EDGE)
    graph = np.repeat(np.arange(len(shard)), np.diff(shard.starts["edges"]))
    first = node_starts[graph]
    sources, targets, relations = (
        shard.columns[name].astype(np.int64) for name in ("sources", "targets", "relations")
    )
    parts = shard.columns["parts"]
    sentence_of = np.full(node_starts[-1], -1, np.int64)
    of_sentence = relations == relation
    sentence_of[(first + targets)[of_sentence]] = sources[of_sentence]
    constant = parts[first + targets] == NodePart.CONSTANT
    sentence = sentence_of[(first + sources)[constant]]
    kept = parts[first + sources] == NodePart.VIRTUAL
    known = sentence >= 0
    edges = {
        "graph": np.concatenate([graph[kept], graph[constant][known]]),
        "sources": np.concatenate([sources[kept], sentence[known]]),
        "targets": np.concatenate([targets[kept], targets[constant][known]]),
        "relations": np.concatenate([relations[kept], np.full(int(known.sum()), relation)]),
    }
    order = np.argsort(edges["graph"], kind="stable")
    columns = {**shard.columns, **{name: edges[name][order] for name in ("sources", "targets", "relations")}}
    counts = np.bincount(edges["graph"], minlength=len(shard))
    return replace(shard, columns=columns, starts={**shard.starts, "edges": np.append(0, np.cumsum(counts))})


def shard_of(folder: Path, arm: str) -> Shard:
    """Return the graphs of an arm; pairs of a post with itself, which only list the post, are left out."""
    if arm not in ARMS:
        raise UnknownNameError("arm", arm, list(ARMS))
    read = shards.load(folder / f"{ARMS[arm]}.npz")
    read = replace(read, pairs=tuple(pair for pair in read.pairs if pair[0] != pair[1]))
    return bag_of_labels(read) if arm == "bag" else read


def write_posts(folder: Path, count: int) -> None:
    """Write so many training pairs, drawn with a seed, the held-out questions in both forms, and their answers."""
    from mathamr.evaluation.topics import read_topics
    from mathamr.posts.reader import read_posts
    from mathamr.posts.report import Report
    from mathamr_lab.data import data_folder
    from mathamr_lab.studies.letters import renamed_topics
    from mathamr_lab.training.export import ids_in, listed

    data = data_folder() / "pairs"
    # What is written in Markdown needs a package that a machine for training may lack; these are 203 of 25,025 pairs.
    posts = {
        post.id: post for post in read_posts(data / "pairs.jsonl.gz", Report()) if post.markup != "markdown"
    }
    held = set(ids_in(data / "heldout-pairs.txt"))
    pairs = [
        (post.parent, post.id)
        for post in posts.values()
        if post.parent in posts and not listed(post.parent or "", held) and not listed(post.id, held)
    ]
    drawn = np.sort(np.random.default_rng(0).permutation(len(pairs))[:count])
    chosen = [pairs[place] for place in drawn]
    wanted = {name: posts[name] for pair in chosen for name in pair if name is not None}
    topics = data / "known-items.xml"
    for form, read in (("asked", read_topics(topics)), ("renamed", renamed_topics(topics))):
        for topic in read:
            answer = f"{topic.id.removesuffix('/question')}/answer"
            if topic.post.markup != "markdown" and answer in posts:
                name = f"known-pairs|{form}|{topic.id}"
                wanted |= {name: replace(topic.post, id=name, parent=None), answer: posts[answer]}
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / POSTS, "wt", encoding="utf-8") as file:
        file.writelines(post.to_json() + "\n" for post in wanted.values())
    (folder / PAIRS).write_text(json.dumps(chosen), encoding="utf-8")
    print(f"{len(wanted):,} posts, {len(chosen):,} pairs to train on")


def read_posts_of(folder: Path) -> tuple[list[Post], list[tuple[str, str]]]:
    """Read what `write_posts` wrote."""
    with gzip.open(folder / POSTS, "rt", encoding="utf-8") as file:
        posts = [Post.from_json(line) for line in file]
    return posts, [(str(a), str(b)) for a, b in json.loads((folder / PAIRS).read_text(encoding="utf-8"))]


def builtin_parser() -> AmrParser:
    """Load the built-in parser."""
    from mathamr.amr.parser import load_parser

    return load_parser("builtin")


_PARSER: list[AmrParser] = []
"""The parser of a worker process."""


def _load(make: Callable[[], AmrParser]) -> None:
    _PARSER[:] = [make()]


def _flatten(job: tuple[Path, Sequence[Post], frozenset[str]]) -> list[VocabularyCounts]:
    """Write the graphs of some posts, in all kinds; return the counts of those that are trained on."""
    path, posts, trained = job
    counts = [VocabularyCounts() for _ in KINDS]
    made: dict[str, list[FlatGraph]] = {}
    full, words = GraphMaker(_PARSER[0]).make(posts), GraphMaker(WordParser()).make(posts)
    for one, other in zip(full, words, strict=True):
        made[one.post.id] = [flatten(notation.write_and_read(one.graph)[1]), flatten(other.graph)]
        if one.post.id in trained:
            for count, flat in zip(counts, made[one.post.id], strict=True):
                count.count(flat)
    path.write_bytes(pickle.dumps(made))
    return counts


class _Tensors:
    """The tensors of one kind, as `shards.export` reads them."""

    def __init__(self, flats: Mapping[str, FlatGraph], counts: VocabularyCounts) -> None:
        self._flats = flats
        self._vocabularies = Vocabulary.build(counts), RelationVocabulary.build(counts)

    def tensor(self, configuration: str, post_id: str) -> GraphTensor:
        """Return the tensor of a post."""
        return tensor_of(post_id, self._flats[post_id], *self._vocabularies)

    def vocabularies(self) -> tuple[Vocabulary, RelationVocabulary]:
        """Return those of the training posts."""
        return self._vocabularies


def prepare(folder: Path, make: Callable[[], AmrParser] = builtin_parser, workers: int | None = None) -> None:
    """Write the graphs of all posts of a folder, a shard for each kind."""
    posts, pairs = read_posts_of(folder)
    trained = frozenset(name for pair in pairs for name in pair)
    # The longest first, so that no process ends long after the others.
    order = sorted(posts, key=lambda post: -len(post.body))
    chunks = [order[start : start + CHUNK] for start in range(0, len(order), CHUNK)]
    paths = [folder / f"chunk-{number}" for number in range(len(chunks))]
    totals = [VocabularyCounts() for _ in KINDS]
    jobs = [(path, chunk, trained) for path, chunk in zip(paths, chunks, strict=True)]
    with get_context("fork").Pool(workers or os.cpu_count(), _load, (make,)) as pool:
        for number, found in enumerate(pool.imap_unordered(_flatten, jobs)):
            for total, more in zip(totals, found, strict=True):
                total.add(more)
            if number % 100 == 0:
                print(f"{number} of {len(jobs)} chunks", flush=True)
    listed_pairs = [*pairs, *((post.id, post.id) for post in posts if post.id not in trained)]
    for place, (kind, counts) in enumerate(zip(KINDS, totals, strict=True)):
        flats = {
            name: each[place] for path in paths for name, each in pickle.loads(path.read_bytes()).items()
        }
        shards.export(_Tensors(flats, counts), "both-hierarchy-none", listed_pairs, folder / f"{kind}.npz")  # type: ignore[arg-type]
    for path in paths:
        path.unlink()


class HeldOut:
    """The held-out questions in both forms, and all answers; `numbers` are those of posts in a shard."""

    def __init__(self, shard: Shard) -> None:
        self.numbers = {name: number for number, name in enumerate(shard.ids)}
        self._counts = np.diff(shard.starts["reps"])
        self.answers = [name for name in shard.ids if name.endswith("/answer") and "|" not in name]
        asked = [name.split("|")[2] for name in shard.ids if name.startswith("known-pairs|asked|")]
        self.topics = sorted(topic for topic in asked if f"known-pairs|renamed|{topic}" in self.numbers)
        questions = (f"known-pairs|{form}|{topic}" for form in FORMS for topic in self.topics)
        self.posts = (*self.answers, *questions)
        """Answers first, then questions, form by form."""

    def reciprocal_ranks(self, rows: torch.Tensor) -> AnyArray:
        """Return reciprocal ranks (forms, questions) of the own answers, from the vectors of `posts`."""
        place = {name: number for number, name in enumerate(self.answers)}
        right = [place[f"{topic.removesuffix('/question')}/answer"] for topic in self.topics] * len(FORMS)
        counts, many = self._counts[[self.numbers[post] for post in self.posts]], len(self.answers)
        first = int(counts[:many].sum())
        found = reciprocal_ranks(rows[:first], counts[:many], rows[first:], counts[many:], right)
        return found.reshape(len(FORMS), -1)


def reciprocal_ranks(
    table: torch.Tensor, counts: AnyArray, queries: torch.Tensor, sizes: AnyArray, right: Sequence[int]
) -> AnyArray:
    """Return reciprocal ranks of one answer of each question among all by MaxSim, 0 beyond the tenth place.

    The answers have `counts` rows of the table each, the questions `sizes` rows of the queries.
    """
    import torch

    from mathamr.systems.layers.stack import packed

    lengths, parts = torch.from_numpy(counts).to(table.device), torch.from_numpy(sizes).to(table.device)
    target = torch.tensor(right, device=table.device)
    ends = np.cumsum(sizes)
    ranks = []
    for part in packed(enumerate(sizes.tolist()), COLUMNS):
        first, last = part[0], part[-1] + 1
        similar = table @ queries[ends[first] - sizes[first] : ends[last - 1]].T
        best = torch.segment_reduce(similar, "max", lengths=lengths, axis=0).T.contiguous()
        scores = torch.segment_reduce(best, "mean", lengths=parts[first:last], axis=0)
        ranks.append((scores > scores.gather(1, target[first:last, None])).sum(1) + 1)
    rank = torch.cat(ranks).cpu().numpy()
    return np.where(rank <= 10, 1 / rank, 0.0)


def train_arm(folder: Path, arm: str, seeds: Sequence[int], changes: tuple[str, ...]) -> None:
    """Train an arm with some seeds, and write the reciprocal ranks of each, with its losses and those of a random network."""
    import torch

    from mathamr_lab.systems.mathamrplus.graph.configuration import configured
    from mathamr_lab.systems.mathamrplus.graph.materials import GraphMaterials
    from mathamr_lab.systems.mathamrplus.graph.trainer import GraphTrainer

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    materials = GraphMaterials(shard_of(folder, arm))
    held = HeldOut(materials.shard)
    numbers = np.array([held.numbers[name] for name in held.posts])

    def make(seed: int) -> GraphTrainer:
        model, training = configured("thesis", (*SHAPE, f"seed={seed}", *changes))
        return GraphTrainer(materials, model, training, device)

    first = make(seeds[0])
    # All seeds see the same steps, each in an order of its own: making them takes longer than learning them.
    steps = [first.step(batch, 0) for batch in first.plan(0)]
    plain = [part.to(device) for part in first.pairs.plain(numbers)]
    for seed in seeds:
        trainer, order = make(seed), np.random.default_rng([seed, 5])
        before = held.reciprocal_ranks(trainer.learner.encoded(plain).float())
        losses = []
        for epoch in range(trainer.epochs):
            places = order.permutation(len(steps))
            losses += [trainer.learn(steps[each], epoch * len(steps) + at) for at, each in enumerate(places)]
        ranks = held.reciprocal_ranks(trainer.learner.encoded(plain).float())
        found = [float(loss) for loss in (losses[0], losses[-1])]
        print(
            f"{arm} seed {seed}: {len(losses)} steps, loss {found[0]:.3f} to {found[1]:.3f}, MRR@10 untrained"
            f" {before.mean(1).round(4)}, trained {ranks.mean(1).round(4)}",
            flush=True,
        )
        np.savez_compressed(
            folder / f"ranks-{arm}-{seed}.npz", ranks=ranks, untrained=before, losses=found, steps=len(losses)
        )


def compare(one: AnyArray, other: AnyArray) -> tuple[float, tuple[float, float], tuple[float, float], float]:
    """Return the difference of means (seeds, questions), its 95 % and 90 % intervals, and p, by the bootstrap over both."""
    generator = np.random.default_rng(0)
    differences = np.empty(DRAWS)
    for draw in range(DRAWS):
        questions = generator.integers(one.shape[1], size=one.shape[1])
        ours, theirs = (generator.integers(len(each), size=len(each)) for each in (one, other))
        differences[draw] = one.mean(0)[questions].mean() - other.mean(0)[questions].mean()
        differences[draw] += (one[ours].mean() - one.mean()) - (other[theirs].mean() - other.mean())
    p = min(1.0, 2 * min((differences <= 0).mean(), (differences >= 0).mean()) + 1 / DRAWS)
    wide, narrow = (tuple(np.percentile(differences, [edge, 100 - edge]).tolist()) for edge in (2.5, 5))
    return float(one.mean() - other.mean()), wide, narrow, p


def correct_by_holm(values: list[float]) -> list[float]:
    """Return p after Holm's correction.

    >>> correct_by_holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found = [0.0] * len(values)
    least = 0.0
    for place, number in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - place) * values[number]))
        found[number] = least
    return found


def table(folder: Path) -> Iterator[list[str]]:
    """Yield the rows of the table: MRR@10 of each arm, and its differences from the full graph."""
    files = {arm: sorted(folder.glob(f"ranks-{arm}-?.npz")) for arm in ARMS}
    found = {arm: [np.load(path) for path in paths] for arm, paths in files.items() if paths}
    if "full" not in found:
        raise MathAMRError(f"{folder} has no ranks-full-0.npz: train the arm 'full' first")
    ranks = {arm: np.stack([each["ranks"] for each in own]) for arm, own in found.items()}
    keys = [(arm, form) for arm in ranks if arm != "full" for form in range(len(FORMS))]
    tests = {key: compare(ranks[key[0]][:, key[1]], ranks["full"][:, key[1]]) for key in keys}
    corrected = dict(zip(keys, correct_by_holm([tests[key][3] for key in keys]), strict=True))
    heads = [cell for form in FORMS for cell in (form, "untrained", "difference", "95 %", "p", "equivalent")]
    yield ["", "seeds", "steps", "loss", *heads]
    for arm, own in found.items():
        first, last = np.mean([each["losses"] for each in own], axis=0)
        cells = [arm, str(len(own)), str(int(own[0]["steps"])), f"{first:.2f} to {last:.2f}"]
        for form in range(len(FORMS)):
            means = ranks[arm][:, form].mean(1)
            untrained = np.mean([each["untrained"][form] for each in own])
            cells += [
                f"{means.mean():.3f} ± {means.std(ddof=1) if len(own) > 1 else 0:.3f}",
                f"{untrained:.3f}",
            ]
            if (arm, form) not in tests:
                cells += [""] * 4
                continue
            difference, (low, high), (least, most), _ = tests[arm, form]
            same = "yes" if least > -MARGIN and most < MARGIN else "no"
            cells += [
                f"{difference:+.3f}", f"{low:+.3f} to {high:+.3f}", f"{corrected[arm, form]:.3f}", same,
            ]  # fmt: skip
        yield cells


def run() -> None:
    """Print the table."""
    from mathamr.evaluation.table import aligned
    from mathamr_lab.data import environment

    print(aligned(list(table(Path(environment("MATHAMR_STRUCTURE"))))))


def main(arguments: Iterable[str] | None = None) -> None:
    """Write posts, prepare their graphs, or train arms."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("posts", "prepare", "train"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("arms", nargs="*", metavar="ARM", help=", ".join(ARMS))
    parser.add_argument("--pairs", type=int, default=10_000, help="training pairs")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(SEEDS)))
    parser.add_argument("--set", action="append", default=[], dest="changes", metavar="NAME=VALUE")
    given: Any = parser.parse_args(None if arguments is None else list(arguments))
    if given.what == "posts":
        write_posts(given.folder, given.pairs)
    elif given.what == "prepare":
        prepare(given.folder)
    for arm in given.arms:
        train_arm(given.folder, arm, given.seeds, tuple(given.changes))


if __name__ == "__main__":
    main()
