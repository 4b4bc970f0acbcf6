"""The page of the notation: symbols with what they are introduced as, under the policy of every page."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from mathamr.posts.post import Post
from mathamr.search import notation as notation_module
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
        r"<script(?! src=\"(?:early\.js\"|notation\.js\" type=\"module\")></script>)|\son\w+=|\sstyle=|<img(?! src=\"icon\.svg\")",
        page,
    )


def test_the_page_is_made_once_for_a_state_of_the_index(client: TestClient, monkeypatch) -> None:
    first = client.get("/notation").text
    monkeypatch.setattr("mathamr.serve.indexnotation.Notation", None)
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


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """The work that waits in the background, which a test runs itself, each part being one post."""
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr("mathamr.serve.queue.WorkQueue.start", lambda _, work: waiting.append(work))
    monkeypatch.setattr("mathamr.serve.routes.notation._SHARE", 0)
    monkeypatch.setattr("mathamr.serve.indexnotation.PART", 0)
    return waiting


def test_the_own_post_of_a_formula_is_read_where_there_was_no_time_for_it(
    serving: Serving, index: Index, left: list[Callable[[], None]]
) -> None:
    *_, post = (each for each in index.posts() if any(introductions([each], parser=None)))
    entry = next(each for each in notation([post], parser=None) if each.introductions)
    asked = {"latex": entry.latex, "formula": post.formulas[0].id}
    answer = serving().get("/v1/introduced", params=asked).json()
    assert (answer["posts"], answer["of"], answer["is_whole"]) == (1, len(index), False)
    assert answer["symbols"][0]["meanings"][0]["post"] == post.id


def test_reading_goes_on_in_the_background_until_all_posts_are_read(
    serving: Serving, index: Index, left: list[Callable[[], None]]
) -> None:
    client = serving()
    assert f" in 1 of {len(index)} posts;" in client.get("/notation").text
    assert f" in 1 of {len(index)} posts;" in client.get("/notation").text
    parts = 0
    while left:
        (part,) = left
        left.clear()
        part()
        parts += 1
    assert parts == len(index) - 1
    page = client.get("/notation").text
    known = [entry for entry in notation(index.posts(), parser=None) if entry.introductions]
    assert f"{len(known):,} symbols are introduced in all posts;" in page
    assert 'data-read="True"' in page
    assert not left


def test_a_queue_reads_on_by_itself(serving: Serving, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mathamr.serve.routes.notation._SHARE", 0)
    client = serving()
    for _ in range(600):
        if 'data-read="True"' in client.get("/notation").text:
            return
        time.sleep(0.1)
    pytest.fail("the notation is never whole")


def test_an_update_reads_only_what_has_changed(own_index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    parse = notation_module.parse_post
    monkeypatch.setattr(notation_module, "parse_post", lambda post: read.append(post.id) or parse(post))
    found = IndexNotation(own_index.archive)
    found.read_on(3600)
    assert len(read) == len(own_index)
    read.clear()
    own_index.archive.put([Post("new", "note", "Let $\\beth$ be a beast.", markup="markdown")])
    with own_index.archive.reading():
        found.read_on(3600)
    assert read == ["new"]
    assert [each.meanings for each in found.entries() if each.symbol == "ℶ"] == [["a beast"]]


def test_a_post_without_an_end_is_left_out(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    *_, longest = sorted(index.posts(), key=lambda post: len(post.body))
    monkeypatch.setattr("mathamr.serve.indexnotation.LONGEST_POST", len(longest.body) - 1)
    found = IndexNotation(index.archive)
    found.read_on(3600)
    others = notation((post for post in index.posts() if post.id != longest.id), parser=None)
    assert (found.count, found.left_out) == (len(index) - 1, 1)
    assert found.is_read
    assert not found.is_whole
    assert [each.to_dict() for each in found.entries()] == [each.to_dict() for each in others]
