"""The training loop: epochs, validation, early stopping, checkpoints, progress, and the model in the end."""

from __future__ import annotations

import signal
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt
import torch

from mathamr.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.layers.batch import ahead
from mathamr.layers.textvectors import TextTable
from mathamr.layers.weights import ModelHead, save_model
from mathamr.progress import duration
from mathamr.systems.mathamrplus.configuration import ModelConfiguration
from mathamr.systems.mathamrplus.network import MathAMRPlus
from mathamr.training.card import write_card
from mathamr.training.checkpoint import Standing, load_checkpoint, save_checkpoint
from mathamr.training.configuration import TrainingConfiguration
from mathamr.training.learner import Learner, rate
from mathamr.training.machine import memory_in_use
from mathamr.training.negatives import HardNegatives
from mathamr.training.pairs import batches
from mathamr.training.processes import Processes
from mathamr.training.task import Step, Task
from mathamr.training.validation import Validation, validate

CHECKPOINT = "checkpoint.safetensors"
SECONDS_BETWEEN_CHECKPOINTS = 300.0
SECONDS_BETWEEN_LINES = 10.0
POINTS_AN_EPOCH = 40
AGREEMENT = 16
"""Steps after which several processes agree whether to stop."""


@dataclass(frozen=True, slots=True, eq=False)
class Materials:
    """What a model is made from: graphs and pairs, and on demand text vectors, vectors of labels, hard negatives."""

    shard: Shard
    texts: TextTable | None = None
    labels: npt.NDArray[Any] | None = None
    negatives: HardNegatives | None = None

    def fingerprint(self) -> int:
        """Equal for equal materials."""
        arrays = [
            *self.shard.columns.values(),
            *self.shard.starts.values(),
            np.array(self.shard.pairs, np.int64),
        ]
        if self.texts is not None:
            arrays += [self.texts.vectors, self.texts.rows]
        if self.labels is not None:
            arrays.append(self.labels)
        if self.negatives is not None:
            arrays += [self.negatives.starts, self.negatives.numbers]
        check = 0
        for array in arrays:
            check = zlib.crc32(np.ascontiguousarray(array).data, check)
        return check


@dataclass(frozen=True, slots=True)
class Means:
    """What a run may use: device, threads that make batches ahead, minutes after which it stops for now."""

    device: torch.device
    processes: Processes = field(default_factory=Processes)
    threads: int = 1
    minutes: float | None = None
    half: bool = False
    stream: TextIO | None = None


def train(
    materials: Materials,
    model: ModelConfiguration,
    configuration: TrainingConfiguration,
    out: Path,
    means: Means,
    *,
    fresh: bool = False,
) -> Standing:
    """Trains a model into a folder; a run that was stopped goes on from its checkpoint there."""
    run = _Run(materials, model, configuration, out, means)
    path = out / CHECKPOINT
    if path.exists() and not fresh:
        state, run.standing = load_checkpoint(path, run.identity)
        run.learner.use_state(state)
        run.say(f"going on from {path}: epoch {run.standing.epoch + 1}, step {run.standing.step}")
    run.go()
    return run.standing


class _Run:
    def __init__(
        self,
        materials: Materials,
        model: ModelConfiguration,
        configuration: TrainingConfiguration,
        out: Path,
        means: Means,
    ) -> None:
        self.configuration, self.out, self.means, self.standing = configuration, out, means, Standing()
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MathAMRError(f"cannot make the model folder {out}: {error}") from error
        shard = materials.shard
        if model.text_size and (materials.texts is None or materials.texts.size != model.text_size):
            found = "there are none" if materials.texts is None else f"theirs is {materials.texts.size}"
            raise MathAMRError(f"the model takes text vectors of size {model.text_size}, but {found}")
        self.task = Task(
            shard,
            configuration,
            texts=materials.texts if model.text_size else None,
            negatives=materials.negatives,
            processes=means.processes,
        )
        torch.manual_seed(configuration.seed)
        network = MathAMRPlus(model, len(shard.vocabulary), len(shard.relations))
        if materials.labels is not None:
            network.start_labels_from(torch.from_numpy(materials.labels))
        self.steps = len(batches(len(self.task.train), configuration.batch_size, 0, 0))
        self.learner = Learner(
            network, configuration, self.steps * configuration.epochs, means.device, means.processes
        )
        if means.processes.rank:
            torch.manual_seed(configuration.seed + means.processes.rank)
        self.identity = {
            "model": model.to_json(),
            "training": configuration.to_json(),
            "materials": materials.fingerprint(),
            "processes": means.processes.count,
        }
        self.unknown = materials.negatives.unknown if materials.negatives else 0
        self.head = ModelHead("mathamrplus", model.to_json(), shard.configuration)
        self._started = self._saved = time.monotonic()
        self._seconds_before = 0.0

    def say(self, line: str) -> None:
        """A line of progress, from one process only."""
        if self.means.processes.first:
            print(line, file=self.means.stream or sys.stderr, flush=True)

    def go(self) -> None:
        """Trains until the last epoch, early stopping, or a wish to stop."""
        standing, way = self.standing, self.configuration
        self._seconds_before = standing.seconds
        with _wish_to_stop() as stop:
            self._say_what_it_is()
            while standing.epoch < way.epochs and not standing.done:
                if not self._epoch(stop):
                    self._checkpoint()
                    self.say("stopped; the same command goes on from here")
                    return
                self._end_of_epoch()
        standing.done = True
        self._checkpoint()
        self.say(f"done: best epoch {standing.best_epoch} of {standing.epoch}, the model is in {self.out}")

    def _say_what_it_is(self) -> None:
        self.say(
            f"training on {len(self.task.train):,} pairs, validating on {len(self.task.validation):,};"
            f" {sum(p.numel() for p in self.learner.model.parameters()):,} parameters, {self.means.device}"
        )
        if self.unknown:
            self.say(f"{self.unknown:,} ids of the hard negatives are not in the shard: left out")

    def _epoch(self, stop: threading.Event) -> bool:
        """The rest of an epoch; False when it was to stop before its end."""
        standing, way, device = self.standing, self.configuration, self.means.device
        plan = batches(len(self.task.train), way.batch_size, way.seed, standing.epoch)
        loss_sum = torch.tensor(standing.loss_sum, dtype=torch.float64, device=device)
        mark = max(1, self.steps // POINTS_AN_EPOCH)
        began, first_step, due = time.monotonic(), standing.step, time.monotonic() + SECONDS_BETWEEN_LINES

        def made(places: npt.NDArray[np.int64]) -> Step:
            return self.task.step(self.task.train[places], places, standing.epoch, device)

        for step in ahead(made, plan[standing.step :], self.means.threads):
            loss_sum += self.learner.learn(step, standing.epoch * self.steps + standing.step)
            standing.step += 1
            if standing.step % mark == 0 or standing.step == self.steps:
                self._mark(float(loss_sum), (standing.step - 1) % mark + 1)
            now = time.monotonic()
            if now >= due and self.means.processes.first:
                due = now + SECONDS_BETWEEN_LINES
                standing.loss_sum = float(loss_sum)
                self._report((now - began) / (standing.step - first_step))
            if now - self._saved >= SECONDS_BETWEEN_CHECKPOINTS and standing.step < self.steps:
                standing.loss_sum = float(loss_sum)
                self._checkpoint()
            if self._shall_stop(stop) and standing.step < self.steps:
                standing.loss_sum = float(loss_sum)
                return False
        standing.loss_sum = float(loss_sum)
        return True

    def _mark(self, loss_sum: float, count: int) -> None:
        """A point of the curve; a loss that is no number ends the run here."""
        standing = self.standing
        mean = (loss_sum - standing.marked) / count
        if not np.isfinite(mean):
            raise MathAMRError(
                f"the loss is no longer a number in epoch {standing.epoch + 1}, step {standing.step}; try a lower"
                " learning_rate or clip"
            )
        standing.curve.append((standing.epoch * self.steps + standing.step, mean))
        standing.marked = loss_sum

    def _shall_stop(self, stop: threading.Event) -> bool:
        late = self.means.minutes is not None and time.monotonic() - self._started > 60 * self.means.minutes
        wish = stop.is_set() or late
        if self.means.processes.count == 1:
            return wish
        if self.standing.step % AGREEMENT:
            return False
        return bool(self.means.processes.agreed(torch.tensor(float(wish), device=self.means.device)))

    def _report(self, seconds_a_step: float) -> None:
        standing, way = self.standing, self.configuration
        number = standing.epoch * self.steps + standing.step
        left = (self.steps * way.epochs - number) * seconds_a_step
        self.say(
            f"epoch {standing.epoch + 1}/{way.epochs}, step {standing.step}/{self.steps}:"
            f" loss {standing.loss_sum / standing.step:.4f}, temperature {float(self.learner.loss.temperature.detach()):.4f},"
            f" rate {rate(number, self.steps * way.epochs, way):.2e}, {way.batch_size / seconds_a_step:,.0f} pairs/s,"
            f" {memory_in_use(self.means.device) / 2**30:.2f} GiB, {duration(left)} left"
        )

    def _end_of_epoch(self) -> None:
        standing, way = self.standing, self.configuration
        trained = self._elapsed()
        validation = self._validated()
        before = sum(row["seconds"] for row in standing.history)
        row: dict[str, Any] = {
            "epoch": standing.epoch + 1,
            "step": (standing.epoch + 1) * self.steps,
            "loss": standing.loss_sum / self.steps,
            "temperature": float(self.learner.loss.temperature.detach()),
            "seconds": self._elapsed() - before,
            "training_seconds": trained - before,
            "memory": memory_in_use(self.means.device),
            "validation": None if validation is None else validation.to_json(),
        }
        standing.history.append(row)
        standing.epoch, standing.step, standing.loss_sum, standing.marked = standing.epoch + 1, 0, 0.0, 0.0
        value = _worth(validation, way)
        better = value is None or standing.best is None or value < standing.best
        standing.best, standing.waited = (value, 0) if better else (standing.best, standing.waited + 1)
        line = f"epoch {standing.epoch}/{way.epochs} in {duration(row['seconds'])}: loss {row['loss']:.4f}"
        if validation is not None:
            line += (
                f", validation {validation.loss:.4f}, MRR@10 {validation.mrr:.4f}, recall@10 {validation.recall:.4f}"
                f" among {validation.searched:,}"
            )
        self.say(line + (", best so far" if better else f", no better for {standing.waited}"))
        if better:
            standing.best_epoch = standing.epoch
            self._save_model()
        if standing.waited >= way.patience:
            self.say(f"stopping early: no better for {standing.waited} epochs")
            standing.done = True
        self._checkpoint()

    def _validated(self) -> Validation | None:
        """The first process's measures, for all to agree on."""
        result = validate(self.learner, self.task)
        if result is None or self.means.processes.count == 1:
            return result
        numbers = torch.tensor([result.loss, result.mrr, result.recall], dtype=torch.float64)
        loss, mrr, recall = self.means.processes.agreed(numbers.to(self.means.device)).tolist()
        return Validation(loss, mrr, recall, result.searched)

    def _elapsed(self) -> float:
        return self._seconds_before + time.monotonic() - self._started

    def _save_model(self) -> None:
        if self.means.processes.first:
            shard, last = self.task.shard, self.standing.history[-1]
            about = {"training": self.configuration.to_json(), "pairs": len(self.task.train), "best": last}
            head = ModelHead(self.head.encoder, self.head.model, self.head.graphs, about=about)
            weights = self.learner.model.state_dict()
            save_model(self.out, head, weights, shard.vocabulary, shard.relations, half=self.means.half)

    def _checkpoint(self) -> None:
        self.standing.seconds = self._elapsed()
        self._saved = time.monotonic()
        if self.means.processes.first:
            save_checkpoint(self.out / CHECKPOINT, self.learner.state(), self.standing, self.identity)
            if self.standing.history:
                write_card(self.out, self.task, self.learner, self.standing, self.means.device)


def _worth(validation: Validation | None, way: TrainingConfiguration) -> float | None:
    """What is to fall from epoch to epoch."""
    if validation is None:
        return None
    return validation.loss if way.monitor == "loss" else -validation.mrr


@contextmanager
def _wish_to_stop() -> Iterator[threading.Event]:
    """An event that a first interrupt sets, so that the step is finished and saved; a second one ends at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.getsignal(kind) for kind in kinds}

    def wish(kind: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(kind, before[signal.Signals(kind)])

    for kind in kinds:
        signal.signal(kind, wish)
    try:
        yield stop
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
