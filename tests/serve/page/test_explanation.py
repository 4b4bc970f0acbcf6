"""Asking why a post was found: the map of heat; why a formula was: the nodes that met."""

from __future__ import annotations

import re
from urllib.parse import quote

from tests.serve.page.visit import Page, ask, expect, heat
from tests.serve.site import Site

SUM = r"\sum_{j=1}^\infty\frac{1}{j^2}"


def test_the_heatmap_lights_up_both_sides_of_what_is_pointed_at(page: Page, site: Site) -> None:
    ask(page, site)
    heat(page)
    square = page.locator(".square.best").first
    row, column = square.get_attribute("data-row"), square.get_attribute("data-column")
    square.hover()
    expect(page.locator(f'.parts li[data-row="{row}"]')).to_have_class("lit")
    expect(page.locator(f'.heatmap tbody th[data-column="{column}"]')).to_have_class("lit")
    assert [page.locator(each).count() for each in (".parts li.lit", ".heatmap tbody th.lit")] == [1, 1]
    expect(page.locator(".reading")).to_contain_text("matched")
    values = [float(text) for text in page.locator(f'.square[data-row="{row}"]').all_inner_texts()]
    assert float(square.inner_text()) == max(values)


def test_the_heatmap_can_be_walked_with_the_arrow_keys(page: Page, site: Site) -> None:
    ask(page, site)
    heat(page)
    page.locator(".square").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    held = page.evaluate(
        "({ row: document.activeElement.dataset.row, column: document.activeElement.dataset.column })"
    )
    assert held == {"row": "1", "column": "1"}
    expect(page.locator('.parts li[data-row="1"]')).to_have_class("lit")


def test_a_found_formula_is_drawn_once_with_its_matched_part_marked(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?task=formulas&q={quote(SUM)}")
    hit = page.locator(".hit:has(.found math)").first
    expect(hit.locator(".found .math-matched").first).to_contain_text("∑")
    own = hit.get_attribute("data-formula")
    expect(hit.locator(f'[data-formula="{own}"].formula')).to_have_count(1)
    assert hit.locator(".found .formula.matched").count() == 0, "a part is marked, not all of it"


def test_why_a_formula_was_found_is_drawn_on_both_trees(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?task=formulas&q={quote(SUM)}")
    page.locator(".hit").first.get_by_role("link", name=re.compile("^Why")).click()
    picture = page.locator(".frame.trees svg")
    expect(picture).to_contain_text("Your formula, operators")
    expect(picture).to_contain_text("Found formula, layout")
    framed = picture.locator("rect[stroke-width='3']")
    colours = framed.evaluate_all("boxes => boxes.map(box => box.getAttribute('stroke'))")
    assert colours
    assert all(colours.count(colour) % 2 == 0 for colour in colours), "each node and its partner"
    expect(page.locator(".evidence")).to_contain_text("by alignment")
    page.locator("details.post-parts summary").click()
    expect(page.locator(".heatmap")).to_be_visible()
