"""The network of formula graphs without torch, against the one with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.formulas.parse import parse
from mathamr.formulas.trees import Trees
from mathamr.systems.formulagraph.numpynodes import VIEWS, NumpyNodes, nodes_of
from mathamr.systems.formulagraph.system import FormulaGraphSystem
from mathamr.systems.models import box

FORMULAS = (
    "x",
    r"\frac{a+b+c}{2}",
    r"\sum_{n=1}^\infty \frac{1}{n^2} = \frac{\pi^2}{6}",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
    "x+x+x+y",
)


def trees(latex: str) -> Trees:
    read = parse(latex)
    return read.opt, read.slt


@pytest.fixture(scope="module")
def with_torch() -> FormulaGraphSystem:
    return FormulaGraphSystem.load(box() / "formula-graph", "cpu")


def test_the_vectors_of_nodes_are_those_of_the_network_with_torch(with_torch: FormulaGraphSystem) -> None:
    read = [trees(latex) for latex in FORMULAS]
    for place, view in enumerate(VIEWS):
        asked = [tree for each in read if (tree := each[place]) is not None]
        rows, starts = nodes_of("formula-graph").vectors(view, asked)
        expected = np.concatenate([each.vectors for each in with_torch.node_vectors(view, asked)])
        assert starts.tolist() == np.cumsum([0, *map(len, asked)]).tolist()
        np.testing.assert_allclose(rows, expected, atol=1e-5)


def test_alike_is_the_mean_of_every_nodes_best_cosine_in_the_better_view(
    with_torch: FormulaGraphSystem,
) -> None:
    query, *others = [trees(latex) for latex in FORMULAS[1:]]
    expected = []
    for other in others:
        views = []
        for place, view in enumerate(VIEWS):
            ours, theirs = query[place], other[place]
            assert ours is not None
            assert theirs is not None
            rows, found = (each.vectors for each in with_torch.node_vectors(view, [ours, theirs]))
            views.append(float(np.mean([max(row @ node for node in found) for row in rows])))
        expected.append(max(views))
    assert nodes_of("formula-graph").alike(query, others) == pytest.approx(expected, abs=1e-5)


def test_a_view_that_one_formula_lacks_counts_nothing() -> None:
    opt, slt = trees(FORMULAS[2])
    nodes = nodes_of("formula-graph")
    assert nodes.alike((opt, slt), [(None, None)]) == [0.0]
    assert nodes.alike((None, None), [(opt, slt)]) == [0.0]
    assert nodes.alike((opt, slt), [(opt, None), (None, slt)]) == pytest.approx([1.0, 1.0], abs=1e-5)
    assert nodes.alike((opt, None), [(None, slt)]) == [0.0]
    assert nodes.alike((opt, slt), []) == []


def test_torch_is_not_loaded() -> None:
    code = (
        "import sys; from mathamr.systems.formulagraph.numpynodes import nodes_of;"
        "nodes_of('formula-graph'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="holds a model of the system 'ssemb'"):
        NumpyNodes(box() / "ssemb")
    with pytest.raises(MathAMRError, match=r"no model in .*: it has no config\.json"):
        NumpyNodes(tmp_path)
