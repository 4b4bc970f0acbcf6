"""Asking why a post was found: the map of heat."""

from __future__ import annotations

from tests.serve.page.visit import Page, ask, expect, heat
from tests.serve.site import Site


def test_the_heatmap_lights_up_both_sides_of_what_is_pointed_at(page: Page, site: Site) -> None:
    ask(page, site)
    heat(page)
    square = page.locator(".square.best").first
    row, column = square.get_attribute("data-row"), square.get_attribute("data-column")
    square.hover()
    expect(page.locator(f'.parts li[data-row="{row}"]')).to_have_class("lit")
    expect(page.locator(f'.heatmap tbody th[data-column="{column}"]')).to_have_class("lit")
    assert [page.locator(each).count() for each in (".parts li.lit", ".heatmap tbody th.lit")] == [1, 1]
    expect(page.locator(".reading")).to_contain_text("met")
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
