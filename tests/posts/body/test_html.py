from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.body.html import BLOCKS, DEEPEST, INLINE, Body
from tests.cases import cases

_VOID = {"br", "hr", "img"}
_PLACES = {
    "li": {"ul", "ol"},
    "td": {"tr"},
    "th": {"tr"},
    "tr": {"table", "thead", "tbody", "tfoot"},
    "dt": {"dl"},
    "dd": {"dl"},
    "caption": {"table"},
    "tbody": {"table"},
}


class _Checker(HTMLParser):
    """Fails where an element is not closed in its place, or stands where it may not."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.deepest = 0
        self.words: list[str] = []

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        if tag in _VOID:
            return
        parent = self.open[-1] if self.open else ""
        assert tag not in _PLACES or parent in _PLACES[tag], (tag, parent)
        assert tag not in (BLOCKS | {"p"}) or parent not in (INLINE | {"p"}), (tag, parent)
        self.open.append(tag)
        self.deepest = max(self.deepest, len(self.open))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data.split()
        assert not data.strip() or self.open, "text stands in a block"


_NAMES = st.sampled_from(sorted(BLOCKS | INLINE | {"script", "div"}))
_CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("text"), st.sampled_from(["a", " b ", "<i>&amp;", " ", "x\u2028y", "^"])),
        st.tuples(st.sampled_from(["open", "close"]), _NAMES),
        st.tuples(st.sampled_from(["paragraph", "rule"]), st.just("")),
    ),
    max_size=40,
)


@given(_CALLS)
def test_whatever_is_called_the_html_is_well_formed_and_has_all_words(calls: list[tuple[str, str]]) -> None:
    body = Body()
    for name, argument in calls:
        getattr(body, name)(*([argument] if argument else []))
    checker = _Checker()
    checker.feed(body.html())
    checker.close()
    assert checker.open == []
    written = "".join(argument for name, argument in calls if name == "text").replace("^", "")
    assert re.sub(r"[\s^]", "", "".join(checker.words)) == re.sub(r"\s", "", written)


@cases("name", ["b", "blockquote", "ul", "table"])
def test_deep_nesting_is_cut_and_what_follows_it_stands_outside(name: str) -> None:
    body = Body()
    for _ in range(10_000):
        body.open(name)
    body.text("inside")
    for _ in range(10_000):
        body.close(name)
    body.paragraph()
    body.text("outside")
    written = body.html()
    checker = _Checker()
    checker.feed(written)
    assert checker.deepest <= DEEPEST + 1
    assert written.endswith("<p>outside</p>")


def test_elements_get_the_parents_that_they_need() -> None:
    body = Body()
    body.open("td")
    body.text("cell")
    body.open("td")
    body.close("tr")
    body.open("li")
    body.text("item")
    body.paragraph()
    body.text("more")
    body.close("ul")
    body.open("h2")
    body.text("head")
    assert body.html() == (
        "<table><tr><td>cell</td><td></td></tr></table>\n<ul><li>item<p>more</p></li></ul>\n<h2>head</h2>"
    )


def test_a_sign_that_is_read_before_an_exponent_is_not_shown() -> None:
    body = Body()
    for call, argument in (("text", "x"), ("text", "^"), ("open", "sup"), ("text", "2"), ("close", "sup")):
        getattr(body, call)(argument)
    assert body.html() == "<p>x<sup>2</sup></p>"
