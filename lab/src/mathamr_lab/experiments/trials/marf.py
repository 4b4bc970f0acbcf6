"""The trial of MaRF: its parts trained with several seeds, ranked alone and fused (Wang, Zheng and Kani, Tables 1 to 5)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import tensor_bytes
from mathamr.evaluation.qrels import Qrels
from mathamr.systems.baseencoder import load_base_encoder
from mathamr.systems.marf.configuration import MarfConfiguration
from mathamr.systems.marf.inference import context_vectors, formula_vectors, fused_vectors
from mathamr.systems.marf.model import MarfVocabularies
from mathamr.systems.marf.network import FormulaEncoder, MarfNetwork
from mathamr.text.wordpieces import WordPieces
from mathamr_lab.experiments.trials.scorefiles import JUDGED, KNOWN, judgments, keep_run, say
from mathamr_lab.systems.marf.configuration import MarfTraining, PartTraining
from mathamr_lab.systems.marf.freshnetwork import fresh_network
from mathamr_lab.systems.marf.postshard import PostShard
from mathamr_lab.systems.marf.trainers import (
    ContextTrainer,
    FormulaTrainer,
    FusionTrainer,
    WordTrainer,
)
from mathamr_lab.training.plain import fit

RUNS = ("context", "marf-token-several")
"""Rankings whose results are stored, not only their measures."""
_BLOCK = 1 << 20
"""The number of rows in a block of representations."""


@dataclass(frozen=True, slots=True, eq=False)
class SearchTask:
    """Topics, the searched entries, judgments, and the measures."""

    name: str
    topics: PostShard
    candidates: PostShard
    qrels: Qrels
    measures: tuple[str, ...]

    @property
    def asked(self) -> list[int]:
        """The topics with judgments."""
        return [place for place, topic in enumerate(self.topics.ids) if topic in self.qrels.grades]


def tasks(folder: Path) -> list[SearchTask]:
    """Returns the search tasks of a prepared folder: judged answers, known items, judged formulas."""
    found = []
    searched: dict[str, PostShard] = {}
    for name, candidates, chosen in (
        ("task1", "answers", JUDGED),
        ("known-items", "answers", KNOWN),
        ("task2", "visual", JUDGED),
    ):
        topics = folder / f"topics-{name}.npz"
        if topics.exists():
            if candidates not in searched:
                searched[candidates] = PostShard.load(folder / f"{candidates}.npz")
            qrels = judgments(folder / "qrels", name)
            found.append(SearchTask(name, PostShard.load(topics), searched[candidates], qrels, chosen))
    return found


def by_candidates(all_tasks: Sequence[SearchTask]) -> list[tuple[PostShard, list[SearchTask]]]:
    """Groups tasks that search the same entries, so that these are encoded once."""
    groups: dict[int, tuple[PostShard, list[SearchTask]]] = {}
    for task in all_tasks:
        groups.setdefault(id(task.candidates), (task.candidates, []))[1].append(task)
    return list(groups.values())


class Representations:
    """Rows of many entries on a device, for MaxSim with one query at a time.

    Representations of similar length share a block; a shorter one repeats its first row, which changes
    no maximum.
    """

    def __init__(
        self, rows: Sequence[Tensor], owners: Sequence[int], count: int, device: torch.device
    ) -> None:
        half = torch.float16 if device.type == "cuda" else torch.float32
        order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        self._blocks: list[tuple[Tensor, Tensor]] = []
        start = 0
        while start < len(order):
            # As many as fit beside a query of some hundred rows.
            end = start + 1
            while end < len(order) and (end + 1 - start) * len(rows[order[end]]) <= _BLOCK:
                end += 1
            chosen = order[start:end]
            width = max(1, len(rows[chosen[-1]]))
            table = torch.stack([_repeated(rows[place], width).to(half) for place in chosen])
            self._blocks.append((table, torch.tensor([owners[place] for place in chosen], device=device)))
            start = end
        self._count, self._device = count, device
        self._shares = torch.zeros(count, device=device)
        for table, own in self._blocks:
            self._shares.index_add_(0, own, torch.ones(len(table), device=device))

    def scores(self, query: Tensor) -> Tensor:
        """MaxSim with every entry, averaged over its representations (Algorithm 1, line 14); -1 where it has none."""
        sums = torch.zeros(self._count, device=self._device)
        for table, own in self._blocks:
            similar = query.to(table.dtype) @ table.flatten(0, 1).T
            best = similar.view(len(query), *table.shape[:2]).amax(-1)
            sums.index_add_(0, own, best.float().mean(0))
        return torch.where(self._shares > 0, sums / self._shares.clamp(min=1), -1.0)


def _repeated(rows: Tensor, width: int) -> Tensor:
    return torch.cat([rows, rows[:1].expand(width - len(rows), -1)]) if len(rows) < width else rows


def represented(found: Sequence[Sequence[Tensor]], device: torch.device) -> Representations:
    """Encodes the representations of entries, each with some."""
    rows = [row for each in found for row in each]
    owners = [place for place, each in enumerate(found) for _ in each]
    return Representations(rows, owners, len(found), device)


def keep_scores(out: Path, name: str, task: SearchTask, scores: Mapping[int, Tensor]) -> None:
    """Writes the measures of a run by topic and, for `RUNS`, its best results."""
    found: dict[str, dict[str, float]] = {}
    for place, row in scores.items():
        values = row.float().cpu().numpy()
        order = np.argsort(-values, kind="stable")[:1000]
        found[task.topics.ids[place]] = {task.candidates.ids[at]: float(values[at]) for at in order}
    depth = 0 if name not in RUNS else 100 if task.measures == KNOWN else 1000
    keep_run(out, f"{name}/{task.name}", found, task.qrels, task.measures, depth)


def measure_context(
    network: MarfNetwork, all_tasks: Sequence[SearchTask], out: Path, name: str, device: torch.device
) -> None:
    """Measures the context encoder alone."""
    for candidates, searches in by_candidates(all_tasks):
        found = context_vectors(network, candidates.posts, device)
        documents = represented([[each] for each in found], device)
        for task in searches:
            queries = context_vectors(network, [task.topics.posts[place] for place in task.asked], device)
            keep_scores(
                out, name, task, {p: documents.scores(q) for p, q in zip(task.asked, queries, strict=True)}
            )


def measure_formulas(
    network: MarfNetwork, all_tasks: Sequence[SearchTask], out: Path, name: str, device: torch.device
) -> None:
    """Measures the formula encoder alone: the query's longest formula with the formulas of each entry, averaged."""
    scoring, most = network.configuration.scoring, network.configuration.formulas

    def rows(found: list[list[Tensor]]) -> list[list[Tensor]]:
        if scoring == "token":
            return [own[:most] for own in found]
        return [
            [torch.nn.functional.normalize(each.float().mean(0, keepdim=True), dim=-1) for each in own[:most]]
            for own in found
        ]

    for candidates, searches in by_candidates(all_tasks):
        documents = represented(rows(formula_vectors(network, candidates.posts, device)), device)
        for task in searches:
            asked = [task.topics.posts[place] for place in task.asked]
            queries = rows(formula_vectors(network, asked, device))
            scores = {p: documents.scores(own[0]) for p, own in zip(task.asked, queries, strict=True) if own}
            keep_scores(out, name, task, scores)


def measure_fusion(
    network: MarfNetwork, all_tasks: Sequence[SearchTask], out: Path, name: str, device: torch.device
) -> None:
    """Measures MaRF: the query with its longest formula, entries with one or several, averaged (Algorithm 1)."""
    most = network.configuration.formulas
    for candidates, searches in by_candidates(all_tasks):
        documents = represented(fused_vectors(network, candidates.posts, device, most), device)
        for task in searches:
            asked = [task.topics.posts[place] for place in task.asked]
            queries = [own[0] for own in fused_vectors(network, asked, device, 1)]
            keep_scores(
                out, name, task, {p: documents.scores(q) for p, q in zip(task.asked, queries, strict=True)}
            )


READ_WITH = "read-with.json"


def read_with(pieces: WordPieces, configuration: MarfConfiguration) -> dict[str, object]:
    """Returns what the numbers of a prepared folder depend on: the word pieces of the base, and the lengths."""
    return {
        "pieces": hashlib.sha256(pieces.to_bytes()).hexdigest(),
        "length": configuration.length,
        "formula_length": configuration.formula_length,
    }


class MarfTrial:
    """Trains and measures with one seed, part by part, and stores runs and weights as they are computed."""

    def __init__(
        self, folder: Path, out: Path, training: MarfTraining, device: torch.device, seed: int
    ) -> None:
        self.folder, self.out, self.device, self.seed = folder, out / f"seed-{seed}", device, seed
        self.training = training
        self.out.mkdir(parents=True, exist_ok=True)
        self.vocabularies = MarfVocabularies.load(folder)
        self.shard = PostShard.load(folder / "posts.npz")
        self.tasks = tasks(folder)
        say(f"seed {seed}: {len(self.shard):,} posts, {len(self.shard.pairs):,} pairs")

    def part(self, stage: str) -> PartTraining:
        """Returns the training configuration of a part with this seed."""
        return replace(self.training.of(stage), seed=self.seed)

    def run(self) -> MarfNetwork:
        """Trains words, context, then for each scoring the formulas and both fusions, the default scoring first.

        Returns the network trained with token scoring.
        """
        model = self.training.model
        network = self.context()
        self.keep("context", network.context, "context.")
        measure_context(network, self.tasks, self.out, "context", self.device)
        for scoring in dict.fromkeys((model.scoring, "token", "passage")):
            torch.manual_seed(self.seed)
            configuration = replace(model, scoring=scoring)
            formula = FormulaEncoder(configuration, len(self.vocabularies.latex)).to(self.device)
            say(f"seed {self.seed}: formulas by {scoring}")
            fit(FormulaTrainer(self.shard, formula, scoring, self.part("formulas"), self.device), 3, say)
            self.keep(f"formula-{scoring}", formula, "formula.")
            if scoring == "token":
                network.formula = formula
            for most in dict.fromkeys((model.formulas, 6, 1)):
                self._fusion(network, formula, replace(configuration, formulas=most))
        return network

    def context(self) -> MarfNetwork:
        """Returns a network with a trained context encoder; its other parts are new."""
        torch.manual_seed(self.seed)
        model = self.training.model
        base = load_base_encoder(model.base, "cpu")
        if json.loads((self.folder / READ_WITH).read_text(encoding="utf-8")) != read_with(base.pieces, model):
            raise MathAMRError(
                f"{self.folder} was prepared for other word pieces or lengths than those of {model.base} and this"
                " configuration; prepare it again"
            )
        mask = base.pieces.mask
        network = fresh_network(base, self.vocabularies, model).to(self.device)
        say(f"seed {self.seed}: words")
        fit(WordTrainer(self.shard, network.context, mask, self.part("words"), self.device), 3, say)
        say(f"seed {self.seed}: context")
        fit(ContextTrainer(self.shard, network.context, self.part("context"), self.device), 3, say)
        return network.eval()

    def _fusion(
        self,
        network: MarfNetwork,
        formula: FormulaEncoder,
        configuration: MarfConfiguration,
    ) -> None:
        name = f"{configuration.scoring}-{'several' if configuration.formulas > 1 else 'longest'}"
        torch.manual_seed(self.seed)
        joined = MarfNetwork(network.context, formula, configuration).to(self.device)
        say(f"seed {self.seed}: fusion {name}")
        fit(FusionTrainer(self.shard, joined, self.part("fusion"), self.device), 3, say)
        joined.eval()
        self.keep(f"fusion-{name}", joined.fusion, "fusion.")
        measure_formulas(joined, self.tasks, self.out, f"formula-{name}", self.device)
        measure_fusion(joined, self.tasks, self.out, f"marf-{name}", self.device)

    def keep(self, name: str, module: torch.nn.Module, prefix: str) -> None:
        """Writes the learned weights of a part in sixteen bits."""
        learned = {
            f"{prefix}{each}": parameter
            for each, parameter in module.named_parameters()
            if ".linear." not in each and not _is_base(each, prefix)
        }
        stored = {
            each: value.detach().to("cpu", torch.float16).contiguous() for each, value in learned.items()
        }
        (self.out / f"{name}.safetensors").write_bytes(tensor_bytes(stored))


def _is_base(name: str, prefix: str) -> bool:
    """True if a parameter of the context encoder belongs to the base: neither a change, nor added, nor the head."""
    return prefix == "context." and not name.endswith((".down", ".up", "pieces.added", "head.weight"))
