"""When machine code is worth it: to make it takes half a second, which a query must not wait for."""

from __future__ import annotations

from mathamr.machinecode import has_llvm

MANY = 32
"""Sentences of a batch that only an index has."""


def is_worth_code(sentences: int) -> bool:
    """Whether a batch of so many sentences should be analysed by machine code."""
    return sentences >= MANY and has_llvm()
