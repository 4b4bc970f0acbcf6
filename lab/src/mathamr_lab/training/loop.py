"""The training loop: epochs, validation, early stopping, checkpoints, progress, and finally the best network."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Generic, TypeVar

import torch

from mathamr.core.batches import prefetched
from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr_lab.training.card import write_card
from mathamr_lab.training.checkpoint import CHECKPOINT, TrainingProgress, load_checkpoint, save_checkpoint
from mathamr_lab.training.estimate import Estimated
from mathamr_lab.training.resources import Resources
from mathamr_lab.training.trainer import Trainer, Validation

SECONDS_BETWEEN_CHECKPOINTS = 300.0
SECONDS_BETWEEN_LINES = 10.0
CHECKS_AN_EPOCH = 40
"""How often the loss is looked at: more often would make a GPU wait."""

B = TypeVar("B")
S = TypeVar("S")


def train(
    trainer: Trainer[B, S], out: Path, resources: Resources, *, fresh: bool = False
) -> TrainingProgress:
    """Train into a folder; a stopped run continues from its checkpoint there."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MathAMRError(f"cannot create the model folder {out}: {error}") from error
    run = _Run(trainer, out, resources)
    path = out / CHECKPOINT
    if path.exists() and not fresh:
        state, run.progress = load_checkpoint(path, run.identity)
        if not run.progress.done:
            trainer.use_state(state)
            run.say(f"going on from {path}: epoch {run.progress.epoch + 1}, step {run.progress.step}")
    run.go()
    return run.progress


class _Run(Generic[B, S]):
    def __init__(self, trainer: Trainer[B, S], out: Path, resources: Resources) -> None:
        self.trainer, self.out, self.resources = trainer, out, resources
        self.progress, self.steps = TrainingProgress(), trainer.steps
        self.identity = trainer.identity()
        self._started = self._saved = time.monotonic()
        self._seconds_before = 0.0

    def say(self, line: str) -> None:
        """Print a line of progress."""
        print(line, file=self.resources.stream or sys.stderr, flush=True)

    def go(self) -> None:
        """Train until the last epoch, early stopping, or a request to stop."""
        progress = self.progress
        if progress.done:
            self._say_done()
            return
        self._seconds_before = progress.seconds
        with _wish_to_stop() as stop:
            self.say(f"{self.trainer.summary}, {self.resources.device}")
            if isinstance(self.trainer, Estimated):
                self._fit(self.trainer)
            if self.trainer.pretrained and not progress.epoch and not progress.step:
                self._before()
            while progress.epoch < self.trainer.epochs and not progress.done:
                if not self._epoch(stop):
                    self._checkpoint()
                    self.say("stopped; the same command goes on from here")
                    return
                self._end_of_epoch()
        progress.done = True
        self._checkpoint()
        self._say_done()

    def _fit(self, trainer: Estimated) -> None:
        """Say what a step takes, and compute it in parts, or refuse it, if it does not fit into memory."""
        estimate = trainer.estimate(self.progress.epoch).within(self.resources.room)
        trainer.parts = estimate.parts
        steps = self.steps * self.trainer.epochs
        left = steps - self.progress.epoch * self.steps - self.progress.step
        self.say(estimate.line(f"{self.trainer.examples:,} {self.trainer.unit}", steps, left))

    def _say_done(self) -> None:
        progress = self.progress
        self.say(f"done: best epoch {progress.best_epoch} of {progress.epoch}, the model is in {self.out}")

    def _before(self) -> None:
        validation = self.trainer.validate()
        if validation is not None:
            self.progress.before = validation.to_json()
            self.say(f"before training: {self._worded(validation)}")

    def _epoch(self, stop: threading.Event) -> bool:
        """Train the rest of an epoch; return False if it was stopped before its end."""
        progress, trainer = self.progress, self.trainer
        plan = trainer.plan(progress.epoch)
        loss_sum = torch.tensor(progress.loss_sum, dtype=torch.float64, device=self.resources.device)
        check = max(1, self.steps // CHECKS_AN_EPOCH)
        began, first_step, due = time.monotonic(), progress.step, time.monotonic() + SECONDS_BETWEEN_LINES

        def made(batch: B) -> S:
            return trainer.step(batch, progress.epoch)

        for step in prefetched(made, plan[progress.step :], self.resources.threads):
            loss_sum += trainer.learn(step, progress.epoch * self.steps + progress.step)
            progress.step += 1
            if (progress.step % check == 0 or progress.step == self.steps) and not torch.isfinite(loss_sum):
                raise MathAMRError(
                    f"the loss is no longer a number in epoch {progress.epoch + 1}, step {progress.step}; try a lower"
                    " learning_rate or clip"
                )
            now = time.monotonic()
            if now >= due:
                due = now + SECONDS_BETWEEN_LINES
                progress.loss_sum = float(loss_sum)
                self._report((now - began) / (progress.step - first_step))
            if now - self._saved >= SECONDS_BETWEEN_CHECKPOINTS and progress.step < self.steps:
                progress.loss_sum = float(loss_sum)
                self._checkpoint()
            if self._shall_stop(stop) and progress.step < self.steps:
                progress.loss_sum = float(loss_sum)
                return False
        progress.loss_sum = float(loss_sum)
        return True

    def _shall_stop(self, stop: threading.Event) -> bool:
        minutes = self.resources.minutes
        late = minutes is not None and time.monotonic() - self._started > 60 * minutes
        return stop.is_set() or late

    def _report(self, seconds_a_step: float) -> None:
        progress, trainer = self.progress, self.trainer
        number = progress.epoch * self.steps + progress.step
        left = (self.steps * trainer.epochs - number) * seconds_a_step
        figures = "".join(f", {name} {value:.3g}" for name, value in trainer.figures(number).items())
        self.say(
            f"epoch {progress.epoch + 1}/{trainer.epochs}, step {progress.step}/{self.steps}:"
            f" loss {progress.loss_sum / progress.step:.4f}{figures},"
            f" {trainer.examples / seconds_a_step:,.0f} {trainer.unit}/s,"
            f" {self.resources.memory / 2**30:.2f} GiB, {duration(left)} left"
        )

    def _end_of_epoch(self) -> None:
        progress, trainer = self.progress, self.trainer
        trained = self._elapsed()
        validation = self.trainer.validate()
        before = sum(row["seconds"] for row in progress.history)
        row: dict[str, Any] = {
            "epoch": progress.epoch + 1,
            "step": (progress.epoch + 1) * self.steps,
            "loss": progress.loss_sum / self.steps,
            **trainer.figures((progress.epoch + 1) * self.steps),
            "seconds": self._elapsed() - before,
            "training_seconds": trained - before,
            "memory": self.resources.memory,
            "validation": None if validation is None else validation.to_json(),
        }
        progress.history.append(row)
        progress.epoch, progress.step, progress.loss_sum = progress.epoch + 1, 0, 0.0
        worth = None if validation is None else validation.worth
        better = worth is None or progress.best is None or worth > progress.best
        progress.best, progress.waited = (worth, 0) if better else (progress.best, progress.waited + 1)
        line = (
            f"epoch {progress.epoch}/{trainer.epochs} in {duration(row['seconds'])}: loss {row['loss']:.4f}"
        )
        if validation is not None:
            line += f", {self._worded(validation)}"
        self.say(line + (", best so far" if better else f", no better for {progress.waited}"))
        if better:
            progress.best_epoch = progress.epoch
            trainer.save(self.out, {"best": row})
        if progress.waited >= trainer.patience:
            self.say(f"stopping early: no better for {progress.waited} epochs")
            progress.done = True
        self._checkpoint()

    def _worded(self, validation: Validation) -> str:
        figures = (f"{each.heading} {validation.figures[each.name]:.4f}" for each in self.trainer.measured)
        return f"{', '.join(figures)} among {validation.searched:,}"

    def _elapsed(self) -> float:
        return self._seconds_before + time.monotonic() - self._started

    def _checkpoint(self) -> None:
        """Write the state, and the card; a finished run needs no state."""
        progress = self.progress
        progress.seconds = self._elapsed()
        self._saved = time.monotonic()
        state = {} if progress.done else self.trainer.state()
        save_checkpoint(self.out / CHECKPOINT, state, progress, self.identity)
        if progress.history:
            write_card(self.out, self.trainer, progress, self.resources)


@contextmanager
def _wish_to_stop() -> Iterator[threading.Event]:
    """Yield an event that a first interrupt sets, so that the step is finished and saved; a second one ends at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.getsignal(kind) for kind in kinds}

    def wish(kind: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.signal(kind, before[signal.Signals(kind)])

    for kind in kinds:
        signal.signal(kind, wish)
    try:
        yield stop
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
