"""Several collections behind one server: a search of all, and every other route by the collection of a hit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mathamr.core.errors import MathAMRError
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.searcher import Index
from mathamr.serve.app import create_app
from mathamr.serve.launch import serve
from mathamr.serve.limits import Limits
from mathamr.serve.service import Service
from tests.folders import write_files

NOTES = {
    "algebra": {"group.md": "# Groups\n\nA group of order $p^2$ is abelian."},
    "analysis": {
        "group.md": "# Flows\n\nA flow is a group action of the reals, $\\phi_{s+t} = \\phi_s$.",
        "limit.md": "# Limits\n\nA bounded monotone sequence $a_n$ converges.",
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    for name, notes in NOTES.items():
        write_files(folder / name, notes)
        build_index([folder / name], folder / f"{name}.index", BuildOptions(device="cpu"))
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with Index.open(folder / "algebra") as first, Index.open(folder / "analysis") as second:
        service = Service(first, Limits(seconds=3600))
        service.serve_also({"analysis": second}, "algebra")
        yield TestClient(create_app(service), raise_server_exceptions=False)
        service.close()


def test_a_search_is_of_all_collections_and_says_which_a_hit_is_of(client: TestClient) -> None:
    found = client.get("/v1/search", params={"q": "group"}).json()
    assert {hit["collection"] for hit in found["hits"][:2]} == {"algebra", "analysis"}
    assert set(found["collections"]) == {"algebra", "analysis"}
    posted = client.post("/v1/search", json={"q": "group", "group": "document", "counts": True}).json()
    assert [hit["id"] for hit in posted["hits"]] == [hit["id"] for hit in found["hits"]]


def test_what_filters_keep_is_counted_over_all_collections_and_by_collection(client: TestClient) -> None:
    asked = {"q": "group", "counts": True}
    counts = client.post("/v1/search", json=asked).json()["counts"]
    alone = {
        name: client.post("/v1/search", params={"collection": name}, json=asked).json()["counts"]
        for name in NOTES
    }
    assert alone["algebra"]["collections"] == {}
    assert counts["collections"] == {name: each["counted"] for name, each in alone.items()}
    assert counts["counted"] == sum(each["counted"] for each in alone.values())
    assert counts["kinds"] == {"note": counts["counted"]}
    assert client.get("/v1/search", params={"q": "group"}).json()["counts"] is None


@pytest.mark.parametrize("chosen", [["analysis"], ["algebra", "analysis"]])
def test_a_filter_keeps_the_hits_of_some_collections(client: TestClient, chosen: list[str]) -> None:
    found = client.post("/v1/search", json={"q": "group", "filter": {"collections": chosen}}).json()
    assert {hit["collection"] for hit in found["hits"]} == set(chosen)
    assert set(found["collections"]) == set(chosen)


def test_a_filter_refuses_a_collection_that_is_not_there(client: TestClient) -> None:
    refused = client.post("/v1/search", json={"q": "group", "filter": {"collections": ["topology"]}})
    assert refused.status_code == 422
    assert refused.json()["error"]["field"] == "collections"
    assert "algebra, analysis" in refused.json()["error"]["message"]


def test_a_search_of_one_collection_is_that_of_its_index_alone(client: TestClient, folder: Path) -> None:
    asked = {"q": "group", "collection": "analysis"}
    found = client.get("/v1/search", params=asked).json()
    with Index.open(folder / "analysis") as alone:
        assert [hit["id"] for hit in found["hits"]] == [hit.id for hit in alone.search("group")]
    assert found["hits"][0]["collection"] is None


def test_every_other_route_reads_the_collection_of_a_hit(client: TestClient) -> None:
    shown = [
        client.get("/v1/posts/group.md", params=asked).json()["source_body"]
        for asked in ({}, {"collection": "analysis"})
    ]
    assert "abelian" in shown[0]
    assert "flow" in shown[1]
    assert client.get("/v1/posts/limit.md").status_code == 404
    asked = {"q": "monotone", "id": "limit.md", "collection": "analysis"}
    assert client.get("/v1/explain", params=asked).status_code == 200
    assert client.get("/v1/similar/limit.md", params={"collection": "analysis"}).status_code == 200
    formula = client.get("/v1/formulas/limit.md:0", params={"collection": "analysis"})
    assert formula.json()["latex"] == "a_n"


def test_what_is_served_is_told(client: TestClient) -> None:
    assert client.get("/v1/index").json()["collections"] == {"algebra": 1, "analysis": 2}
    assert client.get("/v1/index", params={"collection": "analysis"}).json()["posts"] == 2
    assert client.get("/v1/ready").json()["posts"] == 3


def test_an_unknown_collection_is_an_error(client: TestClient) -> None:
    refused = client.get("/v1/search", params={"q": "group", "collection": "topology"})
    assert refused.status_code == 422
    assert refused.json()["error"]["field"] == "collection"
    assert "algebra, analysis" in refused.json()["error"]["message"]


def test_a_server_that_takes_writes_has_one_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATHAMR_API_KEY", "w" * 24)
    with pytest.raises(MathAMRError, match="a server that takes writes has one index"):
        serve(folder / "algebra.index", also=[folder / "analysis.index"], port=0)
