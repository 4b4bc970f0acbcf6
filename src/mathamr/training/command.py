"""What `mathamr train` and `python -m mathamr.training` share: from names and paths to a run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.configured import known_fields
from mathamr.errors import MathAMRError, UnknownNameError
from mathamr.graphs import shard as shards
from mathamr.layers.textvectors import TextTable
from mathamr.systems.mathamrplus.configuration import ModelConfiguration, model_configuration
from mathamr.training.checkpoint import Standing
from mathamr.training.configuration import TrainingConfiguration, training_configuration


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asks for; `changes` are fields of either configuration as ``name=value``."""

    shard: Path
    out: Path
    config: str = "thesis"
    changes: tuple[str, ...] = ()
    device: str = "auto"
    threads: int = 1
    texts: Path | None = None
    labels: Path | None = None
    negatives: Path | None = None
    minutes: float | None = None
    half: bool = False
    fresh: bool = False


def configured(name: str, changes: Iterable[str]) -> tuple[ModelConfiguration, TrainingConfiguration]:
    """The named configuration with some fields changed.

    >>> model, training = configured("thesis", ["hidden=128", "beta=0.3", "virtual_start=mean"])
    >>> model.hidden, model.virtual_start, training.beta
    (128, 'mean', 0.3)
    """
    model, training = model_configuration(name), training_configuration(name)
    models = {field.name for field in fields(ModelConfiguration)}
    trainings = {field.name for field in fields(TrainingConfiguration)}
    for change in changes:
        field, equals, text = change.partition("=")
        if not equals:
            raise MathAMRError(f"cannot read the change {change!r}; expected NAME=VALUE")
        value = _value(text)
        if field in models:
            model = replace(model, **known_fields(ModelConfiguration, {field: value}, "model"))
        elif field in trainings:
            training = replace(training, **known_fields(TrainingConfiguration, {field: value}, "training"))
        else:
            raise UnknownNameError("configuration field", field, sorted(models | trainings))
    return model, training


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def run(request: Request) -> Standing | None:
    """Trains as asked; only the first of several processes has a result."""
    from mathamr.training.loop import Materials, Means, train
    from mathamr.training.negatives import HardNegatives
    from mathamr.training.processes import join, leave

    model, training = configured(request.config, request.changes)
    shard = shards.load(request.shard)
    materials = Materials(
        shard,
        TextTable.load(request.texts) if request.texts else None,
        _labels(request.labels) if request.labels else None,
        HardNegatives.load(request.negatives, shard.ids) if request.negatives else None,
    )
    processes, device = join(request.device)
    try:
        means = Means(device, processes, request.threads, request.minutes, request.half)
        standing = train(materials, model, training, request.out, means, fresh=request.fresh)
    finally:
        leave()
    return standing if processes.first else None


def _labels(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise MathAMRError(f"{path} holds no vectors of labels (.npy): {error}") from error
