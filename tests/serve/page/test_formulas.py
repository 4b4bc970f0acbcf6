"""How formulas look, measured in a browser with the page's own style sheets and policy."""

from __future__ import annotations

from typing import Any

import pytest

from mathamr.formulas.latex.display.atom import DEFAULT_SPACES as SPACES
from mathamr.posts.rendering.drawing import draw
from tests.serve.page.visit import Page
from tests.serve.site import Site

MEASURE = """(markup) => {
  const place = document.createElement("div");
  place.style.setProperty("font-size", "20px");
  document.body.append(place);
  const math = new DOMParser().parseFromString(markup, "text/html").querySelector("math");
  place.append(document.importNode(math, true));
  const box = (node) => {
    const { left, right, top, bottom, width, height } = node.getBoundingClientRect();
    return { tag: node.localName, text: node.textContent, left, right, top, bottom, width, height };
  };
  const em = parseFloat(getComputedStyle(place.firstChild).fontSize);
  const boxes = [...place.querySelectorAll("math *")].filter((node) => !node.closest("annotation")).map(box);
  place.remove();
  return { em, boxes };
}"""

Boxes = list[dict[str, Any]]


@pytest.fixture
def measured(page: Page, site: Site) -> Any:
    """Draws a formula on the page and gives the boxes of its elements, in em."""
    page.goto(site.url)

    def measure(latex: str, display: bool = True) -> Boxes:
        markup = draw(latex, (), display=display).mathml
        assert markup is not None
        found = page.evaluate(MEASURE, markup)
        for box in found["boxes"]:
            for side in ("left", "right", "top", "bottom", "width", "height"):
                box[side] /= found["em"]
        return list(found["boxes"])

    return measure


def of(boxes: Boxes, tag: str, text: str | None = None) -> Boxes:
    return [box for box in boxes if box["tag"] == tag and (text is None or box["text"] == text)]


def test_columns_stand_on_the_side_they_were_given(measured: Any) -> None:
    boxes = measured(r"\begin{array}{rlc}1000&a&b\\1&aaaa&bbbb\end{array}")
    (long, short) = (of(boxes, "mn", text)[0] for text in ("1000", "1"))
    assert short["right"] == pytest.approx(long["right"], abs=0.02)
    assert short["left"] > long["left"] + 1
    letters = [box["left"] for box in of(boxes, "mi", "a")]
    assert letters[0] == pytest.approx(letters[1], abs=0.02)
    middle = of(boxes, "mi", "b")
    centre = (middle[1]["left"] + middle[-1]["right"]) / 2
    assert (middle[0]["left"] + middle[0]["right"]) / 2 == pytest.approx(centre, abs=0.02)


def test_relations_of_an_alignment_stand_under_each_other_close_to_their_left_side(measured: Any) -> None:
    boxes = measured(r"\begin{aligned}a+b+c&=d\\e&=f\end{aligned}")
    signs, (wide, narrow) = of(boxes, "mo", "="), (of(boxes, "mi", text)[0] for text in "ce")
    assert signs[0]["left"] == pytest.approx(signs[1]["left"], abs=0.02)
    assert wide["right"] == pytest.approx(narrow["right"], abs=0.1)
    assert signs[1]["left"] - narrow["right"] == pytest.approx(5 / 18, abs=0.1)


def test_a_line_is_as_long_as_what_it_covers(measured: Any) -> None:
    boxes = measured(r"\overline{ABCDEF}")
    assert boxes[0]["width"] == pytest.approx(
        of(boxes, "mi", "F")[0]["right"] - of(boxes, "mi", "A")[0]["left"], abs=0.05
    )
    assert boxes[0]["top"] < of(boxes, "mi", "A")[0]["top"] - 0.1


def test_space_is_as_wide_as_in_latex(measured: Any) -> None:
    def gap(between: str) -> float:
        boxes = measured(f"a{between} b")
        return float(of(boxes, "mi", "b")[0]["left"] - of(boxes, "mi", "a")[0]["right"])

    assert gap(r"\,") == pytest.approx(1 / 6, abs=0.02)
    assert gap(r"\quad") == pytest.approx(1, abs=0.02)
    assert gap(r"\!") == pytest.approx(-1 / 6, abs=0.03)
    assert gap("/") < 0.6
    assert gap(r"\phantom{xxx}") > 1.5


def test_what_is_left_to_the_browser_is_what_tex_would_do(measured: Any) -> None:
    """`default_spaces` must say what the browser does by itself."""
    for sign, (before, after) in SPACES.items():
        if sign in "()[]{}⟨⟩⌊⌋⌈⌉":
            continue
        latex = f"a{sign} b".replace("{", "\\{")
        boxes = measured(latex)
        (mo,) = of(boxes, "mo")
        assert "lspace" not in (draw(latex).mathml or "").partition("<annotation")[0], sign
        assert mo["left"] - of(boxes, "mi", "a")[0]["right"] == pytest.approx(before, abs=0.03), sign
        assert of(boxes, "mi", "b")[0]["left"] - mo["right"] == pytest.approx(after, abs=0.03), sign


def test_delimiters_have_the_size_that_was_asked_for(measured: Any) -> None:
    heights = [of(measured(rf"\{size}l(x"), "mo")[0]["height"] for size in ("big", "Big", "bigg", "Bigg")]
    assert heights == sorted(heights)
    assert heights[3] > 2 * heights[0]
    bar = of(measured(r"\left\{x\,\middle|\,\frac{\frac ab}{c}\right\}"), "mo", "|")[0]
    assert bar["height"] > 2


def test_labels_are_small_and_arrows_as_long_as_they_are(measured: Any) -> None:
    boxes = measured(r"A\xrightarrow{abcdefgh}B")
    label, letter = of(boxes, "mi", "a")[0], of(boxes, "mi", "A")[0]
    arrow = of(boxes, "mover")[0]
    assert arrow["width"] > of(boxes, "mi", "h")[0]["right"] - label["left"]
    assert label["height"] < letter["height"]
    assert of(boxes, "mi", "B")[0]["left"] > arrow["right"]


def test_fractions_have_the_size_of_their_style(measured: Any) -> None:
    def height(latex: str) -> float:
        return float(of(measured(latex, display=False), "mi", "b")[0]["height"])

    assert height(r"\frac ab") < height(r"\dfrac ab")
    nested = measured(r"\cfrac{1}{1+\cfrac{1}{1+\cfrac{1}{b}}}")
    assert len({round(box["height"], 1) for box in of(nested, "mn", "1")}) == 1


def test_rules_and_strokes_are_drawn_by_the_pages_own_style_sheet(page: Page, site: Site) -> None:
    page.goto(site.url)
    visuals = page.evaluate(
        """(markup) => {
          document.body.insertAdjacentHTML("beforeend", markup);
          const style = (name) => getComputedStyle(document.querySelector(`body > math .math-${name}`));
          const found = { before: style("before").borderLeftStyle, above: style("above").borderTopStyle,
            cancelled: style("cancelled").backgroundImage.slice(0, 15), side: style("right").textAlign };
          document.querySelector("body > math").remove();
          return found;
        }""",
        draw(r"\begin{array}{r|c}\hline\cancel{a}&b\end{array}").mathml,
    )
    assert visuals == {
        "before": "solid",
        "above": "solid",
        "cancelled": "linear-gradient",
        "side": "-webkit-right",
    }


def test_a_colour_reaches_the_page(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?q=" + "%24%5Ccolor%7Bred%7Dx%24")
    page.locator("#preview math").wait_for()
    assert (
        page.evaluate("getComputedStyle(document.querySelector('#preview math mi')).color")
        == "rgb(255, 0, 0)"
    )
