"""What every trainer must hold for the loop: the tests of a system's trainers call this with a way to make one."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr_lab.training import loop
from mathamr_lab.training.checkpoint import CHECKPOINT, TrainingProgress
from mathamr_lab.training.estimate import Estimated, measured
from mathamr_lab.training.loop import train
from mathamr_lab.training.plain import PlainTrainer
from mathamr_lab.training.resources import Resources
from mathamr_lab.training.trainer import Trainer

Make = Callable[[], Trainer[Any, Any]]
TIMES = ("seconds", "training_seconds", "memory")


def run(trainer: Trainer[Any, Any], out: Path) -> tuple[TrainingProgress, str]:
    """Trains on the processor, without threads."""
    stream = io.StringIO()
    resources = Resources(device=torch.device("cpu"), threads=0, stream=stream)
    return train(trainer, out, resources), stream.getvalue()


def check_trainer(make: Make, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole contract; `make` makes the same trainer every time, of at least two epochs of two steps."""
    check_what_it_says(make())
    check_a_step_depends_on_the_state_alone(make)
    check_a_stop_changes_nothing(make, folder, monkeypatch)
    trainer = make()
    if isinstance(trainer, Estimated):  # every one of ours, by its base class
        check_a_step_that_does_not_fit_is_refused(make(), folder / "refused")
        check_an_estimate_leaves_no_trace(trainer)
    if isinstance(trainer, PlainTrainer) and trainer.divides:
        check_parts_equal_the_whole(trainer)


def check_what_it_says(trainer: Trainer[Any, Any]) -> None:
    """Its numbers fit each other, and what is told of it can be written down."""
    assert trainer.epochs >= 2
    assert len(trainer.plan(0)) == trainer.steps >= 2
    assert json.dumps(trainer.identity())
    assert trainer.summary
    validation = trainer.validate()
    if validation is not None:
        assert set(validation.figures) == {each.name for each in trainer.measured}


def check_a_step_depends_on_the_state_alone(make: Make) -> None:
    """The second step from a state that was carried to another trainer is the second step."""
    first = make()
    batches = first.plan(0)
    first.learn(first.step(batches[0], 0), 0)
    state = {name: tensor.clone() for name, tensor in first.state().items()}
    loss = first.learn(first.step(batches[1], 0), 1)
    torch.rand(7)
    second = make()
    second.use_state(state)
    again = second.learn(second.step(second.plan(0)[1], 0), 1)
    assert torch.equal(loss, again)
    ours, theirs = first.state(), second.state()
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert torch.equal(tensor, theirs[name]), name


def check_a_stop_changes_nothing(make: Make, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was stopped in the middle of an epoch goes on to the same figures and the same files."""
    whole, _ = run(make(), folder / "whole")
    assert whole.done
    steps = make().steps
    for after in sorted({1, steps + 1}):
        count = 0

        def stop_now(self: object, stop: object, after: int = after) -> bool:
            nonlocal count
            count += 1
            return count == after

        out = folder / f"stopped-{after}"
        with monkeypatch.context() as patched:
            patched.setattr(loop._Run, "_shall_stop", stop_now)
            stopped, log = run(make(), out)
        assert not stopped.done
        assert "the same command goes on" in log
        resumed, log = run(make(), out)
        assert "going on from" in log
        assert _timeless(resumed) == _timeless(whole)
        for path in (folder / "whole").rglob("*.safetensors"):
            if path.name != CHECKPOINT:
                assert path.read_bytes() == (out / path.relative_to(folder / "whole")).read_bytes(), path


def _timeless(progress: TrainingProgress) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in TIMES} for row in progress.history]


def check_parts_equal_the_whole(trainer: PlainTrainer[Any]) -> None:
    """A step in parts has the loss and the gradients of the whole step."""
    step = trainer.step(trainer.plan(0)[0], 0)
    trainer.model.eval()  # dropout differs by chance
    whole, gradients = _computed(trainer, step, 1)
    assert float(gradients.norm()) > 1e-3
    for parts in (3, 100):
        loss, own = _computed(trainer, step, parts)
        assert torch.allclose(loss, whole, rtol=1e-5, atol=0)
        assert float((own - gradients).norm() / gradients.norm()) < 1e-5


def _computed(trainer: PlainTrainer[Any], step: Any, parts: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The loss of a step, and the gradients of all parameters behind each other."""
    for each in trainer.learned.values():
        each.grad = None
    trainer.parts = parts
    loss = trainer.loss(step)
    torch.autograd.backward(loss)
    found = [each.grad.flatten() for each in trainer.learned.values() if each.grad is not None]
    return loss.detach(), torch.cat(found)


def check_a_step_that_does_not_fit_is_refused(trainer: Trainer[Any, Any], out: Path) -> None:
    """Before anything is learned, with the setting that makes a step smaller."""
    resources = Resources(device=torch.device("cpu"), threads=0, stream=io.StringIO(), most_memory=1)
    with pytest.raises(
        MathAMRError, match=r"a step needs about .*; make it smaller with .*(batch_size|budget)"
    ):
        train(trainer, out, resources)
    assert not list(out.rglob("*.safetensors"))


def check_an_estimate_leaves_no_trace(trainer: Any) -> None:
    """An estimate comes near to what a step takes, and changes nothing that a step depends on."""
    before = trainer.state()
    estimate = trainer.estimate(0)
    after = trainer.state()
    assert before.keys() <= after.keys()  # a plan is made by the first step, too
    for name in before:
        assert torch.equal(before[name], after[name]), name
    assert all(each.grad is None for each in trainer.model.parameters())
    step = trainer.step(trainer.plan(0)[0], 0)
    taken = measured(lambda: trainer.learn(step, 0), trainer.device)
    assert 0.5 * taken.memory < estimate.memory < 2 * taken.memory, (taken, estimate)
    assert estimate.seconds > 0
