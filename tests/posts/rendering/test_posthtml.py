from __future__ import annotations

import re

import pytest

from mathamr.posts.markup import formulas_of, pieces
from mathamr.posts.post import Formula, Markup, Post
from mathamr.posts.rendering.drawing import draw, draw_formula
from mathamr.posts.rendering.posthtml import Reference, body_html, formula_html, title_html
from mathamr.serve.pieces import shown_pieces, title_shown
from tests.cases import cases


def _post(body: str, markup: Markup, title: str = "", macros: tuple[str, ...] = ()) -> Post:
    return Post(
        "7", "note", body, title, markup, macros=macros, formulas=formulas_of("7", title, body, markup)
    )


def test_formulas_stand_in_their_places_under_their_ids() -> None:
    post = _post("<p>Let $a$, <em>then</em> $$b$$ holds.</p>", "html", title="On $t$")
    shown = body_html(post, 1000)
    assert shown.startswith('<p>Let <span class="formula" data-formula="7:1"><math')
    assert '</math></span>, <em>then</em> <span class="formula display" data-formula="7:2"><math' in shown
    assert 'data-formula="7:0"' in title_html(post)
    assert title_shown(post)[1]["latex"] == "t"


def test_formulas_may_have_other_ids_in_the_index() -> None:
    post = _post("$a$ and $b$", "text", title="$t$")
    assert 'data-formula="x/1"' in body_html(post, 1000, ["x/0", "x/1", "x/2"])
    assert 'data-formula="x/0"' in title_html(post, ["x/0", "x/1", "x/2"])


def test_ids_are_quoted() -> None:
    post = Post('"><script>', "note", "$a$", markup="text", formulas=(Formula('"><script>:0', "a"),))
    assert '<span class="formula" data-formula="&quot;&gt;&lt;script&gt;:0">' in body_html(post, 100)


@pytest.mark.parametrize(
    ("markup", "body", "expected"),
    [
        ("markdown", "# Head\n\nOne.\n\n- a\n- b\n\n> said\n\n```\nx < y\n```\n\nLast.",
         ["<h3>Head</h3>", "<p>One.</p>", "<ul><li>a</li><li>b</li></ul>", "<blockquote><p>said</p></blockquote>",
          "<pre>x &lt; y", "</pre>", "<p>Last.</p>"]),
        ("latex", "\\section{Head} One.\n\n\\begin{quote}said\\end{quote} Last.",
         ["<h4>Head</h4>", "<p>One.</p>", "<blockquote><p>said</p></blockquote>", "<p>Last.</p>"]),
        ("text", "One < two.\n\nThree.", ["<p>One &lt; two.</p>", "<p>Three.</p>"]),
    ],
)  # fmt: skip
def test_posts_that_are_no_html_keep_their_blocks(markup: Markup, body: str, expected: list[str]) -> None:
    assert body_html(_post(body, markup), 1000).split("\n") == expected


def test_links_of_markdown_lead_where_they_may() -> None:
    shown = body_html(_post("[a](javascript:alert(1)) [b](https://example.org/)", "markdown"), 1000)
    assert "javascript" not in shown
    assert 'href="https://example.org/"' in shown


def test_macros_of_the_post_hold_in_its_formulas() -> None:
    post = _post(r"$\half$", "text", macros=(r"\newcommand{\half}{\frac{1}{2}}",))
    assert "<mfrac>" in body_html(post, 100)


def test_a_formula_without_latex_is_drawn_from_its_mathml() -> None:
    drawn = draw_formula(Formula("1", "", presentation_mathml='<math><mi onclick="x">y</mi></math>'))
    assert drawn.mathml is not None
    assert "<mi>y</mi>" in drawn.mathml


def test_a_formula_that_cannot_be_drawn_says_where_and_shows_its_source() -> None:
    drawn = draw("{" * 5000)
    assert drawn.mathml is None
    assert drawn.error is not None
    assert set(drawn.error) == {"message", "offset"}
    assert '<code class="broken">' in body_html(_post("$" + "{" * 5000 + "}" * 5000 + "$", "text"), 20_000)


def test_a_formula_in_which_nothing_stands_shows_nothing() -> None:
    assert formula_html(Formula("7", "")) == '<span class="formula" data-formula="7"></span>'
    assert "MathML" in formula_html(Formula("7", "", presentation_mathml="<math><broken</math>"))


def test_long_posts_are_cut_and_say_so() -> None:
    shown = body_html(_post("word " * 100, "text"), 50)
    assert shown.count("word") == 10
    assert "the rest of this post is not shown" in shown


def test_pieces_of_a_text_have_their_places() -> None:
    text = "If $x$ then $\\frac12$."
    shown = list(shown_pieces(pieces(text, "text")))
    assert [text[piece["start"] : piece["end"]] for piece in shown] == [
        "If ",
        "$x$",
        " then ",
        "$\\frac12$",
        ".",
    ]
    assert [piece["kind"] for piece in shown] == ["text", "formula", "text", "formula", "text"]


REFERENCES: list[tuple[Markup, str, dict[str, Reference], list[tuple[str, str]], list[str]]] = [
    (
        "latex",
        r"By \hyperref[t]{the \emph{good} $x$}, \cref{lem:a,t}, \ref{t} and \ref{none}; \href{https://a.org}{b}.",
        {"#t": Reference("a b#t"), "#lem:a": Reference("l")},
        [("l", "lemma"), ("a%20b%23t", "t")],
        ['<a href="?post=a%20b%23t" class="reference">the <em>good</em> <span class="formula"', "and none;"],
    ),
    (
        "latex",
        "By \\Cref{t}, that is \\nameref{t}, and \\cref{u} or Theorem \\ref{t}.",
        {"#t": Reference("x#t", "Theorem", "Remainders"), "#u": Reference("x#u", "Lemma")},
        [("x%23t", "Theorem (Remainders)"), ("x%23t", "Remainders"), ("x%23u", "lemma"), ("x%23t", "(Remainders)")],
        ["or Theorem"],
    ),
    (
        "latex",
        "By \\Cref{t}, \\cref{t}, Theorem~\\ref{t} (\\nameref{t}) and \\eqref{e}.",
        {"#t": Reference("t", "Theorem", "Euler", number="2.1", words="Theorem 2.1"),
         "#e": Reference("t", "Theorem", number="3", words="(3)")},
        [("t", each) for each in ("Theorem 2.1 (Euler)", "theorem 2.1 (Euler)", "2.1", "Euler", "(3)")],
        [],
    ),
    (
        "markdown",
        "See [[Limits#Definition|the *definition*]], [[gone]], [here](b.md), {prf:ref}`thm-a`, [part](#two)"
        " and [@zorn; @nobody, p. 3]; [out](https://a.org).",
        {"#Limits#Definition": Reference("limits.md#d"), "#b.md": Reference("sub/b.md"), "#thm-a": Reference("t"),
         "##two": Reference("p#two"), "#zorn": Reference("z")},
        [("limits.md%23d", "the *definition*"), ("sub%2Fb.md", "here"), ("t", "thm-a"), ("p%23two", "part"), ("z", "zorn")],
        [", gone,"],
    ),
    (
        "markdown",
        "See {ref}`intro` and {prf:ref}`gone`.",
        {"#intro": Reference("i", title="Introduction")},
        [("i", "Introduction")],
        ["and gone."],
    ),
]  # fmt: skip
"""Text, what its references mean, the posts and words of the links it gets, and what stays words."""


@cases(("markup", "body", "known", "links", "words"), REFERENCES)
def test_references_lead_to_posts_around_their_words_and_others_stay_words(
    markup: Markup, body: str, known: dict[str, Reference], links: list[tuple[str, str]], words: list[str]
) -> None:
    html = body_html(Post("p", "proof", body, markup=markup), 1000, (), known)
    found = re.findall('<a href="\\?post=([^"]*)" class="reference">([^<]*)</a>', html)
    assert found == links
    assert [each for each in words if each not in html] == []
    assert "nobody" not in html
    shown = html.count('class="reference"') + html.count('rel="nofollow')
    assert html.count("<a ") == html.count("</a>") == shown


def test_a_call_out_has_its_title_and_what_follows_it_is_outside() -> None:
    body = "> [!definition] Compact\n> Every cover has a finite part.\n\nOutside.\n\n> plain quote\n"
    assert body_html(Post("p", "note", body, markup="markdown"), 1000) == (
        "<blockquote><h4>Compact</h4><p>Every cover has a finite part.</p></blockquote>\n<p>Outside.</p>\n"
        "<blockquote><p>plain quote</p></blockquote>"
    )


def test_references_of_html_lead_to_posts_and_others_nowhere() -> None:
    body = '<p><a href="#a&amp;b">one</a> <a href="#c">two</a> <a href="?post=x%22y">three</a> <a href="?post=x y">four</a></p>'
    html = body_html(Post("p", "note", body), 1000, (), {"##a&b": Reference('q"<')})
    assert html == body_html(Post("p", "note", body), 1000, (), {"#a&b": Reference('q"<')})
    assert html == (
        '<p><a href="?post=q%22%3C" class="reference">one</a> two '
        '<a href="?post=x%22y" class="reference">three</a> four</p>'
    )


@cases("mark", ["\ufdd0", "&#xfdd0;", "&#64976;", "&#x0fdd0;"])
def test_an_author_cannot_forge_the_place_of_a_formula(mark: str) -> None:
    body = f'<p>{f"{mark}0{mark}" * 1000}</p><p>Let <span class="math-container">$x$</span>.</p>'
    post = Post("1", "question", body, formulas=formulas_of("1", "", body, "html"))
    written = body_html(post, 1 << 20)
    assert written.count("data-formula") == 1
    assert written.index("data-formula") > written.index("<p>Let ")


@pytest.mark.parametrize(
    "body",
    [
        "A. \\begin{tikzpicture}[scale=2] \\draw (0,0) -- node[above]{$x<y$} (1,1); \\end{tikzpicture} B.",
        "A. $$\\begin{tikzpicture} \\draw (0,0) -- node{$x<y$} (1,1); \\end{tikzpicture}$$ B.",
    ],
)
@pytest.mark.parametrize("markup", ["latex", "markdown"])
def test_a_drawing_is_a_box_with_its_source_folded(body: str, markup: Markup) -> None:
    if markup == "markdown" and "$$" not in body:
        pytest.skip("Markdown has no such environment outside formulas")
    html = body_html(Post("p", "note", body, markup=markup), 1000)
    outside, box, rest = html.partition('<details class="diagram">')
    assert "Drawing (TikZ source)" in rest
    assert "x&lt;y" in rest.partition("</details>")[0]
    assert box
    assert "draw" not in outside + rest.partition("</details>")[2]
    assert formulas_of("p", "", body, markup) == ()


@cases("markup", ["latex", "markdown", "html", "text"])
@cases("body", ["Let $$x = y.$$ Then", "Let $$x = y$$. Then"])
def test_punctuation_after_a_display_stays_on_its_line(body: str, markup: Markup) -> None:
    html = body_html(
        Post("p", "note", body, markup=markup, formulas=formulas_of("p", "", body, markup)), 1000
    )
    assert "<mtext>.</mtext></mrow><annotation" in html
    assert html.rpartition("</math>")[2].lstrip("</span> ").startswith("Then")


def test_punctuation_after_lines_stands_in_the_last_of_them() -> None:
    body = "$$\\begin{aligned} a &= b \\\\ c &= d \\end{aligned},$$ so"
    html = body_html(Post("p", "note", body, markup="latex"), 1000)
    assert "<mtext>,</mtext></mtd></mtr></mtable>" in html


def test_a_commutative_diagram_is_drawn_without_its_options() -> None:
    drawn = draw(r'\begin{tikzcd} A \arrow[r, "f", hook] \arrow[d, "g"\'] & B \\ C & \end{tikzcd}')
    assert drawn.error is None
    assert drawn.mathml is not None
    shown = drawn.mathml.partition("<annotation")[0]
    assert "hook" not in shown
    assert "merror" not in shown
    assert all(f"<mi>{letter}</mi>" in shown for letter in "ABCfg")


def test_a_wildcard_of_a_query_is_drawn_as_one_symbol() -> None:
    (shown,) = shown_pieces(pieces("$a \\pmod ?p$", "text"))
    assert shown["latex"] == "a \\pmod ?p"
    drawn = re.sub(r"<annotation.*</annotation>|<[^>]*>", "", shown["mathml"])
    assert drawn.endswith("?p)")
