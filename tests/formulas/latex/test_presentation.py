from __future__ import annotations

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.nodes import NodeWalk
from mathamr.formulas.latex.presentation import present
from mathamr.formulas.latex.reader import Reader
from mathamr.formulas.parse import parse
from tests.cases import cases


@cases(
    ("latex", "expected"),
    [
        ("x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        (
            "{x_i}^2",
            "<mmultiscripts><mi>x</mi><mi>i</mi><mrow></mrow><mrow></mrow><mn>2</mn></mmultiscripts>",
        ),
        (
            "{}^a_bx",
            "<mmultiscripts><mi>x</mi><mprescripts></mprescripts><mi>b</mi><mi>a</mi></mmultiscripts>",
        ),
        (r"\sum_i^n", "<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>"),
        (r"\textstyle\sum_i^n", "<msubsup><mo>∑</mo><mi>i</mi><mi>n</mi></msubsup>"),
        ("a+b-c", "<mrow><mi>a</mi><mo>+</mo><mi>b</mi><mo>−</mo><mi>c</mi></mrow>"),
        ("a(b)", "<mrow><mi>a</mi><mrow><mo>(</mo><mi>b</mi><mo>)</mo></mrow></mrow>"),
        ("n!", "<mrow><mi>n</mi><mo>!</mo></mrow>"),
        (r"\mathbb{R}", "<mi>ℝ</mi>"),
        (r"\hat x", '<mover accent="true"><mi>x</mi><mo>^</mo></mover>'),
    ],
)
def test_rows_and_scripts(latex: str, expected: str) -> None:
    reader = Reader(*tokenize(latex), latex, Budget(len(latex)))
    walk = NodeWalk(reader)
    assert repr(present(walk.expression(walk.walk(reader.read())))) == expected


def test_markup_for_a_page_has_the_latex_beside_it() -> None:
    markup = parse(r"a<b").presentation_mathml(display=True)
    assert markup.startswith("<math")
    assert 'display="block"' in markup
    assert "a&lt;b</annotation>" in markup
