"""The trial of MaRF as published: its parts trained one after the other, ranked alone and fused (Wang, Zheng and Kani, Tables 1 to 6)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from mathamr.evaluation.qrels import RELEVANT, Qrels
from mathamr.systems.marf.configuration import MarfConfiguration
from mathamr.systems.marf.inference import context_vectors, formula_vectors, fused_vectors
from mathamr.systems.marf.model import MarfModel
from mathamr.systems.marf.network import MarfNetwork
from mathamr.systems.marf.postinput import LatexVocabulary, PostInput, cut_sentences
from mathamr_lab.experiments.ntcir12 import MEASURES as NTCIR_MEASURES
from mathamr_lab.experiments.ntcir12 import RELEVANT as NTCIR_RELEVANT
from mathamr_lab.experiments.trials.scorefiles import (
    JUDGED,
    KNOWN,
    judgments,
    keep_figures,
    keep_run,
    learned_figures,
    say,
)
from mathamr_lab.systems.marf.configuration import MarfTraining, PartTraining
from mathamr_lab.systems.marf.freshnetwork import fresh_network
from mathamr_lab.systems.marf.recipe import LEAST_TOKENS, MOST_TOKENS, PREFIX, part_trainer, use_learned
from mathamr_lab.systems.marf.scoring import mean_vector
from mathamr_lab.systems.marf.texts import MarfText, MarfTexts, TextReader, read_commands
from mathamr_lab.systems.marf.trainers import LEARNED
from mathamr_lab.systems.stateencoder import load_state_encoder
from mathamr_lab.training.loop import train
from mathamr_lab.training.resources import Resources

PARTS = (CONTEXT, FORMULA, FUSED) = ("context", "formula", "marf")
SCORINGS, FORMULAS = ("passage", "token"), ("several", "longest")
DEPTH = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class MarfPaper:
    """The published recipe (section 3.4, appendix B.3): sizes and epochs; what the paper does not say is our choice.

    `base` is a text encoder of ours or any that `transformers` loads; with `tuning` ``frozen`` it is not trained at all, as the
    paper uses Qwen3-Embedding: a projection to `size` learns together with the fusion. `pretraining` counts the epochs of masked
    words and next sentences before that. Not published: batches, rates, `length`, the vocabulary and the inner size of the
    formula encoder (3,296 gives 50 million parameters with our tokens of LaTeX), and how long the pretraining takes.
    """

    title: ClassVar[str] = "MaRF as published"

    base: str = "bert-base-uncased"
    tuning: str = "full"
    size: int = 768
    length: int = 512
    pretraining: int = 1
    context_epochs: int = 3
    formula_epochs: int = 3
    fusion_epochs: int = 4
    formula_size: int = 512
    formula_layers: int = 8
    formula_heads: int = 8
    formula_inner: int = 3296
    formula_length: int = 128
    fusion_heads: int = 8
    most: int = 6
    batch: int = 32
    formula_batch: int = 128
    rate: float = 2e-5
    formula_rate: float = 1e-4
    fusion_rate: float = 1e-4
    temperature: float = 0.05
    validation: float = 0.01

    def __post_init__(self) -> None:
        self.training("passage", "several", 0)  # its parts check their ranges

    def training(self, scoring: str, formulas: str, seed: int) -> MarfTraining:
        """Return the sizes and trainings of a row: how formulas are compared, and several or the longest."""
        model = MarfConfiguration(
            base=self.base,
            size=self.size,
            length=min(510, self.length - 2),
            formula_size=self.formula_size,
            formula_layers=self.formula_layers,
            formula_heads=self.formula_heads,
            formula_length=self.formula_length,
            formula_inner=self.formula_inner,
            formula_kind="llama",
            fusion_heads=self.fusion_heads,
            fusion_inner=self.size,
            scoring=scoring,
            formulas=self.most if formulas == "several" else 1,
            stored=self.size,
            normalised=True,
        )
        usual = PartTraining(
            batch_size=self.batch,
            learning_rate=self.rate,
            length=self.length,
            validation=self.validation,
            temperature=1.0,
            total=True,
            next_sentence=True,
            seed=seed,
        )
        parts = {
            "words": replace(usual, epochs=max(1, self.pretraining)),
            "context": replace(usual, epochs=self.context_epochs),
            "formulas": replace(
                usual,
                epochs=self.formula_epochs,
                batch_size=self.formula_batch,
                learning_rate=self.formula_rate,
                temperature=1.0 if scoring == "token" else self.temperature,
            ),
            "fusion": replace(usual, epochs=self.fusion_epochs, learning_rate=self.fusion_rate),
        }
        return MarfTraining(model=model, parts=parts, tuning=self.tuning)


@dataclass(frozen=True, slots=True, eq=False)
class SearchTask:
    """Topics, the searched entries, judgments, and the measures."""

    name: str
    topics: Sequence[MarfText]
    candidates: MarfTexts
    qrels: Qrels
    measures: tuple[str, ...]


def search_tasks(folder: Path) -> Iterator[SearchTask]:
    """Yield the search tasks of a prepared folder: judged answers, known items, judged formulas, those of NTCIR-12."""
    for name, candidates, chosen, relevant in (
        ("task1", "answers", JUDGED, RELEVANT),
        ("known-items", "answers", KNOWN, RELEVANT),
        ("task2", "formulas", JUDGED, RELEVANT),
        ("ntcir12", "ntcir12", NTCIR_MEASURES, NTCIR_RELEVANT),
    ):
        topics = folder / f"topics-{name}.jsonl"
        if topics.exists():
            qrels = judgments(folder / "qrels", name, relevant)
            asked = [topic for topic in MarfTexts(topics) if topic.id in qrels.grades]
            yield SearchTask(name, asked, MarfTexts(folder / f"{candidates}.jsonl"), qrels, chosen)


Read = Callable[[Sequence[MarfText]], list[PostInput]]
Represented = Callable[[Sequence[PostInput]], list[list[Tensor]]]
"""The representations of some entries, each (rows, size)."""


@torch.no_grad()
def rank_all(
    task: SearchTask,
    read: Read,
    asked: Represented,
    represented: Represented,
    device: torch.device,
    at_a_time: int = 0,
) -> dict[str, dict[str, float]]:
    """Algorithm 1 over all candidates: MaxSim with every representation, averaged by candidate; the best thousand of each topic.

    Candidates are represented `at_a_time` (0: as many as suit the device), and none of their vectors is kept. Several candidates
    of one id, as the places of a formula, count as the best of them.
    """
    made = asked(read(task.topics))
    size = next((each[0].shape[1] for each in made if each), 1)
    # A question without formulas has no representation by formulas alone.
    queries = [each[0].float() if each else torch.zeros(0, size, device=device) for each in made]
    lengths = torch.tensor([len(each) for each in queries], device=device)
    tokens = torch.cat(queries)
    of = torch.repeat_interleave(torch.arange(len(queries), device=device), lengths)
    found: list[dict[str, float]] = [{} for _ in queries]
    stream = iter(task.candidates)
    at_a_time = at_a_time or (256 if device.type == "cuda" else 64)
    while block := list(islice(stream, at_a_time)):
        shown = represented(read(block))
        flat = [each.float() for own in shown for each in own]
        if not flat:
            continue
        owner = torch.tensor([place for place, own in enumerate(shown) for _ in own], device=device)
        rows = torch.nn.utils.rnn.pad_sequence(flat, batch_first=True)
        counted = torch.tensor([len(each) for each in flat], device=device)
        real = torch.arange(rows.shape[1], device=device) < counted[:, None]
        sums = _maxsims(tokens, of, len(queries), rows, real) / lengths.clamp(min=1)[:, None]
        counts = torch.bincount(owner, minlength=len(block))
        means = torch.zeros(len(queries), len(block), device=device).index_add_(1, owner, sums)
        means = (means / counts.clamp(min=1)).masked_fill(counts == 0, -torch.inf)
        for own, scores in zip(found, means.tolist(), strict=True):
            for text, score in zip(block, scores, strict=True):
                if score > own.get(text.id, -np.inf):
                    own[text.id] = score
    return {
        topic.id: dict(sorted(own.items(), key=lambda each: -each[1])[:DEPTH])
        for topic, own, length in zip(task.topics, found, lengths.tolist(), strict=True)
        if length
    }


def _maxsims(
    tokens: Tensor, of: Tensor, queries: int, rows: Tensor, real: Tensor, limit: int = 1 << 28
) -> Tensor:
    """Return equation 2 for every query, whose tokens are given with its number, and representation."""
    found = torch.zeros(queries, len(rows), device=rows.device)
    flat = rows.flatten(0, 1)
    rows_each = max(1, limit // len(flat))
    for part, own in zip(torch.split(tokens, rows_each), torch.split(of, rows_each), strict=True):
        similar = (part @ flat.T).view(len(part), *real.shape)
        found.index_add_(0, own, similar.masked_fill_(~real, -1.0).amax(-1))
    return found


def represent_by(network: MarfNetwork, device: torch.device, part: str, most: int) -> Represented:
    """Represent an entry by its `context`, by some of its formulas as the network scores them (`formula`), or by both fused (`marf`).

    Fused, an entry without a formula is its context.
    """

    def represented(entries: Sequence[PostInput]) -> list[list[Tensor]]:
        if part == CONTEXT:
            return [[each] for each in context_vectors(network, entries, device)]
        if part == FUSED:
            return fused_vectors(network, entries, device, most)
        found = [own[:most] for own in formula_vectors(network, entries, device)]
        if network.configuration.scoring == "token":
            return found
        return [[mean_vector(each) for each in own] for own in found]

    return represented


def rank_by(
    task: SearchTask, read: Read, network: MarfNetwork, part: str, most: int, device: torch.device
) -> tuple[dict[str, dict[str, float]], float]:
    """Rank all candidates by a part, a query by its longest formula and a candidate by up to `most`; return the seconds, too."""
    began = time.monotonic()
    asked, represented = (represent_by(network, device, part, count) for count in (1, most))
    return rank_all(task, read, asked, represented, device), time.monotonic() - began


class MarfTrial:
    """Trains and measures with one seed, part by part; what is measured already is not measured again."""

    def __init__(self, folder: Path, out: Path, recipe: MarfPaper, device: torch.device, seed: int) -> None:
        self.folder, self.out, self.recipe, self.device, self.seed = folder, out, recipe, device, seed
        self.tasks = list(search_tasks(folder))
        self.texts = MarfTexts(folder / "posts.jsonl")
        self.pairs = np.load(folder / "pairs.npy", allow_pickle=False)

    def run(self, rows: Sequence[str] = ()) -> None:
        """Measure the context, and for each scoring the formulas and both fusions; `rows` restricts that to some by name."""
        wanted = [name for name in ROWS if not rows or name in rows]
        if all(self._is_done(name) for name in wanted):
            return
        latex = LatexVocabulary.frequent(
            (latex.split() for text in self.texts for latex in text.formulas), MOST_TOKENS, LEAST_TOKENS
        )
        recipe = self.recipe
        torch.manual_seed(self.seed)
        commands = [] if recipe.tuning == "frozen" else read_commands(self.folder)
        base = load_state_encoder(recipe.base, tuning=recipe.tuning, commands=commands)
        reader = TextReader(lambda texts: base.cut(texts, recipe.length), latex, recipe.formula_length)
        shard = reader.shard(self.texts, self.pairs)
        network = fresh_network(base, recipe.training("passage", "several", 0).model, len(latex))
        say(f"seed {self.seed}: {len(self.pairs):,} pairs; parameters {_sizes(network)}")
        learned: dict[str, Any] = {}

        def learn(stage: str, name: str, scoring: str = "passage", formulas: str = "several") -> None:
            training = recipe.training(scoring, formulas, self.seed)
            network.configuration = training.model
            folder = self.out / f"seed-{self.seed}" / "trained" / name
            say(f"seed {self.seed}: {name}")
            trainer = part_trainer(stage, shard, network, training.of(stage), self.device)
            progress = train(trainer, folder, Resources(device=self.device, threads=1))
            use_learned(network, folder / LEARNED, PREFIX[stage])
            network.eval()
            learned[stage] = learned_figures(progress)

        if recipe.tuning != "frozen":
            if recipe.pretraining:
                learn("words", "words")
            learn("context", "context")
        context: dict[str, Any] = {each: learned[each] for each in ("words", "context") if each in learned}
        if CONTEXT in wanted:
            projection = network.context.head
            if recipe.tuning == "frozen":
                network.context.head = nn.Identity()  # it has learned nothing yet
            self._measure(CONTEXT, reader.read, network, 1, context)
            network.context.head = projection
        for scoring in SCORINGS:
            if not any(scoring in name for name in wanted):
                continue
            torch.manual_seed(self.seed)
            fresh = fresh_network(base, recipe.training(scoring, "several", 0).model, len(latex))
            network.formula = fresh.formula.requires_grad_(True)
            learn("formulas", f"formula-{scoring}", scoring)
            for formulas in FORMULAS:
                most = recipe.most if formulas == "several" else 1
                name = f"formula-{scoring}-{formulas}"
                if name in wanted:
                    figures = {**context, "formulas": learned["formulas"]}
                    self._measure(name, reader.read, network, most, figures)
                name = f"marf-{scoring}-{formulas}"
                if name in wanted and not self._is_done(name):
                    torch.manual_seed(self.seed)
                    fresh = fresh_network(base, recipe.training(scoring, formulas, 0).model, len(latex))
                    network.fusion = fresh.fusion
                    if recipe.tuning == "frozen":
                        network.context.head = fresh.context.head
                    learn("fusion", name, scoring, formulas)
                    self._measure(name, reader.read, network, most, learned)

    def _path(self, name: str, task: SearchTask) -> str:
        return f"seed-{self.seed}/{name}/{task.name}"

    def _is_done(self, name: str) -> bool:
        return all((self.out / f"{self._path(name, task)}.json").exists() for task in self.tasks)

    def _measure(
        self, name: str, read: Read, network: MarfNetwork, most: int, learned: Mapping[str, Any]
    ) -> None:
        if self._is_done(name):
            return
        seconds = {}
        for task in self.tasks:
            found, seconds[task.name] = rank_by(
                task, read, network, name.partition("-")[0], most, self.device
            )
            depth = DEPTH if name in (CONTEXT, "marf-passage-several") else 0
            keep_run(self.out, self._path(name, task), found, task.qrels, task.measures, depth)
        keep_figures(self.out / f"seed-{self.seed}" / name, learned)
        inference = self.out / f"seed-{self.seed}" / name / INFERENCE
        inference.write_text(json.dumps(seconds) + "\n", encoding="utf-8")


INFERENCE = "inference.json"
"""Seconds of a row's searches, each with the encoding of all its candidates (appendix B.4)."""


def measure_model(
    folder: Path, out: Path, model: MarfModel, device: torch.device, tests: frozenset[str] = frozenset()
) -> None:
    """Measure a model as a folder holds it, and its parts: the context, the formulas, and both fused."""
    network, configuration = model.network.to(device).eval(), model.configuration
    pieces, commands = model.reader.pieces, model.vocabularies.mathematics
    reader = TextReader(
        lambda texts: cut_sentences(texts, pieces, commands, configuration.length),
        model.vocabularies.latex,
        configuration.formula_length,
    )
    for task in search_tasks(folder):
        for name in PARTS if not tests or task.name in tests else ():
            found, seconds = rank_by(task, reader.read, network, name, configuration.formulas, device)
            say(f"{name}, {task.name}: {len(task.topics)} queries in {seconds:.1f} s")
            keep_run(out, f"{name}/{task.name}", found, task.qrels, task.measures)


def _sizes(network: MarfNetwork) -> dict[str, int]:
    parts = {"context": network.context, "formula encoder": network.formula, "fusion": network.fusion}
    return {name: sum(each.numel() for each in part.parameters()) for name, part in parts.items()}


ROWS = (
    CONTEXT,
    *(
        f"{part}-{scoring}-{formulas}"
        for scoring in SCORINGS
        for part in (FORMULA, FUSED)
        for formulas in FORMULAS
    ),
)
