"""The training card: a model's training data, configuration, duration and epochs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr.systems.models import CARD_HEADER
from mathamr_lab.training.checkpoint import TrainingProgress
from mathamr_lab.training.resources import Resources
from mathamr_lab.training.trainer import TrainingSubject, ValidationFigure

CARD = "README.md"
_PLAIN = ("epoch", "step", "loss", "seconds", "training_seconds", "memory", "validation")


def write_card(
    folder: Path,
    subject: TrainingSubject,
    measured: Sequence[ValidationFigure],
    progress: TrainingProgress,
    resources: Resources,
) -> None:
    """Write `README.md` into a model's folder."""
    try:
        (folder / CARD).write_text(card(subject, measured, progress, resources), encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the training card in {folder}: {error}") from error


def card(
    subject: TrainingSubject,
    measured: Sequence[ValidationFigure],
    progress: TrainingProgress,
    resources: Resources,
) -> str:
    """Return the card as Markdown with the header that the Hugging Face Hub reads."""
    state = "finished" if progress.done else f"in epoch {progress.epoch + 1}"
    lines = [
        *CARD_HEADER,
        "# Training card",
        "",
        f"Training is {state}; the best epoch is {progress.best_epoch}, by validation {subject.monitor}.",
        "",
        "## Data",
        "",
        _table(("", ""), subject.data),
        "",
        "## Epochs",
        "",
        _epochs(measured, progress),
        "",
        f"{subject.validation} ({_searched(progress.history)} of them).",
        "",
        "## Configuration",
        "",
    ]
    for name, configuration in subject.configurations.items():
        lines += [_table((name, ""), list(configuration.items())), ""]
    lines += [
        "## Machine",
        "",
        f"{resources.machine}; {duration(progress.seconds)} in all.",
        "",
    ]
    return "\n".join(lines)


def _searched(history: Sequence[dict[str, Any]]) -> str:
    found = [row["validation"]["searched"] for row in history if row["validation"]]
    return f"{found[-1]:,}" if found else "none"


def _epochs(measured: Sequence[ValidationFigure], progress: TrainingProgress) -> str:
    further = [name for name in progress.history[0] if name not in _PLAIN] if progress.history else []
    heads = ("epoch", "loss", *(each.heading for each in measured), *further, "seconds", "GiB")
    rows: list[Sequence[object]] = []
    if progress.before:
        begin = [f"{progress.before[each.name]:.4f}" for each in measured]
        rows.append(("before", "–", *begin, *("–" for _ in further), "–", "–"))
    for row in progress.history:
        validation = row["validation"]
        rows.append(
            (
                row["epoch"],
                f"{row['loss']:.4f}",
                *(f"{validation[each.name]:.4f}" if validation else "–" for each in measured),
                *(f"{row[name]:.4g}" for name in further),
                f"{row['training_seconds']:.1f}",
                f"{row['memory'] / 2**30:.2f}",
            )
        )
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
