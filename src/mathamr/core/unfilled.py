"""`unfilled`: builds networks without memory, for weights that are about to be read from a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_FILLING = {Tensor.normal_, Tensor.uniform_, Tensor.zero_, Tensor.fill_}


class _NoFilling(TorchFunctionMode):
    """Skips the functions that initialise weights."""

    def __torch_function__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = dict(kwargs or {})
        if func in _FILLING or getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else named["tensor"]
        return func(*args, **named)


@contextmanager
def unfilled() -> Iterator[None]:
    """Build networks inside the block without memory, so that a damaged configuration cannot request more than the weights
    need.

    They are not initialised either: for tensors without memory torch would load its compiler, which takes longer than
    reading the weights.
    """
    with torch.device("meta"), _NoFilling():
        yield
