"""`Learner`: a model, its loss and its optimiser; one step at a time, whatever fits into memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor

from mathamr.layers.batch import GraphBatch
from mathamr.systems.mathamrplus.network import MathAMRPlus
from mathamr.training.configuration import TrainingConfiguration
from mathamr.training.losses import ContrastiveLoss
from mathamr.training.processes import Processes
from mathamr.training.task import Step


def rate(step: int, steps: int, configuration: TrainingConfiguration) -> float:
    """The learning rate of a step: a linear rise, then half a cosine down to the minimum (thesis, 3.4.5).

    >>> way = TrainingConfiguration(learning_rate=1.0, minimum_rate=0.1, warmup=0.5)
    >>> [round(rate(step, 8, way), 3) for step in (0, 3, 4, 7)]
    [0.25, 1.0, 1.0, 0.232]
    """
    rising = int(configuration.warmup * steps)
    if step < rising:
        return configuration.learning_rate * (step + 1) / rising
    turn = math.pi * (step - rising) / max(1, steps - rising)
    fall = configuration.learning_rate - configuration.minimum_rate
    return configuration.minimum_rate + fall * (1 + math.cos(turn)) / 2


class Learner:
    """Learns from steps: encodes, compares, and moves the weights by AdamW with clipped gradients."""

    def __init__(
        self,
        model: MathAMRPlus,
        configuration: TrainingConfiguration,
        steps: int,
        device: torch.device,
        processes: Processes | None = None,
    ) -> None:
        self.configuration, self.steps, self.device = configuration, steps, device
        self.processes = processes or Processes()
        self.model = model.to(device)
        self.loss = ContrastiveLoss(
            configuration.temperature, configuration.beta, configuration.formula_weight
        ).to(device)
        self.optimiser = torch.optim.AdamW(
            [
                {"params": list(self.model.parameters()), "weight_decay": configuration.weight_decay},
                {"params": list(self.loss.parameters()), "weight_decay": 0.0},
            ],
            lr=configuration.learning_rate,
            fused=True,
        )

    def learn(self, step: Step, number: int) -> Tensor:
        """Takes one step; the loss stays on the device, so that nothing has to wait for it."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate(number, self.steps, self.configuration)
        self.optimiser.zero_grad(set_to_none=True)
        self.model.train()
        loss = self._whole(step) if len(step.parts) <= 1 else self._in_parts(step)
        self.processes.sum_gradients(self.model.parameters(), self.loss.parameters())
        everything = [*self.model.parameters(), *self.loss.parameters()]
        torch.nn.utils.clip_grad_norm_(everything, self.configuration.clip)
        self.optimiser.step()
        return loss.detach()

    def encoded(self, parts: Iterable[GraphBatch]) -> Tensor:
        """The vectors of graphs, without gradients and without dropout."""
        self.model.eval()
        with torch.inference_mode():
            return self._joined([self._vectors(part) for part in parts])

    def _whole(self, step: Step) -> Tensor:
        vectors = self._joined([self._vectors(part) for part in step.parts])
        loss = self._compared(vectors, step)
        torch.autograd.backward(loss)
        return loss

    def _in_parts(self, step: Step) -> Tensor:
        """The gradient of a batch that is too large for memory: first all vectors, then each part with its gradient.

        Each part is encoded twice, the second time with the same random numbers as the first.
        """
        chances, parts = [], []
        for part in step.parts:
            chances.append(self._chance())
            with torch.no_grad():
                parts.append(self._vectors(part))
        vectors = torch.cat(parts).requires_grad_()
        loss = self._compared(vectors, step)
        torch.autograd.backward(loss)
        assert vectors.grad is not None
        after = self._chance()
        for part, chance, gradient in zip(
            step.parts, chances, torch.split(vectors.grad, [len(rows) for rows in parts]), strict=True
        ):
            self._use_chance(chance)
            torch.autograd.backward(self._vectors(part), gradient)
        self._use_chance(after)
        return loss

    def _vectors(self, part: GraphBatch) -> Tensor:
        with self._precision():
            vectors: Tensor = self.model(part.to(self.device))
        return vectors

    def _joined(self, parts: list[Tensor]) -> Tensor:
        return (
            torch.cat(parts)
            if parts
            else torch.zeros(0, self.model.configuration.projection, device=self.device)
        )

    def _compared(self, vectors: Tensor, step: Step) -> Tensor:
        gathered = self.processes.gather(vectors, step.gathered)
        if step.order is not None:
            gathered = gathered.index_select(0, step.order)
        loss: Tensor = self.loss(gathered[: step.questions], gathered[step.questions :], step.contrast)
        return loss

    @contextmanager
    def _precision(self) -> Iterator[None]:
        wanted = self.configuration.precision
        low = wanted == "bfloat16" or (wanted == "auto" and self.device.type == "cuda")
        with torch.autocast(self.device.type, torch.bfloat16) if low else nullcontext():
            yield

    def _chance(self) -> list[Tensor]:
        states = [torch.get_rng_state()]
        return [*states, torch.cuda.get_rng_state(self.device)] if self.device.type == "cuda" else states

    def _use_chance(self, states: Sequence[Tensor]) -> None:
        torch.set_rng_state(states[0])
        if self.device.type == "cuda" and len(states) > 1:
            torch.cuda.set_rng_state(states[1], self.device)

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on: weights, moments of the optimiser, random states."""
        state = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        state |= {f"loss.{name}": tensor for name, tensor in self.loss.state_dict().items()}
        for name, parameter in self._named():
            for kind, value in self.optimiser.state.get(parameter, {}).items():
                state[f"optimiser.{kind}.{name}"] = torch.as_tensor(value)
        for number, chance in enumerate(self._chance()):
            state[f"chance.{number}"] = chance
        return {name: tensor.detach().clone().contiguous() for name, tensor in state.items()}

    def use_state(self, state: dict[str, Tensor]) -> None:
        """The inverse of `state`."""
        self.model.load_state_dict(_under(state, "model."))
        self.loss.load_state_dict(_under(state, "loss."))
        for name, parameter in self._named():
            moments: dict[str, Any] = {}
            for kind in ("step", "exp_avg", "exp_avg_sq"):
                value = state.get(f"optimiser.{kind}.{name}")
                if value is not None:
                    moments[kind] = value.to(self.device)
            if moments:
                self.optimiser.state[parameter] = moments
        chances = _under(state, "chance.")
        self._use_chance([chances[number].cpu() for number in sorted(chances)])

    def _named(self) -> list[tuple[str, torch.nn.Parameter]]:
        named = [(f"model.{name}", parameter) for name, parameter in self.model.named_parameters()]
        return named + [(f"loss.{name}", parameter) for name, parameter in self.loss.named_parameters()]


def _under(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
