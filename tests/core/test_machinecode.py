"""Loops of machine code against Python's own."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.core import machinecode
from mathamr.core.machinecode import NUMBER, POINTER, Program, has_llvm, loop, processor_features

needs_llvm = pytest.mark.skipif(not has_llvm(), reason="llvmlite is not installed")


@needs_llvm
@pytest.mark.parametrize(("begin", "end", "step"), [(0, 10, 1), (3, 20, 4), (5, 5, 1), (7, 2, 1)])
def test_a_loop_goes_through_the_numbers_of_a_range(begin: int, end: int, step: int) -> None:
    from llvmlite import ir

    long = ir.IntType(64)
    module = ir.Module("counting")
    kind = ir.FunctionType(ir.VoidType(), [long.as_pointer(), long, long])
    function = ir.Function(module, kind, "count")
    out, first, last = function.args
    build = ir.IRBuilder(function.append_basic_block("entry"))
    with loop(build, first, last, step) as number:
        place = build.gep(out, [number])
        build.store(build.add(build.load(place), long(1)), place)
    build.ret_void()
    seen = np.zeros(32, np.int64)
    Program(module, {"count": (POINTER, NUMBER, NUMBER)})["count"](seen.ctypes.data, begin, end)
    assert np.flatnonzero(seen).tolist() == list(range(begin, end, step))
    assert seen.max(initial=0) <= 1


def test_without_llvm_nothing_is_known_and_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machinecode, "_llvm", lambda: None)
    processor_features.cache_clear()
    try:
        assert not has_llvm()
        assert processor_features() == {}
        assert machinecode.processor_name() == ""
        with pytest.raises(RuntimeError, match="llvmlite is not installed"):
            Program(None, {})
    finally:
        processor_features.cache_clear()


@needs_llvm
def test_an_arm_processor_has_what_linux_tells_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machinecode, "is_arm", lambda: True)
    monkeypatch.setattr(machinecode.platform, "system", lambda: "Linux")
    monkeypatch.setattr(machinecode, "_told", lambda: frozenset({"asimddp"}))
    processor_features.cache_clear()
    try:
        assert processor_features()["dotprod"]
    finally:
        processor_features.cache_clear()
