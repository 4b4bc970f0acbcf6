"""Markdown: blocks, inline text, and mathematics that Markdown's own marks must not touch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mathamr.posts.markup import pieces
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from tests.cases import cases


def found(source: str, *kinds: str) -> list[str]:
    return [piece.text for piece in pieces(source, "markdown") if piece.kind in kinds]


def shown(source: str) -> str:
    return "".join("".join(found(source, "text", "code")).split())


def sentences(source: str) -> list[str]:
    return [s.text for s in passage(Post("n", "note", source, markup="markdown")).sentences]


@cases(
    ("source", "expected"),
    [
        ("Let $a_1 * b_1$ and $c_1 * d_1$", ["a_1 * b_1", "c_1 * d_1"]),
        ("**bold $x$**", ["x"]),
        ("`$x$` and ``a ` $y$`` and $z$", ["z"]),
        ("```\n$x$\n```\n$y$", ["y"]),
        ("~~~tex\n$x$\n```\n$w$\n~~~\n$y$", ["y"]),
        ("text\n\n    $x$ indented\n\n$y$", ["y"]),
        ("- item\n\n    $x$ in the item", ["x"]),
        ("$$\na\n- b\n= c\n# d\n$$", []),
        ("$$\na\n- b\n= c\n$$\nwhere", ["a\n- b\n= c"]),
        ("\\begin{align}\na &= b \\\\\n\nc\n\\end{align}", ["\\begin{align}\na &= b \\\\\n\nc\\end{align}"]),
        ("> quoted $$a\n> + b$$", ["a\n+ b"]),
        ("Let $x\n- y$ and $z\n> w$ be", ["x\n- y", "z\n> w"]),
        ("Let $a\n+ b\n= c$ be. Then $$d\n- e$$ and $f\n- g$.", ["a\n+ b\n= c", "d\n- e", "f\n- g"]),
        ("It costs $5\n- or $6\n- or $x$", ["x"]),
        ("| $|x|$ | b |\n|---|---|\n| $y$ | `|` |", ["|x|", "y"]),
        ("[link $x$](a.md) ![$y$](b.png)", ["x"]),
        ("[ref $x$][1] and \\$5 and $y$\n\n[1]: http://a.org", ["x", "y"]),
        ('<span class="math-container" id="9">$x<y$</span> <b>$z$</b>', ["x<y", "z"]),
        ("<math><mi>x</mi>\n\n</math> $y$", ["", "y"]),
        ("# Heading $h$ ##\nSet $s$\n=======\n", ["h", "s"]),
        ("it costs $5 and $10, or $x$", ["x"]),
        ("\\(a\\) and \\[b\\] and \\( open", ["a", "b"]),
    ],
)
def test_formulas_are_found(source: str, expected: list[str]) -> None:
    assert found(source, "formula") == expected


@cases(
    ("source", "expected"),
    [
        ("*a* _b_ **c** ~~d~~ ==e==", "a b c d e"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        ("\\*not\\* &lt;em&gt;", "*not* <em>"),
        ("[text](http://a.org/(b) 'title') <http://c.org>", "text http://c.org"),
        ("[[Page#Part|alias]] and [[Other]]", "alias and Other"),
        ("footnote[^1] here\n\n[^1]: The note.", "footnote here The note."),
        ("by \\eqref{eq:1} it is", "by (*) it is"),
        ("[brackets] stay, ] too", "[brackets] stay, ] too"),
        ("a<br>b <!-- hidden --> c", "a b c"),
        ("```\ncode *x*\n```", "code *x*"),
    ],
)
def test_marks_are_dropped_and_text_is_kept(source: str, expected: str) -> None:
    assert " ".join(sentences(source)) == expected


def test_links_and_images_say_where_they_lead() -> None:
    source = "[a](x.md#p) [[Page|b]] [c][ref] ![a cat](cat.png)\n\n[ref]: y.md"
    assert found(source, "link") == ["x.md#p", "[[Page]]", "y.md"]
    assert found(source, "image") == ["a cat"]


def test_blocks_end_sentences() -> None:
    source = "# Title\n- one\n- two\n\n> said\n\n| a | b |\n|---|---|\n| c | d |\n\nlast"
    assert sentences(source) == ["Title", "one", "two", "said", "a", "b", "c", "d", "last"]


def test_an_unclosed_fence_is_reported() -> None:
    notes: list[str] = []
    list(pieces("```\ncode", "markdown", lambda message, offset: notes.append(message)))
    assert notes == ["unclosed code fence"]


WORD = st.sampled_from(["alpha", "Beta", "gamma", "42", "x.y", "don't"])
SPAN = st.one_of(
    WORD,
    WORD.map(lambda word: f"*{word}*"),
    WORD.map(lambda word: f"**{word}**"),
    WORD.map(lambda word: f"`{word} _`"),
    WORD.map(lambda word: f"[{word}](http://a.org/b_c)"),
    st.sampled_from(["&amp;", "\\*", "\\_", "&lt;b&gt;"]),
)
LINE = st.lists(SPAN, min_size=1, max_size=6).map(" ".join)
BLOCK = st.one_of(
    LINE,
    LINE.map(lambda line: f"## {line}"),
    LINE.map(lambda line: f"> {line}"),
    st.lists(LINE, min_size=1, max_size=3).map(lambda lines: "\n".join(f"- {line}" for line in lines)),
    LINE.map(lambda line: f"```\n{line}\n```"),
    LINE.map(lambda line: f"{line}\n==="),
    st.tuples(LINE, LINE).map(lambda pair: f"{pair[0]}  \n{pair[1]}"),
)


def reference_text(source: str) -> str:
    """The text of a document as markdown-it reads it."""
    texts = []
    for token in MarkdownIt("commonmark").parse(source):
        for part in [token, *(token.children or [])]:
            if part.type in ("text", "code_inline", "fence", "code_block", "text_special"):
                texts.append(part.content)
    return "".join("".join(texts).split())


@given(st.lists(BLOCK, min_size=1, max_size=5).map("\n\n".join))
def test_text_is_what_markdown_it_reads(source: str) -> None:
    assert shown(source) == reference_text(source)


@cases(
    "source",
    [
        "[a [b](c) d](e)", "![a [b](c) d](e)", "[a ![b](c) d](e)", "[[a](b)](c)", "[a [b] c](d)", "[a `]` b](c)",
        "![[[a] b](c)", "[a [b ![c](d)](e)](f)", "[" * 50 + "a" + "](b)" * 50, "![" * 50 + "a" + "](b)" * 50,
    ],
)  # fmt: skip
def test_links_within_links_are_those_of_commonmark(source: str) -> None:
    tokens = MarkdownIt("commonmark", {"maxNesting": 40}).parseInline(source)[0].children or []
    expected = [token.attrs["href"] for token in tokens if token.type == "link_open"]
    assert [target for target in found(source, "link") if not target.startswith("[[")] == expected


@cases(
    ("source", "formulas", "expected"),
    [
        ("An interval \\[0, 1\\) and \\[a, b\\], then $x$.", ["a, b", "x"], "Aninterval[0,1)and,then."),
        ("See \\[1\\], \\[2, 3\\] and \\[TODO\\].", [], "See[1],[2,3]and[TODO]."),
        ("\\[citation needed, and $x$", ["x"], "[citationneeded,and"),
        ("- \\[ \\] a task", [], "[]atask"),
        ("Half \\[0, 1[ open.\n\nThen \\[x = 2\\].", ["x = 2"], "Half[0,1[open.Then."),
        ("So \\[\na = b \\\\[2pt]\nc\n\\] holds.", ["a = b \\\\[2pt]\nc"], "Soholds."),
        ("\\[ABC\\]", ["ABC"], ""),
    ],
)
def test_an_escaped_bracket_is_no_formula_and_no_problem(
    source: str, formulas: list[str], expected: str
) -> None:
    notes: list[str] = []
    list(pieces(source, "markdown", lambda message, offset: notes.append(message)))
    assert notes == []
    assert found(source, "formula") == formulas
    assert shown(source) == expected


def test_a_label_with_an_at_sign_is_a_link_where_it_is_defined() -> None:
    source = "- <span class='name'>[`@a/b`][@a/b]</span>: see [@a/b] and [@knuth].\n\n[@a/b]: https://example.org/b\n"
    assert found(source, "link") == ["https://example.org/b", "https://example.org/b", "@knuth"]
    assert shown(source) == "@a/b:see@a/band."


def test_markdown_in_a_span_is_read_unless_it_is_a_formula() -> None:
    assert shown("<span class='text'>*a* and `b`</span>") == "aandb"
    assert found("<span class='text'>*a* and $x$</span>", "formula") == ["x"]
    assert found('<span class="katex"><span class="katex-html">x</span></span> $y$', "formula") == ["y"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "See {numref}`Figure %s <fig-a>` and {numref}`Subsection {number}<b>`.",
            "See Figure (*) and Subsection (*).",
        ),
        ("As in @fig-line, by @thm-line, all is so.", "As in Figure (*), by Theorem (*), all is so."),
        ("See [@thm-a; @eq-b] or [Lemma @lem-c] or [-@sec-d].", "See Theorem (*), (*) or Lemma (*) or (*)."),
    ],
)
def test_a_reference_without_a_number_says_what_it_leads_to(source: str, expected: str) -> None:
    assert sentences(source) == [expected]
