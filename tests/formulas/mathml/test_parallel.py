from __future__ import annotations

from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.mathml.parallel import content, latex, presentation

PARALLEL = read(
    "<math alttext='x'><semantics><mi>x</mi>"
    "<annotation-xml encoding='MathML-Content'><ci>x</ci></annotation-xml>"
    "<annotation encoding='application/x-tex'> x_1 </annotation></semantics></math>"
)


def test_parallel_markup_holds_both() -> None:
    assert presentation(PARALLEL) is PARALLEL
    assert content(PARALLEL) == Element("ci", "x")


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
    assert latex(PARALLEL) == "x_1"
    assert latex(read("<math alttext='y'><mi>y</mi></math>")) == "y"
    assert latex(read("<math><mi>y</mi></math>")) is None
