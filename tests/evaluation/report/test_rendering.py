from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from mathamr.evaluation.report.rendering import LONGEST_TEXT, body_html, formula_html, title_html
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Formula, Markup, Post


def post(body: str, title: str = "", markup: Markup = "html") -> Post:
    return Post("7", "question", body, title, markup, formulas=formulas_of("7", title, body, markup))


def test_formulas_become_mathml_in_their_places_title_first() -> None:
    written = post("<p>Then $b$.</p><p>And $c$.</p>", "Of $a$")
    assert "<mi>a</mi>" in title_html(written)
    first, second = body_html(written).split("\n")
    assert "<mi>b</mi>" in first
    assert "<mi>c</mi>" in second


def test_the_query_formula_is_marked_and_no_other() -> None:
    written = post(
        '<p><span class="math-container" id="q1">$a$</span> <span class="math-container" id="q2">$b$</span></p>'
    )
    marks = html.fragment_fromstring(body_html(written, "q2")).findall("mark")
    assert len(marks) == 1
    assert "<mi>b</mi>" in html.tostring(marks[0], encoding="unicode")


def test_a_displayed_formula_keeps_its_punctuation_beside_it() -> None:
    assert body_html(post("<p>So $$x=1.$$ Done, yes</p>")).endswith(
        "</math><span>.</span></span> Done, yes</p>"
    )


def test_blocks_are_distinguished() -> None:
    body = "<h2>H</h2><ul><li>one</li></ul><blockquote><p>q</p></blockquote><pre><code>a &lt; $b$</code></pre><p>x<br>y</p>"
    written = body_html(post(body))
    assert "<h5>H</h5>" in written
    assert '<p class="item">one</p>' in written
    assert "<pre>a &lt; $b$</pre>" in written
    assert "<p>x<br>y</p>" in written


def test_a_formula_that_cannot_be_drawn_is_shown_as_its_source() -> None:
    shown = '<code title="this formula could not be drawn">{}</code>'
    assert formula_html(Formula("1", "", presentation_mathml="<math")) == shown.format("MathML")
    assert formula_html(Formula("1", "x" * 200_000)).startswith(shown.format("xxx").removesuffix("</code>"))
    assert formula_html(Formula("1", "")) == ""
    given_mathml = Formula("1", "", presentation_mathml="<math><mi>x</mi><script>evil()</script></math>")
    assert formula_html(given_mathml).endswith("<mi>x</mi></math>")


def test_a_long_post_is_cut_and_says_so() -> None:
    written = body_html(post("".join(f"<p>paragraph {number}</p>" for number in range(2000))))
    assert len(written) < 3 * LONGEST_TEXT
    assert "the rest of this post is not shown" in written


ALLOWED = {"p", "h5", "pre", "code", "span", "mark", "br"}


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["html", "text", "markdown", "latex"]))
def test_nothing_an_author_writes_becomes_markup(title: str, body: str, markup: Markup) -> None:
    hostile = f"{body}<script>alert(1)</script><img src=x onerror=alert(1)>$<b onclick=x>${title}"
    written = post(hostile, title + "<script>x</script>", markup)
    page = html.fragment_fromstring(f"<div>{title_html(written)}{body_html(written)}</div>")
    for element in page.iter():
        inside_math = any(above.tag == "math" for above in element.iterancestors()) or element.tag == "math"
        assert inside_math or element is page or element.tag in ALLOWED
        assert element.tag not in ("script", "img", "style", "iframe", "object", "annotation-xml")
        assert not [name for name in element.attrib if name.startswith("on") or name in ("href", "src")]
