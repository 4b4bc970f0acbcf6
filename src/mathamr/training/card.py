"""The training card: what a model was trained on, how, for how long, and its curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from mathamr.drawing import Drawing
from mathamr.errors import MathAMRError
from mathamr.progress import duration
from mathamr.training.checkpoint import Standing
from mathamr.training.machine import machine

if TYPE_CHECKING:
    from mathamr.training.learner import Learner
    from mathamr.training.task import Task

CARD, CURVES = "card.md", "curves.svg"
_WIDTH, _HEIGHT, _LEFT, _TOP = 520.0, 180.0, 70.0, 36.0
Points = Sequence[tuple[float, float]]


def write_card(folder: Path, task: Task, learner: Learner, standing: Standing, device: torch.device) -> None:
    """Writes `card.md` and `curves.svg` into a model's folder."""
    try:
        (folder / CARD).write_text(card(task, learner, standing, device), encoding="utf-8")
        (folder / CURVES).write_text(curves(standing), encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the training card in {folder}: {error}") from error


def card(task: Task, learner: Learner, standing: Standing, device: torch.device) -> str:
    """The card as Markdown."""
    shard = task.shard
    parameters = sum(p.numel() for p in learner.model.parameters())
    nodes, edges, reps = (int(shard.starts[name][-1]) for name in ("nodes", "edges", "reps"))
    posts = max(1, len(shard))
    state = "finished" if standing.done else f"in epoch {standing.epoch + 1}"
    return "\n".join(
        [
            "# Training card",
            "",
            f"Training is {state}; the best epoch is {standing.best_epoch}, by validation {task.configuration.monitor}.",
            "",
            "![curves](curves.svg)",
            "",
            "## Data",
            "",
            _table(
                ("", ""),
                [
                    ("graphs", f"{len(shard):,} posts, configuration `{shard.configuration}`"),
                    (
                        "size of a post",
                        f"{nodes / posts:.1f} nodes, {edges / posts:.1f} edges, {reps / posts:.1f} vectors",
                    ),
                    ("pairs", f"{len(task.train):,} to train on, {len(task.validation):,} to validate on"),
                    (
                        "vocabulary",
                        f"{len(shard.vocabulary):,} labels, {len(shard.relations):,} relations with inverses",
                    ),
                ],
            ),
            "",
            "## Epochs",
            "",
            _epochs(standing.history),
            "",
            "Validation searches for each question its own answer among the answers of the validation pairs"
            f" ({_searched(standing.history)} of them).",
            "",
            "## Configuration",
            "",
            _table(
                ("model", ""),
                [*learner.model.configuration.to_json().items(), ("parameters", f"{parameters:,}")],
            ),
            "",
            _table(("training", ""), list(task.configuration.to_json().items())),
            "",
            "## Machine",
            "",
            f"{machine(device)}; {task.processes.count} process{'es' if task.processes.count > 1 else ''};"
            f" {duration(standing.seconds)} in all.",
            "",
        ]
    )


def _searched(history: Sequence[dict[str, Any]]) -> str:
    found = [row["validation"]["searched"] for row in history if row["validation"]]
    return f"{found[-1]:,}" if found else "none"


def _epochs(history: Sequence[dict[str, Any]]) -> str:
    rows = []
    for row in history:
        validation = row["validation"] or {}
        measured = [f"{validation[name]:.4f}" if validation else "–" for name in ("loss", "mrr", "recall")]
        rows.append(
            (
                row["epoch"],
                f"{row['loss']:.4f}",
                *measured,
                f"{row['temperature']:.4f}",
                f"{row['training_seconds']:.1f}",
                f"{row['memory'] / 2**30:.2f}",
            )
        )
    heads = ("epoch", "loss", "validation loss", "MRR@10", "recall@10", "temperature", "seconds", "GiB")
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def curves(standing: Standing) -> str:
    """The losses and the measures over the steps, as SVG."""
    drawing = Drawing("Curves of a training")
    steps = max((step for step, _ in standing.curve), default=1)
    losses: list[tuple[str, str, Points]] = [("training loss", "amr", standing.curve)]
    measures: list[tuple[str, str, Points]] = []
    validated = [(row["step"], row["validation"]) for row in standing.history if row["validation"]]
    if validated:
        losses.append(("validation loss", "slt", [(step, row["loss"]) for step, row in validated]))
        measures.append(("MRR@10", "opt", [(step, row["mrr"]) for step, row in validated]))
        measures.append(("recall@10", "formula", [(step, row["recall"]) for step, row in validated]))
    _chart(
        drawing, 0, losses, steps, max((value for _, _, points in losses for _, value in points), default=1.0)
    )
    if measures:
        _chart(drawing, _HEIGHT + 80, measures, steps, 1.0)
    return drawing.svg()


def _chart(
    drawing: Drawing, top: float, series: Sequence[tuple[str, str, Points]], steps: float, high: float
) -> None:
    """Lines from zero to `high`: a loss is never below zero."""
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
