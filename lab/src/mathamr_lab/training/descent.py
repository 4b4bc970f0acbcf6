"""`Descent`: a network, AdamW with clipped gradients, and the schedule of its rate; its state can be stored and resumed."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mathamr.core.tensorfile import under
from mathamr_lab.training.schedule import Schedule

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


class Descent:
    """Minimises any loss of a network."""

    def __init__(
        self,
        model: nn.Module,
        schedule: Schedule,
        *,
        rate: float,
        minimum: float,
        weight_decay: float,
        clip: float,
    ) -> None:
        self.model, self._schedule, self._clip = model, schedule, clip
        self._rates = (rate, minimum)
        self._optimiser = torch.optim.AdamW(
            model.parameters(), lr=rate, weight_decay=weight_decay, fused=True
        )

    def rate(self, number: int) -> float:
        """Returns the learning rate of a step."""
        return self._schedule.rate(number, *self._rates)

    def step(self, loss: Tensor, number: int) -> Tensor:
        """Takes step `number`, counted over all epochs; the loss stays on its device."""
        for group in self._optimiser.param_groups:
            group["lr"] = self.rate(number)
        self._optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self.model.parameters(), self._clip)
        self._optimiser.step()
        return loss.detach()

    def state(self) -> dict[str, Tensor]:
        """Returns weights and moments: everything that the next step depends on."""
        state = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for kind, value in self._optimiser.state.get(parameter, {}).items():
                state[f"optimiser.{kind}.{name}"] = torch.as_tensor(value)
        return {name: tensor.detach().clone().contiguous() for name, tensor in state.items()}

    def use_state(self, state: dict[str, Tensor]) -> None:
        """The inverse of `state`."""
        self.model.load_state_dict(under(state, "model."))
        for name, parameter in self.model.named_parameters():
            moments = {
                kind: state[f"optimiser.{kind}.{name}"].to(parameter.device)
                for kind in _MOMENTS
                if f"optimiser.{kind}.{name}" in state
            }
            if moments:
                self._optimiser.state[parameter] = moments
