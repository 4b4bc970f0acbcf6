"""One index, one text backend: a query has the same hits cold, warm, in another process and in a run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.runs import read_run
from mathamr.evaluation.topics import read_topics
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.manifest import Manifest
from mathamr.index.storage import IndexStorage
from mathamr.sample import folder
from mathamr.search.searcher import Index
from mathamr.systems.system import Item
from mathamr.systems.text.system import TextSystem
from mathamr.text.backend import FLOAT, ONNX, exact_encoder
from tests.cli import test_cli
from tests.cli.conftest import Command
from tests.index.small import write_posts
from tests.models import sample_posts
from tests.text.small import small_text_encoder

QUERY = "Why does $\\sum \\frac{1}{n^2}$ converge?"
Found = list[tuple[str, float]]


@pytest.fixture(params=[ONNX, FLOAT])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("MATHAMR_TEXT", raising=False)
    return str(request.param)


@pytest.fixture
def index(backend: str, tmp_path: Path) -> Path:
    """An index of the sample's first posts by a small text encoder."""
    TextSystem(small_text_encoder(projection=8), "small").save(tmp_path / "model")
    posts = write_posts(tmp_path / "posts.jsonl", sample_posts(30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MATHAMR_TEXT", backend)
        build_index([posts], tmp_path / "index", BuildOptions(model=tmp_path / "model", device="cpu"))
    return tmp_path / "index"


def hits(index: Index) -> Found:
    return [(hit.id, hit.score) for hit in index.search(QUERY, k=20).hits]


def test_hits_are_the_same_cold_and_warm_everywhere(
    mathamr: Command, index: Path, backend: str, tmp_path: Path
) -> None:
    assert Manifest.read(index).model.text_backend == backend
    with Index.open(index, device="cpu") as first, Index.open(index, device="cpu") as second:
        cold = hits(first)
        first.warm()
        assert hits(first) == cold
        second.warm()
        assert hits(second) == cold
        apart = test_cli.started("search", str(index), QUERY, "-k", "20", "--json")
        assert [(hit["id"], hit["score"]) for hit in json.loads(apart.stdout)["hits"]] == [
            (identifier, pytest.approx(score, abs=1e-5)) for identifier, score in cold
        ]
        topics = folder() / "topics" / "task1.xml"
        ran = mathamr(
            "run", str(index), "--task", "answers", "--topics", str(topics), "--out", str(tmp_path / "run")
        )
        assert ran.returncode == 0, ran.stderr
        run = read_run(tmp_path / "run")
        for topic in read_topics(topics)[:5]:
            found, _ = second.rank(topic.post)
            answers = set(run.ids(topic.id))
            assert [each.id for each in found if each.id in answers] == list(run.ids(topic.id))


def test_another_backend_searches_only_where_it_is_named_and_never_adds_posts(
    index: Path, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {ONNX: FLOAT, FLOAT: ONNX}[backend]
    with Index.open(index, device="cpu") as opened:
        recorded = hits(opened)
    monkeypatch.setenv("MATHAMR_TEXT", other)
    with Index.open(index, device="cpu") as opened:
        for (_, score), (_, expected) in zip(hits(opened), recorded, strict=True):
            assert score == pytest.approx(expected, abs=0.05)
    more = write_posts(tmp_path / "more.jsonl", sample_posts(32))
    options = BuildOptions(device="cpu")
    with pytest.raises(
        MathAMRError,
        match=re.escape(f"built with the text backend {backend!r}, but MATHAMR_TEXT is {other!r}"),
    ):
        build_index([more], index, options)
    again = build_index([more], index, replace(options, rebuild=True))
    assert (again.log.posts["vectors"], again.manifest.model.text_backend) == (again.intake.new + 30, other)
    monkeypatch.delenv("MATHAMR_TEXT")
    build_index([more], index, options)
    assert Manifest.read(index).model.text_backend == other


def test_an_index_whose_backend_is_missing_says_what_to_do(
    index: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathamr.text.backend.find_spec", lambda name: None)
    install = "pip install onnxruntime" if backend == ONNX else "MATHAMR_TEXT=onnx"
    with Index.open(index, device="cpu") as opened, pytest.raises(MathAMRError, match=install):
        opened.search(QUERY)


UPDATES = """
import sys
from pathlib import Path
from mathamr.index.indexing.builder import BuildOptions, build_index
build_index([Path(sys.argv[1])], Path(sys.argv[2]), BuildOptions(model=Path(sys.argv[3])))
print([name for name in ("torch", "onnxruntime") if name in sys.modules])
"""


def test_updates_of_few_posts_never_import_torch_and_those_without_changes_no_encoder(
    index: Path, tmp_path: Path
) -> None:
    def update(posts: Path) -> str:
        call = [sys.executable, "-c", UPDATES, str(posts), str(index), str(tmp_path / "model")]
        done = subprocess.run(call, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert update(tmp_path / "posts.jsonl") == "[]"
    assert update(write_posts(tmp_path / "more.jsonl", sample_posts(32))) == "['onnxruntime']"
    with IndexStorage.open(index) as opened:
        added = sample_posts(32)[-1].id
        few = opened.engine["document"].fetch([added])[added].vectors
        own = TextSystem.load(tmp_path / "model", "cpu")
        exact = TextSystem(exact_encoder(own.encoder)).encode([Item(post=opened.catalogue.post(added))])
        assert float((few * next(exact).post["document"].vectors).sum()) > 0.99
