"""Reading a post: its text, its neighbours, its graph, the trees of its formulas."""

from __future__ import annotations

from tests.serve.page.visit import Page, ask, expect, found
from tests.serve.site import SERIES, Site


def test_a_post_opens_with_its_formulas_drawn_and_leads_to_its_question(page: Page, site: Site) -> None:
    ask(page, site)
    found(page, "basel/answer").locator("a").first.click()
    panel = page.locator("#panel")
    expect(panel.locator(".prose math").first).to_be_visible()
    expect(panel.locator(".prose")).to_contain_text("Lighthouses")
    heading = panel.get_by_role("heading", level=2)
    expect(heading).to_contain_text("Answer to Where does the circle come from")
    heading.get_by_role("link").click()
    expect(heading).not_to_contain_text("Answer to")
    expect(heading).to_contain_text("Where does the circle come from")


def test_a_question_leads_to_its_answers_the_accepted_one_first(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?post=basel")
    answers = page.locator(".neighbours li")
    expect(page.locator(".neighbours h3")).to_have_text("3 answers")
    expect(answers.nth(0)).to_contain_text("✓ accepted")
    expect(answers.nth(0)).to_contain_text("1 vote")
    listed = page.locator(".neighbours a").evaluate_all("links => links.map((link) => link.dataset.post)")
    assert listed == ["basel/fourier", "basel/answer", "basel/late"]
    answers.nth(1).get_by_role("link", name="Lighthouses on a circular lake").click()
    expect(page.locator("#panel .prose")).to_contain_text("Lighthouses")


def test_the_graph_of_a_post_is_drawn_in_colours_and_can_be_zoomed_and_thinned(
    page: Page, site: Site
) -> None:
    ask(page, site, more="&post=basel&view=graph")
    drawing = page.locator(".frame.graph svg")
    for kind in ("amr", "opt", "slt", "formula", "virtual"):
        expect(drawing.locator(f".node.{kind}").first).to_be_visible()
    fills = {
        kind: drawing.locator(f".node.{kind} rect").first.evaluate("node => getComputedStyle(node).stroke")
        for kind in ("amr", "opt", "slt", "formula", "virtual")
    }
    assert len(set(fills.values())) == 5
    before = drawing.get_attribute("viewBox")
    page.get_by_role("button", name="Zoom in").click()
    closer = drawing.get_attribute("viewBox")
    assert float(closer.split()[2]) < float(before.split()[2])
    page.locator(".frame.graph").press("ArrowRight")
    assert float(drawing.get_attribute("viewBox").split()[0]) > float(closer.split()[0])
    page.get_by_role("button", name="layout (SLT)").click()
    expect(drawing.locator(".node.slt").first).to_be_hidden()
    expect(drawing.locator(".node.opt").first).to_be_visible()


def test_a_formula_shows_both_its_trees(page: Page, site: Site) -> None:
    ask(page, site)
    page.locator(".hit .snippet .formula.matched").first.click()
    page.get_by_role("menuitem", name="Show its trees").click()
    trees = page.locator(".frame.trees svg")
    expect(trees).to_contain_text("Symbol layout tree")
    expect(trees).to_contain_text("Operator tree")
    expect(page.locator("#panel .latex")).to_have_text(SERIES)
