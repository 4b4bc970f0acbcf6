"""`ModelConfiguration`: the shape of a MathAMR+ network, and the named shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from mathamr.core.configured import Configured
from mathamr.core.errors import UnknownNameError

VirtualStart = Literal[
    "zero", "zero-embedding", "random-embedding", "mean", "mean-projection", "mean-typed-projection"
]
MOST = 10_000
RETIRED = ("attention_heads", "text_size", "text_output")
"""Options of earlier networks, which no model uses; the configurations in the box still say that they are off."""


@dataclass(frozen=True, slots=True)
class ModelConfiguration(Configured):
    """The shape of the network; the defaults are the thesis's (Table 4.5).

    `virtual_start` is one of the six initialisations of Table 4.13. Beyond the thesis: `dropout` applies to what each
    layer adds.
    """

    title: ClassVar[str] = "model"
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {
        **dict.fromkeys(("hidden", "projection", "bases"), (1, MOST)),
        "layers": (0, MOST),
        "dropout": (0, 0.999),
    }

    hidden: int = 64
    projection: int = 32
    layers: int = 4
    bases: int = 64
    virtual_start: VirtualStart = "zero-embedding"
    dropout: float = 0.0

    def check(self) -> None:
        """Refuse an unknown start of virtual nodes."""
        if self.virtual_start not in get_args(VirtualStart):
            raise UnknownNameError("start of virtual nodes", self.virtual_start, list(get_args(VirtualStart)))

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> ModelConfiguration:
        """Create the configuration from the JSON of `to_json`; refuse unknown fields, except retired ones that are off."""
        known = {name: value for name, value in row.items() if name not in RETIRED or value}
        return super(ModelConfiguration, cls).from_json(known)


MODELS = {
    "thesis": ModelConfiguration(),
    "thesis-full": ModelConfiguration(bases=256),
    "small": ModelConfiguration(hidden=16, projection=16, layers=2, bases=4),
    "box": ModelConfiguration(hidden=128, projection=64, bases=32, dropout=0.1),
}
"""Shapes by name: Tables 4.5 and 4.18 of the thesis, a small one for trials, and that of the model in the box."""


def model_configuration(name: str) -> ModelConfiguration:
    """Return a named shape."""
    if name not in MODELS:
        raise UnknownNameError("model configuration", name, list(MODELS))
    return MODELS[name]
