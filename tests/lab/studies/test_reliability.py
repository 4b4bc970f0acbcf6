"""What is there and what is not, asked of a small collection; weights from cases that are known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.labelweights import Features
from mathamr.search.searcher import Index
from mathamr_lab.studies import reliability
from mathamr_lab.studies.reliability import Case, Judged
from tests.models import build_sample_index

NAMES = (
    "tensor",
    "monoid",
    "lattice",
    "sheaf",
    "quiver",
    "matroid",
    "operad",
    "torsor",
    "variety",
    "spectrum",
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Index]:
    posts = []
    for number, name in enumerate(NAMES):
        body = f"Somebody who once met a {name} wrote long letters home. Here $x^{number + 2}+{name[0]}=1$."
        formulas = formulas_of(name, "", body, "latex")
        posts.append(Post(name, "note", body, title=f"The {name} itself", markup="latex", formulas=formulas))
    folder = build_sample_index(
        tmp_path_factory.mktemp("reliability") / "index", model_folder, posts, parser="builtin"
    )
    with Index.open(folder, device="cpu") as opened:
        yield opened


def test_everything_is_asked_with_and_without_what_is_right(index: Index) -> None:
    found = list(reliability.cases(index, "small", 15))
    assert {case.form for case in found} >= {"title", "asked", "sentence"}
    titles = [case for case in found if case.form == "title"]
    assert [case.is_present for case in titles] == [True, False] * (len(titles) // 2)
    assert all(case.is_answered and case.found == "strong" for case in titles if case.is_present)
    absent = [case for case in titles if not case.is_present]
    assert all(case.is_absent and case.found in reliability.DENIED for case in absent)
    assert not any(each.is_right for case in absent for each in case.results)


def test_cases_are_kept_and_read_again(index: Index, tmp_path: Path) -> None:
    folder = index.archive.folder
    first = reliability.asked_cases(tmp_path, folder, 6)
    (kept,) = tmp_path.glob("*.jsonl")
    stamp = kept.stat().st_mtime_ns
    assert reliability.asked_cases(tmp_path, folder, 6) == first
    assert kept.stat().st_mtime_ns == stamp


def judged(words: float, *, is_right: bool) -> Judged:
    return Judged(Features(words=words), 0.5, 0.0, is_right)


def test_weights_tell_right_results_from_wrong_ones() -> None:
    generator = np.random.default_rng(1)
    results = [judged(0.7 + 0.3 * value, is_right=True) for value in generator.random(40)]
    results += [judged(0.6 * value, is_right=False) for value in generator.random(40)]
    found = [Case("a", "title", "name", "text", "q", True, "weak", (each,)) for each in results]
    weights = reliability.print_weights(found)
    chances = [case.results[0].chance for case in reliability.with_weights(found, {"text": weights["text"]})]
    assert min(chances[:40]) > 0.5 > max(chances[40:])


def test_what_another_entry_says_is_not_absent() -> None:
    case = Case("a", "title", "name", "text", "q", False, "weak", (judged(1.0, is_right=False),))
    other = Case("a", "title", "name", "text", "q", False, "weak", (judged(0.5, is_right=False),))
    assert (case.is_absent, other.is_absent) == (False, True)
