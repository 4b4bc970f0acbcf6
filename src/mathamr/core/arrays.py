"""Names for numpy arrays, one for each type of number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
"""Vectors and scores."""
DoubleArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
UInt64Array = npt.NDArray[np.uint64]
"""Hashes."""
ByteArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.intp]
"""Positions as `argsort` and `nonzero` return them."""
AnyFloatArray = npt.NDArray[np.floating[Any]]
AnyArray = npt.NDArray[Any]
