"""The recipe of MathAMR: from judged lines to changes of a text encoder (Mansouri, Oard and Zanibbi 2022, section 4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from mathamr.core.configured import changed
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.systems.mathamr.configuration import MathAMRConfiguration
from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr_lab.recipes.bases import check_base, copy_base, prepared_base, training_base
from mathamr_lab.recipes.recipe import (
    StageResult,
    StageWork,
    TrainingSettings,
    TrainingSources,
    TrainingStages,
)
from mathamr_lab.systems.mathamr.judgedlines import read_pairs, write_pairs
from mathamr_lab.systems.mathamr.trainer import LineTrainer, LineTraining
from mathamr_lab.systems.stateencoder import StateEncoder
from mathamr_lab.training.loop import train
from mathamr_lab.training.plain import LEARNED, use_learned

JUDGED, MODEL = "judged.jsonl", "model.json"
STAGES = ("contrast", "ranking", "join")
CONFIGURATIONS = {
    "amr-opt": MathAMRConfiguration(),
    "amr-latex": MathAMRConfiguration(context="amr-latex"),
    "text-opt": MathAMRConfiguration(context="text-opt", length=254),
    "text-latex": MathAMRConfiguration(context="text-latex"),
    "opt": MathAMRConfiguration(context="opt"),
    "paper": MathAMRConfiguration(base="mathamr-3", rank=128, length=126, projected=False),
}
"""One configuration per context of Table 1, by our recipe; `paper` is the paper's own context by the paper's training."""
PAPER: dict[str, Any] = {
    "epochs": 50,
    "batch_size": 16,
    "learning_rate": 2e-5,
    "length": 128,
    "masked": False,
    "monitor": "loss",
}
"""The published training (sections 4 and 5), and Sentence-BERT's defaults where it is silent."""


class MathAMRRecipe:
    """Trains by the contrastive loss first, then by multiple negatives ranking; then writes the model folder."""

    configurations = tuple(CONFIGURATIONS)
    stages = STAGES
    reads = ("base",)

    def check(self, settings: TrainingSettings) -> None:
        """Refuse settings that cannot be trained."""
        _model(settings)
        for stage in STAGES[:2]:
            _training(settings, stage)

    def check_use(self, settings: TrainingSettings, base: Path | None) -> None:
        """Refuse a text encoder that is not installed."""
        check_base(_model(settings).base, base)

    def prepare(
        self, sources: TrainingSources, settings: TrainingSettings, folder: Path, say: Callable[[str], None]
    ) -> list[Path]:
        """Read judged lines (JSON lines with topic, query, candidate, grade), or make those of a collection with Task 2."""
        model = _model(settings)
        converted: list[Path] = []
        if sources.base is not None:
            name, converted = prepared_base(sources.base, folder)
            model = replace(model, base=name)
        if sources.path.is_dir():
            from mathamr_lab.experiments.judgedformulas import judged_pairs

            judged = judged_pairs(sources.path, model.context)
        else:
            judged = read_pairs(sources.path)
        write_pairs(judged, folder / JUDGED)
        (folder / MODEL).write_text(json.dumps(model.to_json()) + "\n", encoding="utf-8")
        topics = {pair.topic for pair in judged}
        lines = {line for pair in judged for line in (pair.query, pair.candidate)}
        say(f"{len(judged):,} judgments of {len(topics)} topics, {len(lines):,} lines")
        return [folder / JUDGED, folder / MODEL, *converted]

    def planned(self, settings: TrainingSettings) -> TrainingStages:
        """Return the stages in order."""
        settings.checked((*STAGES, "model"))
        learn = partial(_learn, settings=settings)
        return settings.chosen(
            {
                "contrast": partial(learn, stage="contrast", before=None),
                "ranking": partial(learn, stage="ranking", before="contrast"),
                "join": partial(_join, settings=settings),
            }
        )


RECIPE = MathAMRRecipe()


def _model(settings: TrainingSettings) -> MathAMRConfiguration:
    if settings.config not in CONFIGURATIONS:
        raise UnknownNameError("configuration", settings.config, list(CONFIGURATIONS))
    settings.checked((*STAGES, "model"))
    found: MathAMRConfiguration = changed({"model": CONFIGURATIONS[settings.config]}, settings.of("model"))[
        "model"
    ]
    return found


def _training(settings: TrainingSettings, stage: str) -> LineTraining:
    published = PAPER if settings.config == "paper" else {"length": _model(settings).length + 2}
    return LineTraining(objective=stage, **published).changed(settings.of(stage))


def _prepared_model(work: StageWork) -> MathAMRConfiguration:
    return MathAMRConfiguration.from_json(json.loads((work.prepared / MODEL).read_text(encoding="utf-8")))


def _base(work: StageWork, settings: TrainingSettings, before: str | None, seed: int) -> StateEncoder:
    """Return the base as an earlier stage left it."""
    model = _prepared_model(work)
    torch.manual_seed(seed)
    base = StateEncoder(
        training_base(model.base, work.prepared),
        model.base,
        tuning="full" if settings.config == "paper" else "low-rank",
        rank=model.rank,
        projected=model.projected,
    )
    if before is not None and (work.folder(before) / LEARNED).exists():
        use_learned(base, work.folder(before) / LEARNED)
    return base


def _learn(work: StageWork, settings: TrainingSettings, stage: str, before: str | None) -> StageResult:
    configuration = _training(settings, stage)
    base = _base(work, settings, before, configuration.seed)
    trainer = LineTrainer(base, read_pairs(work.prepared / JUDGED), configuration, work.resources.device)
    progress = train(trainer, work.folder(stage), work.resources, fresh=work.fresh)
    return StageResult(progress.history, progress.done)


def _join(work: StageWork, settings: TrainingSettings) -> StageResult:
    last = next((stage for stage in ("ranking", "contrast") if (work.folder(stage) / LEARNED).exists()), None)
    if last is None:
        raise MathAMRError(f"nothing was trained in {work.out} yet: train contrast or ranking first")
    model, base = _prepared_model(work), _base(work, settings, last, 0)
    judged = read_pairs(work.prepared / JUDGED)
    # A model must not be measured on its training judgments, so the folder records their number.
    learned = {"judgments": len(judged), "topics": len({pair.topic for pair in judged})}
    stored = base.rounded(base.changes(model.rank))
    text = training_base(model.base, work.prepared)
    name = "mathamr-paper" if base.tuning == "full" else "mathamr"
    MathAMRSystem(text, model, stored, name=name, about={"training": learned}).save(work.model)
    copy_base(model.base, work.prepared, work.model)
    return StageResult([{"model": str(work.model)}])
