from __future__ import annotations

from pathlib import Path

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.posts.post import Link, Place, Post
from mathamr.posts.rendering.posthtml import Reference
from mathamr.serve.relatedposts import references, related_posts


def test_references_lead_to_posts_by_id_or_by_label_and_each_post_is_listed_once(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path / "catalogue.db", create=True)
    theorem = Post("t", "theorem", "x", "Theorem", place=Place("a.tex", 1, "thm:t"))
    lemma = Post("l", "lemma", "x", "Lemma", place=Place("b.tex", 1, "lem:l"))
    proof = Post(
        "p",
        "proof",
        "x",
        parent="t",
        links=(
            Link("t", "proof"),
            Link("t", "mention", "theorem", "thm:t"),
            Link("l", "mention", "lemma", "lem:l"),
            Link("", "mention", "elsewhere", "lem:l"),
            Link("", "mention", "nowhere", "lem:none"),
        ),
    )
    with catalogue.transaction():
        for post in (theorem, lemma, proof):
            catalogue.put(post, "", ())
    shown = related_posts(catalogue, proof, [])
    assert [(each["relation"], each["id"], each["indexed"]) for each in shown] == [
        ("question", "t", True),
        ("mention", "l", True),
    ]
    by_label = Post("q", "note", "x", links=(Link("", "mention", "", "thm:t"),))
    assert [each["id"] for each in related_posts(catalogue, by_label, [])] == ["t"]


def test_a_reference_has_the_name_of_what_it_leads_to_but_not_where_it_leads_inside(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path / "catalogue.db", create=True)
    place = Place("a.tex", 1, "thm:t", ("eq:1",))
    theorem = Post("t", "theorem", "x", "Theorem 2 (Euler)", place=place)
    proof = Post(
        "p",
        "proof",
        "x",
        links=(
            Link("t", "mention", "the theorem", "thm:t"),
            Link("t", "mention", "(1)", "eq:1", "1"),
            Link("t", "mention", "there"),
        ),
    )
    with catalogue.transaction():
        for post in (theorem, proof):
            catalogue.put(post, "", ())
    assert references(catalogue, proof) == {
        "#thm:t": Reference("t", "Theorem", "Euler", "Theorem 2 (Euler)", "", "the theorem"),
        "#eq:1": Reference("t", "Theorem", "", "Theorem 2 (Euler)", "1", "(1)"),
        "t": Reference("t", "Theorem", "Euler", "Theorem 2 (Euler)", "", "there"),
    }
