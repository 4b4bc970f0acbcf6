"""When machine code is worth it: to make it takes half a second, which a query must not wait for."""

from __future__ import annotations

from mathamr.core.machinecode import has_llvm

MANY = 32
"""Sentences of a batch that only an index has."""


class _Met:
    """Whether the process has met such a batch: then the code is there, and quicker for few sentences too."""

    def __init__(self) -> None:
        self.many = False


_met = _Met()


def is_worth_code(sentences: int) -> bool:
    """Whether a batch of so many sentences should be analysed by machine code."""
    _met.many = _met.many or sentences >= MANY
    return _met.many and has_llvm()
