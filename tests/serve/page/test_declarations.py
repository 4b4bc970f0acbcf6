"""Declarations of a Lean project on the page: their code in colours, their formula, their place and their documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.searcher import Index
from tests.folders import write_files
from tests.leanproject import COMPACT, SUMS
from tests.serve.page.visit import Page, ask, expect, visited
from tests.serve.site import Site, serving

NOTES = """# Heine–Borel

A subset of the real line is compact exactly if it is closed and bounded.

# Groups

Every subgroup of a cyclic group is cyclic.
"""


@pytest.fixture(scope="module")
def library(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("declarations")
    files = {"project/Mathlib/Compact.lean": COMPACT, "project/Toy/Sums.lean": SUMS, "notes/limits.md": NOTES}
    write_files(folder, files)
    for name in ("project", "notes"):
        build_index([folder / name], folder / f"{name}.index", BuildOptions(model="mathamr-3", engine="flat"))
    with (
        Index.open(folder / "project.index") as index,
        Index.open(folder / "notes.index") as other,
        serving(index, beside=other) as running,
    ):
        yield running


@pytest.fixture
def page(browser: Any, library: Site) -> Iterator[Page]:
    with visited(browser, library) as opened:
        yield opened.page


def test_a_declaration_shows_its_innermost_module_alone(page: Page, library: Site) -> None:
    ask(page, library, "sum_range_id")
    shown = page.locator(".hit").first.locator(".tag").all_text_contents()
    assert [tag for tag in shown if tag.startswith(("module:", "namespace:"))] == ["module:Toy.Sums"]


def test_a_declaration_shows_its_code_its_formula_and_its_place(page: Page, library: Site) -> None:
    ask(page, library, "sum_range_id")
    page.locator(".hit h3 a").first.click()
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", level=2)).to_have_text("Nat.sum_range_id")
    expect(panel.locator("pre .lean-keyword").first).to_have_text("theorem")
    expect(panel.locator("pre .lean-declared").first).to_have_text("Nat.sum_range_id")
    expect(panel.locator("pre")).to_contain_text("∑ i ∈ Finset.range (n + 1), i = n * (n + 1) / 2")
    expect(panel.locator(".prose .formula.display math")).to_be_visible()
    expect(panel.locator(".place")).to_have_text("Toy/Sums.lean:10")
    expect(panel.locator(".documentation")).to_have_count(0)
    keyword = panel.locator("pre .lean-keyword").first.evaluate("node => getComputedStyle(node).color")
    assert keyword != panel.locator("pre").evaluate("node => getComputedStyle(node).color")


def test_a_declaration_of_mathlib_leads_to_its_documentation(page: Page, library: Site) -> None:
    ask(page, library, "Heine-Borel theorem")
    page.locator(".hit h3 a").first.click()
    link = page.locator("#panel .documentation")
    expect(link).to_have_attribute(
        "href",
        "https://leanprover-community.github.io/mathlib4_docs/Mathlib/Compact.html"
        "#Topology.Toy.isCompact_iff_isClosed_bounded",
    )


def test_a_tag_narrows_the_search_to_a_module(page: Page, library: Site) -> None:
    ask(page, library, "sum over a union", more="&tag=module%3AToy")
    posts = page.locator(".hit").evaluate_all("hits => hits.map((hit) => hit.dataset.post)")
    assert posts
    assert all(post.startswith("Toy/") for post in posts)


def test_what_corresponds_to_a_declaration_is_found_in_the_other_index(page: Page, library: Site) -> None:
    ask(page, library, "isCompact_iff_isClosed_bounded")
    page.locator(".hit h3 a").first.click()
    page.locator("#panel").get_by_role("button", name="Find in notes.index").click()
    found = page.locator("#panel .beside li").first
    expect(found.locator("strong")).to_have_text("Heine–Borel")
    expect(found.locator(".prose")).to_contain_text("closed and bounded")
    expect(found.locator(".place")).to_contain_text("limits.md:1")
