"""Office Math to MathML, compared with the trees that the same formula has in LaTeX."""

from __future__ import annotations

from lxml import etree

from mathamr.formulas.mathml.layouttree import slt
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse
from mathamr.posts.formats.word.omml import mathml
from tests.cases import cases

NAMESPACE = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


UPRIGHT = "<sty val='p'/>"


def t(words: str, style: str = "") -> str:
    return f"<r>{f'<rPr>{style}</rPr>' if style else ''}<t>{words}</t></r>"


def omath(content: str) -> str:
    named = content.replace("</", "\0").replace("<", "<m:").replace("\0", "</m:").replace(" val=", " m:val=")
    return mathml(etree.fromstring(f"<m:oMath {NAMESPACE}>{named}</m:oMath>"))


FORMULAS = {
    "x^{2}": f"<sSup><e>{t('x')}</e><sup>{t('2')}</sup></sSup>",
    "a_{n}+1": f"<sSub><e>{t('a')}</e><sub>{t('n')}</sub></sSub>{t('+1')}",
    "a_{i}^{2}": f"<sSubSup><e>{t('a')}</e><sub>{t('i')}</sub><sup>{t('2')}</sup></sSubSup>",
    "\\frac{1}{x+y}": f"<f><num>{t('1')}</num><den>{t('x+y')}</den></f>",
    "\\sqrt{x}": f"<rad><radPr><degHide val='1'/></radPr><deg/><e>{t('x')}</e></rad>",
    "\\sqrt[3]{x}": f"<rad><deg>{t('3')}</deg><e>{t('x')}</e></rad>",
    "(x,y)": f"<d><e>{t('x,y')}</e></d>",
    "[x]": f"<d><dPr><begChr val='['/><endChr val=']'/></dPr><e>{t('x')}</e></d>",
    "\\sum_{i=1}^{n}i": f"<nary><naryPr><chr val='∑'/><limLoc val='undOvr'/></naryPr><sub>{t('i=1')}</sub><sup>{t('n')}</sup><e>{t('i')}</e></nary>",
    "\\int_{0}^{1}x": f"<nary><sub>{t('0')}</sub><sup>{t('1')}</sup><e>{t('x')}</e></nary>",
    "\\hat{x}": f"<acc><e>{t('x')}</e></acc>",
    "x\\le 12.5": t("x≤12.5"),
    "x=y": t("x&amp;\u200b=y"),
}


@cases("latex", FORMULAS)
def test_a_formula_has_the_layout_of_its_latex(latex):
    assert to_string(slt(read(omath(FORMULAS[latex])))) == to_string(parse(latex).slt)


def test_the_mark_that_ends_a_sentence_stands_behind_the_formula():
    assert omath(t("y=1.")).endswith("<mn>1</mn></mrow></math>.")
    assert omath(t(".")).endswith("<mo>.</mo></math>")


def test_matrices_arrays_functions_and_prescripts_keep_their_parts():
    matrix = omath(f"<m><mr><e>{t('a')}</e><e>{t('b')}</e></mr><mr><e>{t('c')}</e><e>{t('d')}</e></mr></m>")
    assert matrix.count("<mtr>") == 2
    assert matrix.count("<mtd>") == 4
    assert "<mi>sin</mi>" in omath(f"<func><fName>{t('sin', UPRIGHT)}</fName><e>{t('x')}</e></func>")
    assert "<mprescripts/>" in omath(f"<sPre><sub>{t('1')}</sub><sup>{t('2')}</sup><e>{t('x')}</e></sPre>")
    assert omath(t("a &lt; b")).count("<mo>&lt;</mo>") == 1


def test_words_and_letters_of_other_alphabets_keep_their_visual():
    assert omath(t("if x", "<nor/>")).endswith("<mtext>if x</mtext></math>")
    assert 'mathvariant="double-struck">R' in omath(t("R", '<scr val="double-struck"/>'))
    assert 'mathvariant="bold">v' in omath(t("v", '<sty val="b"/>'))
