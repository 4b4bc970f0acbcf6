"""Takes the pictures of the page that the docs show: `python scripts/screenshots.py http://127.0.0.1:8080/`.

The server must be that of the bundled sample (`mathamr demo --serve`); Chromium and playwright must be installed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

QUESTION = r"Why does $\sum_{n=1}^\infty \frac{1}{n}$ diverge although its terms tend to zero?"
FORMULA = r"$\sum_{n=1}^\infty \frac{1}{n^2}$"
DESKTOP, PHONE = (1280, 800), (390, 780)
FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

SHOTS: dict[str, tuple[dict[str, str], tuple[int, int], str]] = {
    "page": ({"q": QUESTION}, DESKTOP, "light"),
    "page-post": ({"q": QUESTION, "post": "101"}, DESKTOP, "light"),
    "page-heatmap": ({"q": QUESTION, "post": "101", "view": "why"}, DESKTOP, "light"),
    "page-graph": ({"q": QUESTION, "post": "101", "view": "graph"}, DESKTOP, "light"),
    "page-formulas": ({"q": FORMULA, "task": "formulas"}, DESKTOP, "light"),
    "page-dark": ({"q": QUESTION, "post": "101", "view": "why"}, DESKTOP, "dark"),
    "page-phone": ({"q": QUESTION}, PHONE, "light"),
    "page-field": ({"q": FORMULA, "task": "formulas"}, DESKTOP, "light"),
    "page-field-phone": ({"q": FORMULA, "task": "formulas"}, PHONE, "light"),
    "page-drawing": ({"q": FORMULA, "task": "formulas"}, DESKTOP, "light"),
}
"""The name, query, size and theme of every picture."""
STROKES = [[(20, 20), (100, 185), (180, 20)], [(52, 95), (148, 95)]]
"""A drawn ∀, on a pad of 200 by 200."""


def type_in_field(page: Any) -> None:
    """Open the formula field and put a formula with a wildcard into it."""
    page.get_by_role("button", name="Formula field").click()
    page.locator("#formula").evaluate("field => { field.value = ''; field.focus(); }")
    page.locator("#formula").evaluate(
        r"field => field.insert('\\sum_{n=1}^\\infty \\frac{1}{\\placeholder{}}')"
    )
    page.locator("#go").click()
    page.locator("#formula").evaluate("field => field.focus()")
    page.wait_for_timeout(2000)


def draw(page: Any) -> None:
    """Open the palette and draws a symbol."""
    page.get_by_role("button", name="Symbols").click()
    page.get_by_role("button", name="Draw a symbol").click()
    corner = page.locator(".pad").bounding_box()
    for stroke in STROKES:
        first, *others = [(corner["x"] + x, corner["y"] + y) for x, y in stroke]
        page.mouse.move(*first)
        page.mouse.down()
        for point in others:
            page.mouse.move(*point, steps=12)
        page.mouse.up()
    page.locator(".offered code", has_text="forall").wait_for()


ACTIONS: dict[str, Callable[[Any], None]] = {
    "page-field": type_in_field,
    "page-field-phone": type_in_field,
    "page-drawing": draw,
}
"""What is done on the page before its picture is taken."""


def main() -> None:
    """Open the page once for each picture."""
    parser = argparse.ArgumentParser(description="Take the pictures of the page that the docs show.")
    parser.add_argument("url", help="where the sample is served")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the pictures")
    parser.add_argument(
        "--only", nargs="*", default=list(SHOTS), choices=list(SHOTS), help="pictures to take"
    )
    arguments = parser.parse_args()
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        sys.exit("no Chromium on this machine: see scripts/setup_browser.sh")
    from PIL import Image
    from playwright.sync_api import sync_playwright

    arguments.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--headless=new", "--no-sandbox"])
        for name in arguments.only:
            parameters, (width, height), theme = SHOTS[name]
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme=theme,
                device_scale_factor=2 if width < 500 else 1,
                has_touch=width < 500,
                is_mobile=width < 500,
            )
            page.set_default_timeout(120_000)
            page.goto(f"{arguments.url}?{urlencode(parameters)}")
            page.locator(".hit").first.wait_for()
            page.wait_for_load_state("networkidle")
            if parameters.get("view") == "why":
                page.locator(".square.best").last.scroll_into_view_if_needed()
                page.locator(".panel").evaluate("panel => panel.scrollTo(0, 0)")
                page.locator(".square.best").nth(1).hover()
            ACTIONS.get(name, lambda _page: None)(page)
            shot = Image.open(BytesIO(page.screenshot()))
            shot.convert("RGB").quantize(192).save(arguments.out / f"{name}.png", optimize=True)
            page.close()
        browser.close()
    for picture in sorted(arguments.out.glob("page*.png")):
        print(f"{picture.name}: {picture.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
