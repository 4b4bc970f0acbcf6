"""The recipe of MathAMR: from judged lines to changes of a text encoder (Mansouri, Oard and Zanibbi 2022, section 4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from mathamr.core.configured import changed
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.tensorfile import halved, read_tensors
from mathamr.systems.mathamr.configuration import MathAMRConfiguration
from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr.text.encoder import TextEncoder
from mathamr_lab.recipes.bases import copy_base, prepared_base, training_base
from mathamr_lab.recipes.recipe import (
    StageResult,
    StageWork,
    TrainingSettings,
    TrainingSources,
    TrainingStage,
)
from mathamr_lab.systems.mathamr.judgedlines import JudgedLines
from mathamr_lab.systems.mathamr.trainer import CHANGES, LineTrainer, LineTraining
from mathamr_lab.training.loop import train
from mathamr_lab.training.lowrank import add_changes, changes_of

JUDGED, MODEL = "judged.npz", "model.json"
STAGES = ("contrast", "ranking", "join")
CONFIGURATIONS = {
    "amr-opt": MathAMRConfiguration(),
    "amr-latex": MathAMRConfiguration(context="amr-latex"),
    "text-opt": MathAMRConfiguration(context="text-opt", length=254),
    "text-latex": MathAMRConfiguration(context="text-latex"),
    "opt": MathAMRConfiguration(context="opt"),
}
"""One configuration per context of Table 1, the paper's own first."""


class MathAMRRecipe:
    """Trains by the contrastive loss first, then by multiple negatives ranking; then writes the model folder."""

    configurations = tuple(CONFIGURATIONS)
    stages = STAGES
    reads = ("base",)

    def check(self, settings: TrainingSettings) -> None:
        """Refuses settings that cannot be trained."""
        _model(settings)
        for stage in STAGES[:2]:
            _training(settings, stage)

    def prepare(
        self, sources: TrainingSources, settings: TrainingSettings, folder: Path, say: Callable[[str], None]
    ) -> list[Path]:
        """Reads judged lines (JSON lines with topic, query, candidate, grade) and writes their word pieces."""
        model = _model(settings)
        converted: list[Path] = []
        if sources.base is not None:
            name, converted = prepared_base(sources.base, folder)
            model = replace(model, base=name)
        if not sources.path.is_file():
            raise MathAMRError(
                f"{sources.path} is not a file: MathAMR learns from JSON lines with topic, query, candidate and grade"
            )
        judged = JudgedLines.read(sources.path, training_base(model.base, folder).pieces, model.length)
        judged.save(folder / JUDGED)
        (folder / MODEL).write_text(json.dumps(model.to_json()) + "\n", encoding="utf-8")
        say(
            f"{len(judged):,} judgments of {len(set(judged.topics.tolist()))} topics, {len(judged.lines):,} lines"
        )
        return [folder / JUDGED, folder / MODEL, *converted]

    def planned(self, settings: TrainingSettings) -> Sequence[TrainingStage]:
        """The stages in order."""
        settings.checked((*STAGES, "model"))
        runs: dict[str, Callable[[StageWork], StageResult]] = {
            "contrast": lambda work: _learn(work, _training(settings, "contrast"), None),
            "ranking": lambda work: _learn(work, _training(settings, "ranking"), "contrast"),
            "join": _join,
        }
        return [
            TrainingStage(name, runs[name])
            for name in STAGES
            if not settings.stages or name in settings.stages
        ]


RECIPE = MathAMRRecipe()


def _model(settings: TrainingSettings) -> MathAMRConfiguration:
    if settings.config == "paper":
        raise MathAMRError(
            "MathAMR as published is trained and measured by: mathamr experiment mathamr-contexts --set contexts.base=BASE; no"
            f" index loads such a model. Configurations of a model for an index: {', '.join(CONFIGURATIONS)}"
        )
    if settings.config not in CONFIGURATIONS:
        raise UnknownNameError("configuration", settings.config, list(CONFIGURATIONS))
    settings.checked((*STAGES, "model"))
    found: MathAMRConfiguration = changed({"model": CONFIGURATIONS[settings.config]}, settings.of("model"))[
        "model"
    ]
    return found


def _training(settings: TrainingSettings, stage: str) -> LineTraining:
    return LineTraining(objective=stage).changed(settings.of(stage))


def _prepared_model(work: StageWork) -> MathAMRConfiguration:
    return MathAMRConfiguration.from_json(json.loads((work.prepared / MODEL).read_text(encoding="utf-8")))


def _changed(work: StageWork, model: MathAMRConfiguration, before: str | None, seed: int) -> TextEncoder:
    """Returns the base with changes beside its layers, as an earlier stage left them."""
    encoder = training_base(model.base, work.prepared)
    torch.manual_seed(seed)
    add_changes(encoder.model, model.rank)
    if before is not None and (work.folder(before) / CHANGES).exists():
        parameters = dict(encoder.model.named_parameters())
        with torch.no_grad():
            for name, value in read_tensors(work.folder(before) / CHANGES).items():
                parameters[name].copy_(value)
    return encoder


def _learn(work: StageWork, configuration: LineTraining, before: str | None) -> StageResult:
    encoder = _changed(work, _prepared_model(work), before, configuration.seed)
    encoder.model.to(work.resources.device)
    trainer = LineTrainer(
        encoder, JudgedLines.load(work.prepared / JUDGED), configuration, work.resources.device
    )
    progress = train(trainer, work.folder(configuration.objective), work.resources, fresh=work.fresh)
    return StageResult(progress.history, progress.done)


def _join(work: StageWork) -> StageResult:
    model = _prepared_model(work)
    last = next((stage for stage in ("ranking", "contrast") if (work.folder(stage) / CHANGES).exists()), None)
    if last is None:
        raise MathAMRError(f"nothing was trained in {work.out} yet: train contrast or ranking first")
    changes = halved(changes_of(_changed(work, model, last, 0).model))
    judged = JudgedLines.load(work.prepared / JUDGED)
    # A model must not be measured on its training judgments, so the folder records their number.
    learned = {"judgments": len(judged), "topics": len(set(judged.topics.tolist()))}
    base = training_base(model.base, work.prepared)
    MathAMRSystem(base, model, changes, about={"training": learned}).save(work.model)
    copy_base(model.base, work.prepared, work.model)
    return StageResult([{"model": str(work.model)}])
