"""Blends: every fusion by name, with and without a normalisation."""

from __future__ import annotations

import pytest

from mathamr.errors import UnknownNameError
from mathamr.index.engines.entry import Scored
from mathamr.search.fusion import FUSIONS, WeightedSum
from mathamr.search.hybrid import Blend

RANKINGS = {
    "lexical": [Scored("a", 9.0), Scored("b", 3.0), Scored("c", 1.0)],
    "single": [Scored("c", 0.9), Scored("a", 0.2)],
}


@pytest.mark.parametrize("fusion", list(FUSIONS))
def test_every_fusion_can_be_blended_with(fusion: str) -> None:
    blend = Blend({"lexical": 1.0, "single": 0.5, "maxsim": 0.0}, fusion)
    assert blend.components == ["lexical", "single"]
    found = blend.fused(RANKINGS)
    assert sorted(hit.id for hit in found) == ["a", "b", "c"]
    assert found[0].id == "a"


def test_the_normalisation_is_that_of_the_blend() -> None:
    for name in ("min-max", "top", "z", "none"):
        found = Blend({"lexical": 1.0, "single": 3.0}, "weighted-sum", name).fused(RANKINGS)
        assert found == WeightedSum(name)(list(RANKINGS.values()), [1.0, 3.0])


def test_an_unknown_fusion_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="rrf, score-rrf"):
        Blend({"lexical": 1.0, "single": 1.0}, "magic").fused(RANKINGS)
