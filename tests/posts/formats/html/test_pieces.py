"""HTML: the text a browser shows, the formulas MathJax finds, and those that pages carry marked."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html

from mathamr.posts.markup import pieces
from mathamr.posts.markup.piece import Piece
from tests.cases import cases


def formulas(source: str) -> list[Piece]:
    return [piece for piece in pieces(source, "html") if piece.kind == "formula"]


def latex(source: str) -> list[str]:
    return [piece.text for piece in formulas(source)]


def shown(source: str) -> str:
    """All text of the pieces, white space aside."""
    return "".join("".join(p.text for p in pieces(source, "html") if p.kind in ("text", "code")).split())


INLINE = ["em", "strong", "b", "i", "span", "u", "small"]
BLOCK = ["p", "div", "li", "blockquote", "h2", "td"]
PLAIN = st.text("abcXYZ 12.,;!?'\n\u00e9\u03b1", max_size=8)


def element(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    content = st.lists(children, max_size=4).map("".join)
    return st.one_of(
        st.tuples(st.sampled_from(INLINE + BLOCK[1:2]), content).map(
            lambda pair: "<{0}>{1}</{0}>".format(*pair)
        ),
        content.map(lambda text: f"<a href=\"x?a=1&amp;b=2\" title='q'>{text}</a>"),
        st.just("<br>"),
        st.just("<!-- no > text -->"),
        st.just("<script>var a = '<p>no</p>';</script>"),
        st.just("<style>p { color: red }</style>"),
    )


ENTITIES = st.sampled_from(["&lt;", "&amp;", "&gt;", "&quot;", "&eacute;", "&#233;", "&#x3b1;", "&nbsp;"])


@given(st.recursive(st.one_of(PLAIN, ENTITIES), element, max_leaves=15))
def test_text_content_is_what_lxml_reads(body: str) -> None:
    document = lxml_html.fromstring(f"<div>{body}</div>")
    texts = document.xpath("//text()[not(parent::script) and not(parent::style)]")
    assert shown(f"<div>{body}</div>") == "".join("".join(texts).split())


@cases(
    ("source", "expected"),
    [
        ("<p>Let $x &lt; 1$.</p>", ["x < 1"]),
        ("$a <em>b</em> c$", ["a b c"]),
        ("$$a<br>b$$", ["a\nb"]),
        ("$a</p><p>b$", []),
        ("<code>$x$</code> <pre>$y$</pre>", []),
        ("<script>$x$</script><style>$y$</style><textarea>$z</textarea>", []),
        ("if $a<b$ and $c>d$ then", ["a<b", "c>d"]),
        ("$x <!-- $ --> y$", ["x  y"]),
        ('<span class="math-container" id="1">$x_1.$</span>', ["x_1"]),
        ('<span id="1" class="a math-container">$$y$$</span>', ["y"]),
        ('<span class="math-container">$a<em>b</em>$</span>', ["ab"]),
        ('<span class="math inline">z</span> <span class="math display">\\[w\\]</span>', ["z", "w"]),
        ('<span class="math">plain words</span>', []),
        ('<script type="math/tex; mode=display">e^x</script>', ["e^x"]),
        ('<img class="latex" alt="\\int f">', ["\\int f"]),
    ],
)
def test_formulas_are_found(source: str, expected: list[str]) -> None:
    assert latex(source) == expected


def test_a_marked_formula_keeps_its_id_and_its_punctuation_becomes_text() -> None:
    source = '<p>Then <span class="math-container" id="42">$$x=1,$$</span> so</p>'
    formula, comma = [piece for piece in pieces(source, "html") if piece.text in ("x=1", ",")]
    assert (formula.id, formula.display) == ("42", True)
    assert source[formula.start : formula.end].startswith("<span")
    assert (comma.kind, source[comma.start : comma.end]) == ("text", ",")


def test_formulas_marked_inside_code_are_kept() -> None:
    source = '<pre><code>group <span class="math-container" id="3">$g_1$</span> end</code></pre>'
    assert [(p.kind, p.text) for p in pieces(source, "html") if p.kind != "break"] == [
        ("code", "group "),
        ("formula", "g_1"),
        ("code", " end"),
    ]


def test_formulas_marked_inside_a_larger_one_follow_it() -> None:
    source = r'\begin{align} a &amp;= \mbox{as <span class="math-container" id="5">$b$</span>} \end{align}'
    assert [(p.text, p.id) for p in formulas(source)] == [
        (r"\begin{align} a &= \mbox{as $b$}\end{align}", None),
        ("b", "5"),
    ]


def test_mathml_is_kept_as_it_stands_with_the_latex_it_carries() -> None:
    mathml = '<math display="block" alttext="a&lt;b"><mi>a</mi><mo>&lt;</mo><mi>b</mi></math>'
    (formula,) = formulas(f"<p>Here {mathml}</p>")
    assert (formula.text, formula.display, formula.mathml) == ("a<b", True, mathml)


def test_a_katex_page_gives_each_formula_once() -> None:
    source = (
        '<span class="katex-display"><span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi>'
        '<annotation encoding="application/x-tex">x^2</annotation></semantics></math></span>'
        '<span class="katex-html" aria-hidden="true"><span class="base">x<span>2</span></span></span></span></span> ok'
    )
    (formula,) = formulas(source)
    assert (formula.text, formula.display) == ("x^2", True)
    assert shown(source) == "ok"


def test_a_mathjax_page_gives_each_formula_once() -> None:
    source = (
        '<span class="MathJax_Preview">[x]</span><span class="MathJax" id="M-1"><nobr><span>x</span></nobr></span>'
        '<script type="math/tex" id="M">x</script> and <mjx-container display="true"><mjx-math>y</mjx-math>'
        "<mjx-assistive-mml><math><mi>y</mi></math></mjx-assistive-mml></mjx-container>"
    )
    first, second = formulas(source)
    assert (first.text, second.text, second.display) == ("x", "", True)
    assert second.mathml == "<math><mi>y</mi></math>"
    assert shown(source) == "and"


def test_a_wikipedia_formula_comes_without_its_wrapper_and_picture() -> None:
    source = (
        '<span class="mwe-math-element"><math alttext="{\\displaystyle {a}+{b}}"><mi>a</mi></math>'
        '<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle {a}+{b}}"></span>'
    )
    assert latex(source) == ["{a}+{b}"]
    assert latex('<math alttext="{\\displaystyle a}+{b}"></math>') == ["{\\displaystyle a}+{b}"]


def test_images_and_links_keep_what_is_worth_searching() -> None:
    source = '<a href="http://x.org?a=1&amp;b=2">the proof</a> <img alt="a torus"> <img alt="enter image description here">'
    found = [(piece.kind, piece.text) for piece in pieces(source, "html") if piece.text.strip()]
    assert found == [
        ("link", "http://x.org?a=1&b=2"),
        ("text", "the proof"),
        ("close", "a"),
        ("image", "a torus"),
    ]


def test_raised_and_lowered_text_stays_distinguishable() -> None:
    source = "3<sup>2k</sup>, <b>n</b><sub>1</sub>, the 2<sup>nd</sup>, so.<sup>1</sup> $x<sup>2</sup>$"
    assert shown(source) == "3^2k,n_1,the2nd,so.1"
    assert latex(source) == ["x^2"]


def test_two_line_breaks_are_a_paragraph() -> None:
    kinds = [piece.text for piece in pieces("a<br> <br>b<br>c", "html") if piece.kind == "break"]
    assert kinds == ["paragraph"]


@cases(
    ("source", "note"),
    [
        ("<p>an open $ here</p>", "unclosed $"),
        ("<math><mi>x</mi>", "unclosed <math>"),
        ("text <!-- never closed", "unclosed comment"),
        ('<span class="math-container">$ $</span>', "empty formula"),
        ("<pre>code", "unclosed <pre>"),
    ],
)
def test_what_is_repaired_is_reported(source: str, note: str) -> None:
    notes: list[str] = []
    list(pieces(source, "html", lambda message, offset: notes.append(message)))
    assert notes == [note]


def test_unclosed_elements_lose_no_text() -> None:
    assert shown("<svg>a <math>b <pre>c <code>d") == "abcd"


def test_entities_that_a_document_declares_are_never_expanded() -> None:
    source = '<!DOCTYPE x [<!ENTITY a "bbbb"><!ENTITY b "&a;&a;">]>&b;'
    assert shown(source).endswith("&b;")
    assert "bb" not in shown(source)


def test_text_of_real_posts_is_what_lxml_reads(data: Path) -> None:
    marked = re.compile(r'<span class="math-container"[^>]*>[^<]*</span>')
    compared = 0
    for _, row in ElementTree.iterparse(data / "arqmath-mini" / "Posts.xml"):
        words = marked.sub("", row.get("Body") or "")
        if words.strip() and not any(mark in words for mark in ("$", "\\", "<img", "<su")):
            compared += 1
            assert shown(words) == "".join(lxml_html.fromstring(f"<div>{words}</div>").text_content().split())
        if compared == 400:
            return
        row.clear()


def test_a_picture_of_a_formula_that_carries_its_latex_is_the_formula() -> None:
    source = 'Then <div class="equation" data-raw-text="x &lt; y."><img src="a.svg" alt="b"><br></div> and <b>c</b>'
    found = list(pieces(source, "html"))
    assert [(piece.text, piece.display) for piece in found if piece.kind == "formula"] == [("x < y", True)]
    assert "".join(piece.text for piece in found if piece.kind == "text").split() == ["Then", ".", "and", "c"]
