"""The trial of MathAMR's contexts: a sentence encoder fine-tuned on judged formulas (Mansouri, Oard and Zanibbi 2022, Tables 1 and 2).

Every topic is ranked by a model that was not trained on it: either the topics are split into folds, and each fold is
ranked by the model trained on the others, or some topics are only trained on and the others only ranked, as in the paper.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr_lab.experiments.formulaplaces import FormulaPlace
from mathamr_lab.experiments.trials.scorefiles import learned_figures, say
from mathamr_lab.systems.mathamr.judgedlines import JudgedPair
from mathamr_lab.systems.mathamr.recipe import PAPER
from mathamr_lab.systems.mathamr.trainer import LEARNED, OBJECTIVES, LineTrainer, LineTraining, use_learned
from mathamr_lab.systems.stateencoder import StateEncoder, load_state_encoder, plain_line
from mathamr_lab.training.loop import train
from mathamr_lab.training.resources import Resources

FOLDS, FIRST_YEAR = "folds", "first-year"
_YEAR_OF = re.compile(r"\D*(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextTraining(LineTraining):
    """The training of the paper (sections 4 and 5): its base, 50 epochs, batches of 16, 128 tokens (256 of raw text with OPTs).

    `topics` says what is trained on: ``first-year`` (the topics of ARQMath-1, whose numbers are below 200), ``folds``, or a
    file with the ids of training topics, one a line.
    """

    title: ClassVar[str] = "training of contexts"

    base: str = "sentence-transformers/all-distilroberta-v1"
    tuning: str = "full"
    topics: str = FIRST_YEAR
    epochs: int = PAPER["epochs"]
    batch_size: int = PAPER["batch_size"]
    learning_rate: float = PAPER["learning_rate"]
    length: int = PAPER["length"]
    masked: bool = PAPER["masked"]
    monitor: str = PAPER["monitor"]

    def length_of(self, context: str) -> int:
        """Return the number of tokens that are read of a context."""
        return self.length * (2 if context == "text-opt" else 1)


@dataclass(frozen=True, slots=True, eq=False)
class ContextMaterials:
    """Query formulas, candidate formulas, and the judgments of visual classes."""

    topics: Sequence[FormulaPlace]
    places: Sequence[FormulaPlace]
    qrels: Qrels

    def pairs(self, context: str, topics: Iterable[str]) -> list[JudgedPair]:
        """Return judged pairs of lines of these topics: every place of a judged visual class is a candidate."""
        by_visual: dict[str, list[str]] = {}
        for place in self.places:
            lines = by_visual.setdefault(place.visual, [])
            if place.contexts[context] not in lines:
                lines.append(place.contexts[context])
        query = {place.topic: place.contexts[context] for place in self.topics}
        return [
            JudgedPair(topic, query[topic], line, max(0, min(3, grade)))
            for topic in topics
            if topic in query
            for visual, grade in self.qrels.grades[topic].items()
            for line in by_visual.get(visual, ())
        ]

    def rows(self, context: str, topics: Iterable[str]) -> list[dict[str, Any]]:
        """Return the same as rows that `mathamr train mathamr` reads."""
        return [asdict(each) for each in self.pairs(context, topics)]

    def splits(self, topics: str, folds: int = 5) -> Iterator[tuple[list[str], list[str]]]:
        """Yield (topics to train on, topics to rank)."""
        known = sorted(place.topic for place in self.topics if place.topic in self.qrels.grades)
        if topics == FOLDS:
            order = np.random.default_rng([0, 11]).permutation(len(known))
            for start in range(folds):
                fold = {known[place] for place in order[start::folds]}
                if fold:
                    yield [each for each in known if each not in fold], sorted(fold)
            return
        if topics == FIRST_YEAR:
            learned = {each for each in known if (found := _YEAR_OF.match(each)) and int(found[1]) < 200}
        else:
            try:
                learned = set(Path(topics).read_text(encoding="utf-8").split())
            except (OSError, UnicodeDecodeError) as error:
                raise MathAMRError(f"cannot read the training topics in {topics}: {error}") from error
        asked = [each for each in known if each not in learned]
        if not asked or len(asked) == len(known):
            raise MathAMRError(
                f"of {len(known)} judged topics {len(asked)} are left to rank with topics={topics}: name a file with some"
                f" of their ids, or set topics={FOLDS}"
            )
        yield [each for each in known if each in learned], asked


def encoder_of(
    pairs: Sequence[JudgedPair],
    context: str,
    training: ContextTraining,
    seed: int,
    device: torch.device,
    folder: Path,
) -> tuple[StateEncoder, dict[str, Any]]:
    """Fine-tune the base on judged pairs: by the contrastive loss, then by multiple negatives ranking of the relevant ones.

    After each, the epoch with the lowest loss over a tenth of the pairs of every grade is taken. Returns how it learned, too.
    """
    torch.manual_seed(seed)
    base = load_state_encoder(training.base, tuning=training.tuning)
    found = {}
    for objective in OBJECTIVES:
        length = training.length_of(context)
        trainer = LineTrainer(
            base, pairs, replace(training, objective=objective, length=length, seed=seed), device
        )
        progress = train(trainer, folder / objective, Resources(device=device, threads=0), fresh=True)
        use_learned(base, folder / objective / LEARNED)
        found[objective] = learned_figures(progress)
        shutil.rmtree(folder / objective)
        say(
            f"{context} by {objective}: {trainer.steps * progress.epoch} steps, epoch {progress.best_epoch} is taken"
        )
    return base.eval(), found


def ranked(
    base: StateEncoder,
    context: str,
    length: int,
    topics: Sequence[FormulaPlace],
    places: Sequence[FormulaPlace],
    device: torch.device,
) -> dict[str, dict[str, float]]:
    """Return the cosines of visual classes for each topic, each by its best place."""
    lines = list(dict.fromkeys(place.contexts[context] for place in (*topics, *places)))
    row = {line: number for number, line in enumerate(lines)}
    table = base.means([plain_line(line) for line in lines], length, device)
    candidates = table[[row[place.contexts[context]] for place in places]]
    names, of = np.unique([place.visual for place in places], return_inverse=True)
    found: dict[str, dict[str, float]] = {}
    for topic in topics:
        scores = (candidates @ table[row[topic.contexts[context]]]).numpy()
        best = np.full(len(names), -2.0, np.float32)
        np.maximum.at(best, of, scores)
        found[topic.topic] = dict(zip(names.tolist(), best.tolist(), strict=True))
    return found


def ranked_by_others(
    materials: ContextMaterials,
    context: str,
    training: ContextTraining,
    seed: int,
    device: torch.device,
    folder: Path,
) -> tuple[dict[str, dict[str, float]], list[Mapping[str, Any]]]:
    """Rank the places for every topic by a model that was trained on other topics, and return how it learned."""
    found: dict[str, dict[str, float]] = {}
    learned: list[Mapping[str, Any]] = []
    for known, asked in materials.splits(training.topics):
        pairs = materials.pairs(context, known)
        base, figures = encoder_of(pairs, context, training, seed, device, folder)
        topics = [place for place in materials.topics if place.topic in asked]
        found |= ranked(base, context, training.length_of(context), topics, materials.places, device)
        learned.append(figures)
    return found, learned
