"""Zstandard as Python 3.14 has it (`compression.zstd`); before that, the same module from `backports.zstd`."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["zstd"]
