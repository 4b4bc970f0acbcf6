from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Markup, Post
from mathamr.posts.rendering.posthtml import body_html, formula_html, title_html
from mathamr.posts.rendering.sanitiser import ALLOWED, MARK, safe_link, sanitise_html
from tests.cases import cases
from tests.serve.hostile import HTML, LATEX

OWN_ATTRIBUTES = {
    "a": {"href", "rel", "class"},
    "span": {"class", "data-formula"},
    "p": {"class"},
    "code": {"class"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "ol": {"start"},
    "abbr": {"title"},
    "dfn": {"title"},
}
MATHML = {
    "math", "semantics", "annotation", "mrow", "mi", "mo", "mn", "mtext", "ms", "mspace", "mfrac", "msqrt", "mroot", "msub",
    "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "mtable", "mtr", "mtd", "mstyle",
    "mpadded", "mphantom", "merror",
}  # fmt: skip
MATHML_ATTRIBUTES = {
    "xmlns", "display", "alttext", "encoding", "class", "displaystyle", "scriptlevel", "mathcolor", "mathbackground",
    "mathsize", "dir", "mathvariant", "form", "fence", "separator", "stretchy", "symmetric", "largeop", "movablelimits",
    "lspace", "rspace", "minsize", "maxsize", "width", "height", "depth", "voffset", "linethickness", "accent",
    "accentunder", "columnspan", "rowspan",
}  # fmt: skip
MATHML_CLASSES = re.compile("math-[a-z-]{2,20}( math-[a-z-]{2,20}){0,9}")
"""Names that no other part of the page has."""


class Inspector(HTMLParser):
    """Reads HTML as a browser's tokeniser would and checks every tag of it against lists of the tests' own."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in MATHML:
            assert {name for name, _ in attrs} <= MATHML_ATTRIBUTES, (tag, attrs)
            assert all(MATHML_CLASSES.fullmatch(value or "") for name, value in attrs if name == "class")
        else:
            assert tag in ALLOWED | {"span"}, tag
            assert {name for name, _ in attrs} <= OWN_ATTRIBUTES.get(tag, set()), (tag, attrs)
            for name, value in attrs:
                if name == "href":
                    assert value
                    assert value.lower().startswith(("http://", "https://", "mailto:")), value
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a section: {data}")


def inspected(html: str) -> str:
    """The text of HTML that passes all checks and closes all it opens."""
    inspector = Inspector()
    inspector.feed(html)
    inspector.close()
    assert inspector.open == []
    return inspector.text


def _post(body: str, markup: Markup = "html", title: str = "") -> Post:
    return Post("p", "note", body, title, markup, formulas=formulas_of("p", title, body, markup))


def test_hostile_html_leaves_only_what_is_allowed() -> None:
    for name, html in HTML.items():
        if name != "deep":
            inspected(sanitise_html(html))
        inspected(body_html(_post(html), 100_000))


@cases("name", ["script", "event handler", "style element", "meta refresh", "base", "closing everything"])
def test_the_words_around_what_is_hostile_stay(name: str) -> None:
    text = inspected(body_html(_post(HTML[name]), 100_000))
    assert text in ("ab", "text")


@cases("markup", ["html", "text", "markdown", "latex"])
def test_hostile_latex_leaves_only_what_is_allowed(markup: Markup) -> None:
    for latex in LATEX.values():
        inspected(body_html(_post(latex, markup), 5000))
        inspected(title_html(_post("", markup, latex[:5000])))


FRAGMENTS = """
<p> </p> <b > <script> </script> <a href=' javascript: ' " $x<y$ $$ <!-- --> <math> </math> <svg> </svg> <style> </style>
&lt; &#x3c; <table> <td> </table> </html> <img/src=x/onerror=y> text <![CDATA[ ]]> <?x <!DOCTYPE <plaintext> <title>
<textarea> = /
"""


@given(
    st.lists(
        st.sampled_from([*FRAGMENTS.split(), f"{MARK}0{MARK}", "\0", "\ud800", " "]) | st.text(max_size=4),
        max_size=25,
    ).map("".join)
)
def test_whatever_is_written_only_allowed_markup_leaves(source: str) -> None:
    inspected(sanitise_html(source))
    for markup in ("html", "markdown"):
        inspected(body_html(_post(source, markup), 1000))  # type: ignore[arg-type]


def test_structure_stays() -> None:
    source = (
        '<p>Let <em>f</em> &lt; g.</p><ol start="3"><li>one<li>two</ol><table><tr><td colspan="2">x</td></tr></table>'
        '<h1>H</h1><pre><code>a &amp; b</code></pre><a href="https://example.org/?a=1&amp;b=2">l</a>'
    )
    assert sanitise_html(source) == (
        '<p>Let <em>f</em> &lt; g.</p><ol start="3"><li>one</li><li>two</li></ol>'
        '<table><tbody><tr><td colspan="2">x</td></tr></tbody></table><h3>H</h3><pre><code>a &amp; b</code></pre>'
        '<a href="https://example.org/?a=1&amp;b=2" rel="nofollow noopener noreferrer">l</a>'
    )


def test_a_line_break_with_an_end_tag_is_two_as_in_a_browser() -> None:
    assert body_html(_post("a<br></br>b<br/>c"), 100) == "<p>a<br></p>\n<p>b<br>c</p>"


def test_pictures_of_elsewhere_are_told_and_not_fetched() -> None:
    shown = sanitise_html('<img src="https://example.org/a.png" alt="a <cat>">')
    assert "<img" not in shown
    assert "[picture: a &lt;cat&gt;]" in shown
    assert 'href="https://example.org/a.png"' in shown


@pytest.mark.parametrize("part", ["<div>", "<i></p>", "<ol><li>", "<b x=1><p></p>"])
def test_nothing_is_lost_where_elements_are_nested_too_deeply(part: str) -> None:
    """The sanitiser's time grows with depth times length: 180 kB of these took up to 27 s."""
    body = part * 12_000 + "deep $x$"
    assert "deep" in inspected(body_html(_post(body), 200_000))


@cases(
    ("before", "part"),
    [
        ("<a ", "a{} "),
        ("</a ", "a{}/"),
        ("<a ", "a{}='>'"),
        ("<a x=y=", '"a{}= '),
        ("<a x=y=", "\"a{0}= 'b{0}="),
        ("<!-- <b x='--><a ", "a{} "),
        ('<style><b x="</style><a ', 'a{}=">" '),
        ("<a ", "é{}\u00a0= '>' "),
    ],
)
def test_nothing_is_lost_where_a_tag_has_too_many_attributes(before: str, part: str) -> None:
    """The sanitiser compares each with all before it: 25,000 took 2.3 s."""
    body = "<p>near</p>" + before + "".join(map(part.format, range(2_000))) + ">deep $x$</a>"
    assert "near" in inspected(body_html(_post(body), 200_000))


def test_many_links_and_a_long_text_with_quotes_stay() -> None:
    tag = '<a href="https://example.org/?a=1&b=2" title=\'x\' class="y z">it\'s "a" = "b" / c</a> '
    assert body_html(_post(tag * 500), 100_000).count("<a ") == 500
    quotes = "<p>" + "it's a = 'b' / \"c\" and " * 1000
    assert body_html(_post(quotes), 100_000).count("and") == 1000


def test_a_link_of_many_parts_and_a_picture_with_many_words_stay() -> None:
    address = "https://example.org" + "/a" * 900
    shown = body_html(
        _post(f'<a href="{address}">x</a><img src="{address}" alt="{"word " * 2000}">'), 100_000
    )
    assert shown.count(f'<a href="{address}"') == 2
    assert "[picture: word" in shown


def test_lists_without_end_tags_and_breaks_are_not_deep() -> None:
    shown = body_html(_post("<ul>" + "<li>one<br>" * 1000 + "</ul>" + "<p>two" * 1000), 100_000)
    assert (shown.count("<li>"), shown.count("<p>")) == (1000, 1000)


def test_drawn_formulas_stay_as_they_were_drawn_within_hostile_html() -> None:
    formulas = [
        r"\frac{a}{b}",
        r"\begin{pmatrix}1&0\\0&1\end{pmatrix}",
        r"\sqrt[3]{x}<\text{a & b}",
        r"\sum_{n=1}^\infty n^{-2}",
    ]
    body = "".join(
        f"<table><tr><td onclick='x()'><b>${escape(latex)}$</td></tr></table><svg><p>$z$</p></svg>"
        for latex in formulas
    )
    post = _post(body)
    shown = body_html(post, 100_000)
    inspected(shown)
    kept = [formula for formula in post.formulas if formula.latex != "z"]
    assert len(kept) == len(formulas)
    for formula in kept:
        drawn = formula_html(formula)
        assert "<math" in drawn
        assert drawn in shown


@cases(
    "target",
    ["", "#a", "/v1", "//a.example", "javascript:1", "JAVASCRIPT:1", "java\tscript:1", "data:x", "file:///etc/passwd", "http:",
     "https://", "mailto:", "http:///x", "https://a b", "http://[", " javascript:1", "x" * 3000],
)  # fmt: skip
def test_addresses_that_no_page_may_lead_to(target: str) -> None:
    assert safe_link(target) is None


@pytest.mark.parametrize("target", ["http://a.example", "HTTPS://a.example/x?y#z", "mailto:a@b.example"])
def test_addresses_that_a_page_may_lead_to(target: str) -> None:
    assert safe_link(f" {target} ") == target
