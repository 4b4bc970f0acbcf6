"""Names for the arrays that most rooms hand on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
"""Vectors and scores: numbers of 32 bits."""
