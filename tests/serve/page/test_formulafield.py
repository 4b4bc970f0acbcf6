"""Typing a formula as it looks: MathLive in the place of the plain text, under the page's unchanged policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mathamr.serve.middleware import POLICY
from tests.serve.page.visit import Page, Visit, ask, expect, visited
from tests.serve.site import Site

PASTE = """([text, html]) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  if (html) data.setData("text/html", html);
  const field = document.getElementById("formula");
  const target = field ? field.shadowRoot.querySelector(".ML__keyboard-sink") : document.getElementById("question");
  target.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true, composed: true }));
}"""
FRACTION = "<math><mfrac><mi>a</mi><mn>2</mn></mfrac><mo>+</mo><msqrt><mi>x</mi></msqrt></math>"


def open_field(page: Page) -> Any:
    page.get_by_role("button", name="Formula field").click()
    field = page.locator("#formula")
    expect(field).to_be_focused()
    return field


def written(page: Page, text: str) -> None:
    expect(page.locator("#question")).to_have_value(text)


def test_the_field_is_loaded_when_it_is_wanted_and_types_a_formula_as_it_looks(
    visit: Visit, page: Page, site: Site
) -> None:
    page.goto(f"{site.url}?task=formulas")
    expect(page.locator(".example").first).to_be_visible()
    assert not any("/vendor/" in url for url in visit.requests)
    open_field(page)
    expect(page.locator("#question")).to_be_hidden()
    page.keyboard.type("x^2")
    page.keyboard.press("ArrowRight")
    page.keyboard.type("+1/2")
    written(page, "x^2+\\frac12")
    page.keyboard.press("Enter")
    expect(page.locator(".hit").first).to_be_visible()
    assert any("/vendor/mathlive/mathlive.min.mjs" in url for url in visit.requests)
    assert "unsafe" not in POLICY


def test_an_empty_place_is_a_wildcard_and_so_is_a_question_mark(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?task=formulas")
    field = open_field(page)
    page.keyboard.type("sqrt")
    written(page, "\\sqrt{?x}")
    field.evaluate("field => { field.value = ''; }")
    page.keyboard.press("Shift+Slash")
    page.keyboard.type("a^2+")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Slash")
    page.keyboard.type("b")
    written(page, "?a^2+?b")
    page.get_by_role("button", name="Formula field").click()
    page.locator("#question").fill("?n^2 + ?n")
    page.get_by_role("button", name="Formula field").click()
    expect(field).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type("+1")
    written(page, "?n^2+?n+1")


def test_the_field_edits_the_formula_at_the_caret_of_a_question_with_words(page: Page, site: Site) -> None:
    page.goto(site.url)
    field = open_field(page)
    box = page.locator("#question")
    box.click()
    page.keyboard.type("when is ")
    field.click()
    expect(field).to_be_focused()
    page.keyboard.type("a^p")
    written(page, "when is $a^{p}$")
    box.click()
    page.keyboard.press("End")
    page.keyboard.type(" prime")
    written(page, "when is $a^{p}$ prime")
    expect(page.locator("#preview math")).to_have_text("ap")
    expect(field).to_have_js_property("value", "")
    page.keyboard.press("Home")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(field).to_have_js_property("value", "a^{p}")


def test_the_field_opens_with_the_last_formula_of_the_question(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.locator("#question").fill("why is $a+b$ or $c^2$ so")
    field = open_field(page)
    expect(field).to_have_js_property("value", "c^2")
    page.keyboard.press("End")
    page.keyboard.type("+1")
    written(page, "why is $a+b$ or $c^2+1$ so")


def test_a_question_typed_by_hand_is_shown_as_it_is_read(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?task=formulas")
    page.locator("#question").fill("x² <= 1/2")
    field = open_field(page)
    expect(field).to_have_js_property("value", "x^2 \\le \\frac{1}{2}")


def test_macros_of_the_collection_are_drawn_in_the_field(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?task=formulas")
    expect(page.locator(".example").first).to_be_visible()
    field = open_field(page)
    page.keyboard.type("\\Powers")
    page.keyboard.press("Enter")
    page.keyboard.type("n3")
    written(page, "\\Powers n3")
    assert "∑" in field.evaluate("field => field.shadowRoot.textContent")


@pytest.mark.parametrize(
    ("text", "html", "latex"),
    [
        (FRACTION, "", "\\frac{a}{2} + \\sqrt{x}"),
        ("a/2", f"<meta charset='utf-8'>{FRACTION}", "\\frac{a}{2} + \\sqrt{x}"),
        (
            "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>\\int_0^1 x</annotation></semantics></math>",
            "",
            "\\int_0^1 x",
        ),
    ],
)
def test_mathml_is_pasted_as_a_formula_in_both_fields(
    page: Page, site: Site, text: str, html: str, latex: str
) -> None:
    page.goto(f"{site.url}?task=formulas")
    page.locator("#question").focus()
    page.evaluate(PASTE, [text, html])
    written(page, latex)
    page.locator("#question").fill("")
    open_field(page)
    page.evaluate(PASTE, [text, html])
    written(page, latex)


def test_latex_is_pasted_with_or_without_marks(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?task=formulas")
    open_field(page)
    page.evaluate(PASTE, ["$\\frac{1}{n}$", ""])
    written(page, "\\frac{1}{n}")


def test_the_palette_fills_the_field_and_the_choice_is_remembered(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?task=formulas")
    open_field(page)
    page.get_by_role("button", name="Symbols").click()
    page.get_by_role("button", name="fraction").click()
    page.keyboard.type("1")
    page.get_by_role("button", name="infinity").click()
    written(page, "\\frac{1\\infty}{?x}")
    page.reload()
    expect(page.locator("#formula")).to_be_visible()
    page.get_by_role("button", name="Formula field").click()
    expect(page.locator("#formula")).to_be_hidden()
    expect(page.locator("#question")).to_be_visible()


@pytest.fixture
def phone(browser: Any, site: Site) -> Iterator[Page]:
    phone = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
    with visited(browser, site, **phone) as opened:
        yield opened.page


def test_a_phone_gets_a_keyboard_for_mathematics_and_a_desktop_does_not(
    phone: Page, page: Page, site: Site
) -> None:
    phone.goto(f"{site.url}?task=formulas")
    phone.get_by_role("button", name="Formula field").tap()
    key = phone.locator(".MLK__keycap").filter(has_text="7").first
    key.tap()
    written(phone, "7")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.locator('[data-command*="(commit)"]').first.tap()
    expect(phone.locator(".hit").first).to_be_visible()
    expect(key).to_be_hidden()
    phone.locator("#formula").tap()
    expect(key).to_be_visible()
    page.goto(f"{site.url}?task=formulas")
    open_field(page)
    expect(page.locator(".MLK__keycap")).to_have_count(0)


def test_the_question_of_an_address_is_shown_in_the_field(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?task=formulas")
    open_field(page)
    page.keyboard.press("Tab")
    ask(page, site, "$A^2=A+I$", "&task=formulas")
    expect(page.locator("#formula")).to_have_js_property("value", "A^2=A+I")
