"""`ModelConfiguration`: the shape of a MathAMR+ network, and the named shapes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from mathamr.core.configured import known_fields
from mathamr.core.errors import MathAMRError, UnknownNameError

VirtualStart = Literal[
    "zero", "zero-embedding", "random-embedding", "mean", "mean-projection", "mean-typed-projection"
]
MOST = 10_000


@dataclass(frozen=True, slots=True)
class ModelConfiguration:
    """The shape of the network; the defaults are the thesis's (Table 4.5).

    `virtual_start` is one of the six initialisations of Table 4.13. Beyond the thesis: `attention_heads` above
    zero summarise the members of a virtual node by attention instead of the mean; `text_size` above zero adds a
    slot for text vectors of that size at the representatives, and with `text_output` they also reach the output
    directly; `dropout` applies to what each layer adds.
    """

    hidden: int = 64
    projection: int = 32
    layers: int = 4
    bases: int = 64
    virtual_start: VirtualStart = "zero-embedding"
    attention_heads: int = 0
    text_size: int = 0
    text_output: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.virtual_start not in get_args(VirtualStart):
            raise UnknownNameError("start of virtual nodes", self.virtual_start, list(get_args(VirtualStart)))
        for name, least in (("hidden", 1), ("projection", 1), ("layers", 0), ("bases", 1)):
            if not least <= getattr(self, name) <= MOST:
                raise MathAMRError(
                    f"a model's {name} must be from {least} to {MOST}, got {getattr(self, name)}"
                )
        if self.attention_heads < 0 or (self.attention_heads and self.hidden % self.attention_heads):
            raise MathAMRError(
                f"{self.attention_heads} attention heads do not divide the hidden size {self.hidden}"
            )
        if self.text_size < 0 or (self.text_output and not self.text_size):
            raise MathAMRError("text_output needs a text_size above zero")
        if not 0 <= self.dropout < 1:
            raise MathAMRError(f"a model's dropout must be in [0, 1), got {self.dropout}")

    def to_json(self) -> dict[str, Any]:
        """For a model's folder."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> ModelConfiguration:
        """The inverse of `to_json`; unknown fields are refused."""
        return cls(**known_fields(cls, row, "model"))


MODELS = {
    "thesis": ModelConfiguration(),
    "thesis-full": ModelConfiguration(bases=256),
    "small": ModelConfiguration(hidden=16, projection=16, layers=2, bases=4),
    "box": ModelConfiguration(hidden=128, projection=64, bases=32, dropout=0.1),
}
"""Shapes by name: Tables 4.5 and 4.18 of the thesis, a small one for trials, and that of the model in the box."""


def model_configuration(name: str) -> ModelConfiguration:
    """Returns a named shape."""
    if name not in MODELS:
        raise UnknownNameError("model configuration", name, list(MODELS))
    return MODELS[name]
