"""The training card: a model's training data, configuration, duration and curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mathamr.core.drawing import Drawing
from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr.systems.models import CARD_HEADER
from mathamr_lab.training.checkpoint import TrainingProgress
from mathamr_lab.training.resources import Resources
from mathamr_lab.training.trainer import TrainingSubject, ValidationFigure

CARD, CURVES = "README.md", "curves.svg"
_WIDTH, _HEIGHT, _LEFT, _TOP = 520.0, 180.0, 70.0, 36.0
_PLAIN = ("epoch", "step", "loss", "seconds", "training_seconds", "memory", "validation")
Points = Sequence[tuple[float, float]]


def write_card(
    folder: Path,
    subject: TrainingSubject,
    measured: Sequence[ValidationFigure],
    progress: TrainingProgress,
    resources: Resources,
) -> None:
    """Write `README.md` and `curves.svg` into a model's folder."""
    try:
        (folder / CARD).write_text(card(subject, measured, progress, resources), encoding="utf-8")
        (folder / CURVES).write_text(curves(measured, progress), encoding="utf-8")
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
        "![curves](curves.svg)",
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


def curves(measured: Sequence[ValidationFigure], progress: TrainingProgress) -> str:
    """Return the losses and the measures over the steps, as SVG."""
    drawing = Drawing("Curves of a training")
    steps = max((step for step, _ in progress.curve), default=1)
    losses: list[tuple[str, str, Points]] = [("training loss", "amr", progress.curve)]
    measures: list[tuple[str, str, Points]] = []
    validated = [(row["step"], row["validation"]) for row in progress.history if row["validation"]]
    kinds = iter(("slt", "opt", "formula", "virtual") * len(measured))
    for each in measured if validated else ():
        points = [(step, row[each.name]) for step, row in validated]
        (losses if each.loss else measures).append((each.heading, next(kinds), points))
    _chart(
        drawing, 0, losses, steps, max((value for _, _, points in losses for _, value in points), default=1.0)
    )
    if measures:
        _chart(drawing, _HEIGHT + 80, measures, steps, 1.0)
    return drawing.svg()


def _chart(
    drawing: Drawing, top: float, series: Sequence[tuple[str, str, Points]], steps: float, high: float
) -> None:
    """Draw lines from zero to `high`: a loss is never negative."""
    high = high if high > 0 else 1.0
    base = top + _TOP + _HEIGHT

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return _LEFT + _WIDTH * point[0] / steps, base - _HEIGHT * point[1] / high

    left = _LEFT
    for name, kind, points in series:
        drawing.text(left, top + 14, f"— {name}", kind)
        left += 170
        places = [place(point) for point in points]
        drawing.line(
            places if len(places) > 1 else [(x + shift, y) for x, y in places for shift in (-4, 4)], kind
        )
    for share in (0.0, 0.5, 1.0):
        y = base - _HEIGHT * share
        drawing.line([(_LEFT, y), (_LEFT + _WIDTH, y)], "axis", "dotted")
        drawing.text(8, y, f"{share * high:.3f}", "axis", "role")
        drawing.text(_LEFT + _WIDTH * share - 12, base + 14, f"{steps * share:,.0f}", "axis", "role")
    drawing.text(_LEFT + _WIDTH + 24, base + 14, "steps", "axis", "role")
