from __future__ import annotations

from dataclasses import replace

from mathamr.adapters.records import explanation, provenance, readable
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Place, Post
from mathamr.search.searcher import Index

QUERY = r"Why does $\sum \frac{1}{n}$ diverge?"


def test_a_post_is_read_without_markup_and_with_its_formulas() -> None:
    body = "<p>Let $x&gt;0$.</p><script>alert(1)</script><p>Then <b>it</b> holds.</p>"
    post = Post("1", "note", body, "On $y$", formulas=formulas_of("1", "On $y$", body, "html"))
    assert readable(post) == "On $y$\n\nLet $x>0$. Then it holds."


def test_a_long_post_is_cut_between_sentences_and_says_so() -> None:
    post = Post("1", "note", "One sentence here. " * 50, markup="text")
    text = readable(post, 60)
    assert text.startswith("One sentence here. One sentence here. ")
    assert text.endswith("… (the rest of this post is left out)")
    assert len(text) < 150


def test_provenance_says_where_and_why(index: Index) -> None:
    hit = next(iter(index.search(QUERY, k=1)))
    found = provenance(hit)
    assert (found["id"], found["rank"]) == (hit.id, 1)
    assert found["evidence"]
    assert "formula" not in found
    placed = replace(hit, place=Place("a.md", 17))
    assert (found["line"], provenance(placed)["line"]) == (hit.place.line if hit.place else None, 17)
    formula = next(iter(index.search(QUERY, "formulas", k=1)))
    assert formula.formula is not None
    assert provenance(formula)["formula"]["latex"] == formula.formula.latex


def test_an_explanation_pairs_every_part_of_the_query_best_first(index: Index) -> None:
    hit = next(iter(index.search(QUERY, k=1)))
    alignment = index.explain(QUERY, hit.id)
    found = explanation(alignment)
    similarities = [pair["similarity"] for pair in found["matches"]]
    assert similarities == sorted(similarities, reverse=True)
    assert len(similarities) == len(alignment.query)
    assert any(pair["query"]["text"] == r"$\sum \frac{1}{n}$" for pair in found["matches"])
