"""Several collections on the page: a hit says which it is of, opens there, and a filter keeps those of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mathamr.search.searcher import Index
from tests.serve.page.visit import ask, expect, visited
from tests.serve.site import serving, serving_files


def test_a_hit_says_its_collection_and_opens_there(browser: Any, tmp_path: Path, model_folder: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    algebra = {"group.md": "# Groups\n\nA group of order $p^2$ is abelian."}
    analysis = {"group.md": "# Flows\n\nA flow is an action of a group of reals."}
    with serving_files(first, algebra, model_folder), serving_files(second, analysis, model_folder):
        pass
    with (
        Index.open(first / "index", device="cpu") as one,
        Index.open(second / "index", device="cpu") as two,
        serving(one) as site,
    ):
        site.service.serve_also({"analysis": two}, "algebra")
        with visited(browser, site) as visit:
            ask(visit.page, site, "group")
            hit = visit.page.locator('.hit[data-collection="analysis"]')
            expect(hit.locator(".collection")).to_have_text("analysis")
            hit.locator("h3 a").first.click()
            expect(visit.page.locator("#panel .prose")).to_contain_text("A flow is an action")
            assert "collection=analysis" in visit.page.url
            visit.page.reload()
            expect(visit.page.locator("#panel .prose")).to_contain_text("A flow is an action")
            visit.page.locator('.hit[data-collection="algebra"] h3 a').first.click()
            expect(visit.page.locator("#panel .prose")).to_contain_text("is abelian")
            expect(visit.page.locator(".hit.open")).to_have_count(1)
            chips = visit.page.get_by_role("group", name="Collection").get_by_role("button")
            expect(chips).to_have_count(2)
            chips.filter(has_text="analysis").click()
            expect(visit.page.locator('.hit[data-collection="algebra"]')).to_have_count(0)
            expect(visit.page.locator('.hit[data-collection="analysis"]')).to_have_count(1)
            assert "in=analysis" in visit.page.url
            visit.page.reload()
            expect(visit.page.locator('.hit[data-collection="algebra"]')).to_have_count(0)
            chips.filter(has_text="analysis").click()
            expect(visit.page.locator(".hit")).to_have_count(2)
