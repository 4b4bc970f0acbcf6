"""Passages: placeholders, their map, and the way back to the post."""

from __future__ import annotations

import gzip
import json
import re
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.markup import formulas_of, pieces
from mathamr.posts.passage import PLACEHOLDER, Passage, passage
from mathamr.posts.post import Formula, Markup, Post
from tests.cases import cases
from tests.posts.markup.strategies import WORDS, soup

MARKUPS: tuple[Markup, ...] = ("html", "markdown", "latex", "text")


def read(body: str, title: str = "", markup: Markup = "html") -> Passage:
    return passage(Post("7", "question", body, title, markup))


def texts(body: str, markup: Markup = "html") -> list[str]:
    return [sentence.text for sentence in read(body, markup=markup).sentences]


def test_the_title_comes_first_and_formulas_are_counted_through() -> None:
    found = read("<p>Since $y.$ So <b>$z$</b></p>", "Is $x < 1$?")
    assert found.text.split("\n") == ["Is FORMULA_0?", "Since FORMULA_1.", "So FORMULA_2"]
    assert dict(found.formula_map) == {"FORMULA_0": "7:0", "FORMULA_1": "7:1", "FORMULA_2": "7:2"}
    assert [sentence.field for sentence in found.sentences] == ["title", "body", "body"]


def test_offsets_lead_back_to_the_post() -> None:
    body = '<p>One.</p><p>Then <span class="math-container" id="q">$x&lt;1.$</span> So it <i>ends</i>.</p>'
    _, second, third = read(body).sentences
    assert body[second.start : second.end] == 'Then <span class="math-container" id="q">$x&lt;1.$</span>'
    assert body[third.start : third.end] == "So it <i>ends</i>."
    (place,) = second.placeholders
    assert (place.name, place.formula) == ("FORMULA_0", "q")
    assert body[place.start : place.end].startswith("<span")


def test_ids_are_those_of_the_posts_formulas() -> None:
    post = Post("7", "answer", "$x$ and $y$", formulas=(Formula("a", "x"), Formula("b", "y")))
    assert dict(passage(post).formula_map) == {"FORMULA_0": "a", "FORMULA_1": "b"}


def test_an_id_used_twice_names_only_the_first_formula() -> None:
    body = '<span class="math-container" id="1">$x$</span> <span class="math-container" id="1">$y$</span>'
    assert [formula.id for formula in formulas_of("7", "", body, "html")] == ["1", "7:1"]
    assert dict(read(body).formula_map) == {"FORMULA_0": "1", "FORMULA_1": "7:1"}


def test_what_looks_like_a_placeholder_is_none() -> None:
    (sentence,) = read("The variable FORMULA_3, not $x$ nor FORMULA_&#52; nor FORMULA_$y$.").sentences
    assert sentence.text == "The variable FORMULA-3, not FORMULA_0 nor FORMULA-4 nor FORMULA_ FORMULA_1."
    assert PLACEHOLDER.findall(sentence.text) == ["0", "1"]


def test_placeholders_stand_apart_from_letters_and_digits() -> None:
    assert texts("the $n$th of $k$2$m$, $n$-th") == [
        "the FORMULA_0 th of FORMULA_1 2 FORMULA_2, FORMULA_3-th"
    ]


@cases(
    ("body", "expected"),
    [
        ("<p>We have $$x$$ where y.</p>", ["We have FORMULA_0 where y."]),
        ("<p>We have $$x$$ Now go.</p>", ["We have FORMULA_0", "Now go."]),
        ("<p>We have</p> <p>$$x,$$</p> <p>where y.</p>", ["We have FORMULA_0, where y."]),
        ("<p>We have</p><p>$x$</p><p>where y.</p>", ["We have FORMULA_0 where y."]),
        ("<p>We have $x$ Therefore y.</p>", ["We have FORMULA_0", "Therefore y."]),
        ("<p>One</p><p>two</p>", ["One", "two"]),
        ("<ul><li>one</li><li>two $x$</li></ul>after", ["one", "two FORMULA_0", "after"]),
        ("<h2>Head</h2>text<table><tr><td>a<td>b</table>", ["Head", "text", "a", "b"]),
        ("<blockquote>quoted</blockquote>said", ["quoted", "said"]),
        ("a <code>x = $y</code> b<pre>def f():\n  return 1</pre>", ["a x = $y b", "def f(): return 1"]),
        ("see <a href='u'>this proof</a> <img alt='of a torus'>", ["see this proof of a torus"]),
        ("so $a$ $b$", ["so FORMULA_0 FORMULA_1"]),
        ("<p>$a$ $b$</p>", ["FORMULA_0", "FORMULA_1"]),
        ("", []),
        ("<p>. </p><p>-</p>", []),
        ("cafe\u0301", ["caf\u00e9"]),
    ],
)
def test_sentences_of_html(body: str, expected: list[str]) -> None:
    assert texts(body) == expected


@pytest.mark.parametrize(
    ("body", "markup"),
    [
        ("Run:\n\n```\nx = 1\n```\n\nBehind it `x` is one. So is `y` too.", "markdown"),
        ("<p>Run:</p><pre>x = 1</pre>Behind it <code>x</code> is one. So is <code>y</code> too.", "html"),
    ],
)
def test_code_in_a_line_behind_a_block_is_prose(body: str, markup: Markup) -> None:
    found = [(sentence.text, sentence.kind) for sentence in read(body, markup=markup).sentences]
    assert found == [
        ("Run:", "prose"),
        ("x = 1", "code"),
        ("Behind it x is one.", "prose"),
        ("So is y too.", "prose"),
    ]


def test_a_code_block_is_one_sentence_of_its_own_kind() -> None:
    code = read("<p>Run:</p><pre>a. B. c</pre>").sentences[1]
    assert (code.kind, code.text) == ("code", "a. B. c")


def test_a_title_in_html_is_plain_text_unless_it_shows_tags() -> None:
    assert read("", "If $a<b and c>d$ then").text == "If FORMULA_0 then"
    assert read("", '<span class="math-container" id="1">$a&lt;b$</span> then').text == "FORMULA_0 then"


@given(
    st.sampled_from(MARKUPS).flatmap(lambda markup: st.tuples(st.just(markup), soup(markup), soup(markup)))
)
def test_any_source_gives_placeholders_that_agree_with_the_map(given_source: tuple[Markup, str, str]) -> None:
    markup, title, body = given_source
    found = read(body, title, markup)
    names = [f"FORMULA_{number}" for number in range(len(found.formula_map))]
    assert list(found.formula_map) == names
    assert [f"FORMULA_{number}" for number in PLACEHOLDER.findall(found.text)] == names
    assert tuple(found.formula_map.values()) == tuple(f.id for f in formulas_of("7", title, body, markup))
    for sentence in found.sentences:
        source = {"title": title, "body": body}[sentence.field]
        inside = [f"FORMULA_{number}" for number in PLACEHOLDER.findall(sentence.text)]
        assert inside == [place.name for place in sentence.placeholders]
        assert 0 <= sentence.start < sentence.end <= len(source)
        assert all(sentence.start <= p.start < p.end <= sentence.end for p in sentence.placeholders)
        for word in set(re.findall("|".join(WORDS), sentence.text)):
            assert word in re.sub(
                r"<[^<>]*>|[`*_\[\]{}]", "", unescape(source[sentence.start : sentence.end])
            )
    assert Passage.from_json(found.to_json()) == found


@given(st.sampled_from(MARKUPS).flatmap(lambda markup: st.tuples(st.just(markup), soup(markup))))
def test_pieces_of_any_source_point_at_their_text(given_source: tuple[Markup, str]) -> None:
    markup, source = given_source
    clean = re.sub("[\0-\2]", "\ufffd", source)
    for piece in pieces(source, markup):
        assert 0 <= piece.start <= piece.end <= len(source)
        if piece.kind == "text" and len(piece.text) == piece.end - piece.start > 1:
            assert clean[piece.start : piece.end] == piece.text or markup == "latex"
        if piece.kind == "formula" and piece.text and not piece.mathml:
            assert piece.text[0] in unescape(clean[piece.start : piece.end]) or "<" in source


@pytest.mark.slow
def test_a_post_of_ten_megabytes_is_read() -> None:
    paragraph = f"<p>{'Some words that say little, again and again, to make it long, ' * 20} $x&lt;1$. So it is.</p>\n"
    found = read(paragraph * (10_000_000 // len(paragraph)))
    assert len(found.sentences) == 2 * (10_000_000 // len(paragraph))


def test_a_sentence_of_five_thousand_words_stays_one() -> None:
    assert len(texts("word $x$ " * 2500)) == 1


def test_latex_pairs_read_without_remains_of_markup(data: Path) -> None:
    remains = re.compile(r"\\(?:begin|end|item|ref|label|emph)\b|\$[^$]+\$")
    with gzip.open(data / "pairs" / "pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][::40]
    bad = [
        sentence.text
        for row in rows
        for sentence in read(row["question"] + "\n\n" + row["answer"], markup="latex").sentences
        if remains.search(sentence.text)
    ]
    assert len(rows) > 500
    assert bad == []
