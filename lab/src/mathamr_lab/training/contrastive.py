"""`ContrastiveTrainer`: a network, its contrastive loss and its optimiser; a step may exceed memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from mathamr.core.tensorfile import under
from mathamr_lab.training.checkpoint import random_states, use_random_states
from mathamr_lab.training.estimate import StepEstimate, measured
from mathamr_lab.training.losses import Contrast, TemperedLoss
from mathamr_lab.training.optimiser import Optimiser

P = TypeVar("P")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ContrastiveStep(Generic[P]):
    """The work of a step: its posts in parts, and what all vectors together represent, the first `questions` of them questions."""

    parts: tuple[P, ...]
    questions: int
    contrast: Contrast


class ContrastiveTrainer(ABC, Generic[P]):
    """Learns from steps: encodes, compares, and updates the weights; a subclass sets the fields and encodes a part.

    `size` is that of a vector.
    """

    model: nn.Module
    loss: TemperedLoss
    optimiser: Optimiser
    device: torch.device
    size: int
    parts = 1
    """Its steps are cut by the budget of their configuration."""

    @abstractmethod
    def plan(self, epoch: int) -> Sequence[Any]:
        """Return the batches of an epoch."""

    @abstractmethod
    def step(self, batch: Any, epoch: int) -> ContrastiveStep[P]:
        """Return the work of a batch."""

    def estimate(self, epoch: int) -> StepEstimate:
        """Estimate a step by one part of an epoch's first one, and by its comparison; nothing is learned from them."""
        step, states = self.step(self.plan(epoch)[0], epoch), random_states(self.device)
        learned = [each for each in (*self.model.parameters(), *self.loss.parameters()) if each.requires_grad]
        rows = step.contrast.query_rows.shares, step.contrast.document_rows.shares
        count = sum(map(len, rows))

        def encode() -> None:
            self.model.train()
            for part in step.parts[:1]:
                torch.autograd.backward(self.encode(part).sum())

        def compare() -> None:
            vectors = nn.functional.normalize(torch.randn(count, self.size, device=self.device), dim=-1)
            torch.autograd.backward(self._compared(vectors.requires_grad_(), step))

        encoded, compared = measured(encode, self.device), measured(compare, self.device)
        for each in learned:
            each.grad = None
        use_random_states(states, self.device)
        moments = 2 * sum(each.nbytes for each in learned)
        parts = len(step.parts)
        return StepEstimate(
            shared=moments + encoded.memory + compared.memory,
            divided=0.0,
            seconds=encoded.seconds * parts * (4 / 3 if parts > 1 else 1) + compared.seconds,
            fewer="a smaller budget, which cuts a step into parts"
            if parts == 1
            else "a smaller budget or batch_size",
        )

    @abstractmethod
    def encode(self, part: P) -> Tensor:
        """Return the vectors of a part."""

    def learn(self, step: ContrastiveStep[P], number: int) -> Tensor:
        """Take one step; the loss stays on the device, so that nothing waits for it."""
        self.optimiser.begin(number)
        self.model.train()
        loss = self._whole(step) if len(step.parts) <= 1 else self._in_parts(step)
        self.optimiser.update()
        return loss.detach()

    def figures(self, number: int) -> dict[str, float]:
        """Return the temperature, and the rate of the first parameters."""
        return {"temperature": float(self.loss.temperature.detach()), "rate": self.optimiser.rate(number)}

    def encoded(self, parts: Iterable[P]) -> Tensor:
        """Return the vectors of parts, without gradients and without dropout."""
        self.model.eval()
        with torch.inference_mode():
            return self._joined([self.encode(part) for part in parts])

    def _whole(self, step: ContrastiveStep[P]) -> Tensor:
        loss = self._compared(self._joined([self.encode(part) for part in step.parts]), step)
        torch.autograd.backward(loss)
        return loss

    def _joined(self, parts: list[Tensor]) -> Tensor:
        return torch.cat(parts) if parts else torch.zeros(0, self.size, device=self.device)

    def _compared(self, vectors: Tensor, step: ContrastiveStep[P]) -> Tensor:
        loss: Tensor = self.loss(vectors[: step.questions], vectors[step.questions :], step.contrast)
        return loss

    def _in_parts(self, step: ContrastiveStep[P]) -> Tensor:
        """Compute the gradient of a batch that exceeds memory: first all vectors, then each part with its gradient.

        Each part is encoded twice, with the same random numbers.
        """
        before, parts = [], []
        for part in step.parts:
            before.append(random_states(self.device))
            with torch.no_grad():
                parts.append(self.encode(part))
        vectors = torch.cat(parts).requires_grad_()
        loss = self._compared(vectors, step)
        torch.autograd.backward(loss)
        assert vectors.grad is not None
        after = random_states(self.device)
        for part, states, gradient in zip(
            step.parts, before, torch.split(vectors.grad, [len(rows) for rows in parts]), strict=True
        ):
            use_random_states(states, self.device)
            torch.autograd.backward(self.encode(part), gradient)
        use_random_states(after, self.device)
        return loss

    def state(self) -> dict[str, Tensor]:
        """Return everything that the next step depends on: weights, moments of the optimiser, random states."""
        state = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        state |= {f"loss.{name}": tensor for name, tensor in self.loss.state_dict().items()}
        state |= self.optimiser.state() | random_states(self.device)
        return {name: tensor.detach().clone().contiguous() for name, tensor in state.items()}

    def use_state(self, state: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        self.model.load_state_dict(under(state, "model."))
        self.loss.load_state_dict(under(state, "loss."))
        self.optimiser.use_state(state)
        use_random_states(state, self.device)
