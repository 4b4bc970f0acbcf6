"""`ContrastiveLearner`: a network, its contrastive loss and its optimiser; a step may exceed memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from mathamr.core.tensorfile import under
from mathamr_lab.training.losses import Contrast, TemperedLoss
from mathamr_lab.training.processes import Processes

P = TypeVar("P")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ContrastiveStep(Generic[P]):
    """The work of one process in a step: its own posts in parts, and what all vectors together represent.

    `gathered` counts the vectors of each process; `order` sorts the gathered ones into questions and
    documents, the first `questions` of them being vectors of questions.
    """

    parts: tuple[P, ...]
    gathered: tuple[int, ...]
    order: Tensor | None
    questions: int
    contrast: Contrast


class ContrastiveLearner(Generic[P]):
    """Learns from steps: encodes, compares, and updates the weights by AdamW with clipped gradients.

    `encode` computes the vectors of a part, of this `size`; `rates` are those of the optimiser's groups at a step; `clipped` are the
    parameters whose gradients are clipped together.
    """

    def __init__(
        self,
        *,
        model: nn.Module,
        encode: Callable[[P], Tensor],
        size: int,
        loss: TemperedLoss,
        optimiser: torch.optim.Optimizer,
        rates: Callable[[int], Sequence[float]],
        clip: float,
        clipped: Iterable[nn.Parameter],
        device: torch.device,
        processes: Processes | None = None,
    ) -> None:
        self.model, self.loss, self.device = model, loss, device
        self.processes = processes or Processes()
        self._encode, self._size, self._rates, self._optimiser = encode, size, rates, optimiser
        self._clip, self._clipped = clip, list(clipped)

    def learn(self, step: ContrastiveStep[P], number: int) -> Tensor:
        """Takes one step; the loss stays on the device, so that nothing waits for it."""
        for group, rate in zip(self._optimiser.param_groups, self._rates(number), strict=True):
            group["lr"] = rate
        self._optimiser.zero_grad(set_to_none=True)
        self.model.train()
        loss = self._whole(step) if len(step.parts) <= 1 else self._in_parts(step)
        self.processes.sum_gradients(self.model.parameters(), self.loss.parameters())
        nn.utils.clip_grad_norm_(self._clipped, self._clip)
        self._optimiser.step()
        return loss.detach()

    def encoded(self, parts: Iterable[P]) -> Tensor:
        """Returns the vectors of parts, without gradients and without dropout."""
        self.model.eval()
        with torch.inference_mode():
            return self._joined([self._encode(part) for part in parts])

    def _whole(self, step: ContrastiveStep[P]) -> Tensor:
        # One of several processes may have no post of a small batch.
        loss = self._compared(self._joined([self._encode(part) for part in step.parts]), step)
        torch.autograd.backward(loss)
        return loss

    def _joined(self, parts: list[Tensor]) -> Tensor:
        return torch.cat(parts) if parts else torch.zeros(0, self._size, device=self.device)

    def _compared(self, vectors: Tensor, step: ContrastiveStep[P]) -> Tensor:
        gathered = self.processes.gather(vectors, step.gathered)
        if step.order is not None:
            gathered = gathered.index_select(0, step.order)
        loss: Tensor = self.loss(gathered[: step.questions], gathered[step.questions :], step.contrast)
        return loss

    def _in_parts(self, step: ContrastiveStep[P]) -> Tensor:
        """Computes the gradient of a batch that exceeds memory: first all vectors, then each part with its gradient.

        Each part is encoded twice, with the same random numbers.
        """
        chances, parts = [], []
        for part in step.parts:
            chances.append(self._chance())
            with torch.no_grad():
                parts.append(self._encode(part))
        vectors = torch.cat(parts).requires_grad_()
        loss = self._compared(vectors, step)
        torch.autograd.backward(loss)
        assert vectors.grad is not None
        after = self._chance()
        for part, chance, gradient in zip(
            step.parts, chances, torch.split(vectors.grad, [len(rows) for rows in parts]), strict=True
        ):
            self._use_chance(chance)
            torch.autograd.backward(self._encode(part), gradient)
        self._use_chance(after)
        return loss

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
            for kind, value in self._optimiser.state.get(parameter, {}).items():
                state[f"optimiser.{kind}.{name}"] = torch.as_tensor(value)
        for number, chance in enumerate(self._chance()):
            state[f"chance.{number}"] = chance
        return {name: tensor.detach().clone().contiguous() for name, tensor in state.items()}

    def use_state(self, state: dict[str, Tensor]) -> None:
        """The inverse of `state`."""
        self.model.load_state_dict(under(state, "model."))
        self.loss.load_state_dict(under(state, "loss."))
        # An optimiser that is not fused counts its steps on the processor.
        fused = all(group.get("fused") for group in self._optimiser.param_groups)
        for name, parameter in self._named():
            moments: dict[str, Any] = {}
            for kind in ("step", "exp_avg", "exp_avg_sq"):
                value = state.get(f"optimiser.{kind}.{name}")
                if value is not None:
                    moments[kind] = value.to("cpu" if kind == "step" and not fused else self.device)
            if moments:
                self._optimiser.state[parameter] = moments
        chances = under(state, "chance.")
        self._use_chance([chances[number].cpu() for number in sorted(chances)])

    def _named(self) -> list[tuple[str, nn.Parameter]]:
        named = [(f"model.{name}", parameter) for name, parameter in self.model.named_parameters()]
        return named + [(f"loss.{name}", parameter) for name, parameter in self.loss.named_parameters()]
