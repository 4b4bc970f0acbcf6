"""The training card: a model's training data, configuration, duration and epochs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr.systems.models import card_header
from mathamr_lab.training.checkpoint import TrainingProgress
from mathamr_lab.training.resources import Resources
from mathamr_lab.training.trainer import Trainer, ValidationFigure

CARD = "README.md"
_PLAIN = ("epoch", "step", "loss", "seconds", "training_seconds", "memory", "validation")


def write_card(
    folder: Path, trainer: Trainer[Any, Any], progress: TrainingProgress, resources: Resources
) -> None:
    """Write `README.md` into a model's folder: Markdown with the header that the Hugging Face Hub reads."""
    state = "finished" if progress.done else f"in epoch {progress.epoch + 1}"
    parts = ["\n".join(card_header({"language": ["en"]})), "# Training card", trainer.summary]
    parts.append(f"Training is {state}; the best epoch is {progress.best_epoch}.")
    parts += ["## Epochs", _epochs(trainer.measured, progress), "## Configuration"]
    parts += [
        _table((name, ""), list(each.items()))
        for name, each in trainer.identity().items()
        if isinstance(each, dict)
    ]
    parts += ["## Machine", f"{resources.machine}; {duration(progress.seconds)} in all."]
    try:
        (folder / CARD).write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the training card in {folder}: {error}") from error


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
