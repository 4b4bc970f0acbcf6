"""What is kept of the intake is what later stages would make, of this very post, and no more than there is room for."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mathamr.formulas import trees
from mathamr.formulas.trees import remember_trees, trees_of
from mathamr.index.indexing import visualkeys
from mathamr.index.indexing.formulacache import FormulaCache, ParsedPost
from mathamr.index.indexing.visualkeys import visual_keys
from mathamr.index.lexical import bags
from mathamr.index.lexical.bags import formula_bag, post_bag
from mathamr.posts.post import Formula, Post
from tests.models import sample_posts

POST = Post(
    "1",
    "note",
    r"Let $f(x)$ be, $f(x)$ again, $\\x$, {} and $\\frac{1}{2}$.",
    formulas=tuple(
        Formula(str(n), latex) for n, latex in enumerate(("f(x)", "f(x)", r"\x", "{}", r"\frac12"))
    ),
    macros=(r"\def\x{y}",),
)


@pytest.fixture(autouse=True)
def _memory() -> None:
    trees.REMEMBERED.clear()
    bags._bag_of_latex.cache_clear()
    visualkeys._key_of_latex.cache_clear()


def test_a_first_visual_has_the_keys_and_terms_of_a_post_and_can_be_sent_to_another_process() -> None:
    for post in (POST, *sample_posts(5)):
        visual = ParsedPost.of(post, with_trees=True)
        assert visual.keys == visual_keys(post)
        assert visual.bags.joined() == post_bag(post)
        assert list(visual.bags.formulas) == [formula_bag(formula, post.macros) for formula in post.formulas]
        assert ParsedPost.from_json(json.loads(json.dumps(visual.to_json()))) == visual
    assert ParsedPost.of(POST, with_trees=False).trees == ""


def test_trees_that_came_with_a_post_are_those_of_its_formulas_and_are_not_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = ParsedPost.of(POST, with_trees=True).trees
    expected = [trees_of(formula, POST.macros) for formula in POST.formulas]
    trees.REMEMBERED.clear()
    remember_trees(line, POST.macros)
    parsed: list[str] = []
    own = trees.parse
    monkeypatch.setattr(trees, "parse", lambda latex, *rest: parsed.append(latex) or own(latex, *rest))
    assert [trees_of(formula, POST.macros) for formula in POST.formulas] == expected
    assert parsed == ["{}"]  # what has no trees is tried again


def test_what_is_kept_is_taken_once_and_only_by_the_same_post() -> None:
    kept, visual = FormulaCache(), ParsedPost.of(POST, with_trees=True)
    room = kept.room
    kept.put(POST, visual)
    assert kept.room < room
    assert (kept.bags(POST), kept.trees(POST)) == (visual.bags, visual.trees)
    assert (kept.bags(POST), kept.trees(POST)) == (None, "")
    assert kept.room == room
    kept.put(POST, visual)
    changed = replace(POST, macros=())
    assert (kept.bags(changed), kept.trees(changed)) == (None, "")
    assert kept.room == room


def test_no_more_is_kept_than_there_is_room_for() -> None:
    posts = sample_posts(12)
    visuals = [ParsedPost.of(post, with_trees=True) for post in posts]
    kept = FormulaCache(3 * visuals[0].bags.size)
    for _ in range(2):  # what was taken makes room again
        for post, visual in zip(posts, visuals, strict=True):
            kept.put(post, visual)
            assert kept.room >= 0
        assert kept.is_full
        found = [(kept.bags(post), kept.trees(post)) for post in posts]
        assert 0 < sum(own is not None for own, _ in found) < len(posts)
        assert kept.room == 3 * visuals[0].bags.size
