"""The arms of the study of structure: what each takes away from a graph, and what it keeps."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr.graphs.flatgraph import NodePart
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.shard import Shard
from mathamr.graphs.tensor import GraphTensor, tensor_of
from mathamr.graphs.virtual import flatten
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary, VocabularyCounts
from mathamr.posts.post import Formula, Post
from mathamr_lab.studies import structure
from tests.amr.rule_parser import RuleParser

TEXTS = ("Let $x+y=y+x$ hold for all numbers.", "We see that $x^2+1>0$. So $z>1$ and $x>z$.")


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Shard:
    posts = [
        Post(
            f"{number}",
            "answer",
            text,
            markup="text",
            formulas=tuple(
                Formula(f"{number}:{place}", latex) for place, latex in enumerate(text.split("$")[1::2])
            ),
        )
        for number, text in enumerate(TEXTS)
    ]
    flats = {made.post.id: flatten(made.graph) for made in GraphMaker(RuleParser()).make(posts)}
    counts = VocabularyCounts()
    for flat in flats.values():
        counts.count(flat)
    vocabularies = Vocabulary.build(counts), RelationVocabulary.build(counts)

    class Store:
        def tensor(self, configuration: str, post_id: str) -> GraphTensor:
            return tensor_of(post_id, flats[post_id], *vocabularies)

        def vocabularies(self) -> tuple[Vocabulary, RelationVocabulary]:
            return vocabularies

    path = tmp_path_factory.mktemp("graphs") / "full.npz"
    return shards.export(Store(), "both-hierarchy-none", [("0", "1")], path)  # type: ignore[arg-type]


def real_edges(found: Shard, number: int) -> AnyArray:
    """The edges (source, target, relation) of a graph that no virtual node has."""
    tensor = found[number]
    half = tensor.forward_edges
    edges = np.stack([*tensor.edge_index[:, :half], tensor.relation_ids[:half]])
    return edges[:, tensor.parts[edges[0]] != NodePart.VIRTUAL]


def test_a_bag_keeps_labels_and_no_edge_between_them(shard: Shard) -> None:
    bag = structure.bag_of_labels(shard)
    for number in range(len(shard)):
        np.testing.assert_array_equal(bag[number].node_ids, shard[number].node_ids)
        assert real_edges(bag, number).shape[1] == 0
        tensor = bag[number]
        reached = set(tensor.edge_index[1, : tensor.forward_edges].tolist())
        constants = np.flatnonzero(tensor.parts == NodePart.CONSTANT)
        assert reached >= set(constants.tolist())


def test_words_make_a_chain_without_marks() -> None:
    chain = structure.word_chain(["Let", "FORMULA_0", ",", "be", "odd"])
    assert [concept for _, concept in chain.instances] == ["let", "FORMULA_0", "be", "odd"]
    assert [edge[1] for edge in chain.edges] == [":next"] * 3


def test_the_bootstrap_tells_what_differs() -> None:
    random = np.random.default_rng(0)
    easy, hard = random.random((5, 300)) * 0.2 + 0.6, random.random((5, 300)) * 0.2 + 0.5
    difference, (low, high), _, p = structure.compare(easy, hard)
    assert low < difference < high
    assert low > 0.05
    assert p < 0.01
    assert structure.compare(easy, easy)[3] > 0.5
    assert structure.correct_by_holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_ranks_equal_those_of_a_naive_maxsim(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(structure, "COLUMNS", 8)
    torch.manual_seed(0)
    counts, sizes = np.array([3, 1, 4] * 8), np.array([2, 9, 1, 3])
    table, queries = torch.randn(int(counts.sum()), 5), torch.randn(int(sizes.sum()), 5)
    right = [0, 7, 20, 3]
    answers = torch.split(table, counts.tolist())
    expected = []
    for query, own in zip(torch.split(queries, sizes.tolist()), right, strict=True):
        scores = [float((each @ query.T).max(0).values.mean()) for each in answers]
        rank = 1 + sum(score > scores[own] for score in scores)
        expected.append(1 / rank if rank <= 10 else 0.0)
    found = structure.reciprocal_ranks(table, counts, queries, sizes, right)
    assert found.tolist() == pytest.approx(expected)
    assert 0 < sum(expected) < len(expected)


def test_an_arm_is_prepared_trained_and_tabled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def post(name: str, text: str) -> Post:
        return Post(name, "answer", text, markup="text", formulas=(Formula(f"{name}:0", "x^2"),))

    pairs = [(f"p{number}/question", f"p{number}/answer") for number in range(4)]
    words = ("group", "ring", "field", "module", "ideal", "prime")
    posts = [
        post(name, f"Every {word} has $x^2$.")
        for pair, word in zip(pairs, words, strict=False)
        for name in pair
    ]
    for number, word in ((8, words[4]), (9, words[5])):
        posts.append(post(f"h{number}/answer", f"The {word} is $x^2$."))
        posts += [post(f"known-pairs|{form}|h{number}/question", f"A {word}?") for form in structure.FORMS]
    with gzip.open(tmp_path / structure.POSTS, "wt", encoding="utf-8") as file:
        file.writelines(each.to_json() + "\n" for each in posts)
    (tmp_path / structure.PAIRS).write_text(json.dumps(pairs), encoding="utf-8")
    with pytest.raises(MathAMRError, match="train the arm 'full' first"):
        list(structure.table(tmp_path))
    structure.prepare(tmp_path, RuleParser, workers=1)
    assert len(structure.shard_of(tmp_path, "words").pairs) == len(pairs)
    for arm, seeds in (("full", (0, 1)), ("bag", (0,))):
        structure.train_arm(
            tmp_path, arm, seeds, ("epochs=1", "layers=1", "hidden=8", "projection=8", "bases=2")
        )
    monkeypatch.setenv("MATHAMR_STRUCTURE", str(tmp_path))
    capsys.readouterr()
    structure.run()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [["full", "2", "1"], ["bag", "1", "1"]]
