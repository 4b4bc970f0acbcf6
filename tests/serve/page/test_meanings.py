"""What the symbols of a formula are introduced as, told where a pointer or the keyboard stops."""

from __future__ import annotations

import json
from typing import Any

from tests.serve.page.visit import Page, ask, expect, visited
from tests.serve.site import Site

TOLD = {
    "symbols": [
        {
            "symbol": "n",
            "meanings": [
                {
                    "pieces": [{"kind": "text", "text": "a positive <b>integer</b>", "matched": False}],
                    "post": "7",
                    "place": "notes.md:3",
                }
            ],
            "introduced": 1,
        }
    ],
    "posts": 1,
    "is_whole": True,
}


def test_a_formula_tells_its_symbols_to_a_pointer_and_to_the_keyboard(page: Page, site: Site) -> None:
    asked: list[str] = []

    def tell(route: Any) -> None:
        asked.append(route.request.url)
        route.fulfill(body=json.dumps(TOLD), content_type="application/json")

    page.route("**/v1/introduced*", tell)
    ask(page, site)
    note = page.locator("#meanings")
    formulas = page.locator(".hit .formula.active:visible")
    formulas.nth(0).focus()
    expect(note).to_have_text("na positive <b>integer</b> notes.md:3")
    assert formulas.nth(0).get_attribute("aria-describedby") == "meanings"
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    assert formulas.nth(0).get_attribute("aria-describedby") is None
    formulas.nth(1).hover()
    expect(note).to_be_visible()
    page.mouse.move(2, 2)
    expect(note).to_be_hidden()
    before = len(asked)
    formulas.nth(1).hover()
    expect(note).to_be_visible()
    assert len(asked) == before
    page.mouse.down()
    expect(note).to_be_hidden()


def test_a_formula_tells_its_symbols_beside_its_menu(browser: Any, site: Site) -> None:
    with visited(
        browser, site, viewport={"width": 390, "height": 700}, has_touch=True, is_mobile=True
    ) as opened:
        page = opened.page
        page.route(
            "**/v1/introduced*",
            lambda route: route.fulfill(body=json.dumps(TOLD), content_type="application/json"),
        )
        ask(page, site)
        note, menu = page.locator("#meanings"), page.locator(".menu")
        formula = page.locator(".hit .formula.active:visible").first
        formula.tap()
        expect(note).to_have_text("na positive <b>integer</b> notes.md:3")
        expect(menu).to_be_visible()
        boxes = [each.bounding_box() for each in (note, menu)]
        over = [
            min(one[side] + one[size] for one in boxes) > max(one[side] for one in boxes)
            for side, size in (("x", "width"), ("y", "height"))
        ]
        assert not all(over), "the note covers the menu"
        assert all(one["x"] >= 0 and one["x"] + one["width"] <= 390 for one in boxes)
        page.touchscreen.tap(2, 2)
        expect(menu).to_be_hidden()
        expect(note).to_be_hidden()
        formula.focus()
        page.keyboard.press("Enter")
        expect(menu).to_be_visible()
        expect(note).to_be_visible()
        page.keyboard.press("ArrowDown")
        expect(note).to_be_visible()
        page.keyboard.press("Escape")
        expect(menu).to_be_hidden()
        expect(note).to_be_hidden()
