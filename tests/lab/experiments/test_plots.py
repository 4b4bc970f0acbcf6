from __future__ import annotations

import pytest

from mathamr_lab.experiments.plots import colour, whole_points
from tests.lab.experiments.conftest import GRAPHS


@pytest.mark.parametrize("name", list(GRAPHS))
def test_no_two_variants_have_the_same_colour(name: str) -> None:
    experiment = GRAPHS[name]
    colours = {colour(experiment, variant) for variant in experiment.variants}
    assert len(colours) == len(experiment.variants)
    assert all(0 <= part <= 1 for each in colours for part in each)


def test_curves_of_one_point_or_none_stay_as_they_are() -> None:
    assert whole_points([]) == []
    assert whole_points([(5, 1.0)]) == [(5, 1.0)]
