"""What goes wrong, and what a person is told then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from tests.serve.page.visit import QUESTION, Page, Visit, ask, expect
from tests.serve.site import PATIENT, Site, make_index, serving

READ_KEY = "a key for reading only"


def test_a_search_that_finds_nothing_says_what_to_try(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?q=xylophone&strategy=lexical")
    messages = page.locator("#messages")
    expect(messages).to_contain_text("Nothing found")
    # The line that is read aloud says the same: it is not shown.
    assert page.get_by_role("status").bounding_box()["width"] <= 1
    # Words are no formula, so a search for formulas is not offered.
    expect(messages.get_by_role("button")).to_have_text("Search in the usual way")
    messages.get_by_role("button").click()
    expect(page.locator(".hit").first).to_be_visible()
    assert page.get_by_role("status").bounding_box()["width"] > 100
    page.goto(f"{site.url}?q=circle&kind=answer&tag=matrices")
    expect(messages).to_contain_text("No result passes the filters")
    page.get_by_role("button", name="Search without filters").click()
    expect(page.locator(".hit").first).to_be_visible()


def test_an_unknown_post_in_an_address_is_told(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?post=nobody")
    expect(page.locator("#panel")).to_contain_text("not in this index")


def test_a_broken_formula_alone_is_told_with_its_reason(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.locator("#question").fill("$1 + \\def\\a{\\a\\a}\\a$")
    page.locator("#question").press("Enter")
    expect(page.locator("#messages")).to_contain_text("A formula cannot be read")
    expect(page.locator("#messages")).to_contain_text("expands without end")
    expect(page.locator("#messages pre")).to_have_text("$1 + \\def\\a{\\a\\a}\\a$")
    expect(page.locator("#messages .here")).to_have_text("\\")


def test_words_in_a_search_for_formulas_lead_to_answers(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?q=where+is+the+circle&task=formulas")
    expect(page.locator("#messages")).to_contain_text("There is no formula in the question")
    page.get_by_role("button", name="Search answers instead").click()
    expect(page.locator(".hit").first).to_be_visible()
    assert "task=formulas" not in page.url


def test_what_was_mended_in_a_formula_is_said_above_the_results(page: Page, site: Site) -> None:
    ask(page, site, "circle $\\frac{1}{2} \\right)$")
    expect(page.locator("#messages .note")).to_contain_text("\\right without its opening")


def test_the_page_goes_on_by_itself_when_the_server_is_back(visit: Visit, site: Site) -> None:
    page = visit.page
    page.goto(site.url)
    visit.context.set_offline(True)
    page.locator("#question").fill(QUESTION)
    page.locator("#question").press("Enter")
    expect(page.locator("#messages")).to_contain_text("The server does not answer")
    visit.context.set_offline(False)
    expect(page.locator(".hit").first).to_be_visible()


def test_a_busy_server_is_asked_again(browser: Any, index: Index) -> None:
    visit = Visit(browser)
    with serving(index, limits=replace(PATIENT, workers=1, waiting=0)) as crowded:
        with crowded.busy() as free:
            visit.page.goto(f"{crowded.url}?q=circle")
            expect(visit.page.locator("#messages")).to_contain_text("The server is busy")
            free.set()
        expect(visit.page.locator(".hit").first).to_be_visible()
    visit.context.close()


def test_a_server_that_wants_a_key_gets_it_from_the_reader(browser: Any, index: Index) -> None:
    visit = Visit(browser)
    with serving(index, Keys(read=READ_KEY)) as locked:
        visit.page.goto(f"{locked.url}?q=circle")
        visit.page.get_by_label("API key").fill(READ_KEY)
        visit.page.get_by_role("button", name="Go on").click()
        expect(visit.page.locator(".hit").first).to_be_visible()
        expect(visit.page.locator("#about")).to_contain_text("entries")
    visit.context.close()


def test_an_empty_index_says_how_to_fill_it(browser: Any, tmp_path: Path, model_folder: Path) -> None:
    visit = Visit(browser)
    folder = make_index(tmp_path / "empty", [], model_folder)
    with Index.open(folder, device="cpu") as nothing, serving(nothing) as site:
        visit.page.goto(site.url)
        expect(visit.page.locator("#messages")).to_contain_text("This index is empty")
        expect(visit.page.locator("#messages")).to_contain_text("mathamr index")
    visit.context.close()
