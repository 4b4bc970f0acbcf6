"""What the symbols of a formula are introduced as, told where a pointer or the keyboard stops."""

from __future__ import annotations

import json
from typing import Any

from tests.serve.page.visit import Page, ask, expect
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
