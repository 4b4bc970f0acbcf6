"""Does the structure of a graph help? Networks that read graphs whose structure was taken away, and graphs beside a frozen text encoder.

    python -m mathamr_lab.studies.structure prepare FOLDER             # graphs of all pairs; MATHAMR_DATA
    python -m mathamr_lab.studies.structure text FOLDER                # vectors of the frozen text encoder
    python -m mathamr_lab.studies.structure train FOLDER ARM           # five seeds of an arm, on a GPU
    MATHAMR_STRUCTURE=FOLDER python -m mathamr_lab.studies structure   # the tables

Every network has the thesis's shape and learns from all training pairs; the 1,283 held-out questions of the pairs, as asked and in other
letters, look for their answers among all 25,025. Intervals resample seeds and questions together; p is corrected by Holm's method.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import read_topics
from mathamr.graphs.shard import Shard
from mathamr.systems.layers.stack import packed
from mathamr_lab.data import data_folder
from mathamr_lab.studies.structurearms import ARMS, FULL, arranged, shard_of
from mathamr_lab.studies.structuregraphs import prepare, read_pieces
from mathamr_lab.studies.structurenetwork import SequenceBatch, SequenceNetwork
from mathamr_lab.systems.mathamrplus.graph.configuration import configured
from mathamr_lab.systems.mathamrplus.graph.materials import GraphMaterials
from mathamr_lab.systems.mathamrplus.graph.trainer import GraphTrainer
from mathamr_lab.training.learner import ContrastiveStep

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SEEDS = 5
FORMS = ("asked", "renamed")
SHAPE = (
    "batch_size=256",
    "learning_rate=2e-3",
    "warmup=0.05",
    "beta=0.7",
    "validation=0",
    "node_mask=0",
    "edge_drop=0",
)
MARGIN = 0.01
"""Two arms are equivalent if the 90 % interval of their difference lies within this."""
DRAWS = 10_000
JOINED = {
    "text 256": "",
    "text 192 + graph 64": FULL,
    "text 192 + bag 64": "bag",
    "text 192 + rewired 64": "rewired-100",
    "text 192 + roles 64": "roles",
}
"""The arms of the second experiment, and the graphs beside the text."""
COLUMNS = 256
"""Vectors of questions that are compared at a time."""
SOURCES = ("stacks-project", "math")
TITLES = {
    "E1": "graphs alone; differences from the full graph",
    "E2": "graphs beside a frozen text encoder; differences from the text alone",
}
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)


class Arm:
    """The graphs of an arm, and the steps made of them: all seeds see the same steps, each in an order of its own."""

    def __init__(self, folder: Path, name: str, *changes: str) -> None:
        self.name, self.changes = name, changes
        self.materials = GraphMaterials(arranged(shard_of(folder, name), name, 0))
        self.bed = Bed(self.materials.shard)
        self._steps: list[ContrastiveStep[Any]] = []
        self._plain: dict[tuple[str, ...], list[Any]] = {}

    def trainer(self, seed: int) -> GraphTrainer:
        """A network before its training."""
        model, training = configured("thesis", (*SHAPE, f"seed={seed}", *self.changes))
        shard, network = self.materials.shard, None
        if self.name == "transformer":
            torch.manual_seed(seed)
            network = SequenceNetwork(model, len(shard.vocabulary), len(shard.relations))
        trainer = GraphTrainer(self.materials, model, training, DEVICE, network=network)  # type: ignore[arg-type]
        if network is not None:
            trainer.pairs.made = SequenceBatch.of
        return trainer

    def fitted(self, seed: int) -> GraphTrainer:
        """Trains a network."""
        trainer = self.trainer(seed)
        if not self._steps:
            first = self.trainer(0)
            self._steps = [first.step(batch, 0) for batch in first.plan(0)]
        order = np.random.default_rng([seed, 5])
        for epoch in range(trainer.epochs):
            loss = torch.zeros((), device=DEVICE)
            for place, number in enumerate(order.permutation(len(self._steps))):
                loss += trainer.learn(self._steps[number], epoch * len(self._steps) + place)
        print(f"{self.name} seed {seed}: loss {float(loss) / len(self._steps):.4f}", flush=True)
        return trainer

    def rows(self, trainer: GraphTrainer, posts: tuple[str, ...]) -> torch.Tensor:
        """The vectors of posts by a trained network, post by post."""
        if posts not in self._plain:
            numbers = np.array([self.bed.numbers[name] for name in posts])
            self._plain[posts] = [part.to(DEVICE) for part in trainer.pairs.plain(numbers)]
        return trainer.learner.encoded(self._plain[posts]).float()


class Bed:
    """The held-out questions of the pairs in both forms, and all answers; `numbers` are those of posts in a shard."""

    def __init__(self, shard: Shard) -> None:
        self.numbers = {name: number for number, name in enumerate(shard.ids)}
        self._counts = np.diff(shard.starts["reps"])
        self.answers = [name for name in shard.ids if name.endswith("/answer") and "|" not in name]
        asked = [name.split("|")[2] for name in shard.ids if name.startswith("known-pairs|asked|")]
        self.topics = sorted(topic for topic in asked if f"known-pairs|renamed|{topic}" in self.numbers)
        questions = (f"known-pairs|{form}|{topic}" for form in FORMS for topic in self.topics)
        self.posts = (*self.answers, *questions)
        """Answers first, then questions, form by form."""

    def counts(self, posts: Sequence[str]) -> AnyArray:
        """How many vectors posts have."""
        found: AnyArray = self._counts[[self.numbers[post] for post in posts]]
        return found

    def reciprocal_ranks(self, rows: torch.Tensor) -> AnyArray:
        """Reciprocal ranks (forms, questions) of the own answers, from the vectors of `posts`."""
        place = {name: number for number, name in enumerate(self.answers)}
        right = [place[f"{topic.removesuffix('/question')}/answer"] for topic in self.topics] * len(FORMS)
        counts, many = self.counts(self.posts), len(self.answers)
        first = int(counts[:many].sum())
        found = reciprocal_ranks(rows[:first], counts[:many], rows[first:], counts[many:], right)
        return found.reshape(len(FORMS), -1)


def reciprocal_ranks(
    table: torch.Tensor, counts: AnyArray, queries: torch.Tensor, sizes: AnyArray, right: Sequence[int]
) -> AnyArray:
    """Reciprocal ranks of one answer of each question among all by MaxSim, 0 beyond the tenth place.

    The answers have `counts` rows of the table each, the questions `sizes` rows of the queries.
    """
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


def train_arm(folder: Path, name: str, seeds: Sequence[int], changes: tuple[str, ...]) -> None:
    """Trains an arm of the first experiment with some seeds, and writes the reciprocal ranks of each."""
    arm = Arm(folder, name, *changes)
    for seed in seeds:
        trainer = arm.fitted(seed)
        ranks = arm.bed.reciprocal_ranks(arm.rows(trainer, arm.bed.posts))
        means = ", ".join(f"{form} {value:.4f}" for form, value in zip(FORMS, ranks.mean(1), strict=True))
        print(f"{name} seed {seed}: MRR@10 {means}", flush=True)
        parameters = sum(each.numel() for each in trainer.network.parameters())
        np.savez_compressed(folder / f"E1-{name}-{seed}.npz", ranks=ranks, parameters=parameters)


class Joined:
    """Rows of the frozen text encoder's principal components, with a graph network's beside them, post by post."""

    def __init__(self, text: TextRows, size: int, bed: Bed, posts: tuple[str, ...]) -> None:
        self.counts = bed.counts(posts)
        ends = np.cumsum(self.counts)
        self.bed, self.posts = bed, {post: number for number, post in enumerate(posts)}
        self._first = ends - self.counts
        bounds = [text.bounds[post] for post in posts]
        own = np.concatenate([np.arange(*bound) for bound in bounds])
        shift = np.repeat(self._first, [last - first for first, last in bounds])
        places = torch.from_numpy(text.of[own] + shift).to(DEVICE)
        self._text = torch.zeros(int(ends[-1]), size, device=DEVICE)
        self._text[places] = text.components(size)[torch.from_numpy(own).to(DEVICE)]
        self._has_text = torch.zeros(len(self._text), 1, device=DEVICE)
        self._has_text[places] = 1
        self.graph: torch.Tensor | None = None

    def rows(self, share: float) -> torch.Tensor:
        """The rows of all posts; the text has this share of a cosine where there is text."""
        text = self._text * share**0.5
        return (
            text
            if self.graph is None
            else torch.cat([text, self.graph * (1 - share * self._has_text).sqrt()], 1)
        )

    def worth(self, share: float, pairs: list[tuple[str, str]]) -> float:
        """MRR@10 of pairs among their answers and a tenth of all others."""
        answers = list(dict.fromkeys([*(answer for _, answer in pairs), *self.bed.answers[::10]]))
        place = {answer: number for number, answer in enumerate(answers)}
        rows, right = self.rows(share), [place[answer] for _, answer in pairs]
        table, counts = self._chosen(rows, answers)
        return float(
            reciprocal_ranks(table, counts, *self._chosen(rows, [q for q, _ in pairs]), right).mean()
        )

    def _chosen(self, rows: torch.Tensor, posts: list[str]) -> tuple[torch.Tensor, AnyArray]:
        numbers = [self.posts[post] for post in posts]
        places = [self._first[number] + np.arange(self.counts[number]) for number in numbers]
        return rows[torch.from_numpy(np.concatenate(places)).to(DEVICE)], self.counts[numbers]


class TextRows:
    """What `encode_texts` wrote: `bounds` of the rows of each post, and `of`, the numbers of their representatives."""

    def __init__(self, folder: Path) -> None:
        with np.load(folder / "text.npz") as file:
            ids, starts, self.of = file["ids"].tolist(), file["starts"].tolist(), file["of"].astype(np.int64)
            self._states = torch.from_numpy(file["vectors"].astype(np.float32)).to(DEVICE)
        self.bounds = dict(zip(ids, pairwise(starts), strict=True))

    def components(self, size: int) -> torch.Tensor:
        """Unit vectors of the first principal components of all rows."""
        some = self._states[:: max(1, len(self._states) // 100_000)].double()
        _, directions = torch.linalg.eigh(some.T @ some)
        return functional.normalize(self._states @ directions.flip(1)[:, :size].float(), dim=-1)


def train_joined(folder: Path, name: str, seeds: Sequence[int], changes: tuple[str, ...]) -> None:
    """Trains an arm of the second experiment; the text's share is chosen on validation pairs. Text alone has one seed."""
    beside = JOINED[name]
    arm = Arm(folder, beside or FULL, "projection=64", "validation=0.05", *changes)
    bed, ids, text = arm.bed, arm.materials.shard.ids, TextRows(folder)
    validation = [(ids[q], ids[a]) for q, a in arm.trainer(0).pairs.validation.tolist()] if beside else []
    held = [pair for pair in validation if all(post in text.bounds for post in pair)]
    posts = tuple(dict.fromkeys([*bed.posts, *(post for pair in held for post in pair)]))
    joined = Joined(text, 192 if beside else 256, bed, posts)
    many = int(bed.counts(bed.posts).sum())
    for seed in seeds if beside else (0,):
        share = 1.0
        if beside:
            joined.graph = arm.rows(arm.fitted(seed), posts)
            worths = {tried: joined.worth(tried, held) for tried in SHARES}
            share = max(worths, key=worths.__getitem__)
        ranks = bed.reciprocal_ranks(joined.rows(share)[:many])
        print(f"{name} seed {seed}: share of the text {share}, MRR@10 {ranks.mean(1)}", flush=True)
        np.savez_compressed(folder / f"E2-{name}-{seed}.npz", ranks=ranks, share=share)


def encode_texts(folder: Path) -> None:
    """Writes the frozen text encoder's vectors of all answers, held-out questions and training questions of the pairs: means of its states."""
    from mathamr.systems.baseencoder import load_base_encoder
    from mathamr_lab.systems.mathamrplus.joining import without_head

    encoder = without_head(load_base_encoder("mathamr-2", str(DEVICE)))
    with np.load(folder / "pieces.npz") as file:
        ids = [name for name in file["ids"].tolist() if "/" in name or "|" in name]
    rows = encoder.encode_pieces(list(read_pieces(folder / "pieces.npz", ids)), 1 << 16)
    starts = np.concatenate([[0], np.cumsum([len(row.of) for row in rows])])
    np.savez(
        folder / "text.npz",
        ids=np.array(ids),
        starts=starts,
        of=np.concatenate([row.of for row in rows]),
        vectors=np.concatenate([row.vectors for row in rows]).astype(np.float16),
    )


def compared(one: AnyArray, other: AnyArray) -> tuple[float, tuple[float, float], tuple[float, float], float]:
    """Difference of means (seeds, questions), its 95 % and 90 % intervals, and p, by the bootstrap over seeds and questions."""
    chance = np.random.default_rng(0)
    differences = np.empty(DRAWS)
    for draw in range(DRAWS):
        questions = chance.integers(one.shape[1], size=one.shape[1])
        ours, theirs = (chance.integers(len(each), size=len(each)) for each in (one, other))
        differences[draw] = one.mean(0)[questions].mean() - other.mean(0)[questions].mean()
        differences[draw] += (one[ours].mean() - one.mean()) - (other[theirs].mean() - other.mean())
    p = min(1.0, 2 * min((differences <= 0).mean(), (differences >= 0).mean()) + 1 / DRAWS)
    wide, narrow = (tuple(np.percentile(differences, [edge, 100 - edge]).tolist()) for edge in (2.5, 5))
    return float(one.mean() - other.mean()), wide, narrow, p


def holm(values: list[float]) -> list[float]:
    """Holm's correction of p.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found = [0.0] * len(values)
    least = 0.0
    for place, number in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - place) * values[number]))
        found[number] = least
    return found


def _ranks(folder: Path, prefix: str, names: list[str]) -> dict[str, AnyArray]:
    """Reciprocal ranks (seeds, forms, questions) by arm."""
    files = {name: sorted(folder.glob(f"{prefix}-{name}-?.npz")) for name in names}
    ranks = {
        name: np.stack([np.load(path)["ranks"] for path in paths]) for name, paths in files.items() if paths
    }
    if names[0] not in ranks:
        raise MathAMRError(f"{folder} has no {prefix}-{names[0]}-0.npz: train the arm {names[0]!r} first")
    return ranks


def _by_source(ranks: dict[str, AnyArray]) -> Iterator[list[str]]:
    """MRR@10 of the questions of each source, as asked and in other letters; the small sources are one."""
    topics = sorted(topic.id for topic in read_topics(data_folder() / "pairs" / "known-items.xml"))
    sources = np.array([topic.split(":")[0] if topic.startswith(SOURCES) else "others" for topic in topics])
    yield ["", *(f"{source} ({(sources == source).sum()})" for source in (*SOURCES, "others"))]
    for name, found in ranks.items():
        own = (found[:, :, sources == source].mean((0, 2)) for source in (*SOURCES, "others"))
        yield [name, *(" / ".join(f"{value:.3f}" for value in values) for values in own)]


Tests = dict[tuple[str, int], tuple[float, tuple[float, float], tuple[float, float], float]]


def _tests(ranks: dict[str, AnyArray]) -> Tests:
    """Comparisons of arms with the first one, by arm and form."""
    first = next(iter(ranks.values()))
    others = [(name, form) for name in list(ranks)[1:] for form in range(len(FORMS))]
    return {key: compared(ranks[key[0]][:, key[1]], first[:, key[1]]) for key in others}


def _table(
    ranks: dict[str, AnyArray], tests: Tests, corrected: dict[tuple[str, int], float]
) -> Iterator[list[str]]:
    """MRR@10 of each arm, and its differences from the first one."""
    yield ["", "seeds", *(cell for form in FORMS for cell in (form, "difference", "95 %", "p", "equivalent"))]
    for name, found in ranks.items():
        cells = [name, str(len(found))]
        for form in range(len(FORMS)):
            cells.append(
                f"{found[:, form].mean():.3f} ± {found[:, form].mean(1).std(ddof=1) if len(found) > 1 else 0:.3f}"
            )
            if (name, form) in tests:
                difference, (low, high), (least, most), _ = tests[name, form]
                same = least > -MARGIN and most < MARGIN
                cells += [
                    f"{difference:+.3f}",
                    f"{low:+.3f} to {high:+.3f}",
                    f"{corrected[name, form]:.3f}",
                    "yes" if same else "no",
                ]
            else:
                cells += [""] * 4
        yield cells


def run() -> None:
    """Prints the tables of both experiments."""
    folder = Path(os.environ.get("MATHAMR_STRUCTURE", ""))
    if not os.environ.get("MATHAMR_STRUCTURE"):
        raise MathAMRError("MATHAMR_STRUCTURE must name the folder with the results of the arms")
    ranks = {"E1": _ranks(folder, "E1", list(ARMS))}
    if any(folder.glob("E2-*.npz")):
        ranks["E2"] = _ranks(folder, "E2", list(JOINED))
    tests = {prefix: _tests(own) for prefix, own in ranks.items()}
    keys = [(prefix, key) for prefix, own in tests.items() for key in own]
    corrected = dict(zip(keys, holm([tests[prefix][key][3] for prefix, key in keys]), strict=True))
    for prefix, own in ranks.items():
        print(f"{prefix}: {TITLES[prefix]}")
        print(
            aligned(list(_table(own, tests[prefix], {key: corrected[prefix, key] for key in tests[prefix]})))
        )
        print(aligned(list(_by_source(own))))


def main(arguments: list[str] | None = None) -> None:
    """Prepares the graphs, or trains an arm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("prepare", "text", "train"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("arms", nargs="*", help=f"{', '.join(ARMS)}; {', '.join(JOINED)}")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(SEEDS)))
    parser.add_argument("--set", action="append", default=["epochs=4"], dest="changes")
    given = parser.parse_args(arguments)
    if given.what == "prepare":
        prepare(given.folder)
    if given.what == "text":
        encode_texts(given.folder)
    for arm in given.arms:
        learn = train_joined if arm in JOINED else train_arm
        learn(given.folder, arm, given.seeds, tuple(given.changes))


if __name__ == "__main__":
    main()
