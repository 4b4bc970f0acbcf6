"""What people type becomes a query, or a clear word about why it cannot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.formulas.parse import FormulaError
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Formula, Post
from mathamr.search.query import MAX_CHARACTERS, MAX_FORMULAS, EmptyQueryError, Query
from tests.cases import cases


def latex(query: Query) -> list[str]:
    return [formula.latex for formula in query.formulas]


def test_text_with_formulas_keeps_both() -> None:
    query = Query.of_text("Why does $\\sum 1/n$ diverge for $n>0$?")
    assert latex(query) == ["\\sum 1/n", "n>0"]
    assert query.passage.text == "Why does FORMULA_0 diverge for FORMULA_1?"
    assert query.formula_id is None
    assert query.has_words


@cases("text", ["$x^2+1$", "  $x^2+1$  ", "x^2+1", r"\(x^2+1\)", "$x^2+1$."])
def test_a_formula_alone_is_marked_with_or_without_dollar_signs(text: str) -> None:
    query = Query.of_text(text)
    assert latex(query) == ["x^2+1"]
    assert query.formula_id == query.formulas[0].id
    assert not query.has_words


@cases("text", [r"\frac{1}{n^2}", "E=mc^2", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\sin x", "a_n"])
def test_latex_needs_no_dollar_signs(text: str) -> None:
    assert latex(Query.of_text(text)) == [text]


@pytest.mark.parametrize("text", ["limit of a sequence", "p-adic numbers", "groups of order 8"])
def test_prose_is_not_taken_for_latex(text: str) -> None:
    assert Query.of_text(text).formulas == ()


def test_where_formulas_are_searched_a_short_text_is_a_formula_and_a_sentence_is_refused() -> None:
    assert latex(Query.of_text("sin x", "formulas")) == [r"\sin x"]
    with pytest.raises(EmptyQueryError, match="words and no formula"):
        Query.of_text("Cantelli", "formulas")
    with pytest.raises(EmptyQueryError, match=r"words and no formula.*\$x\^2\+1\$, or search for answers"):
        Query.of_text("how to prove this theorem", "formulas")


@cases("text", ["", "   ", "\n\t", "\x00\x01", "...", "?!", "$$", "()"])
def test_nothing_to_search_for_is_an_error_that_says_what_to_type(text: str) -> None:
    with pytest.raises(EmptyQueryError, match="type words, or a formula"):
        Query.of_text(text)


def test_a_broken_formula_alone_shows_the_place() -> None:
    with pytest.raises(FormulaError, match="the query's formula cannot be read") as caught:
        Query.of_text("${}$")
    assert caught.value.offset >= 0


def test_a_broken_formula_among_words_is_noted_and_left_out() -> None:
    query = Query.of_text("the derivative of ${}$ and $x^2$")
    assert any("cannot be read" in note for note in query.notes)
    assert list(query.trees) == [query.formulas[1].id]


def test_what_was_repaired_is_noted() -> None:
    query = Query.of_text("limits of $\\left( x$")
    assert any("repaired" in note and "\\left" in note for note in query.notes)


def test_an_unclosed_dollar_is_noted() -> None:
    (note,) = Query.of_text("compute $x^2 for all values").notes
    assert note == "unclosed $ was read as text: add the closing delimiter of the formula"


def test_question_marks_before_letters_are_wildcards() -> None:
    query = Query.of_text("$?a^2 + \\qvar{b} = ?$")
    assert latex(query) == ["\\qvar{a}^2 + \\qvar{b} = ?"]
    opt, slt = query.trees[query.formulas[0].id]
    assert opt is not None
    assert slt is not None
    assert {"?a", "?b"} <= set(opt.labels)
    assert {"?a", "?b"} <= set(slt.labels)


def test_in_a_post_nothing_is_a_wildcard() -> None:
    body = "Is $?a^2$ known?"
    post = Post("7", "question", body, markup="text", formulas=formulas_of("7", "", body, "text"))
    opt, _ = Query.of_post(post).trees["7:0"]
    assert opt is not None
    assert not any(label == "?a" for label in opt.labels)


def test_a_post_without_listed_formulas_gets_them() -> None:
    query = Query.of_post(Post("7", "question", "Let $x>0$.", title="On $y$", markup="text"))
    assert latex(query) == ["y", "x>0"]


def test_a_marked_formula_must_be_in_the_post() -> None:
    post = Post("7", "question", "Let $x>0$.", markup="text")
    assert Query.of_post(post, "7:0").target()[0].latex == "x>0"
    with pytest.raises(MathAMRError, match="has no formula '9:9'"):
        Query.of_post(post, "9:9")


def test_the_largest_of_several_formulas_is_searched_and_this_is_said() -> None:
    formula, note = Query.of_text("$x$ with $\\frac{1}{n^2}$ and $y$").target()
    assert formula.latex == "\\frac{1}{n^2}"
    assert note is not None
    assert "3 formulas" in note
    assert Query.of_text("for all $x+1$").target()[1] is None


def test_a_text_without_formula_has_no_formula_to_search_for() -> None:
    with pytest.raises(EmptyQueryError, match="no formula"):
        Query.of_text("compact sets").target()


def test_mathml_without_latex_is_searched_for() -> None:
    body = "<p>the <math><msup><mi>x</mi><mn>2</mn></msup></math> law</p>"
    query = Query.of_post(Post("7", "question", body))
    assert query.formulas[0].latex == ""
    assert list(query.trees) == [query.formulas[0].id]
    assert query.notes == ()


def test_limits_are_reported() -> None:
    with pytest.raises(MathAMRError, match="at most 50,000"):
        Query.of_text("x" * (MAX_CHARACTERS + 1))
    with pytest.raises(MathAMRError, match=f"at most {MAX_FORMULAS}"):
        Query.of_text("word " + "$x$ " * (MAX_FORMULAS + 1))


def test_many_notes_are_cut() -> None:
    notes = Query.of_text("see " + "${}$ and " * 20).notes
    assert len(notes) == 6
    assert "15 more" in notes[-1]


@given(st.text(max_size=60) | st.text(alphabet="$\\{}^_?ab1 ()", max_size=40))
def test_any_text_is_a_query_or_a_clear_error(text: str) -> None:
    for task in ("answers", "formulas"):
        try:
            query = Query.of_text(text, task)  # type: ignore[arg-type]
        except MathAMRError:
            continue
        assert query.has_words or query.trees
        assert [place.formula for place in query.passage.placeholders] == [f.id for f in query.formulas]


def test_formulas_keep_the_ids_of_their_post() -> None:
    formula = Formula("q_7", "x>0")
    body = 'Let <span class="math-container" id="q_7">$x&gt;0$</span>.'
    query = Query.of_post(Post("7", "question", body, formulas=(formula,)), "q_7")
    assert query.target()[0] is formula


@cases(
    ("text", "kind"),
    [
        ("Zippel lemma", "name"),
        ("Hahn-Banach theorem", "name"),
        ("is it dense?", "words"),
        ("the roots of $x^2-2$", "mixed"),
        ("is a sum of two squares $x^2+y^2$ ever of this form", "words"),
        ("why is a continuous function on a compact set bounded", "words"),
        ("$x^2+y^2=z^2$", "formula"),
        (r"\frac{1}{2}", "formula"),
        ("Let $f$ be continuous. " * 6, "question"),
        ("a" * 5000, "question"),
    ],
)
def test_kinds_of_queries_are_distinguished(text: str, kind: str) -> None:
    assert Query.of_text(text).kind == kind


def test_a_query_uses_the_macros_of_the_collection() -> None:
    macros = {
        "Zc": r"\newcommand{\Zc}[1]{\ZZ/#1\ZZ}",
        "ZZ": r"\newcommand{\ZZ}{\mathbb{Z}}",
        "RR": r"\def\RR{R}",
    }
    query = Query.of_text(r"is \Zc n a field", macros=macros)
    assert latex(query) == [r"\Zc n"]
    assert query.post.macros == (macros["Zc"], macros["ZZ"])
    written_out = Query.of_text(r"$\mathbb{Z}/n\mathbb{Z}$")
    assert list(query.trees.values()) == list(written_out.trees.values())
