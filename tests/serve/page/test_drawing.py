"""Drawing a symbol in the palette."""

from __future__ import annotations

from tests.serve.drawings import DRAWINGS
from tests.serve.page.visit import Page, expect
from tests.serve.site import Site


def draw(page: Page, name: str) -> None:
    corner = page.locator(".pad").bounding_box()
    for stroke in DRAWINGS[name]:
        first, *others = [(corner["x"] + 2 * x, corner["y"] + 2 * y) for x, y in stroke]
        page.mouse.move(*first)
        page.mouse.down()
        for point in others:
            page.mouse.move(*point)
        page.mouse.up()


def test_a_drawn_symbol_is_offered_by_name_and_pressed_into_the_question(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?task=formulas")
    page.get_by_role("button", name="Symbols").click()
    page.get_by_role("button", name="Draw a symbol").click()
    draw(page, "\\forall")
    offered = page.locator(".offered button")
    expect(offered.first).to_contain_text("\\forall")
    expect(offered).to_have_count(5)
    offered.first.click()
    expect(page.locator("#question")).to_have_value("\\forall ")
    expect(offered).to_have_count(0)


def test_a_drawn_symbol_goes_into_the_formula_field(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?task=formulas")
    page.get_by_role("button", name="Formula field").click()
    expect(page.locator("#formula")).to_be_focused()
    page.keyboard.type("x")
    page.get_by_role("button", name="Symbols").click()
    page.get_by_role("button", name="Draw a symbol").click()
    draw(page, "\\in")
    choice = page.get_by_role("group", name="Symbols like the drawing").get_by_role(
        "button", name="\\in", exact=False
    )
    choice.first.click()
    expect(page.locator("#question")).to_have_value("x\\in")
