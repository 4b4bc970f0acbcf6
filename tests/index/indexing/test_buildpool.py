from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.indexing import buildpool
from mathamr.index.indexing.buildpool import FEW, BuildPool, understood
from mathamr.index.indexing.encoding import _encoded, _fields, _new_post
from mathamr.index.indexing.formulacache import REFUSED, FormulaCache, ParsedPost
from mathamr.index.indexing.visualkeys import visual_keys
from mathamr.index.lexical.bags import formula_bag, post_bag
from tests.models import sample_posts


def test_workers_give_what_is_made_here_in_the_same_order() -> None:
    posts = sample_posts(FEW + 10)
    visuals = [(formula, post.macros) for post in posts for formula in post.formulas][: FEW + 40]
    chosen = [(post, list(range(len(post.formulas)))[::2]) for post in posts]
    with BuildPool(2) as own:
        assert list(own.visual_keys(posts)) == [visual_keys(post) for post in posts]
        assert list(own.formula_bags(visuals)) == [formula_bag(*visual) for visual in visuals]
        expected = [
            (post_bag(post), [formula_bag(post.formulas[place], post.macros) for place in places])
            for post, places in chosen
        ]
        assert list(own.post_bags(chosen)) == expected
        assert (
            list(own.post_bags(chosen)) == expected
        )  # the same workers, with the next posts of a large collection


@pytest.mark.parametrize("workers", [1, 2])
def test_what_was_taken_in_is_not_made_again(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    posts = sample_posts(FEW + 10)
    chosen = [(post, list(range(len(post.formulas)))[::2]) for post in posts]
    expected = [
        (post_bag(post), [formula_bag(post.formulas[place], post.macros) for place in places])
        for post, places in chosen
    ]
    with BuildPool(workers) as own:
        own.keeps_trees = True
        assert list(own.taken_in(posts)) == [visual_keys(post) for post in posts]
        assert bool(own.kept.trees(posts[0])) == (workers > 1)
        known, changed = chosen[:-1], replace(posts[-1], body=posts[-1].body + " More words.")
        monkeypatch.setattr(buildpool, "_bags", None)  # nothing is left to be made
        assert list(own.post_bags(known)) == expected[:-1]
        monkeypatch.undo()
        assert list(own.post_bags([(changed, [])])) == [(post_bag(changed), [])]
        assert list(own.post_bags(known[:3])) == expected[:3]


def test_terms_that_cannot_be_kept_are_not_made_when_posts_are_taken_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posts = sample_posts(REFUSED)
    with BuildPool() as own:
        own.kept = FormulaCache(1)
        assert list(own.taken_in(posts)) == [visual_keys(post) for post in posts]
        monkeypatch.setattr(ParsedPost, "of", None)
        assert list(own.taken_in(posts)) == [visual_keys(post) for post in posts]
        assert list(own.post_bags([(posts[0], [])])) == [(post_bag(posts[0]), [])]


def test_a_few_posts_start_no_worker() -> None:
    with BuildPool(8) as own:
        posts = sample_posts(3)
        assert list(own.visual_keys(posts)) == [visual_keys(post) for post in posts]
        assert list(own.post_bags([(post, [0]) for post in posts])) == [
            (post_bag(post), [formula_bag(post.formulas[0], post.macros)]) for post in posts
        ]
        assert "_pool" not in own.__dict__


@pytest.mark.parametrize("convert", [_encoded, _fields, _new_post])
@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        [],
        [1],
        ["abc"],
        [[]],
        [[1, 2, 3]],
        [{"field": ["AAAA", 0, [], []]}],
        [["id", {"field": ["not base64!", 4, [0], ["x"]]}, []]],
        [[{"id": "a"}, "", ["a", {}, []]]],
        [1, 2],
    ],
)
def test_an_answer_that_is_none_is_said(convert: Callable[[Any], Any], answer: Any) -> None:
    with pytest.raises(MathAMRError, match="cannot be read"):
        list(understood(convert, ["new", "post"], answer))
