"""Posts and answers that try to run something."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.serve.page.visit import Page, Visit, ask, expect
from tests.serve.site import HOSTILE, Site

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
