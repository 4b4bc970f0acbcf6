"""Where trees come from: from LaTeX, or, if wanted, from the MathML of a collection."""

from __future__ import annotations

import pytest

from mathamr.core.settings import TREES
from mathamr.formulas.parse import parse
from mathamr.formulas.trees import trees_of
from mathamr.posts.post import Formula

PRESENTATION = "<math><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></math>"
CONTENT = "<math><apply><plus/><ci>a</ci><ci>b</ci></apply></math>"
FORMULA = Formula("f", "x^2", presentation_mathml=PRESENTATION, content_mathml=CONTENT)


def test_latex_is_preferred_unless_mathml_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    written = parse("x^2")
    assert trees_of(FORMULA)[0] == (written.opt, written.slt)
    monkeypatch.setenv(TREES.name, "mathml")
    opt, slt = trees_of(FORMULA)[0]
    assert opt is not None
    assert slt is not None
    assert {"V!a", "V!b"} <= set(slt.labels) & set(opt.labels)
    assert (opt, slt) == trees_of(Formula("f", "", presentation_mathml=PRESENTATION, content_mathml=CONTENT))[
        0
    ]


def test_a_tree_without_mathml_comes_from_latex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TREES.name, "mathml")
    opt, slt = trees_of(Formula("f", "x^2", presentation_mathml=PRESENTATION))[0]
    assert opt == parse("x^2").opt
    assert slt is not None
    assert "V!a" in slt.labels
    assert trees_of(Formula("f", "x^2"))[0] == (parse("x^2").opt, parse("x^2").slt)
    broken = Formula("f", "x^2", presentation_mathml="<math><unclosed", content_mathml=CONTENT)
    assert trees_of(broken)[0][1] == parse("x^2").slt
