from __future__ import annotations

import pytest

from mathamr.formulas.latex.display.formula import display_mathml
from mathamr.formulas.latex.display.typesetter import MOST_BACK
from mathamr.formulas.mathml.styles import STYLES
from tests.formulas.latex.display.drawing import drawn, first, shown, styles_of, text_of


@pytest.mark.parametrize(
    ("latex", "width"),
    [(r"\,", "0.17em"), (r"\:", "0.22em"), (r"\;", "0.28em"), (r"\ ", "0.3333em"), ("~", "0.3333em"), (r"\quad", "1em"),
     (r"\hspace{2em}", "2em"), (r"\kern 1em", "1em"), (r"\kern{1em}", "1em"), (r"\mkern18mu", "1em"), (r"\mspace{9mu}", "0.5em")],
)  # fmt: skip
def test_space_is_kept(latex: str, width: str) -> None:
    assert shown(f"a{latex} b") == f'<mrow><mi>a</mi><mspace width="{width}"></mspace><mi>b</mi></mrow>'


def test_phantoms_keep_their_space() -> None:
    assert shown(r"\phantom{x}") == "<mphantom><mi>x</mi></mphantom>"
    assert first(drawn(r"\hphantom{x}"), "mpadded").attributes == {"height": "0em", "depth": "0em"}
    assert first(drawn(r"\vphantom{x}"), "mpadded").attributes == {"width": "0em"}
    assert first(drawn(r"\smash[b]{y}"), "mpadded").attributes == {"depth": "0em"}


@pytest.mark.parametrize(
    ("latex", "name"),
    [(r"\cancel{x}", "cancelled"), (r"\bcancel{x}", "cancelled-back"), (r"\xcancel{x}", "crossed"), (r"\sout{x}", "struck"),
     (r"\boxed{x}", "boxed"), (r"\cancelto{0}{x}", "cancelled"), (r"\rule{1em}{1em}", "filled")],
)  # fmt: skip
def test_strokes_and_boxes_are_styles(latex: str, name: str) -> None:
    assert any(name in styles_of(element) for element in drawn(latex).iterate())
    assert STYLES[name] in display_mathml(latex)


@pytest.mark.parametrize(
    ("latex", "colour"),
    [(r"\color{red}x", "red"), (r"\textcolor{red}{x}", "red"), (r"\textcolor[rgb]{1,0,0.5}{x}", "#ff0080"),
     (r"\textcolor[RGB]{255,0,128}{x}", "#ff0080"), (r"\textcolor[HTML]{FF0080}{x}", "#FF0080"), (r"\color{#abc}x", "#abc"),
     (r"\color[gray]{0.5}x", "#808080"), (r"\color{blue!50}x", "blue")],
)  # fmt: skip
def test_colours_are_honoured(latex: str, colour: str) -> None:
    assert first(drawn(latex), "mstyle").attributes == {"mathcolor": colour}
    assert f'mathcolor="{colour}"' in display_mathml(latex)


@pytest.mark.parametrize("value", ["red;x", '"><script>', "url(x)", "expression(1)", "[rgb]", "a" * 50])
def test_what_names_no_colour_is_none(value: str) -> None:
    written = display_mathml(rf"\color{{{value}}}x \textcolor[rgb]{{{value}}}{{y}}")
    assert "mathcolor" not in written.partition("<semantics>")[2].partition("<annotation")[0]


def test_styles_hold_for_the_rest_of_the_group() -> None:
    assert shown(r"{\displaystyle a}b", display=False) == (
        '<mrow><mstyle displaystyle="true" scriptlevel="0"><mi>a</mi></mstyle><mi>b</mi></mrow>'
    )
    assert 'mathsize="1.2em"' in shown(r"\large x")


def test_no_formula_can_walk_over_the_page_by_negative_space() -> None:
    steps = [
        float(STYLES[name].split("-")[-1].removesuffix("em"))
        for element in drawn(r"\kern-3em\!" * 50 + "x").iterate()
        for name in styles_of(element)
    ]
    assert 0 < sum(steps) <= MOST_BACK + 1 / 18
    assert "pulled-left" not in shown(rf"\llap{{{'x' * 100}}}")
    assert "pulled-half" in shown(r"\sum_{\mathclap{i<j}}")


def test_links_and_styles_of_others_leave_only_their_content() -> None:
    assert text_of(drawn(r"\href{javascript:x}{y}\class{z}{a}\style{color:red}{b}\cssId{c}{d}")) == "yabd"
