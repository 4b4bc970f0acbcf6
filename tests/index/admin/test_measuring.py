from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.admin import measuring
from mathamr.index.admin.measuring import MeasuringPool, measure
from mathamr.index.indexing import buildpool, encoding
from mathamr.index.indexing.builder import BuildOptions, build_index
from tests.index.small import PARSER, write_posts
from tests.models import sample_posts


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (buildpool, encoding, measuring):
        monkeypatch.setattr(module, "FEW", 4)
    return write_posts(tmp_path / "posts.jsonl", sample_posts(12))


def test_every_stage_costs_something_and_the_bytes_are_those_of_an_index(
    source: Path, model_folder: Path
) -> None:
    found = measure(source, model=str(model_folder), parser=PARSER)
    for name in ("read_seconds", "keys_seconds", "terms_seconds", "write_seconds", "vectors_per_post"):
        assert getattr(found, name) > 0, name
    assert found.encoding.processor
    assert found.encoding.accelerator is None
    assert set(found.bytes_per_post) == {"catalogue.db", "graphs", "vectors", "lexical"}
    assert found.posts == 12
    posts = sample_posts(12)
    assert found.letters_per_post == pytest.approx(sum(len(p.title) + len(p.body) for p in posts) / 12)


def test_writing_is_never_free() -> None:
    assert measuring._per_post(6.0, 4.0, 12, 8, reading=0.25) == 0.25
    # In noise, the part takes as long as the whole, or reading as long as the difference.
    assert measuring._per_post(6.0, 6.5, 12, 8, reading=0.25) == 0.5
    assert measuring._per_post(6.0, 5.0, 12, 8, reading=0.25) == 0.5


def test_a_handful_of_posts_is_not_measured(source: Path, tmp_path: Path) -> None:
    few = write_posts(tmp_path / "few.jsonl", sample_posts(3))
    with pytest.raises(MathAMRError, match="has 3 posts; measuring takes more than 4"):
        measure(few)


def test_the_second_build_asks_nobody_anything(source: Path, model_folder: Path, tmp_path: Path) -> None:
    here = MeasuringPool()
    options = BuildOptions(model=model_folder, parser=PARSER, device="cpu")
    build_index([source], tmp_path / "a", options, pool=here)
    asked = dict(here.seconds)
    assert {"PostWork keys", "PostWork posts", "EncodingWork new"} <= asked.keys()
    build_index([source], tmp_path / "b", options, pool=here)
    assert dict(here.seconds) == asked
