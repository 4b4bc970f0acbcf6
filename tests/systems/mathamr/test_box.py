"""The MathAMR model in the box: what it says of itself, and that it tells contexts apart."""

from __future__ import annotations

from typing import cast

import pytest

from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr.systems.models import boxed_folder, load_system

pytestmark = pytest.mark.skipif(boxed_folder("mathamr") is None, reason="this installation has no mathamr")


def test_the_same_formula_in_other_words_is_nearer_than_another_in_the_same_words() -> None:
    system = cast(MathAMRSystem, load_system("mathamr", "cpu"))
    lines = {
        "amr-opt": (
            "solve-01 you eq SUP x 2 2",
            "root-01 eq SUP x 2 2 irrational",
            "solve-01 you integral sin x",
        ),
        "amr-latex": ("solve-01 you x^2=2", "root-01 x^2=2 irrational", "solve-01 you \\int \\sin x dx"),
    }[system.configuration.context]
    query, same, other = system.encoder.encode(lines)
    assert float(query @ same) > float(query @ other)
