"""MathAMR and MaRF from posts to hits: indexed, searched, scored as their seeds say, explained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import tensor_bytes
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.searcher import Index
from mathamr.systems.baseencoder import load_base_encoder
from mathamr.systems.marf.system import FORMULA, REPRESENTATIONS, MarfSystem
from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr.systems.ranking import MeanMaxSim, Promote
from mathamr.text.transformer import Transformer, TransformerConfiguration
from tests.index.small import note, write_posts
from tests.systems.tinytext import PIECES, tiny_base, tiny_marf, tiny_mathamr, tiny_published_marf

POSTS = [
    note("groups", "Every subgroup of a cyclic group is cyclic: $gH = Hg$."),
    note("sums", "The sum of squares $a^2+b^2=c^2$ has $n$ solutions, as $x+y$ has."),
    note("roots", "A root of $x^2-2$ is irrational. So is one of $a^2+b^2$."),
    note("words", "No formula at all, only continuous words."),
]
QUERY = "when is $x^2-2$ or $a$ a root?"


def built(folder: Path, system: MathAMRSystem | MarfSystem) -> Path:
    system.save(folder / "model")
    source = write_posts(folder / "posts.jsonl", POSTS)
    options = BuildOptions(
        model=folder / "model", engine="flat", device="cpu", parser="tests.amr.rule_parser:RuleParser"
    )
    build_index([source], folder / "index", options)
    return folder / "index"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_base(tmp_path_factory.mktemp("texts") / "base")


@pytest.fixture(scope="module")
def marf(base: Path) -> Iterator[Index]:
    with Index.open(built(base.parent / "marf", tiny_marf(base))) as index:
        yield index


@pytest.fixture(scope="module")
def mathamr(base: Path) -> Iterator[Index]:
    with Index.open(built(base.parent / "mathamr", tiny_mathamr(base))) as index:
        yield index


@pytest.mark.parametrize("strategy", MarfSystem.rankings["answers"])
def test_marf_finds_posts(marf: Index, strategy: str) -> None:
    hits = marf.search(QUERY, strategy=strategy)
    assert {hit.id for hit in hits} <= {post.id for post in POSTS}
    assert len(hits) >= 1


@pytest.mark.parametrize("strategy", ["marf", "hybrid", "lexical"])
def test_marf_finds_formulas(marf: Index, strategy: str) -> None:
    hits = marf.search("$x^2-2$", "formulas", strategy)
    assert hits[0].formula is not None
    assert hits[0].formula.latex == "x^2-2"


def test_marfs_hybrid_puts_posts_with_the_whole_name_first_whatever_vectors_say(marf: Index) -> None:
    names = {"cyclic group": "groups", "continuous words": "words", "sum of squares": "sums"}
    hybrid = MarfSystem.rankings["answers"]["hybrid"]
    assert isinstance(hybrid, Promote)
    assert {name: marf.search(name, strategy="hybrid")[0].id for name in names} == names
    assert {name: marf.search(name, strategy="marf")[0].id for name in names} != names


def test_scores_are_the_mean_over_the_representations_that_a_post_has(marf: Index) -> None:
    """Algorithm 1 with a loop: the query's longest formula against each formula of a post."""
    engine = marf.archive.engine
    (query,) = marf.archive.system.encode([_item(QUERY)])
    rows = query.post[REPRESENTATIONS[0]].vectors
    wanted = {}
    for post in POSTS:
        fetched = [engine[name].fetch([post.id]).get(post.id) for name in REPRESENTATIONS]
        scores = [float((rows @ each.vectors.T).max(axis=1).mean()) for each in fetched if each is not None]
        assert len(scores) == max(1, len(post.formulas))
        wanted[post.id] = float(np.mean(scores))
    found = {hit.id: hit.score for hit in marf.score(QUERY, list(wanted), MeanMaxSim(REPRESENTATIONS))}
    assert found == pytest.approx(wanted, abs=1e-3)


def _item(text: str):  # type: ignore[no-untyped-def]
    from mathamr.search.query import Query
    from mathamr.systems.system import Item

    return Item(post=Query.of_text(text).post)


def test_published_marf_compares_formulas_in_the_context_of_their_posts(base: Path) -> None:
    query = "A root of $x^2-2$ is irrational."
    with Index.open(built(base.parent / "marf-paper", tiny_published_marf(base))) as index:
        assert index.search(QUERY)
        hits = index.search(query, "formulas", "marf")
        (asked,) = index.archive.system.encode([_item(query)])
        ((_, fields),) = asked.formulas
        engine, wanted = index.archive.engine[FORMULA], {}
        for formula in (formula for post in POSTS for formula in post.formulas):
            stored = engine.fetch([formula.id])[formula.id].vectors
            wanted[formula.id] = float((fields[FORMULA].vectors @ stored.T).max(axis=1).mean())
        found = {hit.formula.id: hit.score for hit in hits if hit.formula is not None}
        assert found == pytest.approx(wanted, abs=1e-3)
        assert index.explain(query, "roots").matches
        assert index.explain_formula(query, hits[0].formula.id).views  # type: ignore[union-attr]


def test_a_mean_of_representations_is_for_what_was_found(marf: Index) -> None:
    with pytest.raises(MathAMRError, match="can only rerank"):
        marf.search(QUERY, strategy=MeanMaxSim(REPRESENTATIONS))


def test_a_hit_of_marf_is_explained_sentence_by_sentence(marf: Index) -> None:
    found = marf.explain(QUERY, "roots")
    assert [part.text for part in found.post] == [
        "A root of $x^2-2$ is irrational.",
        "So is one of $a^2+b^2$.",
    ]
    assert found.similarities.shape == (1, 2)


@pytest.mark.parametrize("strategy", MathAMRSystem.rankings["formulas"])
def test_mathamr_finds_formulas(mathamr: Index, strategy: str) -> None:
    hits = mathamr.search("A root of $x^2-2$ is irrational.", "formulas", strategy)
    assert hits
    if strategy in ("mathamr", "rerank", "fused"):
        assert hits[0].id == "roots"
    assert mathamr.explain_formula("$x^2-2$", hits[0].formula.id).views  # type: ignore[union-attr]


def test_mathamr_explains_a_formula_by_the_sentences_that_it_ranked(mathamr: Index) -> None:
    query = "A root of $x^2-2$ is irrational."
    hit = mathamr.search(query, "formulas", "mathamr")[0]
    assert hit.formula is not None
    found = mathamr.explain_formula(query, hit.formula.id)
    assert found.sentences is not None
    assert (found.by, found.sentences.query) == ("mathamr", query)
    assert found.sentences.similarity == pytest.approx(hit.score, abs=1e-4)
    assert found.formula_id == hit.formula.id
    assert f"${found.found.latex}$" in found.sentences.found
    assert found.to_json()["sentences"]["found"] == found.sentences.found


def test_formulas_of_one_sentence_have_one_score(mathamr: Index) -> None:
    hits = mathamr.search("A sum of $x$.", "formulas", "mathamr")
    scores = [hit.score for hit in hits if hit.id == "sums"]
    assert len(scores) >= 2
    assert scores == pytest.approx([scores[0]] * len(scores), abs=1e-6)


def test_any_encoder_of_berts_kind_is_a_base_by_its_folder(tmp_path: Path) -> None:
    """A model as transformers writes it, of a shape of its own, gives the vectors of the same weights under our names."""
    torch.manual_seed(8)
    shape = TransformerConfiguration(
        pieces=len(PIECES), size=8, layers=2, heads=2, inner=12, positions=20, dropout=0.0
    )
    ours = Transformer(shape).eval()
    weights = ours.state_dict()
    given = {
        "bert.embeddings.word_embeddings.weight": weights["pieces.weight"],
        "bert.embeddings.position_embeddings.weight": weights["positions.weight"] - 1.0,
        "bert.embeddings.token_type_embeddings.weight": torch.ones(2, 8),
    }
    for kind in ("weight", "bias"):
        given[f"bert.embeddings.LayerNorm.{kind}"] = weights[f"norm.{kind}"]
        for layer in range(2):
            parts = weights[f"layers.{layer}.attention.{kind}"].chunk(3)
            theirs = f"bert.encoder.layer.{layer}."
            for name, part in zip(("query", "key", "value"), parts, strict=True):
                given[f"{theirs}attention.self.{name}.{kind}"] = part.contiguous()
            for name, source in {
                "attended": "attention.output.dense",
                "attention_norm": "attention.output.LayerNorm",
                "inner": "intermediate.dense",
                "outer": "output.dense",
                "outer_norm": "output.LayerNorm",
            }.items():
                given[f"{theirs}{source}.{kind}"] = weights[f"layers.{layer}.{name}.{kind}"]
    (tmp_path / "model.safetensors").write_bytes(tensor_bytes(given))
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    row = {"model_type": "bert", "vocab_size": len(PIECES), "hidden_size": 8, "num_hidden_layers": 2}
    row |= {"num_attention_heads": 2, "intermediate_size": 12, "max_position_embeddings": 20}
    (tmp_path / "config.json").write_text(json.dumps(row), encoding="utf-8")
    found = load_base_encoder(str(tmp_path))
    numbers, lengths = torch.tensor([[2, 6, 7, 3]]), torch.tensor([4])
    torch.testing.assert_close(found.model(numbers, lengths), ours(numbers, lengths), atol=1e-5, rtol=1e-5)
    (tmp_path / "config.json").write_text(json.dumps(row | {"model_type": "mamba"}), encoding="utf-8")
    with pytest.raises(MathAMRError, match="'mamba'"):
        load_base_encoder(str(tmp_path))
