"""Loops of machine code, made by LLVM while the program runs (`llvmlite`, the extra `fast`): what all of them need.

A few loops take most of the time of an index and of a search. Each is written once as operations of LLVM, which makes
code of them for the instructions that this very processor has; where llvmlite is not installed, there is always another way.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from mathamr.core.keptcode import keep_code, kept_code

POINTER, NUMBER, REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float
"""What a function of machine code takes: a place in memory, a whole number of 64 bits, a float."""


def has_llvm() -> bool:
    """Whether code can be made here: llvmlite is installed, and its library fits this system."""
    return bool(_llvm())


@cache
def _llvm() -> Any:
    try:
        import llvmlite.binding as llvm
    except (ImportError, OSError):
        return None
    return llvm


def is_arm() -> bool:
    """Whether this is a processor of ARM's 64 bits."""
    return platform.machine() in ("aarch64", "arm64")


def processor_name() -> str:
    """LLVM's name of this processor; empty where there is no LLVM."""
    llvm = _llvm()
    return str(llvm.get_host_cpu_name()) if llvm else ""


@cache
def processor_features() -> Mapping[str, bool]:
    """What this processor has beyond its family, by LLVM's names; nothing where there is no LLVM.

    LLVM does not ask every ARM system for its features: Linux tells them in a file, and every Apple processor has these.
    """
    llvm = _llvm()
    if llvm is None:
        return {}
    found = dict(llvm.get_host_cpu_features())
    if is_arm():
        told = _told()
        for name, flag in (("dotprod", "asimddp"), ("fullfp16", "asimdhp")):
            found[name] = bool(found.get(name) or platform.system() == "Darwin" or flag in told)
    return found


def _told() -> frozenset[str]:
    try:
        with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as file:
            return frozenset(word for line in file if line.startswith("Features") for word in line.split())
    except OSError:
        return frozenset()


class Program:
    """Functions of one module as code of this processor; it lives as long as any of them does."""

    def __init__(self, module: Any, functions: Mapping[str, Sequence[Any]]) -> None:
        """Compiles an `llvmlite.ir.Module`; `functions` tells what each function takes. All of them return nothing."""
        llvm = _llvm()
        if llvm is None:
            raise RuntimeError("llvmlite is not installed; ask `has_llvm` first")
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        text = str(module)
        parsed = llvm.parse_assembly(text)
        parsed.triple = llvm.get_process_triple()
        features = llvm.get_host_cpu_features()
        features.update(processor_features())
        processor = llvm.get_host_cpu_name(), features.flatten()
        machine = llvm.Target.from_triple(parsed.triple).create_target_machine(
            cpu=processor[0], features=processor[1], opt=3
        )
        made_from = (text, parsed.triple, *processor, metadata.version("llvmlite"))
        key = hashlib.sha256("\0".join(made_from).encode()).hexdigest()
        kept = kept_code(key)
        if kept is None:
            builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
            builder.getModulePassManager().run(parsed, builder)
        engine = llvm.create_mcjit_compiler(parsed, machine)
        engine.set_object_cache(lambda _, code: keep_code(key, code), lambda _: kept)
        engine.finalize_object()
        self._functions = {
            name: ctypes.CFUNCTYPE(None, *given)(engine.get_function_address(name))
            for name, given in functions.items()
        }
        for function in self._functions.values():
            function.engine = engine  # type: ignore[attr-defined]  # who has a function has the code as well

    def __getitem__(self, name: str) -> Callable[..., None]:
        return self._functions[name]


@contextmanager
def loop(build: Any, begin: Any, end: Any, step: int) -> Iterator[Any]:
    """``for number in range(begin, end, step)`` in the code that an `IRBuilder` builds; gives the number."""
    before = build.block
    head, body, after = (build.append_basic_block(name) for name in ("head", "body", "after"))
    build.branch(head)
    build.position_at_end(head)
    number = build.phi(end.type)
    number.add_incoming(begin, before)
    build.cbranch(build.icmp_signed("<", number, end), body, after)
    build.position_at_end(body)
    yield number
    number.add_incoming(build.add(number, end.type(step)), build.block)
    build.branch(head)
    build.position_at_end(after)
