"""`GraphConfiguration`: which trees, virtual nodes and auxiliary edges a tensor is made with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from mathamr.core.errors import UnknownNameError

FormulaMode = Literal["both", "opt", "slt", "none", "absent"]
"""Which trees formulas have; with `none` placeholders stay as plain concepts, with `absent` they are removed as well."""
TREELESS: tuple[FormulaMode, ...] = ("none", "absent")
Structure = Literal["hierarchy", "none", "global"]
Auxiliary = Literal["none", "sequential", "circular", "full"]


@dataclass(frozen=True, slots=True)
class GraphConfiguration:
    """How a `MathGraph` becomes a tensor; the defaults are the thesis's.

    >>> GraphConfiguration().name
    'both-hierarchy-none'
    >>> GraphConfiguration.from_name("opt-global-none")
    GraphConfiguration(formulas='opt', structure='global', auxiliary='none')
    """

    formulas: FormulaMode = "both"
    structure: Structure = "hierarchy"
    auxiliary: Auxiliary = "none"

    def __post_init__(self) -> None:
        for kind, value, known in (
            ("formula mode", self.formulas, FormulaMode),
            ("virtual node structure", self.structure, Structure),
            ("auxiliary edges", self.auxiliary, Auxiliary),
        ):
            if value not in get_args(known):
                raise UnknownNameError(kind, value, list(get_args(known)))

    @property
    def name(self) -> str:
        """The name under which tensors of this configuration are stored."""
        return f"{self.formulas}-{self.structure}-{self.auxiliary}"

    @classmethod
    def from_name(cls, name: str) -> GraphConfiguration:
        """Parse the name of a configuration."""
        parts = name.split("-")
        if len(parts) != 3:
            raise UnknownNameError("graph configuration", name, [cls().name, "FORMULAS-STRUCTURE-AUXILIARY"])
        return cls(*parts)  # type: ignore[arg-type]
