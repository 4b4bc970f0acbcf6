from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.markup import (
    annotated_tree,
    content,
    latex,
    opt_from_mathml,
    presentation,
    slt_from_mathml,
)
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.notation import to_string

PARALLEL = (
    "<math><semantics><mrow><mi>f</mi><mo>\u2062</mo><mi>x</mi></mrow><annotation-xml encoding='MathML-Content'>"
    "<apply><times/><ci>f</ci><ci>x</ci></apply></annotation-xml></semantics></math>"
)


def test_parallel_markup_gives_both_trees() -> None:
    assert to_string(slt_from_mathml(PARALLEL)) == "[V!f[V!x]]"
    assert to_string(opt_from_mathml(PARALLEL)) == "[U!times,0[V!f],1[V!x]]"


def test_a_published_tree_is_taken_from_its_annotation() -> None:
    layout, operators = "[V!x,a[N!2][<[N!3]]]", "[U!lt,0[O!SUP,0[V!x],1[N!2]],1[N!3]]"
    assert to_string(slt_from_mathml(annotated_tree(layout))) == layout
    assert to_string(opt_from_mathml(annotated_tree(operators))) == operators
    beside = PARALLEL.replace("</semantics>", "<annotation encoding='x-odd'>[V!y]</annotation></semantics>")
    assert to_string(slt_from_mathml(beside)) == "[V!f[V!x]]"
    with pytest.raises(MathAMRError, match=r"pool.tsv:3: this node is never closed"):
        slt_from_mathml(annotated_tree("[V!x"), source="pool.tsv:3")


def test_the_wrong_kind_of_markup_is_named() -> None:
    with pytest.raises(MathAMRError, match=r"opt.tsv:2: only Presentation MathML"):
        opt_from_mathml("<math><mi>x</mi></math>", source="opt.tsv:2")
    with pytest.raises(MathAMRError, match="only Content MathML"):
        slt_from_mathml("<math><ci>x</ci></math>")


@pytest.mark.slow
def test_every_formula_of_the_collection_has_a_layout_tree(data: Path) -> None:
    """Whatever LaTeXML wrote for the collection converts; a third of it is enough here, the benchmark takes all."""
    with (data / "arqmath-mini/presentation_mathml.tsv").open(encoding="utf-8") as lines:
        next(lines)
        sample = [line.rstrip("\n").split("\t")[2] for number, line in enumerate(lines) if number % 3 == 0]
    assert len(sample) > 10_000
    assert all(len(slt_from_mathml(mathml)) for mathml in sample)


READ = read(
    "<math alttext='x'><semantics><mi>x</mi>"
    "<annotation-xml encoding='MathML-Content'><ci>x</ci></annotation-xml>"
    "<annotation encoding='application/x-tex'> x_1 </annotation></semantics></math>"
)


def test_parallel_markup_holds_both() -> None:
    assert presentation(READ) is READ
    assert content(READ) == Element("ci", "x")


def test_content_may_come_first() -> None:
    markup = read(
        "<math><semantics><ci>x</ci><annotation-xml encoding='application/mathml-presentation+xml'><mi>x</mi>"
        "</annotation-xml></semantics></math>"
    )
    assert presentation(markup) == Element("mi", "x")
    assert content(markup) is markup


def test_what_is_not_there_is_none() -> None:
    assert content(read("<math><mrow><mi>x</mi></mrow></math>")) is None
    assert presentation(read("<math><apply><sin/><ci>x</ci></apply></math>")) is None


def test_latex_is_the_annotation_else_the_alternative_text() -> None:
    assert latex(READ) == "x_1"
    assert latex(read("<math alttext='y'><mi>y</mi></math>")) == "y"
    assert latex(read("<math><mi>y</mi></math>")) is None
