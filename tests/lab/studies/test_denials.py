"""What stands in a small collection and is denied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Place, Post
from mathamr.search.searcher import Index
from mathamr_lab.studies import denials
from tests.models import build_sample_index

BODY = r"A tensor is finite. Each tensor acts; a tensor splits. One tensor more: $\operatorname{lcm}(a, b)$ and $\det A$."


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Index]:
    posts = [
        Post(
            f"n{number}", "note", body, title=f"Note {number}", markup="latex",
            formulas=formulas_of(f"n{number}", "", body, "latex"), place=Place("a.tex", label=label),
        )
        for number, (body, label) in enumerate([(BODY, "thm:Tensor"), *[("Nothing here.", "")] * 14])
    ]  # fmt: skip
    folder = build_sample_index(
        tmp_path_factory.mktemp("denials") / "index", model_folder, posts, parser="builtin"
    )
    with Index.open(folder, device="cpu") as opened:
        yield opened


def test_what_is_drawn_stands_there_and_is_not_denied(index: Index) -> None:
    assert set(denials.words(index, 9)) == {"tensor", "nothing", "note"}
    there, absent = denials.operators(index)
    assert {"lcm", "det"} == set(there)
    assert "gcd" in absent
    assert denials.labels(index, 5) == ["thm:Tensor", "thm:tensor", "THM:TENSOR"]
    assert denials.denied(index, ["tensor", *there, *denials.labels(index, 5)]) == []
    assert denials.denied(index, ["gcd", "zebra"]) == ["gcd", "zebra"]
