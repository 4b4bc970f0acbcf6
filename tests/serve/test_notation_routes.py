"""The page of the notation: symbols with what they are introduced as, under the policy of every page."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from mathamr.posts.post import Post
from mathamr.search.notation import introductions, notation, symbols_in
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from mathamr.serve.indexnotation import IndexNotation
from mathamr.serve.middleware import POLICY
from mathamr.serve.routes.notation import MOST_MEANINGS
from tests.serve.conftest import READ_KEY, WRITE_KEY, Serving


def test_the_page_lists_what_is_introduced_and_nothing_of_it_runs(client: TestClient, index: Index) -> None:
    response = client.get("/notation")
    page = response.text
    known = [entry for entry in notation(index.posts(), parser=None) if entry.introductions]
    assert response.status_code == 200
    assert response.headers["content-security-policy"] == POLICY
    assert known
    assert f"{len(known):,} symbols are introduced in all posts" in page
    assert page.count('<th scope="row">') == len(known)
    assert not re.search(
        r"<script(?! src=\"early\.js\"></script>)|\son\w+=|\sstyle=|<img(?! src=\"icon\.svg\")", page
    )


def test_the_page_is_made_once_for_a_state_of_the_index(client: TestClient, monkeypatch) -> None:
    first = client.get("/notation").text
    monkeypatch.setattr("mathamr.serve.indexnotation.notation", None)
    assert client.get("/notation").text == first


def test_a_key_is_needed_where_reading_needs_one(serving: Serving) -> None:
    assert serving(keys=Keys(WRITE_KEY, READ_KEY)).get("/notation").status_code == 401


def test_a_formula_is_told_what_its_symbols_are_introduced_as(client: TestClient, index: Index) -> None:
    entries = notation(index.posts(), parser=None)
    entry = next(each for each in entries if each.introductions and each.kind == "letter")
    answer = client.get("/v1/introduced", params={"latex": f"{entry.latex} + 1"}).json()
    (symbol,) = answer["symbols"]
    assert symbol["symbol"] == entry.symbol
    assert symbol["meanings"][0]["post"] in {each.post for each in entry.introductions}
    assert 1 <= len(symbol["meanings"]) <= MOST_MEANINGS
    assert answer["is_whole"]
    assert client.get("/v1/introduced", params={"latex": r"\beth 17"}).json()["symbols"] == []
    assert client.get("/v1/introduced", params={"latex": "x" * 30_000}).status_code == 422


def test_the_own_post_of_a_formula_comes_first(client: TestClient, index: Index) -> None:
    posts = {post.id: post for post in index.posts()}
    found = [
        (entry, each, formula)
        for entry in notation(index.posts(), parser=None)
        for each in entry.introductions
        if entry.kind == "letter" and len({other.post for other in entry.introductions}) > 1
        for formula in posts[each.post].formulas
        if entry.symbol in symbols_in(formula)
    ]
    assert found
    for entry, each, formula in found[-3:]:
        answer = client.get("/v1/introduced", params={"latex": entry.latex, "formula": formula.id}).json()
        assert answer["symbols"][0]["meanings"][0]["post"] == each.post


def test_the_own_post_of_a_formula_is_read_where_there_was_no_time_for_it(
    serving: Serving, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathamr.serve.routes.notation._SHARE", 0)
    *_, post = (each for each in index.posts() if any(introductions([each], parser=None)))
    entry = next(each for each in notation([post], parser=None) if each.introductions)
    asked = {"latex": entry.latex, "formula": post.formulas[0].id}
    answer = serving().get("/v1/introduced", params=asked).json()
    assert (answer["posts"], answer["is_whole"]) == (1, False)
    assert answer["symbols"][0]["meanings"][0]["post"] == post.id


def test_a_post_without_an_end_is_left_out() -> None:
    posts = [
        Post("long", "note", "Let $x$ be a number. " * 10_000, markup="markdown"),
        Post("b", "note", "Let $G$ be a group.", markup="markdown"),
    ]
    found = IndexNotation.read("", iter(posts), 60)
    assert (list(found.by_symbol), found.count, found.is_whole) == (["G"], 1, False)
