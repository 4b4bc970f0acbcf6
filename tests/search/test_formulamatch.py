"""Why a formula was found: by the alignment of trees, or by a system that compares nodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mathamr import Index
from mathamr.formulas.alignment import NodePair
from mathamr.formulas.parse import parse
from mathamr.search.explanations import UnknownPostError
from mathamr.search.formulamatch import ALIGNMENT, aligned_views, matched_nodes
from mathamr.systems.mathamrplus.system import MathAMRPlusSystem
from mathamr.systems.nodematch import TreeMatch
from mathamr.systems.system import VisualFormula

QUERY = r"$\sum_{j=1}^\infty \frac{1}{j^2}$"


def test_a_found_formula_says_where_its_matched_part_stands(index: Index) -> None:
    hit = index.search(QUERY, "formulas", "lexical", k=1)[0]
    assert hit.formula is not None
    latex = hit.formula.latex
    sum_of_squares, _, rest = latex.partition("=\\frac")
    assert rest == r"{\pi^2}{6}"
    assert [latex[start:end] for start, end in hit.formula.matched] == [sum_of_squares]
    labels = parse(latex).slt.labels
    assert {labels[node] for node in hit.formula.matched_nodes} == {
        "∑",
        "V!n",
        "=",
        "N!1",
        "V!∞",
        "O!divide",
        "N!2",
    }


def test_the_alignment_explains_where_the_system_does_not(index: Index) -> None:
    hit = index.search(QUERY, "formulas", "lexical", k=1)[0]
    assert hit.formula is not None
    match = index.explain_formula(QUERY, hit.formula.id)
    assert (match.by, match.post_id, match.formula_id) == (ALIGNMENT, hit.id, hit.formula.id)
    assert [view.view for view in match.views] == ["opt", "slt"]
    for view in match.views:
        ours, theirs = match.pair(view.view)
        assert len(view.met) == len(ours), "all of the query is in the formula"
        for each in view.met:
            same = ours.labels[each.node] == theirs.labels[each.other]
            assert same == (each.worth == 1.0)
    assert match.svg().startswith("<svg ")
    assert match.to_json()["views"][0]["met"][0] == [0, 1, 1.0]


def test_the_pairs_of_a_system_that_compares_nodes_are_taken_as_they_are(
    sample_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def match_nodes(self: object, query: VisualFormula, found: VisualFormula) -> Sequence[TreeMatch]:
        asked.append((query.formula.latex, found.formula.latex))
        assert query.opt is not None
        assert found.opt is not None
        return [TreeMatch("opt", 0.25, (NodePair(0, 0, 0.5),))]

    monkeypatch.setattr(MathAMRPlusSystem, "match_nodes", match_nodes, raising=False)
    with Index.open(sample_index, device="cpu") as index:
        hit = index.search(QUERY, "formulas", "lexical", k=1)[0]
        assert hit.formula is not None
        match = index.explain_formula(QUERY, hit.formula.id)
        assert asked == [(QUERY.strip("$"), hit.formula.latex)]
        assert match.by == "mathamrplus"
        assert match.to_json()["views"][0]["met"] == [[0, 0, 0.5]]
        assert match.svg().count("matched ") == 2


def test_a_post_or_nothing_is_no_formula(index: Index) -> None:
    post = index.search("series", k=1)[0].id
    assert not index.has_formula(post)
    with pytest.raises(UnknownPostError):
        index.explain_formula(QUERY, post)


def test_formulas_without_trees_have_no_views() -> None:
    trees = (parse("a+b").opt, parse("a+b").slt)
    assert aligned_views(trees, (None, None)) == ()
    assert matched_nodes(None, trees[1]) == ()
    assert matched_nodes(trees[1], trees[1]) == (0, 1, 2)
