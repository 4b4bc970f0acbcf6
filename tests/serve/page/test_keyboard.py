"""Without a mouse, and without seeing the page."""

from __future__ import annotations

from tests.serve.page.visit import Page, ask, expect
from tests.serve.site import Site


def test_everything_can_be_done_with_the_keyboard(page: Page, site: Site) -> None:
    ask(page, site)
    page.locator("body").press("/")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.press("ArrowDown")
    hits = page.locator(".hit")
    expect(hits.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#panel .prose")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator(".square").first).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".hit .formula.active").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".hit .formula.active").first).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="How to search")).to_be_visible()


NAMELESS = """() => [...document.querySelectorAll("a, button, input, select, textarea, [role=button], [role=tab], [tabindex]")]
  .filter((node) => node.checkVisibility())
  .filter((node) => !(node.getAttribute("aria-label") || node.labels?.length || node.innerText?.trim()
    || document.getElementById(node.getAttribute("aria-labelledby"))?.innerText.trim()))
  .map((node) => node.outerHTML.slice(0, 80))"""


def test_whatever_can_be_used_has_a_name_for_a_screen_reader(page: Page, site: Site) -> None:
    ask(page, site, more="&post=basel&view=graph")
    page.get_by_role("button", name="Symbols").click()
    expect(page.locator(".frame.graph svg")).to_be_visible()
    assert page.evaluate(NAMELESS) == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))
