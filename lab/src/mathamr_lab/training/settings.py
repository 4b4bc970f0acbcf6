"""The settings that every training has, with their ranges; the trainers' own configurations extend them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast, get_args

from mathamr.core.configured import Configured, changed
from mathamr.core.errors import UnknownNameError

if TYPE_CHECKING:
    import torch

Precision = Literal["auto", "float32", "bfloat16"]
Ranges = Mapping[str, tuple[float, float]]
Named = TypeVar("Named", bound=tuple[Any, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfiguration(Configured):
    """The settings of the optimiser: `warmup` is the share of all steps in which the rate rises to `learning_rate`.

    Afterwards it falls to `minimum_rate`. `clip` bounds the norm of the gradients. `temperature` divides the similarities of a contrastive loss. A subclass lists the `ranges` of its own fields and
    checks everything else in `check`.
    """

    title: ClassVar[str] = "training"
    ranges: ClassVar[Ranges] = {
        "batch_size": (2, 1e6),
        "epochs": (1, 1e6),
        "learning_rate": (0, 10),
        "warmup": (0, 0.9),
        "minimum_rate": (0, 10),
        "weight_decay": (0, 10),
        "clip": (1e-9, 1e9),
        "temperature": (1e-3, 100),
        "seed": (0, 2**63 - 1),
    }

    batch_size: int = 128
    epochs: int = 3
    learning_rate: float = 3e-4
    warmup: float = 0.1
    minimum_rate: float = 0.0
    weight_decay: float = 0.01
    clip: float = 1.0
    temperature: float = 0.05
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaTraining(TrainingConfiguration):
    """A training on formulas alone, drawn from a shard.

    Labels that occur less than `rare` times count as their type. At most `formulas` are drawn, `validation` of them held
    out. `variables` and `numbers` are the shares of formulas whose second view is renamed. `contrast` weighs the paper's
    loss, `teacher` one that learns the order of a teacher, `near` one that finds, by what a search compares, a formula near
    to a masked one: one of the `nearest` that the teacher names. `shared` is how much of their first random vectors all
    variables have in common, and all numbers.
    """

    ranges: ClassVar[Ranges] = {
        "rare": (1, 1e9),
        "formulas": (2, 1e12),
        "variables": (0, 1),
        "numbers": (0, 1),
        "contrast": (0, 1000),
        "teacher": (0, 1000),
        "teacher_temperature": (1e-3, 100),
        "near": (0, 1000),
        "near_temperature": (1e-3, 100),
        "near_mask": (0, 1),
        "nearest": (1, 1000),
        "shared": (0, 1),
        "validation": (0, 1e7),
    }

    weight_decay: float = 1e-3
    rare: int = 5
    formulas: int = 100_000_000
    variables: float = 0.0
    numbers: float = 0.0
    contrast: float = 1.0
    teacher: float = 0.0
    teacher_temperature: float = 0.05
    near: float = 0.0
    near_temperature: float = 0.05
    near_mask: float = 0.1
    nearest: int = 8
    shared: float = 0.0
    validation: int = 1000

    @property
    def is_taught(self) -> bool:
        """True if it learns from the orders of a teacher."""
        return self.teacher > 0 or self.near > 0


def named_configuration(name: str, known: Mapping[str, Named], changes: Iterable[str]) -> Named:
    """Return the named configurations with some fields changed, each as ``name=value``."""
    if name not in known:
        raise UnknownNameError("configuration", name, list(known))
    parts = {getattr(part, "title", "model"): part for part in known[name]}
    return cast(Named, tuple(changed(parts, changes).values()))


def check_precision(precision: str) -> None:
    """Refuse an unknown precision."""
    if precision not in get_args(Precision):
        raise UnknownNameError("precision", precision, list(get_args(Precision)))


def autocast(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Return the context for bfloat16 if it is wanted; ``auto`` wants it on a GPU."""
    import torch

    low = precision == "bfloat16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, torch.bfloat16) if low else nullcontext()
