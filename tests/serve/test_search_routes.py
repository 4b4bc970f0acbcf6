from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.storage import IndexStorage, NoVectorsError
from mathamr.posts.post import Place
from mathamr.search.fragment import Fragment
from mathamr.search.hits import FormulaHit, Hit, Hits
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from mathamr.serve.limits import Limits
from mathamr.serve.routes.search import shown_hits
from mathamr.serve.service import Service
from mathamr.systems.models import box
from mathamr.systems.vectors import Vectors
from tests.cases import cases
from tests.models import sample_posts
from tests.posts.rendering.test_sanitiser import inspected
from tests.serve.conftest import READ_KEY, WRITE_KEY, Serving

QUERY = r"Why does the series $\sum \frac{1}{n}$ diverge?"


def error(response: Any) -> dict[str, Any]:
    """The error of an answer, in the one shape."""
    body = response.json()
    assert set(body) == {"error"}
    assert body["error"]["status"] == response.status_code
    assert body["error"]["request"] == response.headers["x-request-id"]
    found: dict[str, Any] = body["error"]
    return found


@pytest.mark.parametrize("task", ["answers", "formulas"])
@pytest.mark.parametrize("strategy", ["hybrid", "maxsim", "rerank", "single", "lexical"])
def test_the_hits_are_those_of_the_index(client: TestClient, index: Index, task: str, strategy: str) -> None:
    expected: Hits = index.search(QUERY, task, strategy, 5)  # type: ignore[arg-type]
    found = client.get("/v1/search", params={"q": QUERY, "task": task, "strategy": strategy, "k": 5}).json()
    assert [(hit["id"], hit["rank"]) for hit in found["hits"]] == [(hit.id, hit.rank) for hit in expected]
    assert [hit["score"] for hit in found["hits"]] == pytest.approx([hit.score for hit in expected], abs=1e-6)
    assert found["more"] == expected.more
    assert {"parse", "search", "snippet", "render", "total"} <= set(found["seconds"])
    if task == "formulas":
        assert all(hit["formula"]["places"] >= 1 for hit in found["hits"])


@pytest.mark.parametrize("query", ['"the sum of" series', "series -convergent", "series kind:answer foo:bar"])
def test_conditions_mean_the_same_as_in_the_index(client: TestClient, index: Index, query: str) -> None:
    expected = index.search(query, "answers", k=5)
    found = client.get("/v1/search", params={"q": query, "task": "answers", "k": 5}).json()
    assert [hit["id"] for hit in found["hits"]] == [hit.id for hit in expected]
    assert tuple(found["query"]["notes"]) == expected.notes


def test_a_folder_typed_into_a_query_that_does_not_exist_is_an_error_of_the_query(client: TestClient) -> None:
    refused = error(client.get("/v1/search", params={"q": "series in:nosuch"}))
    assert (refused["field"], refused["status"]) == ("q", 422)
    assert "nosuch" in refused["message"]


def test_a_link_and_a_body_ask_the_same(client: TestClient) -> None:
    link = client.get(
        "/v1/search",
        params=[("q", QUERY), ("k", "4"), ("offset", "2"), ("kind", "answer"), ("minimum_score", "0")],
    ).json()
    body = client.post(
        "/v1/search",
        json={"q": QUERY, "k": 4, "offset": 2, "filter": {"kinds": ["answer"], "minimum_score": 0}},
    ).json()
    link.pop("seconds"), body.pop("seconds")
    assert link == body
    assert {hit["kind"] for hit in link["hits"]} == {"answer"}


def test_pages_follow_one_another(client: TestClient) -> None:
    whole = client.get("/v1/search", params={"q": QUERY, "k": 6}).json()["hits"]
    second = client.get("/v1/search", params={"q": QUERY, "k": 3, "offset": 3}).json()["hits"]
    assert [hit["id"] for hit in second] == [hit["id"] for hit in whole[3:]]
    assert [hit["rank"] for hit in second] == [4, 5, 6]


def test_filters_by_tag_and_date(client: TestClient) -> None:
    tags = client.get("/v1/index").json()["tags"]
    tag = next(iter(tags))
    found = client.get("/v1/search", params={"q": QUERY, "tag": tag, "k": 50}).json()["hits"]
    assert found
    assert all(tag in hit["tags"] for hit in found if hit["kind"] == "question")
    assert client.get("/v1/search", params={"q": QUERY, "after": "2999"}).json()["hits"] == []


def test_formulas_of_query_and_hits_are_drawn(client: TestClient) -> None:
    found = client.get("/v1/search", params={"q": QUERY}).json()
    formulas = [piece for piece in found["query"]["pieces"] if piece["kind"] == "formula"]
    assert formulas[0]["mathml"].startswith("<math")
    drawn = [
        piece
        for hit in found["hits"]
        for piece in (*hit["title"], *hit["snippet"])
        if piece["kind"] == "formula" and piece["mathml"]
    ]
    assert drawn
    for piece in drawn:
        inspected(piece["mathml"])


def test_the_formulas_of_a_hit_are_drawn_with_its_macros_without_its_post(index: Index) -> None:
    hit = Hit(
        "1",
        1,
        1.0,
        "note",
        snippet=(Fragment("formula", r"\Rationals", "1:0"),),
        macros=(r"\newcommand{\Rationals}{\mathbb{Q}}",),
        formula=FormulaHit("1:1", r"\Rationals^2", ""),
    )
    with closing(Service(index)) as service:
        (shown,) = shown_hits(service, [hit])
    assert "ℚ" in shown["snippet"][0]["mathml"]
    assert "ℚ" in shown["formula"]["mathml"]


@cases(
    ("params", "code", "field"),
    [
        ({}, "invalid", "q"),
        ({"q": ""}, "empty_query", "q"),
        ({"q": " \n\t"}, "empty_query", "q"),
        ({"q": "..."}, "empty_query", "q"),
        ({"q": "x" * 5001}, "invalid", "q"),
        ({"q": "$x$ " * 51}, "invalid", "q"),
        ({"q": "One more. " * 101}, "invalid", "q"),
        ({"q": "two words alone", "task": "formulas"}, "empty_query", "q"),
        ({"q": "x", "k": "0"}, "invalid", "k"),
        ({"q": "x", "k": "101"}, "invalid", "k"),
        ({"q": "x", "k": "99999999999999999999"}, "invalid", "k"),
        ({"q": "x", "offset": "-1"}, "invalid", "offset"),
        ({"q": "x", "offset": "991"}, "invalid", "offset"),
        ({"q": "x", "task": "nonsense"}, "invalid", "task"),
        ({"q": "x", "strategy": "nonsense"}, "invalid", "strategy"),
        ({"q": "x", "kind": "nonsense"}, "invalid", "kind.0"),
        ({"q": "x", "after": "yesterday"}, "invalid", "after"),
        ({"q": "x", "after": "2020-99-99"}, "invalid", "after or before"),
        ({"q": "x", "folder": ["a"] * 20, "tag": ["b"] * 20, "source": ["c"] * 11}, "invalid", "filter"),
        ({"q": "x", "minimum_score": "nan"}, "invalid", "minimum_score"),
    ],
)
def test_a_wrong_question_is_told_what_is_wrong(
    client: TestClient, params: Any, code: str, field: str
) -> None:
    response = client.get("/v1/search", params=params)
    assert response.status_code == 422
    assert (error(response)["code"], error(response)["field"]) == (code, field)


@cases("before", ["", "$", "\\(", "  $$ "])
def test_the_place_of_a_broken_formula_is_that_in_the_whole_query(client: TestClient, before: str) -> None:
    after = {"": "", "$": "$", "\\(": "\\)", "  $$ ": "$$"}[before]
    query = f"{before}1 + \\def\\a{{\\a\\a}}\\a{after}"
    told = error(client.get("/v1/search", params={"q": query}))
    assert told["code"] == "broken_formula"
    assert told["offset"] == query.rindex("\\a")


def test_a_misspelt_name_in_a_body_is_noticed(client: TestClient) -> None:
    response = client.post("/v1/search", json={"q": "x", "filters": {}})
    assert (error(response)["code"], error(response)["field"]) == ("invalid", "filters")


@cases(
    "body",
    [b"{", b"", b"[1,2", b'{"q": "\\ud800"}', b"\xff\xfe", b"[" * 100_000, b'{"q": NaN}', b"null", b'"q"'],
)
def test_a_body_that_is_no_request_is_an_error_and_never_a_crash(client: TestClient, body: bytes) -> None:
    response = client.post("/v1/search", content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422)
    error(response)


def test_an_explanation_is_the_alignment_of_the_index(client: TestClient, index: Index) -> None:
    post = next(iter(index.search(QUERY, k=1))).id
    expected = index.explain(QUERY, post)
    found = client.get("/v1/explain", params={"q": QUERY, "id": post}).json()
    assert found["id"] == post
    assert found["score"] == pytest.approx(expected.score, abs=1e-5)
    assert len(found["matrix"]) == len(found["rows"]) == len(found["best"])
    assert len(found["matrix"][0]) == len(found["columns"])
    for best in found["best"]:
        row = found["matrix"][best["row"]]
        assert row[best["column"]] == max(row)
    assert [part["kind"] for part in found["rows"]] == [part.level for part in expected.query]
    assert found == {
        **client.post("/v1/explain", json={"q": QUERY, "id": post}).json(),
        "seconds": found["seconds"],
    }


def test_an_explanation_may_be_of_a_formula(client: TestClient, index: Index) -> None:
    hit = next(iter(index.search(QUERY, "formulas", k=1)))
    assert hit.formula is not None
    found = client.get("/v1/explain", params={"q": QUERY, "id": hit.formula.id, "task": "formulas"}).json()
    assert (found["id"], found["formula"]) == (hit.id, hit.formula.id)
    expected = index.explain_formula(QUERY, hit.formula.id)
    assert found["nodes"] == {
        **{name: value for name, value in expected.to_json().items() if name not in ("post", "formula")},
        "svg": expected.svg(),
    }
    of_post = client.get("/v1/explain", params={"q": QUERY, "id": hit.id, "task": "formulas"}).json()
    assert of_post["nodes"] is None
    assert of_post["matrix"] == found["matrix"]


def test_the_part_of_a_formula_that_was_asked_for_is_marked(client: TestClient, index: Index) -> None:
    asked = {"q": r"\sum_{j=1}^\infty\frac{1}{j^2}", "task": "formulas", "strategy": "lexical", "k": 1}
    (hit,) = client.post("/v1/search", json=asked).json()["hits"]
    latex, mathml = hit["formula"]["latex"], hit["formula"]["mathml"]
    assert hit["formula"]["matched"]
    assert all(0 <= start < end <= len(latex) for start, end in hit["formula"]["matched"])
    assert 'class="math-matched"' in mathml
    assert 'display="block"' in mathml, "it stands alone"


@pytest.mark.parametrize("what", ["post", "formula"])
def test_a_post_that_is_deleted_meanwhile_is_explained_whole_and_then_gone(
    serving: Serving, own_index: Index, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = own_index.archive
    assert isinstance(writer, IndexWriter)
    hit = next(iter(own_index.search(QUERY, "formulas", k=1)))
    assert hit.formula is not None
    deleting = threading.Thread(target=writer.delete, args=([hit.id],))
    vectors = writer.vectors

    def meanwhile(*asked: str) -> Any:
        deleting.start()
        return vectors(*asked)

    monkeypatch.setattr(writer, "vectors", meanwhile)
    identifier = hit.id if what == "post" else hit.formula.id
    client = serving(over=own_index)
    response = client.get("/v1/explain", params={"q": QUERY, "id": identifier})
    assert (response.status_code, response.json()["id"]) == (200, hit.id)
    deleting.join()
    monkeypatch.undo()
    response = client.get("/v1/explain", params={"q": QUERY, "id": identifier})
    assert (response.status_code, error(response)["code"]) == (404, "unknown_post")
    assert hit.id not in writer.catalogue


def test_reading_needs_the_key_where_one_is_set(serving: Serving) -> None:
    client = serving(keys=Keys(WRITE_KEY, READ_KEY))
    assert error(client.get("/v1/search", params={"q": "x"}))["code"] == "unauthorised"
    assert client.get("/v1/search", params={"q": "x"}).headers["www-authenticate"].startswith("Bearer")
    assert client.get("/v1/health").status_code == 200
    for refused in (
        {"X-API-Key": ""},
        {"Authorization": "Bearer"},
        {"Authorization": f"Basic {READ_KEY}"},
        {"X-API-Key": "é"},
    ):
        headers = [(name.encode(), value.encode()) for name, value in refused.items()]
        assert client.get("/v1/search", params={"q": "x"}, headers=headers).status_code == 401
    for headers in (
        {"X-API-Key": READ_KEY},
        {"Authorization": f"Bearer {WRITE_KEY}"},
        {"Authorization": f"bearer {READ_KEY}"},
    ):
        assert client.get("/v1/search", params={"q": "x"}, headers=headers).status_code == 200
    for path in ("/v1/index", "/v1/posts/1", "/v1/graphs/1", "/v1/formulas/1", "/v1/commands",
                 "/v1/render?latex=x", "/v1/picture?latex=x", "/v1/explain?q=x&id=1"):  # fmt: skip
        assert client.get(path).status_code == 401, path


def test_a_query_beyond_its_time_is_answered_and_the_next_one_served(
    serving: Serving, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serving(Limits(seconds=2.0, workers=1, waiting=0))
    assert client.get("/v1/ready").status_code == 200, "the thread that searches has been started"
    go, search = threading.Event(), index.search

    def slow(*arguments: Any, **options: Any) -> Hits:
        go.wait(60)
        return search(*arguments, **options)

    monkeypatch.setattr(index, "search", slow)
    assert error(client.get("/v1/search", params={"q": "x"}))["code"] == "timeout"
    busy = client.get("/v1/search", params={"q": "x"})
    assert (busy.status_code, error(busy)["code"]) == (429, "busy")
    assert int(busy.headers["retry-after"]) >= 1
    go.set()


def test_trouble_with_the_index_is_told_without_its_files(
    client: TestClient, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mathamr.core.errors import MathAMRError

    def failing(*_: Any, **__: Any) -> Hits:
        raise MathAMRError("cannot use /home/ada/secret/catalogue.db")

    monkeypatch.setattr(index, "search", failing)
    response = client.get("/v1/search", params={"q": "x"})
    assert (response.status_code, error(response)["code"]) == (503, "unavailable")
    assert "secret" not in response.text


def test_paths_of_files_are_told_only_where_an_editor_is_named(client: TestClient, index: Index) -> None:
    (hit,) = client.get("/v1/search", params={"q": "converge", "strategy": "lexical", "k": 1}).json()["hits"]
    assert hit["open"] is None
    assert client.get(f"/v1/posts/{hit['id']}").json()["open"] is None
    service = Service(index, Limits(seconds=3600), editor="vscode")
    assert service.editor_link("/a/b.tex", Place("b.tex", 3)) == "vscode://file/a/b.tex:3"
    assert service.editor_link("forum", None) is None
    service.close()


def test_a_folder_narrows_a_search_and_one_that_is_not_there_is_told(client: TestClient) -> None:
    asked = {"q": "converge", "strategy": "lexical"}
    everything = client.get("/v1/search", params=asked).json()["hits"]
    source = everything[0]["source"]
    assert client.get("/v1/search", params=asked | {"folder": source}).json()["hits"] == everything
    wrong = client.get("/v1/search", params=asked | {"folder": "nowhere"})
    assert (wrong.status_code, error(wrong)["code"]) == (422, "invalid")
    assert "nowhere" in error(wrong)["message"]


@pytest.mark.slow
def test_without_a_task_an_index_visuals_for_what_it_has(
    client: TestClient, serving: Serving, tmp_path: Path
) -> None:
    assert client.get("/v1/search", params={"q": QUERY, "k": 1}).json()["task"] == "answers"
    posts = tmp_path / "posts.jsonl"
    posts.write_text("\n".join(post.to_json() for post in sample_posts(3)), encoding="utf-8")
    build_index([posts], tmp_path / "formulas", BuildOptions(model=box() / "formula-graph", device="cpu"))
    with Index.open(tmp_path / "formulas") as formulas:
        alone = serving(over=formulas)
        for answer in (
            alone.get("/v1/search", params={"q": QUERY}),
            alone.post("/v1/search", json={"q": QUERY}),
        ):
            assert answer.status_code == 200, answer.text
            assert answer.json()["task"] == "formulas"
        found = answer.json()["hits"][0]["formula"]["id"]
        explained = alone.get("/v1/explain", params={"q": QUERY, "id": found})
        assert explained.json()["formula"] == found
        wrong = alone.get("/v1/search", params={"q": QUERY, "task": "answers"})
        assert (wrong.status_code, error(wrong)["field"]) == (422, "task")


def test_an_entry_with_too_little_to_compare_is_told_and_not_unavailable(
    serving: Serving, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systems of text give a titled note of two words no vectors of parts; its explanation was a permanent 503."""

    def nothing(archive: IndexStorage, post_id: str, field: str | None = None) -> Vectors:
        raise NoVectorsError(f"post {post_id!r} has no vectors in the index {archive.folder}")

    monkeypatch.setattr(IndexStorage, "vectors", nothing)
    id = next(iter(index.archive.catalogue.ids()))
    answer = serving().get("/v1/explain", params={"q": "zebra", "id": id})
    assert answer.status_code == 422
    assert "too few words" in answer.json()["error"]["message"]
    assert str(index.archive.folder) not in answer.text


def test_a_search_is_grouped_as_in_the_index(client: TestClient, index: Index) -> None:
    expected = index.search("the series is a sum", strategy="lexical", k=50, group="document")
    asked = {"q": "the series is a sum", "strategy": "lexical", "k": "50", "group": "document"}
    hits = client.get("/v1/search", params=asked).json()["hits"]
    assert any(hit.others for hit in expected)
    assert [[each["id"] for each in (hit, *hit["others"])] for hit in hits] == [
        [each.id for each in (hit, *hit.others)] for hit in expected
    ]
