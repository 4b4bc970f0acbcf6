"""Matrices in four bits a number, with a scale a row: for embeddings, which a network that is trained upon them makes up for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

LARGEST = 7
"""Numbers are whole ones from -7 to 7 times their row's scale."""


def coded(matrix: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float16]]:
    """(codes, scales): two numbers a byte, the first of them in the lower half; columns must be even."""
    scales = (np.abs(matrix).max(1) / LARGEST).astype(np.float16)
    steps = np.maximum(scales.astype(np.float32), 1e-8)[:, None]
    whole = (np.clip(np.rint(matrix / steps), -LARGEST, LARGEST) + 8).astype(np.uint8)
    return np.ascontiguousarray(whole[:, ::2] | whole[:, 1::2] << 4), scales


def decoded(codes: npt.NDArray[np.uint8], scales: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The inverse of `coded`, up to rounding.

    >>> decoded(*coded(np.array([[7.0, -3.0], [0.0, 0.0]])))
    array([[ 7., -3.],
           [ 0.,  0.]], dtype=float32)
    """
    found = np.empty((len(codes), 2 * codes.shape[1]), np.float32)
    found[:, ::2], found[:, 1::2] = codes & 15, codes >> 4
    found -= 8
    found *= scales.astype(np.float32)[:, None]
    return found
