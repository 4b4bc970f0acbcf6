"""A search by a running server gives what one in this process gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.posts.post import Place
from mathamr.search.query import Query
from mathamr.search.searcher import Index
from mathamr.serve.client import ServerGoneError, search_at
from tests.index.small import build, note
from tests.serve.site import serving

TEXT = "Why does $x^2$ converge?"


def asked(**changes: object) -> dict[str, object]:
    return {
        "q": TEXT,
        "task": "answers",
        "strategy": "lexical",
        "k": 3,
        "offset": 0,
        "exact": True,
        "filter": {},
    } | changes


def test_the_hits_of_a_server_are_those_of_the_index(index: Index, index_folder: Path) -> None:
    with serving(index) as site:
        for task in ("answers", "formulas"):
            query = Query.of_text(TEXT, task)
            there = search_at(site.url, index_folder, query, asked(task=task)).to_json()
            here = index.search(query, task, "lexical", 3).to_json()
            assert there["hits"]
            assert {k: v for k, v in there.items() if k != "seconds"} == {
                k: v for k, v in here.items() if k != "seconds"
            }


def test_a_hit_in_a_notebook_keeps_its_cell(model_folder: Path, tmp_path: Path) -> None:
    place = Place("a.ipynb", 7, "", (), 3)
    build(tmp_path / "index", [note("a", "A zebra.", place=place)], model_folder)
    with Index.open(tmp_path / "index", device="cpu") as opened, serving(opened) as site:
        (hit,) = search_at(site.url, tmp_path / "index", Query.of_text("zebra"), asked(q="zebra"))
    assert hit.place == place


def test_what_is_wrong_with_a_request_is_told_and_a_server_that_is_gone_is_another_error(
    index: Index, index_folder: Path
) -> None:
    query = Query.of_text(TEXT)
    with serving(index) as site:
        with pytest.raises(MathAMRError, match="no post of the index is in 'nowhere'") as told:
            search_at(site.url, index_folder, query, asked(filter={"folders": ["nowhere"]}))
        assert not isinstance(told.value, ServerGoneError)
        address = site.url
    with pytest.raises(ServerGoneError, match="does not answer"):
        search_at(address, index_folder, query, asked())
