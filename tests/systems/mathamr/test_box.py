"""The MathAMR model in the box: what it says of itself, and that it tells contexts apart."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from mathamr.core.modelfolder import read_config
from mathamr.systems.mathamr.configuration import MathAMRConfiguration
from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr.systems.models import boxed_folder, load_system

pytestmark = pytest.mark.skipif(boxed_folder("mathamr") is None, reason="this installation has no mathamr")


def test_it_says_what_it_learned_from_and_that_its_figures_are_of_other_topics() -> None:
    row = read_config(cast(Path, boxed_folder("mathamr")))
    assert MathAMRConfiguration.from_json(row["configuration"]).base == "mathamr-3"
    judgments = row["training"]["judgments"]
    assert judgments == 0 or row["training"]["topics"] > 0
    assert 0 < float(row["measured"]["formulas"]["Bpref"]) < 1
    notes = " ".join(row["measured"]["notes"])
    assert "by a model trained on others" in notes if judgments else "no judgment" in notes


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
