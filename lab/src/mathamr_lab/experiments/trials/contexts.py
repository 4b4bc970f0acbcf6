"""The trial of MathAMR's contexts: trained on some topics, measured on the others (Mansouri, Oard and Zanibbi 2022, Tables 1 and 2).

Every topic is ranked by a model that was not trained on it: the topics are split into folds, and each fold is ranked by
the model trained on the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mathamr.evaluation.qrels import Qrels
from mathamr.systems.baseencoder import load_base_encoder
from mathamr.systems.mathamr.configuration import MathAMRConfiguration
from mathamr.systems.mathamr.sentenceencoder import SentenceEncoder
from mathamr.text.encoder import TextEncoder
from mathamr_lab.experiments.formulaplaces import FormulaPlace
from mathamr_lab.experiments.trials.scorefiles import JUDGED, keep_run, say
from mathamr_lab.experiments.trials.scoretable import ScoreTable
from mathamr_lab.systems.mathamr.judgedlines import JudgedLines
from mathamr_lab.systems.mathamr.trainer import LineTrainer, LineTraining
from mathamr_lab.training.lowrank import add_changes
from mathamr_lab.training.plain import fit

DEPTH = 1000
"""The number of formulas in a run, as in ARQMath."""


@dataclass(frozen=True, slots=True, eq=False)
class ContextMaterials:
    """Query formulas, candidate formulas, and the judgments of visual classes."""

    topics: Sequence[FormulaPlace]
    places: Sequence[FormulaPlace]
    qrels: Qrels

    def rows(self, context: str, topics: Iterable[str]) -> list[dict[str, Any]]:
        """Returns judged pairs of lines of these topics: every place of a judged visual class is a candidate."""
        by_visual: dict[str, list[str]] = {}
        for place in self.places:
            lines = by_visual.setdefault(place.visual, [])
            if place.contexts[context] not in lines:
                lines.append(place.contexts[context])
        query = {place.topic: place.contexts[context] for place in self.topics}
        return [
            {"topic": topic, "query": query[topic], "candidate": line, "grade": max(0, min(3, grade))}
            for topic in topics
            if topic in query
            for visual, grade in self.qrels.grades[topic].items()
            for line in by_visual.get(visual, ())
        ]


def folds(topics: Sequence[str], count: int, seed: int = 0) -> list[list[str]]:
    """Splits the topics into random folds, each topic in one."""
    order = np.random.default_rng([seed, 11]).permutation(len(topics))
    ranked = sorted(topics)
    return [[ranked[place] for place in order[start::count]] for start in range(count)]


def trained(
    configuration: MathAMRConfiguration,
    rows: Sequence[dict[str, Any]],
    trainings: Sequence[LineTraining],
    device: torch.device,
) -> TextEncoder:
    """Returns a text encoder with changes that were trained on judged lines, one training after the other."""
    encoder = load_base_encoder(configuration.base, "cpu")
    torch.manual_seed(trainings[0].seed if trainings else 0)
    add_changes(encoder.model, configuration.rank)
    encoder.model.to(device)
    encoder.device = device
    judged = JudgedLines.of_rows(rows, encoder.pieces, configuration.length)
    for training in trainings:
        worth = fit(LineTrainer(encoder, judged, training, device))
        say(
            f"{configuration.context} by {training.objective}: Spearman {worth if worth is None else round(worth, 3)}"
        )
    encoder.model.eval()
    return encoder


def ranked(
    encoder: TextEncoder,
    length: int,
    context: str,
    topics: Sequence[FormulaPlace],
    places: Sequence[FormulaPlace],
) -> dict[str, dict[str, float]]:
    """Returns visual classes for each topic by the cosine of contexts, each by its best place."""
    sentences = SentenceEncoder(encoder, length)
    candidates = sentences.encode([place.contexts[context] for place in places])
    queries = sentences.encode([place.contexts[context] for place in topics])
    visuals = np.array([place.visual for place in places])
    names, of = np.unique(visuals, return_inverse=True)
    found: dict[str, dict[str, float]] = {}
    for topic, scores in zip(topics, queries @ candidates.T, strict=True):
        best = np.full(len(names), -2.0, np.float32)
        np.maximum.at(best, of, scores)
        found[topic.topic] = dict(zip(names.tolist(), best.tolist(), strict=True))
    return found


def cross_fitted(
    materials: ContextMaterials,
    configuration: MathAMRConfiguration,
    trainings: Sequence[LineTraining],
    device: torch.device,
    *,
    count: int = 5,
    wider: Sequence[FormulaPlace] = (),
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Ranks the judged visual classes of every topic by the model of the other folds, and those of a wider collection, if given."""
    known = [place for place in materials.topics if place.topic in materials.qrels.grades]
    found: dict[str, dict[str, float]] = {}
    widely: dict[str, dict[str, float]] = {}
    for fold in folds([place.topic for place in known], count):
        others = [place.topic for place in known if place.topic not in fold]
        rows = materials.rows(configuration.context, others)
        encoder = trained(configuration, rows, trainings, device)
        asked = [place for place in known if place.topic in fold]
        found |= ranked(encoder, configuration.length, configuration.context, asked, materials.places)
        if wider:
            widely |= ranked(encoder, configuration.length, configuration.context, asked, wider)
    return found, widely


def untrained(
    materials: ContextMaterials,
    configuration: MathAMRConfiguration,
    device: torch.device,
    wider: Sequence[FormulaPlace] = (),
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Ranks the visual classes of every topic by the untrained text encoder, and those of a wider collection, if given."""
    encoder = load_base_encoder(configuration.base, str(device))
    known = [place for place in materials.topics if place.topic in materials.qrels.grades]
    found = ranked(encoder, configuration.length, configuration.context, known, materials.places)
    if not wider:
        return found, {}
    return found, ranked(encoder, configuration.length, configuration.context, known, wider)


def trainings_of(seed: int, changes: Mapping[str, Any] | None = None) -> list[LineTraining]:
    """Returns the two trainings: the contrastive loss first, then multiple negatives ranking."""
    given = dict(changes or {})
    return [
        LineTraining(objective="contrast", seed=seed, **given),
        LineTraining(objective="ranking", seed=seed, **given),
    ]


def keep(out: Path, name: str, found: Mapping[str, Mapping[str, float]], materials: ContextMaterials) -> None:
    """Writes the run's measures; for AMR contexts, which rerank other runs, also the run."""
    keep_run(out, name, found, materials.qrels, depth=DEPTH if "/amr-" in name else 0)


def keep_widely(
    out: Path,
    name: str,
    found: Mapping[str, Mapping[str, float]],
    materials: ContextMaterials,
    depth: int = DEPTH,
) -> None:
    """Writes for a search in all formulas the measures of the best thousand, as in ARQMath, and all scores of AMR contexts."""
    best = {topic: dict(nlargest(depth, each.items(), key=itemgetter(1))) for topic, each in found.items()}
    keep_run(out, name, best, materials.qrels, (*JUDGED, "judged@10"))
    if "/amr-" in name:
        ScoreTable.of(found).save(out / f"{name}.npz")
