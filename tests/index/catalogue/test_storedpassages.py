"""Sentences that are kept are those of the post as it is, cut as posts are cut now; else there are none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.index.catalogue import storedpassages
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.catalogue.storedpassages import MARKUPS, in_force, rules_of
from mathamr.index.indexing.analysis import analyse
from mathamr.index.preview import Preview
from mathamr.posts.passage import Passage, passage
from mathamr.posts.post import Markup, Post
from tests.cases import cases
from tests.models import sample_posts


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    made = Catalogue(tmp_path / "catalogue.db", create=True)
    put(made, *sample_posts(12), Post("note", "note", "Let $x$ be *odd*. Then $y$?", markup="markdown"))
    return made


def put(catalogue: Catalogue, *posts: Post) -> None:
    with catalogue.transaction():
        catalogue.put_rows([analyse(post).row for post in posts], "file")


def stored(catalogue: Catalogue, ids: list[str]) -> dict[str, Passage]:
    return {each: preview.passage() for each, preview in catalogue.stored_previews(ids).items()}


def test_what_is_kept_is_what_the_posts_are_cut_into(catalogue: Catalogue) -> None:
    ids = list(catalogue.ids())
    assert stored(catalogue, ids) == {post.id: passage(post) for post in catalogue.every_post()}


def test_a_post_that_has_changed_has_those_of_its_new_text(catalogue: Catalogue) -> None:
    changed = replace(catalogue.post("note"), body="Another text. It has $two$ sentences.")
    put(catalogue, changed)
    assert stored(catalogue, ["note"]) == {"note": passage(changed)}


def test_a_deleted_post_has_none_and_its_row_goes_with_it(catalogue: Catalogue) -> None:
    first = next(catalogue.ids())
    with catalogue.transaction():
        catalogue.delete(first)
    assert stored(catalogue, [first]) == {}
    with catalogue.transaction():
        for stage in ("graph", "vectors", "lexical"):
            catalogue.mark(stage, list(catalogue.pending(stage)))
        catalogue.purge()
    assert catalogue._value("SELECT count(*) FROM passages") == len(catalogue)


def test_posts_cut_by_other_rules_are_analysed_again(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    with catalogue.transaction():
        catalogue.skip("lexical")
    catalogue.unmark_outdated_passages()
    assert catalogue.count_pending("lexical") == 0
    monkeypatch.setattr(storedpassages, "passage_fingerprint", lambda markup: f"new {markup}")
    assert stored(catalogue, list(catalogue.ids())) == {}
    catalogue.unmark_outdated_passages()
    assert catalogue.count_pending("lexical") == len(catalogue)
    put(catalogue, *catalogue.every_post())
    assert len(stored(catalogue, list(catalogue.ids()))) == len(catalogue)


@pytest.mark.parametrize("damage", [b"", b"no zlib", "passage"])
def test_a_damaged_row_is_taken_for_none(catalogue: Catalogue, damage: bytes | str) -> None:
    first, second, *_ = catalogue.ids()
    with catalogue.transaction():
        sql = "UPDATE passages SET passage = ? WHERE post = (SELECT number FROM posts WHERE id = ?)"
        catalogue._db.execute(sql, (damage, first))
    assert stored(catalogue, [first, second]).keys() == {second}


@cases(
    ("part", "place", "number"),
    [
        ("places", 0, 7),
        ("places", 0, -1),
        ("sentences", 0, -5),
        ("sentences", 0, 500),
        ("sentences", 6, 90),
        ("formulas", 0, 0),
        ("formulas", 3, 90),
    ],
)
def test_numbers_that_do_not_fit_together_are_damage(part: str, place: int, number: int) -> None:
    made = Preview.of(Post("1", "note", "Let $x+1$ be prime.", markup="markdown"))
    texts = (made.sentences + made.latex + made.ids).encode()
    assert Preview(made.head, made.numbers.to_bytes() + texts).passage() == made.passage()
    changed = getattr(made.numbers, part).copy()
    changed[0, place] = number
    with pytest.raises(ValueError, match="do not fit"):
        Preview(made.head, made.numbers._replace(**{part: changed}).to_bytes() + texts)


@cases("markup", MARKUPS)
def test_rules_are_reported_markup_by_markup(markup: Markup) -> None:
    assert in_force(rules_of(markup))
    assert not in_force(f"{markup}:else")
    assert not in_force("")
