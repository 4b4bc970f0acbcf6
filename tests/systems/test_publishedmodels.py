"""The models that were trained by the papers' own losses: listed, indexed, searched and explained like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.searcher import Index
from mathamr.systems.models import checked_model
from tests.conftest import ROOT

SAMPLE = ROOT / "src" / "mathamr" / "sample"
POSTS = 12
LARGEST = 12_200_000


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some short posts of the sample that have formulas."""
    path = tmp_path_factory.mktemp("some") / "some.jsonl"
    short = (post for post in read_posts(SAMPLE, Report()) if post.formulas and len(post.body) < 600)
    path.write_text(
        "".join(f"{post.to_json()}\n" for post, _ in zip(short, range(POSTS), strict=False)), "utf-8"
    )
    return path


@pytest.mark.parametrize(
    ("name", "task", "strategy"),
    [
        ("mathamr-plus", "answers", "maxsim"),
        ("formula-graph-paper", "formulas", "max"),
        ("ssemb-paper", "formulas", "paper"),
        ("mathamr-paper", "formulas", "mathamr"),
        ("marf-paper", "answers", "marf"),
    ],
)
def test_a_published_model_is_indexed_searched_and_explained(
    name: str, task: str, strategy: str, posts: Path, tmp_path: Path
) -> None:
    model = checked_model(name)
    assert model.name == name
    assert model.bytes <= LARGEST
    assert model.about["measured"][task]
    build_index([posts], tmp_path / "index", BuildOptions(model=name, engine="flat", device="cpu"))
    with Index.open(tmp_path / "index", device="cpu") as index:
        post = next(read_posts(posts, Report()))
        query = post.body if task == "answers" else f"${post.formulas[0].latex.strip('$')}$"
        hits = index.search(query, task=task, k=5)
        assert hits.strategy == strategy == next(iter(model.rankings(task)))
        assert hits
        assert hits[0].score == pytest.approx(max(hit.score for hit in hits))
        assert any(hit.id == post.id for hit in hits)
        if task == "answers":
            assert index.explain(query, hits[0].id).matches
        else:
            assert hits[0].formula is not None
            assert index.explain_formula(query, hits[0].formula.id).views
