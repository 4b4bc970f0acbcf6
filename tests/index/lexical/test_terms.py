"""Terms hold what makes posts and formulas alike, and nothing of how they were typed."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Opt, Slt
from mathamr.index.lexical.bags import post_bag
from mathamr.index.lexical.lexicalindex import POSTS, LexicalPart
from mathamr.index.lexical.terms import (
    FIELDS,
    FORMULA_FIELDS,
    LARGEST_PART,
    LONGEST_WORD,
    formula_terms,
    misspellings,
    part_tokens,
    path_tokens,
    post_terms,
    post_text,
    words,
)
from mathamr.posts.post import Formula, Place, Post
from tests.cases import cases
from tests.formulas.generated import OPTS, SLTS
from tests.models import sample_posts


def of(latex: str) -> dict[str, Counter[str]]:
    return {field: Counter(terms) for field, terms in formula_terms(Formula("f", latex)).items()}


def test_a_post_has_all_fields_and_its_formulas_are_not_words() -> None:
    post = Post("1", "question", "Proving $x^2 \\le 1$ is easy", title="Bounds of squares", markup="text")
    terms = post_terms(post)
    assert tuple(terms) == FIELDS
    assert terms["words"] == ["bounds", "of", "squares", "proving", "is", "easy"]
    assert terms["stems"] == ["bound", "of", "squar", "prove", "i", "easi"]
    assert "$x ^ 2" in terms["latex"]
    for field in FORMULA_FIELDS:
        assert terms[field] == list(formula_terms(Formula("f", "x^2 \\le 1"))[field])


def test_the_title_of_an_answer_is_its_questions_and_does_not_count() -> None:
    assert post_text(Post("1", "answer", "Yes", title="Is it so", markup="text")).split() == ["Yes"]
    assert post_text(Post("1", "note", "Yes", title="Is it so", markup="text")).split() == [
        "Is",
        "it",
        "so",
        "Yes",
    ]


def test_the_formulas_of_a_post_are_the_sum_of_its_formulas() -> None:
    post = max(sample_posts(30), key=lambda post: len(post.formulas))
    terms = post_terms(post)
    for field in FORMULA_FIELDS:
        parts = [Counter(formula_terms(formula)[field]) for formula in post.formulas]
        assert Counter(terms[field]) == sum(parts, Counter())


@pytest.mark.parametrize(
    ("one", "other"),
    [(r"a\le b", r"a \leq b"), (r"\dfrac{1}{2}", r"\frac{1}{2}"), (r"\left(x\right)", "(x)")],
)
def test_ways_of_typing_make_no_difference(one: str, other: str) -> None:
    assert of(one) == of(other)


def test_operands_of_a_sum_may_come_in_any_order_but_not_those_of_a_quotient() -> None:
    assert of("x^2+y+1")["parts"] == of("1+y+x^2")["parts"]
    assert of(r"\frac{a}{b}")["parts"] != of(r"\frac{b}{a}")["parts"]


def test_shapes_survive_other_names_but_not_other_operators() -> None:
    assert of("x^2+y")["shapes"] == of("p^2+q")["shapes"]
    assert of("x^2+y")["parts"] != of("p^2+q")["parts"]
    assert of("x^2+y")["shapes"] != of("x^2-y")["shapes"]


def test_a_part_of_a_formula_is_found_in_a_larger_one() -> None:
    part, whole = of(r"\sqrt{x^2+1}"), of(r"\int_0^1 \frac{\sqrt{x^2+1}}{y}\,dx")
    inside = {term for term in part["parts"] if not term.startswith("=")}
    assert inside
    assert inside <= whole["parts"].keys()
    assert part["paths"].keys() <= whole["paths"].keys()


def test_a_lone_symbol_has_terms() -> None:
    assert all(of("x")[field] for field in FORMULA_FIELDS)


@pytest.mark.slow
@given(st.one_of(SLTS, OPTS), st.integers(1, 3))
def test_paths_are_the_tuples_of_tangent_without_their_place(tree: Slt | Opt, window: int) -> None:
    def edge(node: int) -> str:
        unordered = isinstance(tree, Opt) and tree.labels[tree.parents[node]].startswith("U!")
        return "0" if unordered else tree.edges[node]

    if len(tree) > 2:
        expected: Counter[str] = Counter()
        for node in range(1, len(tree)):
            ways = [""]
            ancestors = [node]
            while ancestors[-1] and len(ways) <= window:
                ways.append(edge(ancestors[-1]) + ways[-1])
                ancestors.append(tree.parents[ancestors[-1]])
            for way, ancestor in list(zip(ways, ancestors, strict=True))[1:]:
                expected[f"s {tree.labels[ancestor]} {way} {tree.labels[node]}"] += 1
        assert Counter(path_tokens("s", tree, window)) == expected


def test_parts_are_the_small_subtrees_and_the_whole() -> None:
    tree = parse(r"\frac{a^2+b^2}{\sin(c)}+\sum_{i=1}^n i^3+d^5+e^6").opt
    found = part_tokens(tree)
    assert len(found) == 1 + sum(1 < size <= LARGEST_PART for size in tree.sizes())
    assert found[-1].startswith("= ")


def test_mathml_stands_in_where_there_is_no_latex() -> None:
    markup = "<math><msup><mi>x</mi><mn>2</mn></msup></math>"
    assert formula_terms(Formula("f", "", presentation_mathml=markup))["paths"] == [
        "s V!x",
        "s N!2",
        "s V!x a N!2",
    ]


def test_a_formula_without_a_tree_is_found_by_its_latex() -> None:
    terms = formula_terms(Formula("f", "{" * 3000 + "x" + "}" * 3000))
    assert terms["latex"] == ["$x"]


@settings(max_examples=40)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_has_terms(title: str, body: str) -> None:
    for markup in ("html", "markdown", "latex", "text"):
        terms = post_terms(Post("1", "note", body, title=title, markup=markup))
        assert all(isinstance(term, str) and term for field in FIELDS for term in terms[field])


def test_deep_and_long_formulas_take_linear_space() -> None:
    deep = formula_terms(Formula("f", "x" + "^{x" * 400 + "}" * 400))
    long = formula_terms(Formula("f", "+".join(f"x_{{{number}}}" for number in range(3000))))
    assert all(len(term) < 1000 for terms in (deep, long) for term in [*terms["parts"], *terms["shapes"]])
    assert all(len(terms[field]) < 40_000 for terms in (deep, long) for field in FORMULA_FIELDS)


@cases(
    ("one", "other"),
    [
        ("Fermat's last theorem", "fermat last theorem"),
        ("Zorn\u2019s lemma", "Zorn lemma"),
        ("Cauchy\u2013Schwarz", "Cauchy-Schwarz"),
        ("H\u00f6lder", "Holder"),
        ("Ho\u0308lder", "H\u00f6lder"),
        ("de\ufb01nition of \ufb02ow", "definition of flow"),
        ("L'H\u00f4pital", "l\u2019hopital"),
        ("non-empty", "nonempty"),
        ("semi\u2010simple", "semisimple"),
        ("hy\u00adphen\u200bated", "hyphenated"),
        ("Erd\u0151s, \u0141o\u015b, Bj\u00f8rn, Stra\u00dfe", "erdos, los, bjorn, strasse"),
    ],
)
def test_words_are_the_same_however_they_are_typed(one: str, other: str) -> None:
    assert words(one) == words(other)


def test_what_is_no_possessive_keeps_its_letters() -> None:
    assert words("don't, it is a p-adic l-function of d's") == [
        "don't", "it", "is", "a", "p", "adic", "l", "function", "of", "d",
    ]  # fmt: skip


TITLES = [
    "Schwartz\u2013Zippel lemma", "Zorn's lemma", "Yoneda lemma", "Gauss lemma", "Borel\u2013Cantelli lemma",
    "H\u00f6lder's inequality", "Minkowski inequality", "Jensen's inequality", "Young's inequality for products",
    "Markov inequality", "A remark on inequalities", "Table of contents",
]  # fmt: skip


@cases(
    ("asked", "expected"),
    [
        ("Zippel lemma", "Schwartz\u2013Zippel lemma"),
        ("zipel lemma", "Schwartz\u2013Zippel lemma"),
        ("H\u00f6lder inequalty", "H\u00f6lder's inequality"),
        ("Minkovski inequality", "Minkowski inequality"),
        ("Yonedda", "Yoneda lemma"),
        ("Youngs inequality", "Young's inequality for products"),
        ("Lemma of Kuratowski", "Zorn's lemma"),
    ],
)
def test_for_a_bare_name_the_one_that_is_called_so_comes_first(
    tmp_path: Path, asked: str, expected: str
) -> None:
    part = LexicalPart(tmp_path, POSTS)
    body = "The lemma and the inequality hold: see the inequality and the lemma."
    part.update(
        (title, post_terms(Post(title, "note", body, title, "text", aliases=aliases)))
        for title in TITLES
        for aliases in [("Kuratowski\u2013Zorn lemma",) if "Zorn" in title else ()]
    )
    query = Post("query", "question", asked, markup="text")
    assert part.search(post_terms(query), 3)[0].id == expected


def test_formulas_are_read_by_what_they_mean() -> None:
    assert "F!𝑓(V!𝑥)" in formula_terms(Formula("f", "f(x)+1"))["parts"]
    assert "F!𝑓(V!𝑥)" in post_terms(Post("1", "note", "$f(x)+1$", markup="markdown"))["parts"]


def test_shapes_forget_the_names_of_functions_but_not_of_sin() -> None:
    assert of("f(x)+\\sin x")["shapes"] & of("g(y)+\\sin y")["shapes"] == of("f(x)+\\sin x")["shapes"]
    assert of("\\cos x")["shapes"] != of("\\sin x")["shapes"]


def test_a_post_is_found_by_the_words_of_its_own_label() -> None:
    place = Place("a.tex", 3, "lem:cantor-intersection")
    lemma = Post("a", "lemma", "Nested sets meet.", markup="latex", place=place)
    found = post_terms(lemma)
    assert {"cantor", "intersection", "nested"} <= set(found["words"])
    assert {"cantor", "intersection"} <= set(found["names"])
    proof = Post("a/proof", "proof", "Clear.", markup="latex", parent="a", place=place)
    assert "cantor" not in post_terms(proof)["words"]


def test_a_post_of_one_endless_word_has_few_and_short_terms() -> None:
    word = "a" * 150_000
    tracemalloc.start()
    found = post_terms(Post("a", "note", word, title=word, markup="text", aliases=(word,)))
    bags = post_bag(Post("b", "note", word, title=word, markup="text"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(len(term) for terms in found.values() for term in terms) <= LONGEST_WORD + 1
    assert sum(map(len, bags.values())) < 1000
    assert peak < 20_000_000
    assert misspellings("a" * 41) == {}
    assert len(misspellings("abcdefgh" * 5)) == 41
