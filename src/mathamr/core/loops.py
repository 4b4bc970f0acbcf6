"""Loops over arrays as machine code, written in a small part of Python and translated to that of LLVM.

numpy is quick where one operation goes over many numbers, and slow where every step depends on the last or needs a table of its own. Such
loops are written here as plain functions over flat arrays and numbers, with annotations: `IntArray`, `FloatArray` and `ByteArray` are arrays, `int` and
`float` numbers (64 and 32 bits). They may hold assignments, `for` over `range`, `while`, `if`, `break`, `continue`, `return`, comparisons,
arithmetic without division of whole numbers, `min`, `max`, `sqrt`, `int`, `float`, and calls of each other, to which `array[start:]` may be
given. Whatever else they hold is refused when they are translated. The same function runs as Python over lists, which is what tests compare with.

As in C, nothing is looked at while the code runs: who calls it sees to it that places lie inside arrays and that arrays
that are written overlap no other.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mathamr.core.machinecode import NUMBER, POINTER, REAL, Program

sqrt = math.sqrt
"""The root that translated functions know."""

ARRAYS = {"IntArray": np.dtype(np.int64), "FloatArray": np.dtype(np.float32), "ByteArray": np.dtype(np.uint8)}
_GIVEN = {"int": NUMBER, "float": REAL} | dict.fromkeys(ARRAYS, POINTER)


class MachineCode:
    """Functions that are translated together when one of them is first called; later ones may call earlier ones.

    Those whose names begin with an underscore are only called by others, and only they return something.
    """

    def __init__(self, *functions: Callable[..., Any]) -> None:
        self._functions = functions
        self._lock = threading.Lock()
        self._made: dict[str, Callable[..., None]] | None = None

    def __getitem__(self, function: Callable[..., Any]) -> Callable[..., None]:
        """The code of one of the functions, which takes arrays and numbers as it does."""
        with self._lock:
            if self._made is None:
                self._made = self._translated()
        return self._made[function.__name__]

    def _translated(self) -> dict[str, Callable[..., None]]:
        from llvmlite import ir

        from mathamr.core.translation import Translation

        module = ir.Module("loops")
        made: dict[str, Translation] = {}
        for function in self._functions:
            made[function.__name__] = Translation(module, function, made)
        called = {name: each for name, each in made.items() if not name.startswith("_")}
        given = {name: [_GIVEN[kind] for kind in each.kinds] for name, each in called.items()}
        program = Program(module, given)
        return {name: _checked(name, each.kinds, program) for name, each in called.items()}


def _checked(name: str, kinds: Sequence[str], program: Program) -> Callable[..., None]:
    """The code as a function of Python that looks at the kinds of what it is given."""
    arrays, code = [ARRAYS.get(kind) for kind in kinds], program[name]

    def call(*values: Any) -> None:
        passed = []
        for value, wanted in zip(values, arrays, strict=True):
            if wanted is None:
                passed.append(value)
            elif value.dtype == wanted and value.flags.c_contiguous:
                passed.append(value.ctypes.data)
            else:
                raise TypeError(f"{name} wants {wanted} without gaps, not {value.dtype}")
        code(*passed)

    call.program = program  # type: ignore[attr-defined]  # the code lives as long as this
    return call
