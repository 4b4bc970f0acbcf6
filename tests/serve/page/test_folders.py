"""Folders of notes as filters: they open to the folders in them, and close again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.page.visit import Page, ask, expect
from tests.serve.site import Site, serving_files

NOTES = ("limits/easy/a.md", "limits/easy/b.md", "limits/hard/c.md", "sums/d.md", "e.md")


@pytest.fixture(scope="module")
def vault(browser: Any, tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Site]:
    notes = {name: f"# Note {name}\n\nA sequence $x_n$ converges to a limit.\n" for name in NOTES}
    with serving_files(tmp_path_factory.mktemp("folders"), notes, model_folder) as running:
        yield running


def test_folders_open_to_the_folders_in_them_and_close_again(browser: Any, vault: Site) -> None:
    page: Page = browser.new_page()
    ask(page, vault, "sequence converges")
    folders = page.get_by_role("group", name="Folder").get_by_role("button")
    expect(folders).to_have_text(["limits/3", "sums/1"])
    folders.first.click()
    expect(folders).to_have_text(["limits/3", "easy/2", "hard/1"])
    expect(page.locator(".hit")).to_have_count(3)
    folders.nth(1).click()
    expect(folders).to_have_text(["easy/2"])
    expect(page.locator(".hit")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"folder=files%2Flimits%2Feasy$"))
    folders.first.click()
    expect(folders).to_have_text(["limits/3", "easy/2", "hard/1"])
    folders.first.click()
    expect(page.locator(".hit")).to_have_count(5)
    page.close()
