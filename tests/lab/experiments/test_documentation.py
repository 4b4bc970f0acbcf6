"""What a user can name is in lab/notes/experiments.md."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import get_type_hints

from mathamr_lab.cli.experiment import command
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.experiment import GraphExperiment
from mathamr_lab.experiments.scale import SCALES

DOCS = (Path(__file__).resolve().parents[3] / "lab" / "notes" / "experiments.md").read_text(encoding="utf-8")


def test_every_experiment_and_scale_is_documented() -> None:
    for name in (*EXPERIMENTS, *SCALES):
        assert f"`{name}`" in DOCS, name
    for name in EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        assert not isinstance(experiment, GraphExperiment) or experiment.section in DOCS, name


def test_every_option_is_documented() -> None:
    hints = get_type_hints(command, include_extras=True)
    for name in inspect.signature(command).parameters:
        (option,) = hints[name].__metadata__
        given = [flag for flag in (option.default, *(option.param_decls or ())) if isinstance(flag, str)]
        if name != "names":
            assert next(iter(given), f"--{name.replace('_', '-')}") in DOCS, name
