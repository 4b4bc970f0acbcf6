from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr.errors import MathAMRError, UnknownNameError
from mathamr.layers.language.crossencoder import CrossEncoder
from mathamr.layers.language.crossfiles import load_cross_encoder, save_cross_encoder
from mathamr.layers.language.pairlengths import PairLengths
from mathamr.layers.language.quantised import is_available
from mathamr.layers.language.transformer import Transformer, TransformerConfiguration
from mathamr.layers.language.wording import wording_alone
from mathamr.layers.language.wordpieces import WordPieces
from mathamr.posts.post import Post
from mathamr.search.library import Index
from mathamr.systems.cross.reranker import has_reranker, load_reranker
from mathamr.systems.ranking import REREAD

pytestmark = pytest.mark.skipif(not is_available(), reason="ONNX Runtime is not installed")
LETTERS = [*"abcdefghijklmnopqrstuvwxyz0123456789$\\{}()+-=^_.,"]
PIECES = WordPieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{letter}" for letter in LETTERS)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(5)
    shape = TransformerConfiguration(
        pieces=len(PIECES.vocabulary), size=16, layers=2, heads=2, inner=32, positions=64
    )
    model = CrossEncoder(Transformer(shape), PIECES, PairLengths(16, 32))
    torch.nn.init.normal_(model.score.weight)
    made = tmp_path_factory.mktemp("cross")
    save_cross_encoder(made, model)
    return made


@pytest.fixture
def named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MATHAMR_RERANKER", str(folder))
    return folder


@pytest.fixture(scope="module")
def index(sample_index: Path) -> Iterator[Index]:
    with Index.open(sample_index, device="cpu") as opened:
        yield opened


def test_posts_are_read_as_the_text_encoder_reads_them(named: Path) -> None:
    query = Post("q", "question", "is $x^2$ convex", markup="text")
    posts = [
        Post("a", "answer", "It is: $2>0$.", markup="text"),
        Post("b", "answer", "No. " * 3000, markup="text"),
    ]
    model = load_cross_encoder(named)
    asked, *given = (cut.numbers for cut in PIECES.cut([wording_alone(post)[0] for post in (query, *posts)]))
    exact = model.scored([model.row(asked, document) for document in given])
    assert load_reranker().scores(query, posts) == pytest.approx(exact.tolist(), abs=0.1)
    assert load_reranker().scores(query, []) == []


def test_any_strategy_can_be_read_again(named: Path, index: Index) -> None:
    query = "Why does the series $\\sum 1/n$ diverge?"
    first, _ = index.rank(query, strategy="lexical", depth=40)
    again, _ = index.rank(query, strategy="lexical+cross", depth=40)
    assert {each.id for each in again[:REREAD]} == {each.id for each in first[:REREAD]}
    assert [each.id for each in again[REREAD:]] == [each.id for each in first[REREAD:]]
    assert [each.id for each in again] != [each.id for each in first]
    assert [each.score for each in again] == sorted((each.score for each in again), reverse=True)
    hits = index.search(query, strategy="lexical+cross", k=3)
    assert [hit.id for hit in hits] == [each.id for each in again[:3]]
    assert "reread" in hits.seconds
    assert all({"cross", "lexical"} <= hit.evidence.keys() for hit in hits)


def test_the_usual_strategy_read_again_is_offered_where_there_is_a_reranker(
    named: Path, index: Index
) -> None:
    assert index.strategies()[-1] == "hybrid+cross"
    assert index.ranking("answers", "+cross") == index.ranking("answers", "hybrid+cross")
    assert "+cross" not in " ".join(index.strategies("formulas"))


def test_a_reranker_that_is_not_there_is_told_with_the_way_out(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATHAMR_RERANKER", str(tmp_path))
    assert not has_reranker()
    assert "hybrid+cross" not in index.strategies()
    for query in ("series", "Why does it diverge? " * 20):
        with pytest.raises(MathAMRError, match="mathamr train cross"):
            index.search(query, strategy="lexical+cross")
    with pytest.raises(UnknownNameError, match="reranker"):
        index.search("series", strategy="lexical+cros")
    with pytest.raises(MathAMRError, match="only posts are read again"):
        index.search("$x$", "formulas", strategy="lexical+cross")


def test_the_command_line_reads_again_what_any_strategy_found(
    named: Path, sample_index: Path, index: Index, tmp_path: Path
) -> None:
    query = "when does a series of positive numbers diverge"
    asked = ["search", str(sample_index), query, "--strategy", "lexical", "--local", "--json", "-k", "4"]
    result = CliRunner().invoke(app, [*asked, "--rerank", "cross"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["strategy"] == "lexical+cross"
    assert [hit["id"] for hit in found["hits"]] == [
        hit.id for hit in index.search(query, strategy="lexical+cross", k=4)
    ]
    topics, run = tmp_path / "topics.xml", tmp_path / "a.run"
    topics.write_text(
        f'<Topics><Topic number="A.1"><Title>{query}</Title><Question>{query}</Question></Topic></Topics>'
    )
    told = ["run", str(sample_index), "--task", "answers", "--topics", str(topics), "--out", str(run)]
    result = CliRunner().invoke(app, [*told, "--strategy", "lexical", "--rerank", "cross", "--depth", "5"])
    assert result.exit_code == 0, result.output
    assert all(line.split()[-1] == "lexical+cross" for line in run.read_text().splitlines())
