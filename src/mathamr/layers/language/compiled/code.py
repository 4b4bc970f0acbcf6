"""`Code`: one function of machine code while it is written, with the words in which ours are written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from llvmlite import ir

from mathamr.machinecode import NUMBER, POINTER, REAL, loop

BYTE, WHOLE, LONG, HALF, FLOAT = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.HalfType(), ir.FloatType()
KINDS = {"pointer": (BYTE.as_pointer(), POINTER), "number": (LONG, NUMBER), "real": (FLOAT, REAL)}
"""What a function takes: for LLVM, and for whoever calls it."""
EXP2 = {
    "half": (1.0, 0.693283, 0.242211, 0.0550089),
    "float": (1.0, 0.693124193, 0.240240986, 0.0559064259, 0.00958285324),
}
"""Polynomials that are 2 to the power of x between -1/2 and 1/2, as near as the kind of number can tell."""
ROUNDER = {"half": (1536.0, 10), "float": (12582912.0, 23)}
"""A number so large that what is added to it becomes whole, and how many bits the rest of its kind has."""


class Code:
    """A function that returns nothing; its arguments are pointers to bytes, whole numbers and floats."""

    def __init__(
        self, module: ir.Module, name: str, takes: Sequence[tuple[str, str]], *, inner: bool = False
    ) -> None:
        """`inner`: only other functions of the module call it."""
        self.module = module
        kinds = [KINDS[kind][0] for _, kind in takes]
        self.function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
        if inner:
            self.function.linkage = "internal"
            self.function.attributes.add("noinline")
        self.build = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.given = {name: argument for (name, _), argument in zip(takes, self.function.args, strict=True)}

    def __getitem__(self, name: str) -> Any:
        return self.given[name]

    def end(self) -> None:
        """The last word of every function."""
        self.build.ret_void()

    def loop(self, begin: Any, end: Any, step: int) -> AbstractContextManager[Any]:
        """``for number in range(begin, end, step)``."""
        return loop(self.build, self.whole(begin), self.whole(end), step)

    def whole(self, number: Any) -> Any:
        """A number of 64 bits, from one of Python or of the code."""
        return LONG(number) if isinstance(number, int) else number

    def sum(self, *numbers: Any) -> Any:
        """Whole numbers added up."""
        total = self.whole(numbers[0])
        for number in numbers[1:]:
            total = self.build.add(total, self.whole(number))
        return total

    def product(self, *numbers: Any) -> Any:
        """Whole numbers multiplied."""
        total = self.whole(numbers[0])
        for number in numbers[1:]:
            total = self.build.mul(total, self.whole(number))
        return total

    def at(self, pointer: Any, offset: Any) -> Any:
        """The place so many bytes behind another."""
        return self.build.gep(pointer, [self.whole(offset)])

    def load(self, pointer: Any, offset: Any, kind: Any) -> Any:
        """What stands so many bytes behind a place."""
        return self.build.load(
            self.build.bitcast(self.at(pointer, offset), kind.as_pointer()), align=_align(kind)
        )

    def store(self, value: Any, pointer: Any, offset: Any) -> None:
        """Writes so many bytes behind a place."""
        kind = value.type
        self.build.store(
            value, self.build.bitcast(self.at(pointer, offset), kind.as_pointer()), align=_align(kind)
        )

    def spread(self, value: Any, lanes: int) -> Any:
        """A number in every lane of a register."""
        kind = ir.VectorType(value.type, lanes)
        one = self.build.insert_element(ir.Constant(kind, ir.Undefined), value, WHOLE(0))
        return self.lane(one, 0, lanes)

    def lane(self, register: Any, number: int, lanes: int) -> Any:
        """One lane of a register in every lane of another."""
        nothing = ir.Constant(register.type, ir.Undefined)
        return self.build.shuffle_vector(
            register, nothing, ir.Constant(ir.VectorType(WHOLE, lanes), [number] * lanes)
        )

    def call(self, name: str, result: Any, *arguments: Any, fastmath: Sequence[str] = ()) -> Any:
        """An operation of LLVM by its name."""
        known = self.module.globals.get(name)
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(result, [each.type for each in arguments]), name)
        return self.build.call(known, arguments, fastmath=fastmath)

    def unary(self, name: str, x: Any) -> Any:
        """``llvm.NAME`` of every lane."""
        return self.call(f"llvm.{name}.{_short(x.type)}", x.type, x)

    def binary(self, name: str, x: Any, y: Any) -> Any:
        """``llvm.NAME`` of the lanes of two registers."""
        return self.call(f"llvm.{name}.{_short(x.type)}", x.type, x, y)

    def fused(self, x: Any, y: Any, z: Any) -> Any:
        """``x * y + z``, rounded once."""
        return self.call(f"llvm.fma.{_short(x.type)}", x.type, x, y, z)

    def larger(self, x: Any, y: Any) -> Any:
        """The larger of two numbers in every lane; what is no number passes, so that it is seen in the end."""
        return self.binary("maximum", x, y)

    def smaller(self, x: Any, y: Any) -> Any:
        """The smaller of two numbers in every lane; what is no number passes."""
        return self.binary("minimum", x, y)

    def largest(self, register: Any) -> Any:
        """The largest lane; what is no number passes."""
        kind = register.type
        return self.call(f"llvm.vector.reduce.fmaximum.{_short(kind)}", kind.element, register)

    def smallest(self, register: Any) -> Any:
        """The smallest lane; what is no number passes."""
        kind = register.type
        return self.call(f"llvm.vector.reduce.fminimum.{_short(kind)}", kind.element, register)

    def total(self, register: Any) -> Any:
        """The sum of the lanes, in any order."""
        kind = register.type
        zero = ir.Constant(kind.element, 0.0)
        return self.call(
            f"llvm.vector.reduce.fadd.{_short(kind)}", kind.element, zero, register, fastmath=("reassoc",)
        )

    def exp2(self, x: Any) -> Any:
        """Two to the power of every lane, which must be a power that the kind of number has: -14 to 15, or -126 to 127."""
        build, kind, name = self.build, x.type, str(x.type.element)
        large, bits = ROUNDER[name]
        raised = build.fadd(x, constant(kind, large))
        part = build.fsub(x, build.fsub(raised, constant(kind, large)))
        terms = [constant(kind, term) for term in EXP2[name]]
        value = terms[-1]
        for term in reversed(terms[:-1]):
            value = self.fused(value, part, term)
        wholes = ir.VectorType(ir.IntType(16 if name == "half" else 32), kind.count)
        moved = build.shl(build.bitcast(raised, wholes), ir.Constant(wholes, [bits] * kind.count))
        return build.bitcast(build.add(build.bitcast(value, wholes), moved), kind)

    def rounded(self, x: Any, factor: Any, moved: Any) -> Any:
        """``x * factor`` as bytes, added to `moved`, a number so large that they become its last byte."""
        bits = ir.VectorType(ir.IntType(16 if str(x.type.element) == "half" else 32), x.type.count)
        whole = self.build.bitcast(self.fused(x, factor, moved), bits)
        return self.build.trunc(whole, ir.VectorType(BYTE, x.type.count))

    def joined(self, left: Any, right: Any) -> Any:
        """Two registers as one twice as wide."""
        count = 2 * left.type.count
        return self.build.shuffle_vector(
            left, right, ir.Constant(ir.VectorType(WHOLE, count), list(range(count)))
        )

    def variable(self, start: Any) -> Variable:
        """A register that changes."""
        return Variable(self, start)


class Variable:
    """A register that changes in loops; LLVM keeps it in one."""

    def __init__(self, code: Code, start: Any) -> None:
        self._code = code
        with code.build.goto_entry_block():
            self._place = code.build.alloca(start.type)
        self.value = start

    @property
    def value(self) -> Any:
        """What it holds now."""
        return self._code.build.load(self._place)

    @value.setter
    def value(self, new: Any) -> None:
        self._code.build.store(new, self._place)


def floats(lanes: int, kind: Any = FLOAT) -> Any:
    """A register of floats."""
    return ir.VectorType(kind, lanes)


def constant(kind: Any, value: float) -> Any:
    """The same number in every lane."""
    return ir.Constant(kind, [value] * kind.count)


def _short(kind: Any) -> str:
    """How LLVM calls a kind in the names of its operations."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{_short(kind.element)}"
    return {"half": "f16", "float": "f32"}.get(str(kind)) or str(kind)


def _align(kind: Any) -> int:
    element = kind.element if isinstance(kind, ir.VectorType) else kind
    return {"i8": 1, "half": 2, "float": 4, "i32": 4, "i64": 8}.get(str(element), 1)


LOG2E = 1 / math.log(2)
