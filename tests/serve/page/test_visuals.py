"""Themes, contrast, and a phone's width."""

from __future__ import annotations

from typing import Any

import pytest

from tests.serve.page.visit import QUESTION, Page, Visit, ask, expect, heat
from tests.serve.site import Site


def test_the_chosen_theme_outlives_the_page(page: Page, site: Site) -> None:
    page.goto(site.url)
    shade = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(shade)
    page.get_by_role("button", name="Dark theme").click()
    dark = page.evaluate(shade)
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Light theme")).to_be_visible()
    assert page.evaluate(shade) == dark


CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (rgb) => rgb.slice(0, 3).map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = rgba(getComputedStyle(node).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !node.checkVisibility({ visibilityProperty: true }) || node.closest("svg, .hidden, .skip")) continue;
    const [one, other] = [light(rgba(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) found.push(`${contrast.toFixed(2)} ${texts.currentNode.data.trim().slice(0, 40)}`);
  }
  return found;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_text_has_enough_contrast(browser: Any, site: Site, theme: str) -> None:
    visit = Visit(browser, color_scheme=theme)
    page = visit.page
    ask(page, site, f"{QUESTION} and $\\nosuchcommand$", "&kind=question")
    expect(page.locator("#preview merror")).to_be_visible()
    assert page.evaluate(CONTRASTS) == []
    heat(page)
    page.locator(".square.best").first.hover()
    assert page.evaluate(CONTRASTS) == []
    visit.context.close()


def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Any, site: Site) -> None:
    visit = Visit(browser, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = visit.page
    wide = "document.documentElement.scrollWidth - innerWidth"
    ask(page, site)
    assert page.evaluate(wide) <= 0
    heat(page)
    box = page.locator("#panel").bounding_box()
    assert (box["x"], box["width"]) == (0, 360)
    assert page.evaluate(wide) <= 0
    page.get_by_role("button", name="Close").first.click()
    expect(page.locator(".hit").first).to_be_visible()
    visit.context.close()
