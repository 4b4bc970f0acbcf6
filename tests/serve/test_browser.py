"""The page in a real browser, over a real server: what a person does with it, and what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mathamr.posts.markup import formulas_of
from mathamr.search.library import Index
from mathamr.serve.access import Keys
from tests.models import once_a_run
from tests.serve.site import HOSTILE, PATIENT, POSTS, SERIES, Site, browser_path, make_index, serving

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
expect = playwright.expect
WAIT = 60_000
"""Milliseconds; as long as it takes on a busy machine."""
expect.set_options(timeout=WAIT)

Page = Any
QUESTION = f"proof that ${SERIES}$ hides a circle"
READ_KEY = "a key for reading only"
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = browser_path()
    if path is None:
        pytest.skip(
            "needs a Chromium on this machine: apt-get install chromium (or scripts/setup_browser.sh)"
        )
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(
            executable_path=path,
            args=ARGUMENTS,
        )
        yield running
        running.close()


@pytest.fixture(scope="module")
def index(browser: Any, tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Index]:
    """An index of our posts and the hostile ones; not made where there is no browser."""
    folder = once_a_run(
        tmp_path_factory, "page-index", lambda folder: make_index(folder, POSTS + HOSTILE, model_folder)
    )
    with Index.open(folder, device="cpu") as opened:
        yield opened


@pytest.fixture(scope="module")
def site(index: Index) -> Iterator[Site]:
    with serving(index) as running:
        yield running


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


@pytest.fixture
def visit(browser: Any, site: Site) -> Iterator[Visit]:
    """A window of its own; nothing in it may break the page's policy, raise an error or ask another server."""
    opened = Visit(browser)
    yield opened
    opened.context.close()
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(site.url)] == []


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit.page


def ask(page: Page, site: Site, query: str = QUESTION, more: str = "") -> None:
    """Opens the address of a search and waits for its results."""
    page.goto(f"{site.url}?q={quote(query, safe='')}{more}")
    expect(page.locator(".hit").first).to_be_visible()


def heat(page: Page) -> None:
    """Opens why the first result was found."""
    page.locator(".hit").first.get_by_role("link", name=re.compile("Why this result")).click()
    expect(page.locator(".square").first).to_be_visible()


# -- asking


def test_a_formula_is_drawn_while_it_is_typed(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.get_by_label(re.compile("Question")).type("a root of $x^2+1")
    preview = page.locator("#preview")
    expect(preview.locator("math msup")).to_have_text("x2")
    expect(preview).to_contain_text("a root of")


def test_commands_are_completed_with_arrows_and_tab(page: Page, site: Site) -> None:
    page.goto(site.url)
    box = page.locator("#question")
    options = page.locator("#completions").get_by_role("option")
    box.type("$\\varn")
    expect(options).to_have_count(1)
    expect(options).to_contain_text("\\varnothing")
    box.fill("")
    box.type("$\\sq")
    expect(options.first).to_contain_text("\\sqrt")
    first = box.get_attribute("aria-activedescendant")
    box.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") != first
    box.press("ArrowUp")
    box.press("Tab")
    box.type("2")
    assert box.input_value() == "$\\sqrt{2}"
    expect(page.locator("#preview msqrt")).to_have_text("2")


def test_the_palette_puts_symbols_at_the_caret_and_opens_a_formula_where_there_is_none(
    page: Page, site: Site
) -> None:
    page.goto(site.url)
    box = page.locator("#question")
    box.type("sum of ")
    page.get_by_role("button", name="Symbols").click()
    page.get_by_role("button", name="fraction").click()
    box.type("1")
    page.get_by_role("button", name="infinity").click()
    assert box.input_value() == "sum of $\\frac{1\\infty }{}$"


def test_a_formula_that_cannot_be_read_is_shown_with_its_place(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.locator("#question").fill("why is $1 + \\def\\a{\\a\\a}\\a$ so")
    problem = page.locator("#preview .problem")
    expect(problem).to_contain_text("expands without end")
    expect(problem.locator(".here")).to_have_text("\\")


TEXTS = [
    "a $x$ b",
    "$$x$$ and $y$",
    "\\(x\\) and \\[y\\]",
    "it costs \\$5 and $y$",
    "$a$$b$",
    "$ x $",
    "open $x",
    "$$a$ b$$",
    "no formula",
    "\\\\(x\\\\)",
    "$x\\$y$",
    "two\n$lines\nx$",
    "$",
    "$$",
    "\\[a",
    "$\\$",
    "so \\begin{align*}a&=b\\end{align*} holds",
    "\\begin{align}a",
]


def test_the_box_sees_the_same_formulas_as_the_server(page: Page, site: Site) -> None:
    """The reader of posts is the oracle; both only count formulas that are closed."""
    page.goto(site.url)
    seen = page.evaluate(
        """async (texts) => {
          const { pieces } = await import("./latex.js");
          const formulas = (text) => pieces(text).filter(({ kind, closed }) => kind === "formula" && closed);
          return texts.map((text) => formulas(text).map(({ latex, display }) => [latex.trim(), display]));
        }""",
        TEXTS,
    )
    read = [formulas_of("query", "", text, "text", lambda *_: None) for text in TEXTS]
    assert seen == [[[formula.latex.strip(), formula.display] for formula in each] for each in read]


# -- results


def test_results_show_title_snippet_matched_formulas_tags_kind_and_score(page: Page, site: Site) -> None:
    page.goto(site.url)
    page.locator("#question").fill(QUESTION)
    page.locator("#question").press("Enter")
    hit = page.locator('.hit[data-post="basel"]')
    expect(hit.get_by_role("heading")).to_contain_text("Where does the circle come from")
    expect(hit.locator("h3 math")).to_have_count(1)
    expect(hit.locator(".snippet .formula.matched math").first).to_contain_text("∑")
    expect(hit.locator(".snippet mark").first).to_be_visible()
    expect(hit.locator(".about")).to_contain_text(re.compile(r"question\s*score [\d.]+", re.IGNORECASE))
    assert hit.locator(".tag").all_inner_texts() == ["series", "analysis"]
    expect(page.get_by_role("status")).to_contain_text("Results 1–10")


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


def test_filters_narrow_the_results_and_can_be_taken_back(page: Page, site: Site) -> None:
    ask(page, site)
    chip = page.locator("#filters").get_by_role(
        "button", name=re.compile("^note")
    )  # the tick is not read out
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".hit .kind.question")).to_have_count(0)
    expect(page.locator(".hit .kind.note").first).to_be_visible()
    assert "kind=note" in page.url
    page.locator("#filters").get_by_role("button", name=re.compile("^matrices")).click()
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".hit")).to_have_attribute("data-post", "notes/matrix.md")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    assert "kind=" not in page.url
    assert "tag=matrices" in page.url


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


# -- what stands behind a result


def test_the_heatmap_lights_up_both_sides_of_what_is_pointed_at(page: Page, site: Site) -> None:
    ask(page, site)
    heat(page)
    square = page.locator(".square.best").first
    row, column = square.get_attribute("data-row"), square.get_attribute("data-column")
    square.hover()
    expect(page.locator(f'.parts li[data-row="{row}"]')).to_have_class("lit")
    expect(page.locator(f'.heatmap tbody th[data-column="{column}"]')).to_have_class("lit")
    assert [page.locator(each).count() for each in (".parts li.lit", ".heatmap tbody th.lit")] == [1, 1]
    expect(page.locator(".reading")).to_contain_text("met")
    values = [float(text) for text in page.locator(f'.square[data-row="{row}"]').all_inner_texts()]
    assert float(square.inner_text()) == max(values)


def test_the_heatmap_can_be_walked_with_the_arrow_keys(page: Page, site: Site) -> None:
    ask(page, site)
    heat(page)
    page.locator(".square").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    held = page.evaluate(
        "({ row: document.activeElement.dataset.row, column: document.activeElement.dataset.column })"
    )
    assert held == {"row": "1", "column": "1"}
    expect(page.locator('.parts li[data-row="1"]')).to_have_class("lit")


def test_a_post_opens_with_its_formulas_drawn_and_leads_to_its_question(page: Page, site: Site) -> None:
    ask(page, site)
    page.locator('.hit[data-post="basel/answer"] h3 a').first.click()
    panel = page.locator("#panel")
    expect(panel.locator(".prose math").first).to_be_visible()
    expect(panel.locator(".prose")).to_contain_text("Lighthouses")
    panel.locator(".neighbours").get_by_role("link", name="Where does the circle come from").click()
    expect(panel.get_by_role("heading", level=2)).to_contain_text("Where does the circle come from")


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


# -- addresses, keys, themes, sizes


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


def test_everything_can_be_done_with_the_keyboard(page: Page, site: Site) -> None:
    ask(page, site)
    page.locator("body").press("/")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.press("ArrowDown")
    hits = page.locator(".hit")
    expect(hits.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#panel .prose")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator(".square").first).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".hit .formula.active").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".hit .formula.active").first).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="How to search")).to_be_visible()


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


NAMELESS = """() => [...document.querySelectorAll("a, button, input, select, textarea, [role=button], [role=tab], [tabindex]")]
  .filter((node) => node.checkVisibility())
  .filter((node) => !(node.getAttribute("aria-label") || node.labels?.length || node.innerText?.trim()
    || document.getElementById(node.getAttribute("aria-labelledby"))?.innerText.trim()))
  .map((node) => node.outerHTML.slice(0, 80))"""


def test_whatever_can_be_used_has_a_name_for_a_screen_reader(page: Page, site: Site) -> None:
    ask(page, site, more="&post=basel&view=graph")
    page.get_by_role("button", name="Symbols").click()
    expect(page.locator(".frame.graph svg")).to_be_visible()
    assert page.evaluate(NAMELESS) == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))


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


# -- what goes wrong


def test_a_search_that_finds_nothing_says_what_to_try(page: Page, site: Site) -> None:
    page.goto(f"{site.url}?q=xylophone&strategy=lexical")
    messages = page.locator("#messages")
    expect(messages).to_contain_text("Nothing found")
    page.goto(f"{site.url}?q=circle&kind=answer&tag=matrices")
    expect(messages).to_contain_text("filters leave nothing")
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
        expect(visit.page.locator("#about")).to_contain_text("posts")
    visit.context.close()


def test_an_empty_index_says_how_to_fill_it(browser: Any, tmp_path: Path, model_folder: Path) -> None:
    visit = Visit(browser)
    folder = make_index(tmp_path / "empty", [], model_folder)
    with Index.open(folder, device="cpu") as nothing, serving(nothing) as site:
        visit.page.goto(site.url)
        expect(visit.page.locator("#messages")).to_contain_text("This index is empty")
        expect(visit.page.locator("#messages")).to_contain_text("mathamr index")
    visit.context.close()


HOSTILE_MARKUP = {
    "htmlNodes": "<p onclick='x()' style='color:red' class='faint'>a<script>x()</script><a href='javascript:x()'>b</a>"
    "<a href='https://example.org'>c</a><img src=x onerror='x()'><iframe src='/'></iframe><template><b>t</b></template></p>",
    "mathNode": "<math href='javascript:x()'><semantics><mrow><mi onclick='x()'>x</mi><mtext><script>x()</script></mtext></mrow>"
    "<annotation-xml encoding='text/html'><img src=x onerror='x()'></annotation-xml></semantics></math>",
    "drawingNode": "<svg xmlns='http://www.w3.org/2000/svg' onload='x()'><script>x()</script><foreignObject><p>x</p></foreignObject>"
    "<a href='javascript:x()'><text>no</text></a><use href='/x'/><g onclick='x()'><text class='amr'>y</text></g></svg>",
}
CLEAN_MARKUP = {
    "htmlNodes": '<p class="faint">a<a>b</a><a href="https://example.org" target="_blank" rel="noopener noreferrer nofollow">c</a></p>',
    "mathNode": "<math><mrow><mi>x</mi><mtext></mtext></mrow></math>",
    "drawingNode": '<svg><g><text class="amr">y</text></g></svg>',
}


@pytest.mark.parametrize("kind", HOSTILE_MARKUP)
def test_the_page_lets_only_known_markup_in_whatever_the_server_sends(
    browser: Any, site: Site, kind: str
) -> None:
    visit = Visit(browser)
    visit.page.goto(site.url)
    written = visit.page.evaluate(
        """async ([kind, markup]) => {
          const holder = document.createElement("div");
          const made = (await import("./markup.js"))[kind](markup);
          holder.append(...(Array.isArray(made) ? made : [made]));
          return holder.innerHTML.trim();
        }""",
        [kind, HOSTILE_MARKUP[kind]],
    )
    assert written == CLEAN_MARKUP[kind]
    visit.context.close()


def test_hostile_posts_run_nothing_and_load_nothing(page: Page, site: Site) -> None:
    """The visit's own checks see errors, dialogs, broken policies and requests to other places."""
    ask(page, site, "hostile", "&strategy=lexical")
    views = [(post["id"], "text") for post in HOSTILE]
    for post, view in [*views, ("hostile/formulas", "why"), ("hostile/formulas", "graph")]:
        page.goto(f"{site.url}?q=hostile&strategy=lexical&post={quote(post, safe='')}&view={view}")
        expect(page.locator("#panel .content > *").first).to_be_visible()
        expect(page.locator("#panel .content")).not_to_have_attribute("aria-busy", "true")
        assert page.evaluate("window.attacked") is None
    page.goto(f"{site.url}?post={quote(HOSTILE[0]['id'], safe='')}")
    prose = page.locator("#panel .prose")
    expect(prose).to_contain_text("hostile words")
    links = prose.locator("a[href]").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert links == ["https://example.org/x.png"]
    assert (
        page.locator(
            "#panel :is(script, iframe, img, form, object, embed, style, [onerror], [onclick], [style])"
        ).count()
        == 0
    )
    expect(page.locator("#panel h2")).to_contain_text("hostile title")
