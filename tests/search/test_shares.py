"""Scores are also told as shares of the best."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.search.searcher import Index
from tests.index.small import build, note


@pytest.mark.parametrize("strategy", ["hybrid", "maxsim", "lexical"])
def test_the_first_hit_has_all_of_the_best_score_and_the_second_page_goes_on(
    model_folder: Path, tmp_path: Path, strategy: str
) -> None:
    build(tmp_path / "index", [note(str(n), "A sum " * n + "of terms.") for n in range(1, 6)], model_folder)
    with Index.open(tmp_path / "index", device="cpu") as index:
        hits = index.search("a sum of terms", strategy=strategy, k=5)
        second = index.search("a sum of terms", strategy=strategy, k=2, offset=2)
    best = hits[0].score
    assert [hit.share for hit in hits] == pytest.approx([hit.score / best for hit in hits])
    assert hits[0].share == 1.0
    assert second[0].share == pytest.approx(hits[2].share)
    assert second[0].to_json()["share"] == round(second[0].share, 4)
