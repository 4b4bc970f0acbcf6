from __future__ import annotations

import re

from starlette.testclient import TestClient

from mathamr import __version__
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from tests.serve.conftest import READ_KEY, WRITE_KEY, Serving
from tests.serve.test_search_routes import error


def test_the_index_says_what_it_has(client: TestClient, index: Index) -> None:
    found = client.get("/v1/index").json()
    catalogue = index.archive.catalogue
    assert (found["posts"], found["formulas"]) == (len(index), catalogue.count_formulas())
    assert found["kinds"] == dict(catalogue.kinds())
    assert found["limits"]["k"] == 100
    assert found["graphs"] == (index.archive.manifest.parser is not None)
    assert "/" not in found["name"]
    assert sum(found["folders"].values()) <= len(index)
    for example in found["examples"]:
        hits = client.get("/v1/search", params={"q": example["query"], "task": example["task"]}).json()[
            "hits"
        ]
        assert hits, example
    assert {example["task"] for example in found["examples"]} == {"answers", "formulas"}


def test_keys_are_told_to_be_needed_and_never_told(serving: Serving) -> None:
    client = serving(keys=Keys(WRITE_KEY, READ_KEY))
    response = client.get("/v1/index", headers={"X-API-Key": READ_KEY})
    assert response.json()["read_key_needed"] is True
    assert WRITE_KEY not in response.text + response.headers.__repr__()


def test_health_needs_nothing(serving: Serving) -> None:
    assert serving(keys=Keys(WRITE_KEY, READ_KEY)).get("/v1/health").json() == {
        "status": "ok",
        "version": __version__,
    }


def test_what_is_nowhere_is_told_in_the_one_shape(client: TestClient) -> None:
    assert error(client.get("/v1/nosuch"))["code"] == "unknown_route"
    assert error(client.get("/nosuch.js"))["code"] == "unknown_route"
    assert error(client.get("/v1/../../etc/passwd"))["code"] == "unknown_route"
    assert error(client.get("/..%2f..%2f..%2fapp.py"))["code"] == "unknown_route"
    assert error(client.delete("/v1/search"))["code"] == "wrong_method"


def test_nothing_of_the_page_needs_what_its_policy_forbids(client: TestClient) -> None:
    html = client.get("/").text
    assert not re.search(r"<script(?![^>]*\bsrc=)", html)
    assert not re.search(r"\s(?:on\w+|style)\s*=", html)
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", html)


def test_ready_is_asked_of_the_index_and_not_of_the_process(own_index: Index, serving: Serving) -> None:
    client = serving(keys=Keys(WRITE_KEY, READ_KEY), over=own_index)
    assert client.get("/v1/ready").json() == {"status": "ready", "posts": len(own_index), "behind": None}
    own_index.close()
    (own_index.archive.folder / "vectors").rename(own_index.archive.folder / "gone")
    assert client.get("/v1/health").status_code == 200
    assert client.get("/v1/ready").status_code == 503
