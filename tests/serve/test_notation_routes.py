"""The page of the notation: symbols with what they are introduced as, under the policy of every page."""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from mathamr.search.notation import notation
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from mathamr.serve.middleware import POLICY
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
    monkeypatch.setattr("mathamr.serve.routes.notation.notation", None)
    assert client.get("/notation").text == first


def test_a_key_is_needed_where_reading_needs_one(serving: Serving) -> None:
    assert serving(keys=Keys(WRITE_KEY, READ_KEY)).get("/notation").status_code == 401
