"""Formulas as numbers: labels, trees, files; and hashes of their subtrees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.formulas.parse import parse
from mathamr.graphs.formulahashes import subtree_hashes
from mathamr.graphs.formulashard import FormulaLabels, FormulaShard, FormulaTrees, folded
from tests.cases import cases
from tests.formulas.operatorgraph import formula_graph

LATEX = ("x", "-x", r"\frac{a+b}{b+a}", "x-y-x", r"\sum_{n=1}^\infty \frac{1}{n^2}")


@pytest.fixture(scope="module")
def shard() -> FormulaShard:
    return FormulaShard.of((parsed.slt, parsed.opt) for parsed in map(parse, LATEX))


def test_trees_come_back_with_their_edges_and_folded_labels(shard: FormulaShard) -> None:
    for number, latex in enumerate(LATEX):
        wanted = formula_graph(parse(latex).opt)
        tree = shard.opt.tree(number, shard.labels, "opt")
        assert tree.labels == tuple(map(folded, wanted.labels))
        found = [(tree.parents[node], tree.edges[node], node) for node in range(1, len(tree))]
        assert found == list(wanted.arcs)
        slt = parse(latex).slt
        again = shard.slt.tree(number, shard.labels, "slt")
        assert (again.labels, again.parents, again.edges) == (
            tuple(map(folded, slt.labels)),
            slt.parents,
            slt.edges,
        )


def test_a_rare_or_new_label_counts_as_its_type(shard: FormulaShard) -> None:
    labels = shard.frequent(3)
    assert labels.labels[labels["V!x"]] == "V!x"
    assert labels.labels[labels["V!never seen"]] == "V!*"
    assert labels.labels[labels["N!734"]] == "N!*"
    assert labels.labels[labels["≢"]] == "*"
    own = shard.renumbered(labels)
    expected = [labels[label] for latex in LATEX for label in parse(latex).opt.labels]
    assert own.opt.labels.tolist() == expected
    assert own.counts.sum() == shard.counts.sum()


def test_both_views_have_one_label_for_a_variable(shard: FormulaShard) -> None:
    parsed = parse("x")
    assert parsed.opt.labels != parsed.slt.labels
    assert shard.labels[parsed.opt.labels[0]] == shard.labels[parsed.slt.labels[0]]


def test_some_trees_are_the_same_trees(shard: FormulaShard) -> None:
    some = shard.chosen(np.array([3, 1]))
    assert len(some) == 2
    for place, number in enumerate((3, 1)):
        assert some.opt.tree(place, some.labels, "opt") == shard.opt.tree(number, shard.labels, "opt")


def test_a_file_gives_the_shard_back_and_damage_is_refused(shard: FormulaShard, tmp_path: Path) -> None:
    path = tmp_path / "formulas.npz"
    shard.save(path)
    again = FormulaShard.load(path)
    assert again.labels.labels == shard.labels.labels
    for one, other in ((shard.slt, again.slt), (shard.opt, again.opt)):
        for name in FormulaTrees.__slots__:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    broken = path.read_bytes()
    path.write_bytes(broken[: len(broken) // 2])
    with pytest.raises(MathAMRError, match="is not a shard of formulas"):
        FormulaShard.load(path)


@cases(
    ("name", "value"),
    [("opt_parents", 5), ("opt_labels", 9999), ("opt_sizes", 70), ("opt_starts", 3)],
)
def test_numbers_that_make_no_trees_are_refused(
    shard: FormulaShard, tmp_path: Path, name: str, value: int
) -> None:
    path = tmp_path / "formulas.npz"
    shard.save(path)
    with np.load(path) as file:
        arrays = {each: file[each].copy() for each in file.files}
    arrays[name][0] = value
    np.savez(path, **arrays)
    with pytest.raises(MathAMRError, match="is not a shard of formulas"):
        FormulaShard.load(path)


def test_labels_that_are_no_lines_are_left_out() -> None:
    labels = FormulaLabels.of_counts({"V!a\nb": 3, "V!c": 1, "": 2})
    assert labels.labels[len(FormulaLabels.special()) :] == ("V!c",)


def test_a_label_has_the_number_of_its_type_or_none() -> None:
    labels = FormulaLabels.of_counts({"+": 4, "V!x": 3, "N!1": 2, "?!y": 1})
    own = dict(zip(labels.labels, labels.types().tolist(), strict=True))
    assert [own[each] for each in ("N!*", "N!1", "V!x", "+", "?!y")] == [1, 1, own["V!*"], 0, 0]


def test_equal_subtrees_have_equal_hashes_operands_of_a_sum_in_any_order(shard: FormulaShard) -> None:
    hashes, heights = subtree_hashes(shard.opt)
    start = int(shard.opt.starts[2])
    tree = shard.opt.tree(2, shard.labels, "opt")
    sums = [node for node, label in enumerate(tree.labels) if label == "U!plus"]
    assert len(sums) == 2
    assert hashes[start + sums[0]] == hashes[start + sums[1]]
    start = int(shard.opt.starts[3])
    minus = shard.opt.tree(3, shard.labels, "opt")
    assert len(set(hashes[start : start + len(minus)].tolist())) == len(set(minus.labels))
    assert heights[int(shard.opt.starts[0])] == 0
    depth = max(shard.opt.tree(4, shard.labels, "opt").depths())
    assert heights[int(shard.opt.starts[4])] == depth
