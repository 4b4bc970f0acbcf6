"""A window of a real browser, and what a person does in it again and again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import pytest

from tests.serve.site import SERIES, Site

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
expect = playwright.expect
WAIT = 60_000
"""Milliseconds; as long as it takes on a busy machine."""
expect.set_options(timeout=WAIT)

Page = Any
QUESTION = f"proof that ${SERIES}$ hides a circle"


class Visit:
    """A page that was opened, and everything that should not have happened in it."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **options})
        self.context.set_default_timeout(WAIT)
        self.page: Page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.complaints.append("a dialog"), dialog.dismiss()))
        self.page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        if "Content Security Policy" in message.text or message.type == "warning":
            self.complaints.append(message.text)


@contextmanager
def visited(browser: Any, site: Site, **options: Any) -> Iterator[Visit]:
    """A window in which nothing may break the page's policy, raise an error or ask another server."""
    opened = Visit(browser, **options)
    yield opened
    opened.context.close()
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(site.url)] == []


def ask(page: Page, site: Site, query: str = QUESTION, more: str = "") -> None:
    """Opens the address of a search and waits for its results."""
    page.goto(f"{site.url}?q={quote(query, safe='')}{more}")
    expect(page.locator(".hit").first).to_be_visible()


def unfold(page: Page) -> None:
    """Shows the hits that are folded under others."""
    for summary in page.locator(".others:not([open]) summary").all():
        summary.click()


def found(page: Page, post: str) -> Any:
    """The hit of a post, wherever it stands in its group."""
    unfold(page)
    return page.locator(f'.hit[data-post="{post}"] > h3, .other[data-post="{post}"] > h4')


def heat(page: Page) -> None:
    """Opens why the first result was found."""
    page.locator(".hit").first.get_by_role("link", name=re.compile("Why this result")).click()
    expect(page.locator(".square").first).to_be_visible()
