"""Typing a question: the preview, completions, the palette."""

from __future__ import annotations

import re

from mathamr.posts.markup import formulas_of
from tests.serve.page.visit import Page, expect
from tests.serve.site import Site


def test_a_formula_is_drawn_while_it_is_typed(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.get_by_label(re.compile("Question")).type("a root of $x^2+1")
    preview = page.locator("#preview")
    expect(preview.locator("math msup")).to_have_text("x2")
    expect(preview).to_contain_text("a root of")


def test_formulas_need_no_marks_and_know_the_macros_of_the_collection(page: Page, site: Site) -> None:
    page.goto(site.url)
    box, preview = page.locator("#question"), page.locator("#preview")
    box.fill("is x² <= 1 true")
    expect(preview.locator("math")).to_have_count(1)
    expect(preview.locator("math")).to_have_text("x2≤1")
    expect(preview).to_contain_text("true")
    box.fill("the sum \\Powers{n}{3}")
    expect(preview.locator("math")).to_have_text("∑k=1nk3")
    box.fill("words alone")
    expect(preview).to_be_hidden()


def test_commands_are_completed_with_arrows_and_tab(page: Page, site: Site) -> None:
    page.goto(site.url)
    box = page.locator("#question")
    options = page.locator("#completions").get_by_role("option")
    box.type("$\\varn")
    expect(options).to_have_count(1)
    expect(options).to_contain_text("\\varnothing")
    box.fill("")
    box.type("$\\sq")
    expect(options.first).to_contain_text("\\sqrt")
    first = box.get_attribute("aria-activedescendant")
    box.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") != first
    box.press("ArrowUp")
    box.press("Tab")
    box.type("2")
    assert box.input_value() == "$\\sqrt{2}"
    expect(page.locator("#preview msqrt")).to_have_text("2")


def test_the_palette_puts_symbols_at_the_caret_and_opens_a_formula_where_there_is_none(
    page: Page, site: Site
) -> None:
    page.goto(site.url)
    box = page.locator("#question")
    box.type("sum of ")
    page.get_by_role("button", name="Symbols").click()
    page.get_by_role("button", name="fraction").click()
    box.type("1")
    page.get_by_role("button", name="infinity").click()
    assert box.input_value() == "sum of $\\frac{1\\infty }{}$"


def test_a_formula_that_cannot_be_read_is_shown_with_its_place(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.locator("#question").fill("why is $1 + \\def\\a{\\a\\a}\\a$ so")
    problem = page.locator("#preview .problem")
    expect(problem).to_contain_text("expands without end")
    expect(problem.locator(".here")).to_have_text("\\")


OPEN = {
    "a root of $x^2": "a root of $x^2$",
    "why is $x^2 + 1 irreducible": "why is $x^2 + 1$ irreducible",
    "$x is irrational": "$x$ is irrational",
    "\\(a+b is even": "\\(a+b\\) is even",
    "let $x^2=2 have a root": "let $x^2=2$ have a root",
    "$\\sin x + cos x": "$\\sin x + cos x$",
    "$\\mathrm{rank} A": "$\\mathrm{rank} A$",
    "$abc": "$abc$",
    "it costs $5 and more": "it costs $5 and more",
    "open $": "open $",
    "$x$ is closed": "$x$ is closed",
}


def test_a_formula_that_is_still_open_ends_before_the_words_behind_it(page: Page, site: Site) -> None:
    page.goto(site.url)
    closed = page.evaluate(
        "async (texts) => { const { closed } = await import('./latex.js'); return texts.map(closed); }",
        list(OPEN),
    )
    assert dict(zip(OPEN, closed, strict=True)) == OPEN


TEXTS = [
    "a $x$ b",
    "$$x$$ and $y$",
    "\\(x\\) and \\[y\\]",
    "it costs \\$5 and $y$",
    "$a$$b$",
    "$ x $",
    "open $x",
    "$$a$ b$$",
    "no formula",
    "\\\\(x\\\\)",
    "$x\\$y$",
    "two\n$lines\nx$",
    "$",
    "$$",
    "\\[a",
    "$\\$",
    "so \\begin{align*}a&=b\\end{align*} holds",
    "\\begin{align}a",
]


def test_the_box_sees_the_same_formulas_as_the_server(page: Page, site: Site) -> None:
    """The reader of posts is the oracle; both only count formulas that are closed."""
    page.goto(site.url)
    seen = page.evaluate(
        """async (texts) => {
          const { pieces } = await import("./latex.js");
          const formulas = (text) => pieces(text).filter(({ kind, closed }) => kind === "formula" && closed);
          return texts.map((text) => formulas(text).map(({ latex, display }) => [latex.trim(), display]));
        }""",
        TEXTS,
    )
    read = [formulas_of("query", "", text, "text", lambda *_: None) for text in TEXTS]
    assert seen == [[[formula.latex.strip(), formula.display] for formula in each] for each in read]
