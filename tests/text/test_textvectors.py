from __future__ import annotations

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.text.textvectors import TextVectors


def test_impossible_vectors_are_refused() -> None:
    with pytest.raises(MathAMRError, match="cannot have text vectors"):
        TextVectors(np.array([0, 1]), np.ones((1, 4)))
