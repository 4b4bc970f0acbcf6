"""`unfilled`: networks as bare shapes, for weights that are about to be read from a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_FILLING = {Tensor.normal_, Tensor.uniform_, Tensor.zero_, Tensor.fill_}


class _NoFilling(TorchFunctionMode):
    """Leaves out whatever gives new weights their first values."""

    def __torch_function__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if func in _FILLING or getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else given["tensor"]
        return func(*args, **given)


@contextmanager
def unfilled() -> Iterator[None]:
    """Networks made inside have shapes but no memory: a damaged configuration cannot ask for more than the weights have.

    They are not filled either: on tensors without memory torch would load its whole compiler for that, which takes
    longer than reading the weights.
    """
    with torch.device("meta"), _NoFilling():
        yield
