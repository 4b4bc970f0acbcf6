"""The options of the flat engine."""

from __future__ import annotations

from dataclasses import dataclass

from mathamr.core.errors import MathAMRError


@dataclass(frozen=True, slots=True)
class FlatOptions:
    """How the flat engine stores and scans vectors."""

    dtype: str = "float32"
    """`float32`, or `float16` for half the disk and memory, with scores off by up to 0.001."""
    first_pass: str = "auto"
    """`int8`: an int8 copy finds the candidates; `none`: every vector is read; `auto`: the faster of both on this machine."""

    def __post_init__(self) -> None:
        for name, known in (("dtype", ("float32", "float16")), ("first_pass", ("auto", "int8", "none"))):
            if getattr(self, name) not in known:
                raise MathAMRError(
                    f"the flat engine's {name} is {' or '.join(known)}, not {getattr(self, name)!r}"
                )
