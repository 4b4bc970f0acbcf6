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
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.table import aligned
from mathamr.graphs.shard import Shard
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
}
"""The arms of the second experiment, and the graphs beside the text."""
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

    def vectors(self, trainer: GraphTrainer, posts: list[str]) -> dict[str, torch.Tensor]:
        """The vectors of posts by a trained network."""
        numbers = np.array([self.bed.numbers[name] for name in posts])
        parts = self._plain.setdefault(
            tuple(posts), [part.to(DEVICE) for part in trainer.pairs.plain(numbers)]
        )
        rows = trainer.learner.encoded(parts).float()
        return dict(zip(posts, torch.split(rows, self.bed.counts[numbers].tolist()), strict=True))


class Bed:
    """The held-out questions of the pairs in both forms, and all answers; `numbers` are those of posts in a shard."""

    def __init__(self, shard: Shard) -> None:
        self.numbers = {name: number for number, name in enumerate(shard.ids)}
        self.counts = np.diff(shard.starts["reps"])
        self.answers = [name for name in shard.ids if name.endswith("/answer") and "|" not in name]
        asked = [name.split("|")[2] for name in shard.ids if name.startswith("known-pairs|asked|")]
        self.topics = sorted(topic for topic in asked if f"known-pairs|renamed|{topic}" in self.numbers)

    def posts(self) -> list[str]:
        """Answers first, then questions, form by form."""
        return [*self.answers, *(f"known-pairs|{form}|{topic}" for form in FORMS for topic in self.topics)]

    def reciprocal_ranks(self, vectors: dict[str, torch.Tensor]) -> AnyArray:
        """Reciprocal ranks (forms, questions) of the own answers by MaxSim, 0 beyond the tenth place."""
        table, own = _table_of([vectors[name] for name in self.answers])
        place = {name: number for number, name in enumerate(self.answers)}
        found = np.zeros((len(FORMS), len(self.topics)))
        for number, form in enumerate(FORMS):
            for column, topic in enumerate(self.topics):
                right = place[f"{topic.removesuffix('/question')}/answer"]
                query = vectors[f"known-pairs|{form}|{topic}"]
                found[number, column] = reciprocal_rank(query, table, own, right)
        return found


def _table_of(vectors: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """All vectors, and whose each is."""
    table = torch.cat(vectors)
    counts = torch.tensor([len(each) for each in vectors], device=table.device)
    return table, torch.repeat_interleave(torch.arange(len(vectors), device=table.device), counts)


def reciprocal_rank(query: torch.Tensor, table: torch.Tensor, own: torch.Tensor, right: int) -> float:
    """The reciprocal rank of one answer among all by MaxSim, 0 beyond the tenth place."""
    best = torch.full((int(own[-1]) + 1, len(query)), -2.0, device=table.device)
    scores = best.index_reduce_(0, own, table @ query.T, "amax").mean(1)
    rank = 1 + int((scores > scores[right]).sum())
    return 1 / rank if rank <= 10 else 0.0


def train_arm(folder: Path, name: str, seeds: int, changes: tuple[str, ...]) -> None:
    """Trains an arm of the first experiment with some seeds, and writes the reciprocal ranks as they come."""
    arm = Arm(folder, name, *changes)
    found = []
    for seed in range(seeds):
        trainer = arm.fitted(seed)
        found.append(arm.bed.reciprocal_ranks(arm.vectors(trainer, arm.bed.posts())))
        means = ", ".join(f"{form} {value:.4f}" for form, value in zip(FORMS, found[-1].mean(1), strict=True))
        print(f"{name} seed {seed}: MRR@10 {means}", flush=True)
        parameters = sum(each.numel() for each in trainer.network.parameters())
        np.savez_compressed(folder / f"E1-{name}.npz", ranks=np.stack(found), parameters=parameters)


class Joined:
    """Vectors of the frozen text encoder's principal components, with a graph network's beside them."""

    def __init__(self, folder: Path, size: int, bed: Bed) -> None:
        with np.load(folder / "text.npz") as file:
            ids, starts, self.of = file["ids"].tolist(), file["starts"].tolist(), file["of"].astype(np.int64)
            states = torch.from_numpy(file["vectors"].astype(np.float32)).to(DEVICE)
        some = states[:: max(1, len(states) // 100_000)].double()
        _, directions = torch.linalg.eigh(some.T @ some)
        self.text = functional.normalize(states @ directions.flip(1)[:, :size].float(), dim=-1)
        self.bounds = dict(zip(ids, pairwise(starts), strict=True))
        self.bed = bed
        self.graph: dict[str, torch.Tensor] = {}

    def vectors(self, post: str, share: float) -> torch.Tensor:
        """The vectors of a post; the text has this share of a cosine where there is text."""
        first, last = self.bounds[post]
        places = torch.from_numpy(self.of[first:last]).to(DEVICE)
        weight = torch.zeros(int(self.bed.counts[self.bed.numbers[post]]), 1, device=DEVICE)
        weight[places] = share
        text = torch.zeros(len(weight), self.text.shape[1], device=DEVICE)
        text[places] = self.text[first:last] * share**0.5
        return torch.cat([text, self.graph[post] * (1 - weight).sqrt()], 1) if self.graph else text

    def worth(self, share: float, pairs: list[tuple[str, str]]) -> float:
        """MRR@10 of pairs among their answers and a tenth of all others."""
        answers = list(dict.fromkeys([*(answer for _, answer in pairs), *self.bed.answers[::10]]))
        place = {answer: number for number, answer in enumerate(answers)}
        table, own = _table_of([self.vectors(answer, share) for answer in answers])
        return fmean(
            reciprocal_rank(self.vectors(question, share), table, own, place[answer])
            for question, answer in pairs
        )


def train_joined(folder: Path, name: str, seeds: int, changes: tuple[str, ...]) -> None:
    """Trains an arm of the second experiment; the text's share is chosen on validation pairs."""
    beside = JOINED[name]
    arm = Arm(folder, beside or FULL, "projection=64", "validation=0.05", *changes)
    bed, ids = arm.bed, arm.materials.shard.ids
    joined = Joined(folder, 192 if beside else 256, bed)
    found, shares = [], []
    for seed in range(seeds if beside else 1):
        share = 1.0
        if beside:
            trainer = arm.fitted(seed)
            named = [(ids[q], ids[a]) for q, a in arm.trainer(0).pairs.validation.tolist()]
            held = [pair for pair in named if all(post in joined.bounds for post in pair)]
            posts = list(dict.fromkeys([*bed.posts(), *(post for pair in held for post in pair)]))
            joined.graph = arm.vectors(trainer, posts)
            worths = {tried: joined.worth(tried, held) for tried in SHARES}
            share = max(worths, key=worths.__getitem__)
        shares.append(share)
        found.append(bed.reciprocal_ranks({post: joined.vectors(post, share) for post in bed.posts()}))
        print(f"{name} seed {seed}: share of the text {share}, MRR@10 {found[-1].mean(1)}", flush=True)
        np.savez_compressed(folder / f"E2-{name}.npz", ranks=np.stack(found), shares=shares)


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


def _table(folder: Path, prefix: str, names: list[str]) -> Iterator[list[str]]:
    ranks = {
        name: np.load(folder / f"{prefix}-{name}.npz")["ranks"]
        for name in names
        if (folder / f"{prefix}-{name}.npz").exists()
    }
    if names[0] not in ranks:
        raise MathAMRError(f"{folder} has no {prefix}-{names[0]}.npz: train the arm {names[0]!r} first")
    first = ranks[names[0]]
    others = [(name, form) for name in list(ranks)[1:] for form in range(len(FORMS))]
    tests = {key: compared(ranks[key[0]][:, key[1]], first[:, key[1]]) for key in others}
    corrected = dict(zip(others, holm([tests[key][3] for key in others]), strict=True))
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
    print("E1: graphs alone; differences from the full graph")
    print(aligned(list(_table(folder, "E1", list(ARMS)))))
    if any(folder.glob("E2-*.npz")):
        print("E2: graphs beside a frozen text encoder; differences from the text alone")
        print(aligned(list(_table(folder, "E2", list(JOINED)))))


def main(arguments: list[str] | None = None) -> None:
    """Prepares the graphs, or trains an arm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("prepare", "text", "train"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("arms", nargs="*", help=f"{', '.join(ARMS)}; {', '.join(JOINED)}")
    parser.add_argument("--seeds", type=int, default=SEEDS)
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
