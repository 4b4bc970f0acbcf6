"""Looking through results: what each shows, pages, filters, searching on, addresses that are shared."""

from __future__ import annotations

import re
from typing import Any

from tests.serve.page.visit import QUESTION, Page, Visit, ask, expect, found
from tests.serve.site import POSTS, Site


def test_results_show_title_snippet_matched_formulas_tags_kind_and_score(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.locator("#question").fill(QUESTION)
    page.locator("#question").press("Enter")
    hit = page.locator('.hit[data-post="basel"]')
    expect(hit.get_by_role("heading", level=3)).to_contain_text("Where does the circle come from")
    expect(hit.locator("h3 math")).to_have_count(1)
    expect(hit.locator("> .snippet .formula.matched math").first).to_contain_text("∑")
    expect(hit.locator("> .snippet mark").first).to_be_visible()
    about = hit.locator("> .about")
    expect(about).to_contain_text(re.compile(r"question\s*(strong match|weak match|similar)", re.IGNORECASE))
    assert re.match(r"score [\d.]+, .*lexical [\d.]+", about.locator(".score").get_attribute("title"))
    assert about.locator(".tag").all_inner_texts() == ["series", "analysis"]
    expect(page.get_by_role("status")).to_contain_text("Results 1–10")


def test_an_answer_is_told_apart_from_its_question(page: Page, site: Site) -> None:
    ask(page, site)
    expect(found(page, "basel/answer")).to_contain_text("Answer to Where does the circle")
    expect(found(page, "basel")).not_to_contain_text("Answer to")


def test_answers_of_one_question_are_folded_under_the_best_hit(page: Page, site: Site) -> None:
    ask(page, site)
    group = page.locator('.hit[data-post="basel"]')
    expect(group.locator("summary")).to_contain_text("more on this question")
    folded = group.locator(".other").first
    expect(folded).to_be_hidden()
    group.locator("summary").click()
    expect(folded).to_be_visible()
    folded.locator("h4 a").first.click()
    expect(page.locator("#panel .prose")).to_be_visible()
    expect(page.locator(".other.open")).to_have_count(1)
    page.reload()
    expect(page.locator(".other.open")).to_be_visible()  # the address of a folded hit unfolds it


def test_the_pages_of_results_hold_every_post_once(page: Page, site: Site) -> None:
    seen: list[str] = []
    ask(page, site, "exercise about sums", "&strategy=lexical")
    while True:
        seen += page.locator(".hit").evaluate_all("hits => hits.map(hit => hit.dataset.post)")
        following = page.get_by_role("link", name="Next")
        if following.count() == 0:
            break
        following.click()
        expect(page.get_by_role("status")).to_contain_text(f"Results {len(seen) + 1}–")
    assert len(seen) == len(set(seen)) > 10
    assert {post["id"] for post in POSTS if post["id"].startswith("exercise")} <= set(seen)


def test_the_start_page_offers_questions_of_this_index_that_find_something(page: Page, site: Site) -> None:
    page.goto(site.url)
    offered = page.locator(".example")
    expect(offered.first).to_be_visible()
    expect(offered.first).to_contain_text("Where does the circle come from")
    expect(offered.last).to_contain_text("among formulas")
    offered.last.click()
    expect(page.locator(".hit").first).to_contain_text("the same formula")


def test_filters_narrow_the_results_and_can_be_taken_back(page: Page, site: Site) -> None:
    ask(page, site)
    chip = page.locator("#filters").get_by_role(
        "button", name=re.compile("^note")
    )  # the tick is not read out
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".hit .kind[data-kind=question]")).to_have_count(0)
    expect(page.locator(".hit .kind[data-kind=note]").first).to_be_visible()
    assert "kind=note" in page.url
    page.locator("#filters").get_by_role("button", name=re.compile("^matrices")).click()
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".hit")).to_have_attribute("data-post", "notes/matrix.md")
    chip.click()
    expect(chip).to_have_count(0)  # the one result is a note, so it would keep all
    assert "kind=" not in page.url
    assert "tag=matrices" in page.url


def test_filters_count_the_results_and_not_the_index(page: Page, site: Site) -> None:
    with page.expect_response("**/v1/search") as answered:
        ask(page, site, "nobody has voted", "&strategy=lexical")
    counts = answered.value.json()["counts"]
    assert 0 < counts["counted"] < len(POSTS)
    for chip in page.locator("#filters .chip").all():
        ((field, value),) = chip.evaluate("chip => Object.entries(chip.dataset)")
        assert chip.locator(".count").inner_text() == str(counts[field][value])
        assert counts[field][value] < counts["counted"]


def test_any_formula_leads_on_to_a_search_for_it(page: Page, site: Site) -> None:
    ask(page, site)
    page.locator(".hit .snippet .formula.matched").first.click()
    page.get_by_role("menuitem", name="Search this formula").click()
    expect(page.locator(".hit .found math").first).to_be_visible()
    assert "task=formulas" in page.url
    assert page.get_by_role("radio", name="Formulas").is_checked()
    places = page.locator(".hit").first
    expect(places).to_contain_text("the same formula, in 2 places")
    page.go_back()
    expect(page.locator('.hit:not(.of-formula)[data-post="basel"]')).to_be_visible()
    assert page.locator("#question").input_value() == QUESTION


def test_an_address_can_be_shared_and_the_way_back_works(browser: Any, page: Page, site: Site) -> None:
    ask(page, site, more="&kind=question")
    first = page.url
    page.locator('.hit[data-post="basel"]').get_by_role("link", name=re.compile("^Graph")).click()
    expect(page.locator(".frame.graph svg")).to_be_visible()
    other = Visit(browser)
    other.page.goto(page.url)
    expect(other.page.locator(".frame.graph svg")).to_be_visible()
    expect(other.page.locator('.hit[data-post="basel"]')).to_be_visible()
    assert other.page.locator("#question").input_value() == QUESTION
    assert other.complaints == []
    other.context.close()
    page.go_back()
    expect(page.locator("#panel")).to_be_hidden()
    assert page.url == first


def test_an_index_of_formulas_alone_is_asked_for_formulas(page: Page, site: Site) -> None:
    def only_formulas(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"tasks": ["formulas"]})

    page.route("**/v1/index", only_formulas)
    page.goto(f"{site.url}?q=%24x%5E2%24")
    expect(page.get_by_role("status")).to_contain_text("Formulas 1")
    expect(page.get_by_label("Formulas", exact=True)).to_be_checked()
    expect(page.get_by_label("Answers", exact=True)).to_be_disabled()


def test_similar_hits_stand_apart_and_an_absent_name_is_told(page: Page, site: Site) -> None:
    ask(page, site, "Cantelli inequality")
    expect(page.locator("#messages")).to_contain_text("Your collection does not mention “Cantelli”")
    expect(page.locator(".divider")).to_contain_text("only similar")
    assert page.locator(".results > li").first.get_attribute("class") == "divider"
    page.locator("#question").press("ArrowDown")
    expect(page.locator(".hit").first).to_be_focused()
