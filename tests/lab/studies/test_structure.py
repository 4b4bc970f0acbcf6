"""The arms of the study of structure: what each takes away from a graph, and what it keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from mathamr.amr.graph import Amr
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
from mathamr_lab.studies.structurearms import ARMS, arranged
from mathamr_lab.studies.structuregraphs import with_tokens, word_chain, word_tree
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
    bag = arranged(shard, "bag", 0)
    for number in range(len(shard)):
        np.testing.assert_array_equal(bag[number].node_ids, shard[number].node_ids)
        assert real_edges(bag, number).shape[1] == 0
        tensor = bag[number]
        reached = set(tensor.edge_index[1, : tensor.forward_edges].tolist())
        constants = np.flatnonzero(tensor.parts == NodePart.CONSTANT)
        assert reached >= set(constants.tolist())


def test_one_relation_keeps_the_edges(shard: Shard) -> None:
    one = arranged(shard, "one-relation", 0)
    for number in range(len(shard)):
        np.testing.assert_array_equal(real_edges(one, number)[:2], real_edges(shard, number)[:2])
        assert len(set(real_edges(one, number)[2].tolist())) == 1


def test_rewiring_keeps_degrees_within_a_part(shard: Shard) -> None:
    rewired = arranged(shard, "rewired-100", 3)
    changed = 0
    for number in range(len(shard)):
        before, after = real_edges(shard, number), real_edges(rewired, number)
        parts = shard[number].parts
        np.testing.assert_array_equal(before[[0, 2]], after[[0, 2]])
        np.testing.assert_array_equal(np.sort(before[1]), np.sort(after[1]))
        for tree in (NodePart.OPT, NodePart.SLT):
            np.testing.assert_array_equal(parts[before[1]] == tree, parts[after[1]] == tree)
        changed += int((before[1] != after[1]).sum())
    assert changed


def test_concepts_hang_from_one_and(shard: Shard) -> None:
    flat = arranged(shard, "and", 0)
    label = shard.vocabulary.number("and", NodePart.CONCEPT)
    for number, sentences in enumerate((1, 2)):
        tensor, edges = flat[number], real_edges(flat, number)
        meaning = np.isin(tensor.parts[edges[1]], (NodePart.CONCEPT, NodePart.CONSTANT, NodePart.FORMULA))
        sources = set(edges[0, meaning].tolist())
        assert len(sources) == sentences
        assert {int(tensor.node_ids[source]) for source in sources} == {label}


def test_variables_lose_their_letters_and_are_bound(shard: Shard) -> None:
    roles = arranged(shard, "roles", 0)
    names = roles.vocabulary.labels
    assert not any(
        names[label].startswith("V!") and names[label] != "V!*"
        for n in range(2)
        for label in roles[n].node_ids
    )
    symbols = [sum(names[label] == "SYMBOL" for label in roles[number].node_ids) for number in range(2)]
    assert symbols == [2, 2]  # x and y; x and z
    binding = roles.relations.number(":binding")
    edges = real_edges(roles, 0)
    bound = edges[:, edges[2] == binding]
    assert bound.shape[1] == sum(names[label] == "V!*" for label in roles[0].node_ids)


def test_every_arm_can_be_stacked(shard: Shard) -> None:
    for arm in ARMS:
        made = arranged(shard, arm, 0)
        for number in range(len(made)):
            tensor = made[number]
            assert tensor.edge_index.max() < len(tensor)
            assert tensor.node_ids.max() < len(made.vocabulary)
            assert tensor.relation_ids.max() < len(made.relations)
            assert tensor.document is not None


def test_words_in_a_chain_and_under_their_heads() -> None:
    words = ["Let", "FORMULA_0", ",", "be", "odd"]
    chain = word_chain(words)
    assert [concept for _, concept in chain.instances] == ["let", "FORMULA_0", "be", "odd"]
    assert [edge[1] for edge in chain.edges] == [":next"] * 3
    tree = word_tree(words, [0, 3, 0, 0, 2])
    assert set(tree.edges) == {("w0", ":dep", "w3"), ("w3", ":dep", "w1"), ("w0", ":dep", "w4")}
    cycle = word_tree(["a", "b", "c"], [0, 2, 1])
    assert len(cycle.edges) == 2
    assert isinstance(word_tree([], []), Amr)


def test_latex_stands_in_place_of_trees() -> None:
    post = Post("7", "answer", "So $x>0$.", markup="text", formulas=(Formula("7:0", "x>0"),))
    (made,) = GraphMaker(RuleParser()).make([post])
    (part,) = with_tokens(made.graph, post).formulas
    assert part.opt is None
    assert part.slt is not None
    assert part.slt.labels == ("x", ">", "0")


def test_the_bootstrap_tells_what_differs() -> None:
    random = np.random.default_rng(0)
    easy, hard = random.random((5, 300)) * 0.2 + 0.6, random.random((5, 300)) * 0.2 + 0.5
    difference, (low, high), _, p = structure.compared(easy, hard)
    assert low < difference < high
    assert low > 0.05
    assert p < 0.01
    assert structure.compared(easy, easy)[3] > 0.5
    assert structure.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_ranks_equal_those_of_a_naive_maxsim(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_text_and_graph_share_a_cosine_where_there_is_text(shard: Shard, tmp_path: Path) -> None:
    bed = structure.Bed(shard)
    posts = ("1", "0")
    few = int(bed.counts(["0"])[0]) - 1
    many = int(bed.counts(["1"])[0])
    np.savez(
        tmp_path / "text.npz",
        ids=np.array(["0", "1"]),
        starts=np.array([0, few, few + many]),
        of=np.array([*range(few), *range(many)]),
        vectors=np.random.default_rng(0).normal(size=(few + many, 8)).astype(np.float16),
    )
    joined = structure.Joined(structure.TextRows(tmp_path), 6, bed, posts)
    text = joined.rows(1.0)
    assert text.shape == (many + few + 1, 6)
    assert text.norm(dim=1).tolist() == pytest.approx([1.0] * (many + few) + [0.0], abs=1e-5)
    joined.graph = functional.normalize(torch.randn(len(text), 4), dim=-1)
    both = joined.rows(0.8)
    assert both.norm(dim=1).tolist() == pytest.approx([1.0] * len(text), abs=1e-5)
    torch.testing.assert_close(both[-1, 6:], joined.graph[-1])
    torch.testing.assert_close(both[0, :6], text[0] * 0.8**0.5)


def test_tables_are_made_of_the_seeds_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MATHAMR_STRUCTURE", str(tmp_path))
    monkeypatch.setattr(structure, "data_folder", lambda: tmp_path)
    known = ["stacks-project:a", "math:test:1", "hott:1"]
    topics = "".join(f'<Topic number="{name}"><Question>$x$</Question></Topic>' for name in known)
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "known-items.xml").write_text(f"<Topics>{topics}</Topics>", encoding="utf-8")
    with pytest.raises(MathAMRError, match="train the arm 'full' first"):
        structure.run()
    capsys.readouterr()
    random = np.random.default_rng(0)
    for arm, seeds, shift in (("full", 3, 0.1), ("bag", 2, 0.0)):
        for seed in range(seeds):
            np.savez(tmp_path / f"E1-{arm}-{seed}.npz", ranks=random.random((2, 3)) * 0.01 + shift)
    structure.run()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [["full", "3"], ["bag", "2"]]
    assert "-0.1" in lines[3]
    # The questions are in the order of their ids: hott, math, stacks-project.
    ranks = np.stack([np.load(tmp_path / f"E1-full-{seed}.npz")["ranks"] for seed in range(3)]).mean(0)
    assert lines[4].split()[:4] == ["stacks-project", "(1)", "math", "(1)"]
    assert lines[5].split()[1:4] == [f"{ranks[0, 2]:.3f}", "/", f"{ranks[1, 2]:.3f}"]
