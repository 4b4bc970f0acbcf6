from __future__ import annotations

from dataclasses import replace

import pytest

from mathamr.amr.parser import load_parser
from mathamr.core.errors import UnknownNameError
from mathamr.graphs.maker import GraphMaker
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.systems.mathamr.context import CONTEXTS, check_context, contexts

BODY = "Let $a<b.$ Solve $x^2=4$ for $x$!"
POST = Post("7", "note", BODY, markup="text", formulas=formulas_of("7", "", BODY, "text"))


def test_the_five_contexts_of_a_formula() -> None:
    (made,) = GraphMaker(load_parser("tests.amr.rule_parser:RuleParser")).make([POST])
    found = {kind: dict(contexts(made.graph, POST, kind)) for kind in CONTEXTS}
    assert found["text-latex"] == {
        "7:0": "Let a<b.",
        "7:1": "Solve x^2=4 for x!",
        "7:2": "Solve x^2=4 for x!",
    }
    assert found["opt"]["7:1"] == "eq 4 SUP 𝑥 2"
    assert found["opt"]["7:2"] == "𝑥"
    assert found["text-opt"]["7:1"] == "Solve eq 4 SUP 𝑥 2 for 𝑥!"
    for kind, formula in (("amr-opt", "eq 4 SUP 𝑥 2"), ("amr-latex", "x^2=4")):
        assert formula in found[kind]["7:1"]
        assert found[kind]["7:1"] == found[kind]["7:2"], "formulas of one sentence share its context"
        assert found[kind]["7:0"] != found[kind]["7:1"]
        assert "solve" in found[kind]["7:1"].lower()
        assert "FORMULA" not in found[kind]["7:1"]


def test_a_formula_without_an_operator_tree_keeps_the_papers_placeholder() -> None:
    (made,) = GraphMaker(load_parser("tests.amr.rule_parser:RuleParser")).make([POST])
    graph = replace(made.graph, formulas=tuple(replace(each, opt=None) for each in made.graph.formulas))
    line = dict(contexts(graph, POST, "amr-opt"))["7:1"]
    assert {"EQ:1", "EQ:2"} <= set(line.split())
    assert "x^2=4" in dict(contexts(graph, POST, "text-opt"))["7:1"]


def test_an_unknown_context_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="amr-opt"):
        check_context("amr")
