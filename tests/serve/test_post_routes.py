from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from mathamr.core.workers import TIMED_OUT, Lost
from mathamr.graphs import notation
from mathamr.graphs.guarded import GuardedGraphs
from mathamr.index.entryids import LONGEST_ENTRY_ID
from mathamr.index.indexing.writer import IndexWriter
from mathamr.posts.identifiers import LONGEST_ID
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from mathamr.serve.limits import Limits
from tests.bounded import full_disk
from tests.cases import cases
from tests.posts.rendering.test_sanitiser import inspected
from tests.serve.conftest import WRITE_KEY, Serving
from tests.serve.hostile import IDS
from tests.serve.test_search_routes import error

KEY = {"X-API-Key": WRITE_KEY}


def at(id: str, what: str = "posts") -> str:
    return f"/v1/{what}/{quote(id, safe='')}"


@pytest.fixture
def writing(serving: Serving, own_index: Index) -> TestClient:
    """A client of an index of its own that may write."""
    client = serving(keys=Keys(WRITE_KEY), over=own_index)
    client.headers.update(KEY)
    return client


def test_every_post_of_the_index_is_shown_safely(client: TestClient, index: Index) -> None:
    for id in index.archive.catalogue.ids():
        shown = client.get(at(id)).json()
        stored = index.archive.catalogue.post(id)
        assert (shown["id"], shown["kind"], shown["source_body"]) == (id, stored.kind, stored.body)
        inspected(shown["html"])
        inspected(shown["title_html"])
        assert [piece["id"] for piece in shown["formulas"]] == [formula.id for formula in stored.formulas]


def test_neighbours_are_shown_by_their_titles_or_first_words(writing: TestClient) -> None:
    writing.put(
        at("q"), json={"title": "Why $x^2$?", "body": "Why?", "kind": "question", "accepted_answer": "b"}
    )
    for id, score, date in [("a", 5, "2021-01-02"), ("b", 1, None), ("c", 5, "2021-01-01"), ("d", 5, None)]:
        body = f"Because $x^2$ of {id} is large. " + "And so on. " * 50
        writing.put(at(id), json={"body": body, "parent": "q", "score": score, "date": date})
    writing.put(at("e"), json={"body": "No votes.", "parent": "q"})
    asked = writing.get(at("q")).json()
    assert asked["answers"] == ["b", "c", "a", "d", "e"]
    shown = asked["neighbours"]
    assert [each["id"] for each in shown] == asked["answers"]
    assert [each["accepted"] for each in shown] == [True, False, False, False, False]
    assert [each["votes"] for each in shown] == [1, 5, 5, 5, None]
    assert {each["relation"] for each in shown} == {"answer"}
    assert "".join(piece["text"] for piece in shown[0]["text"]).startswith("Because x^2 of b is large. And")
    assert shown[0]["text"][1]["mathml"]
    assert len("".join(piece["text"] for piece in shown[0]["text"])) < 200
    (question,) = writing.get(at("a")).json()["neighbours"]
    assert (question["id"], question["relation"], question["indexed"]) == ("q", "question", True)
    assert [piece["text"] for piece in question["text"]] == ["Why ", "x^2", "?"]
    writing.delete(at("q"))
    (lost,) = writing.get(at("a")).json()["neighbours"]
    assert (lost["id"], lost["indexed"], lost["text"]) == ("q", False, [])


@cases("what", ["posts", "graphs"])
@cases("id", IDS[3:])
def test_ids_lead_to_posts_and_never_to_files(client: TestClient, what: str, id: str) -> None:
    response = client.get(at(id, what))
    assert (response.status_code, error(response)["code"]) == (404, "unknown_post")


def test_the_graph_of_a_post_in_both_forms(client: TestClient, index: Index) -> None:
    post = next(each for each in index.archive.catalogue.every_post() if each.formulas)
    graph = index.archive.graph(post.id)
    penman = client.get(at(post.id, "graphs"))
    assert penman.headers["content-type"].startswith("text/plain")
    assert notation.read(penman.text) == graph
    picture = client.get(at(post.id, "graphs"), params={"format": "svg"})
    assert ElementTree.fromstring(picture.content).tag.endswith("svg")
    assert "style-src 'unsafe-inline'" in picture.headers["content-security-policy"]
    without = client.get(at(post.id, "graphs"), params={"formulas": "none"}).text
    assert (":opt" in penman.text, ":opt" in without) == (True, False)


def test_the_graph_of_a_post_that_is_deleted_meanwhile_is_whole_and_then_gone(
    serving: Serving, own_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = own_index.archive
    assert isinstance(writer, IndexWriter)
    post = next(writer.catalogue.ids())
    graph, deleting = writer.graph, threading.Thread(target=writer.delete, args=([post],))

    def meanwhile(id: str) -> object:
        deleting.start()
        return graph(id)

    monkeypatch.setattr(writer, "graph", meanwhile)
    client = serving(over=own_index)
    assert notation.read(client.get(at(post, "graphs")).text).post_id == post
    deleting.join()
    monkeypatch.undo()
    response = client.get(at(post, "graphs"))
    assert (response.status_code, error(response)["code"]) == (404, "unknown_post")


def test_a_graph_too_large_to_draw_is_refused(serving: Serving, index: Index) -> None:
    client = serving(Limits(drawn_nodes=3, seconds=3600))
    id = next(iter(index.archive.catalogue.ids()))
    assert error(client.get(at(id, "graphs")))["code"] == "too_complex"


def test_a_post_that_is_put_is_found_read_and_deleted(writing: TestClient, own_index: Index) -> None:
    body = {
        "title": "On $q_7$",
        "body": "<p>A rhombicuboctahedron has $V=24$ corners.</p>",
        "tags": ["solids"],
    }
    made = writing.put(at("notes/new one?#&.md"), json=body)
    assert made.status_code == 201
    assert (made.json()["created"], made.json()["formulas"], made.json()["id"]) == (
        True,
        2,
        "notes/new one?#&.md",
    )
    query = {"q": "rhombicuboctahedron corners", "strategy": "lexical"}
    assert writing.get("/v1/search", params=query).json()["hits"][0]["id"] == "notes/new one?#&.md"
    shown = writing.get(at("notes/new one?#&.md")).json()
    assert (shown["kind"], shown["markup"], shown["tags"]) == ("note", "html", ["solids"])
    again = writing.put(at("notes/new one?#&.md"), json={"body": "Nothing of that kind, only $W=25$."})
    assert (again.status_code, again.json()["created"]) == (200, False)
    assert writing.get("/v1/search", params=query).json()["hits"] == []
    assert writing.delete(at("notes/new one?#&.md")).json() == {"id": "notes/new one?#&.md", "deleted": True}
    assert error(writing.delete(at("notes/new one?#&.md")))["code"] == "unknown_post"
    assert error(writing.get(at("notes/new one?#&.md")))["code"] == "unknown_post"


def test_several_posts_are_put_at_once(writing: TestClient, own_index: Index) -> None:
    before = len(own_index)
    posts = [{"id": f"n{n}", "body": f"Note {n} on $x^{n}$."} for n in range(3)]
    made = writing.post("/v1/posts", json={"posts": posts}).json()
    assert [(each["id"], each["created"]) for each in made["posts"]] == [
        ("n0", True),
        ("n1", True),
        ("n2", True),
    ]
    assert len(own_index) == before + 3


def test_what_cannot_be_a_post_is_refused_whole(writing: TestClient, own_index: Index) -> None:
    before = len(own_index)
    twice = {"posts": [{"id": "a", "body": "x"}, {"id": "a", "body": "y"}]}
    empty = {"posts": [{"id": "a", "body": "x"}, {"id": "b", "body": " "}]}
    for body in (twice, empty, {"posts": []}, {"posts": [{"id": "", "body": "x"}]}):
        assert error(writing.post("/v1/posts", json=body))["code"] == "invalid"
    assert len(own_index) == before


@cases(
    "body",
    [{}, {"body": ""}, {"body": 1}, {"body": "x", "kind": "rumour"}, {"body": "x", "markup": "rtf"}, {"body": "x", "nosuch": 1},
     {"body": "x", "score": 2**60}, {"body": "x", "date": "soon"}, {"body": "x", "tags": "a"}, {"body": "x", "parent": ""}],
)  # fmt: skip
def test_a_wrong_post_is_told_what_is_wrong(writing: TestClient, body: dict[str, object]) -> None:
    response = writing.put(at("x"), json=body)
    assert (response.status_code, error(response)["code"]) == (422, "invalid")


def test_every_reachable_id_can_be_put_read_and_deleted(writing: TestClient) -> None:
    for id in (*IDS, "ü" * LONGEST_ID):
        if id in (".", "..") or "%" in id or "\u202e" in id:  # the test client decodes an address twice
            continue
        assert writing.put(at(id), json={"body": "Let $x$ be."}).status_code == 201, id
        assert writing.get(at(id)).json()["id"] == id
        assert writing.get(at(id, "graphs")).status_code == 200
        assert writing.delete(at(id)).status_code == 200
        assert writing.get(at(id)).status_code == 404


@cases("id", ["%2e", "%2e%2e", "a%00b", "x" * (LONGEST_ENTRY_ID + 1)])
def test_ids_that_no_address_can_hold_are_refused(writing: TestClient, id: str) -> None:
    assert writing.put(f"/v1/posts/{id}", json={"body": "x"}).status_code in (404, 405, 422)


UNSEEN = ["a\nb", "\n", "a\tb", "a\x85b", "a\u2028b", "a\u2029b", "a\u202eb", "\ufeffa", "a\u200db", "a\x1bb", "a ", "\xa0a",
          "a\uffffb", "x" * (LONGEST_ID + 1), "x" * LONGEST_ENTRY_ID]  # fmt: skip


@cases("id", UNSEEN)
def test_an_id_with_what_cannot_be_seen_or_too_long_is_refused_at_every_door(
    writing: TestClient, id: str
) -> None:
    body = {"body": "Let $x$ be."}
    for response in (
        writing.put(at(id), json=body),
        writing.post("/v1/posts", json={"posts": [{"id": id, **body}]}),
        writing.put(at("x"), json=body | {"parent": id}),
        writing.put(at("x"), json=body | {"accepted_answer": id}),
    ):
        assert (response.status_code, error(response)["code"]) == (422, "invalid")
    assert writing.get(at(id)).status_code == 404  # an older index may have it


def test_a_write_to_an_index_whose_folder_is_gone_is_told_so(
    writing: TestClient, own_index: Index, caplog: pytest.LogCaptureFixture
) -> None:
    folder = own_index.archive.folder
    known = next(iter(own_index.archive.catalogue.ids()))
    folder.rename(folder.with_name("elsewhere"))
    try:
        for response in (writing.put(at("x"), json={"body": "Let $x$ be."}), writing.delete(at(known))):
            assert (response.status_code, error(response)["code"]) == (503, "unavailable")
        assert "is the folder still where it was?" in caplog.text
    finally:
        folder.with_name("elsewhere").rename(folder)


def test_writing_needs_the_key(serving: Serving, own_index: Index) -> None:
    client = serving(keys=Keys(WRITE_KEY), over=own_index)
    before = len(own_index)
    for headers in ({}, {"X-API-Key": "wrong" * 5}, {"Authorization": "Basic abc"}):
        for response in (
            client.put(at("x"), json={"body": "x"}, headers=headers),
            client.post("/v1/posts", json={"posts": [{"id": "x", "body": "x"}]}, headers=headers),
            client.delete(at(next(iter(own_index.archive.catalogue.ids()))), headers=headers),
        ):
            assert (response.status_code, error(response)["code"]) == (401, "unauthorised")
    assert len(own_index) == before


def test_without_a_key_nobody_writes(client: TestClient) -> None:
    assert error(client.put(at("x"), json={"body": "x"}))["code"] == "read_only"
    assert client.get("/v1/index").json()["writable"] is False


def test_an_index_open_for_reading_is_not_written(serving: Serving) -> None:
    client = serving(keys=Keys(WRITE_KEY))
    assert error(client.put(at("x"), json={"body": "x"}, headers=KEY))["code"] == "read_only"


def test_a_post_that_takes_too_much_is_told_and_not_stored(
    own_index: Index, writing: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GuardedGraphs, "__call__", lambda *_: Lost("time-out", "too long"))
    response = writing.put(at("poison"), json={"body": "Whatever it is."})
    assert (response.status_code, error(response)["code"]) == (422, "too_complex")
    assert writing.get(at("poison")).status_code == 404
    monkeypatch.undo()
    assert writing.put(at("poison"), json={"body": "." * 400_000}).status_code == 201


def test_a_write_with_too_many_formulas_is_refused_with_the_limit_by_name(
    own_index: Index, serving: Serving
) -> None:
    client = serving(Limits(written_formulas=3, seconds=3600), Keys(WRITE_KEY), over=own_index)
    refused = client.put(at("many"), json={"body": "$x$ $y$ $x$ $z$"}, headers=KEY)
    assert (refused.status_code, error(refused)["code"]) == (422, "too_complex")
    assert "4 formulas" in error(refused)["message"]
    assert "limit written_formulas" in error(refused)["message"]
    batch = {"posts": [{"id": name, "body": "$x$ $y$"} for name in ("a", "b")]}
    assert client.post("/v1/posts", json=batch, headers=KEY).status_code == 422
    assert client.get(at("a")).status_code == 404
    assert client.put(at("few"), json={"body": "$x$ $y$ $x$"}, headers=KEY).status_code == 201


@pytest.mark.slow
def test_reading_a_post_that_takes_too_long_is_ended_while_others_are_answered(
    own_index: Index, serving: Serving
) -> None:
    client = serving(Limits(seconds=2), Keys(WRITE_KEY), over=own_index)
    assert client.put(at("a"), json={"body": "Words."}, headers=KEY).status_code == 201  # starts the process
    with ThreadPoolExecutor(1) as other:
        put = other.submit(client.put, at("poison"), json={"body": "$x$ " * 250_000}, headers=KEY)
        answered = 0
        while not put.done():
            assert client.get("/v1/health").status_code == 200
            answered += 1
    assert answered > 3
    assert (put.result().status_code, error(put.result())["code"]) == (422, "too_complex")
    assert client.get(at("poison")).status_code == 404
    assert client.put(at("a"), json={"body": "Other words."}, headers=KEY).status_code == 200


def test_graphs_of_a_write_have_a_budget_in_proportion_to_its_length(
    own_index: Index, serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serving(Limits(seconds=20), Keys(WRITE_KEY), over=own_index)
    allowed: list[float | None] = []

    def lost(self: GuardedGraphs, request: list[str], seconds: float | None = None) -> Lost:
        allowed.append(seconds)
        return Lost(TIMED_OUT, "too long")

    monkeypatch.setattr(GuardedGraphs, "__call__", lost)
    for body in ("$x$", "word " * 20_000):
        response = client.put(at("poison"), json={"body": body}, headers=KEY)
        assert (response.status_code, error(response)["code"]) == (422, "too_complex")
    assert [round(each or 0) for each in allowed] == [20, 40]
    assert client.get(at("poison")).status_code == 404


def test_searches_are_answered_while_the_disk_is_full_and_writes_are_sent_away(writing: TestClient) -> None:
    query = {"q": "rhombicuboctahedron", "strategy": "lexical"}
    note = {"body": "A rhombicuboctahedron."}
    assert writing.put(at("first"), json=note).status_code == 201
    with full_disk():
        assert error(writing.put(at("second"), json=note))["code"] == "unavailable"
        assert [hit["id"] for hit in writing.get("/v1/search", params=query).json()["hits"]] == ["first"]
        assert writing.get(at("first")).status_code == 200
        assert writing.get("/v1/ready").status_code == 200
    assert writing.put(at("second"), json=note).status_code == 201
    assert len(writing.get("/v1/search", params=query).json()["hits"]) == 2
