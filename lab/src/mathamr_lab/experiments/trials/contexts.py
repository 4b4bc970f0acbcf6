"""The trial of MathAMR's contexts: a sentence encoder fine-tuned on judged formulas (Mansouri, Oard and Zanibbi 2022, Tables 1 and 2).

Every topic is ranked by a model that was not trained on it: either the topics are split into folds, and each fold is
ranked by the model trained on the others, or some topics are only trained on and the others only ranked, as in the paper.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mathamr.core.configured import check_ranges
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr_lab.experiments.formulaplaces import FormulaPlace
from mathamr_lab.experiments.trials.descent import Descent, descend
from mathamr_lab.experiments.trials.publishedbase import PublishedBase, mean_vectors
from mathamr_lab.experiments.trials.scorefiles import say
from mathamr_lab.systems.mathamr.judgedlines import SCORES, split_by_grade
from mathamr_lab.systems.mathamr.trainer import contrastive

FOLDS, FIRST_YEAR = "folds", "first-year"
_YEAR_OF = re.compile(r"\D*(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextTraining:
    """The training of the paper (sections 4 and 5): its base, 50 epochs, batches of 16, 128 tokens (256 of raw text with OPTs).

    `topics` says what is trained on: ``first-year`` (the topics of ARQMath-1, whose numbers are below 200), ``folds``, or a
    file with the ids of training topics, one a line. Rate and margin are Sentence-BERT's defaults.
    """

    title: ClassVar[str] = "training of contexts"

    base: str = "sentence-transformers/all-distilroberta-v1"
    tuning: str = "full"
    topics: str = FIRST_YEAR
    epochs: int = 50
    batch: int = 16
    rate: float = 2e-5
    margin: float = 0.5
    scale: float = 20.0
    length: int = 128
    validation: float = 0.1
    seconds: float = 0.0

    def __post_init__(self) -> None:
        ranges = {
            "epochs": (0, 1e4),
            "batch": (2, 1e5),
            "rate": (0, 1),
            "margin": (0, 2),
            "length": (4, 8192),
        }
        check_ranges(self, self.title, {**ranges, "validation": (0, 0.9), "seconds": (0, 1e6)})

    def length_of(self, context: str) -> int:
        """The number of tokens that are read of a context."""
        return self.length * (2 if context == "text-opt" else 1)


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two lines of a topic, and their grade."""

    topic: str
    query: str
    candidate: str
    grade: int


@dataclass(frozen=True, slots=True, eq=False)
class ContextMaterials:
    """Query formulas, candidate formulas, and the judgments of visual classes."""

    topics: Sequence[FormulaPlace]
    places: Sequence[FormulaPlace]
    qrels: Qrels

    def pairs(self, context: str, topics: Iterable[str]) -> list[JudgedPair]:
        """Returns judged pairs of lines of these topics: every place of a judged visual class is a candidate."""
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
        """Returns the same as rows that `mathamr train mathamr` reads."""
        return [
            {"topic": each.topic, "query": each.query, "candidate": each.candidate, "grade": each.grade}
            for each in self.pairs(context, topics)
        ]

    def splits(self, topics: str, folds: int = 5) -> Iterator[tuple[list[str], list[str]]]:
        """Yields (topics to train on, topics to rank)."""
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
    pairs: Sequence[JudgedPair], context: str, training: ContextTraining, seed: int, device: torch.device
) -> tuple[PublishedBase, dict[str, Descent]]:
    """Fine-tunes the base on judged pairs: by the contrastive loss, then by multiple negatives ranking of the relevant ones.

    After each, the epoch with the lowest loss over a tenth of the pairs of every grade is taken, or the state before.
    """
    torch.manual_seed(seed)
    base = PublishedBase(training.base, tuning=training.tuning).to(device)
    train, held = split_by_grade([each.grade for each in pairs], training.validation, seed)
    length = training.length_of(context)

    def vectors(lines: Sequence[str]) -> Tensor:
        numbers, real = base.padded(base.numbers([_plain(line) for line in lines], length))
        real = real.to(device)
        return mean_vectors(base(numbers.to(device), real), real)

    def both(chosen: Sequence[JudgedPair]) -> tuple[Tensor, Tensor]:
        one, two = vectors([each.query for each in chosen] + [each.candidate for each in chosen]).chunk(2)
        return one, two

    def contrast(chosen: Sequence[JudgedPair], chance: object) -> Tensor:
        scores = torch.tensor([SCORES[each.grade] for each in chosen], device=device)
        return contrastive(*both(chosen), scores, training.margin)

    def ranking(chosen: Sequence[JudgedPair], chance: object) -> Tensor:
        one, two = both(chosen)
        return functional.cross_entropy(
            training.scale * one @ two.T, torch.arange(len(chosen), device=device)
        )

    found = {}
    for name, loss, least in (("contrast", contrast, 0), ("ranking", ranking, 2)):
        examples, kept = (
            [pairs[place] for place in places if pairs[place].grade >= least] for places in (train, held)
        )
        if len(examples) < 2:
            raise MathAMRError(f"{len(examples)} judged pairs are too few to learn from by {name}")
        found[name] = descend(
            base,
            examples,
            loss,
            epochs=training.epochs,
            batch=training.batch,
            rate=training.rate,
            seed=seed,
            device=device,
            held=kept,
            before=True,
            seconds=training.seconds / 2 or None,
        )
        say(f"{context} by {name}: {found[name].steps} steps, epoch {found[name].kept} is taken")
    return base, found


def ranked(
    base: PublishedBase,
    context: str,
    length: int,
    topics: Sequence[FormulaPlace],
    places: Sequence[FormulaPlace],
    device: torch.device,
) -> dict[str, dict[str, float]]:
    """Returns the cosines of visual classes for each topic, each by its best place."""
    lines = list(dict.fromkeys(_plain(place.contexts[context]) for place in (*topics, *places)))
    row = {line: number for number, line in enumerate(lines)}
    table = base.means(lines, length, device)
    candidates = table[[row[_plain(place.contexts[context])] for place in places]]
    names, of = np.unique([place.visual for place in places], return_inverse=True)
    found: dict[str, dict[str, float]] = {}
    for topic in topics:
        scores = (candidates @ table[row[_plain(topic.contexts[context])]]).numpy()
        best = np.full(len(names), -2.0, np.float32)
        np.maximum.at(best, of, scores)
        found[topic.topic] = dict(zip(names.tolist(), best.tolist(), strict=True))
    return found


def ranked_by_others(
    materials: ContextMaterials, context: str, training: ContextTraining, seed: int, device: torch.device
) -> tuple[dict[str, dict[str, float]], list[Mapping[str, Descent]]]:
    """Ranks the places for every topic by a model that was trained on other topics, and tells how it learned."""
    found: dict[str, dict[str, float]] = {}
    learned: list[Mapping[str, Descent]] = []
    for known, asked in materials.splits(training.topics):
        base, descents = encoder_of(materials.pairs(context, known), context, training, seed, device)
        topics = [place for place in materials.topics if place.topic in asked]
        found |= ranked(base, context, training.length_of(context), topics, materials.places, device)
        learned.append(descents)
    return found, learned


def _plain(line: str) -> str:
    """Returns a line with mathematical letters, as OPTs have them, made plain; an empty one becomes a question mark."""
    return unicodedata.normalize("NFKC", line).strip() or "?"
