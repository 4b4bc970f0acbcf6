"""A browser, a server of a small index, and a window for each test; without a browser the tests skip."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mathamr.search.searcher import Index
from tests.models import once_a_run
from tests.serve.site import HOSTILE, POSTS, Site, browser_path, make_index, serving

if TYPE_CHECKING:
    from tests.serve.page.visit import Page, Visit

ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
]


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """One browser for all tests of the page; it is gone before others run, whose event loops it would disturb."""
    path = browser_path()
    if path is None:
        pytest.skip(
            "needs a Chromium on this machine: apt-get install chromium (or scripts/setup_browser.sh)"
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="package")
def index(browser: Any, tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Index]:
    """An index of our posts and the hostile ones; not made where there is no browser."""
    folder = once_a_run(
        tmp_path_factory, "page-index", lambda folder: make_index(folder, POSTS + HOSTILE, model_folder)
    )
    with Index.open(folder, device="cpu") as opened:
        yield opened


@pytest.fixture(scope="package")
def site(index: Index) -> Iterator[Site]:
    """A server of the index."""
    with serving(index) as running:
        yield running


@pytest.fixture
def visit(browser: Any, site: Site) -> Iterator[Visit]:
    """A window of its own."""
    from tests.serve.page.visit import visited

    with visited(browser, site) as opened:
        yield opened


@pytest.fixture
def page(visit: Visit) -> Page:
    """The page in that window."""
    return visit.page
