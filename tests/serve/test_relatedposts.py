from __future__ import annotations

from pathlib import Path

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.posts.post import Link, Place, Post
from mathamr.serve.relatedposts import related_posts


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
