"""Hostile queries and clients against the application: every one gets an answer, and the next one too."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests.posts.rendering.test_sanitiser import inspected
from tests.serve.hostile import HTML, IDS, LATEX, MACRO_BOMB

QUERIES = {
    **{name: body[:5000] for name, body in HTML.items()},
    **{name: body[:5000] for name, body in LATEX.items()},
    "bare macro bomb": MACRO_BOMB,
    "control characters": "\0\1\2 $x$ \x7f\x1b[31m",
    "right to left": "\u202e$x$\u202c",
    "combining": "x" + "\u0301" * 1000,
    "emoji": "👩‍👩‍👧‍👦 $🦄^2$ " * 50,
    "dollars": "$" * 4000,
    "backslashes": "\\" * 4000,
    "braces": "$" + "{" * 4000 + "$",
    "scripts": "$" + "x^{" * 1600 + "$",
    "environments": "$" + r"\begin{matrix}" * 350 + "$",
    "placeholders": "FORMULA_0 FORMULA_99999999999999999999 $x$ FORMULA_0",
    "one long word": "a" * 5000,
    "many sentences": "Why? " * 1000,
    "wildcards": "$" + "?a" * 500 + "$",
    "sql": "'; DROP TABLE posts; -- $x$",
    "format string": "%s%n{0}{x!r} $x$",
    "penman": '(a / b :op1 "c") $x$',
}


@pytest.mark.parametrize("task", ["answers", "formulas"])
@pytest.mark.parametrize("name", QUERIES)
def test_a_hostile_query_gets_hits_or_a_clear_error(client: TestClient, name: str, task: str) -> None:
    response = client.post("/v1/search", json={"q": QUERIES[name], "task": task, "k": 2})
    assert response.status_code in (200, 422), response.text
    if response.status_code == 422:
        assert response.json()["error"]["code"] in ("invalid", "broken_formula", "empty_query")
    for hit in response.json().get("hits", ()):
        for piece in (*hit["title"], *hit["snippet"]):
            if piece.get("mathml"):
                inspected(piece["mathml"])


@pytest.mark.parametrize("name", QUERIES)
def test_a_hostile_text_is_rendered_or_refused(client: TestClient, name: str) -> None:
    for body in ({"text": QUERIES[name]}, {"latex": QUERIES[name]}):
        response = client.post("/v1/render", json=body)
        assert response.status_code in (200, 422), response.text
        found = response.json()
        for piece in (found, *found.get("pieces", ())):
            if piece.get("mathml"):
                inspected(piece["mathml"])
    assert client.get("/v1/picture", params={"latex": QUERIES[name][:2000]}).status_code in (200, 422)


@pytest.mark.parametrize("id", IDS)
def test_a_hostile_id_is_only_an_id(client: TestClient, id: str) -> None:
    response = client.get("/v1/explain", params={"q": "a $x$", "id": id})
    assert response.json()["error"]["code"] == "unknown_post"


@settings(max_examples=40, derandomize=True)
@given(
    q=st.text(max_size=60) | st.lists(st.sampled_from(["$", "x", "\\frac", "{", "}", "^", " why ", "?a", "\\"]), max_size=20).map("".join),
    task=st.sampled_from(["answers", "formulas"]),
    strategy=st.sampled_from(["hybrid", "lexical", "single"]),
)  # fmt: skip
def test_whatever_is_typed_is_answered(client: TestClient, q: str, task: str, strategy: str) -> None:
    body = {"q": q.encode("utf-8", "replace").decode(), "task": task, "strategy": strategy, "k": 1}
    assert client.post("/v1/search", json=body).status_code in (200, 422)
