"""The tools for Lean, called by a client of the protocol over an index of a small project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.searcher import Index
from tests.adapters.conftest import call_tool, list_tools
from tests.leanproject import write_project

pytest.importorskip("mcp.server.mcpserver", reason="the adapter needs mcp 2")

GAUSS = "Nat.sum_range_id"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("lean")
    project = write_project(folder / "toy")
    sums = project / ".lake" / "packages" / "sums"
    build_index([project, sums], folder / "index", BuildOptions(model="mathamr-3", engine="flat"))
    with Index.open(folder / "index") as index:
        yield index


def names(index: Index, tool: str, /, **arguments: Any) -> list[str]:
    found = call_tool(index, tool, **arguments).structured_content
    return [each["name"] for each in found["declarations"]]


def test_the_tools_are_there_and_described(library: Index) -> None:
    assert list_tools(library) >= {
        "search_declarations", "find_declaration", "search_statement", "premises_for_goal", "related_declarations",
    }  # fmt: skip


def test_declarations_are_found_by_words_and_by_latex(library: Index) -> None:
    heine = "Topology.Toy.isCompact_iff_isClosed_bounded"
    assert names(library, "search_declarations", query="closed and bounded subsets of the reals")[0] == heine
    assert names(library, "search_declarations", query=r"$\sum_{i=0}^n i = \frac{n(n+1)}{2}$")[0] == GAUSS


@pytest.mark.parametrize("name", ["Nat.add_comm_toy", "add_comm_toy", "add comm toy"])
def test_a_name_is_found_whole_in_part_and_as_words(library: Index, name: str) -> None:
    assert names(library, "find_declaration", name=name)[0] == "Nat.add_comm_toy"


def test_a_statement_and_a_goal_find_what_says_the_same(library: Index) -> None:
    statement = "∑ k ∈ Finset.range (m + 1), k = m * (m + 1) / 2"
    assert names(library, "search_statement", statement=statement)[0] == GAUSS
    goal = "m : ℕ\nh : 0 < m\n⊢ ∑ k ∈ Finset.range (m + 1), k = m * (m + 1) / 2"
    assert names(library, "premises_for_goal", goal=goal)[0] == GAUSS


def test_filters_narrow_to_a_module_a_namespace_and_a_kind(library: Index) -> None:
    assert set(names(library, "search_declarations", query="compact set", module="Sums")) <= {
        GAUSS,
        "Nat.add_comm_toy",
        "Nat.prod_union",
        "Nat.sum_union",
    }
    assert names(library, "search_declarations", query="compact set", namespace="Topology", kind="def") == [
        "Topology.Toy.IsCompact"
    ]


def test_related_declarations_are_mentioned_or_alike(library: Index) -> None:
    heine = "Topology.Toy.isCompact_iff_isClosed_bounded"
    found = call_tool(library, "related_declarations", name=heine).structured_content
    assert [each["name"] for each in found["mentions"]] == ["Topology.Toy.IsCompact"]
    assert "Topology.Toy.IsCompact.union" in [each["name"] for each in found["alike"]]
    assert call_tool(library, "related_declarations", name="No.such").is_error
    for k in (1, 3):
        few = call_tool(library, "related_declarations", name=heine, k=k).structured_content["alike"]
        assert [each["name"] for each in few] == [each["name"] for each in found["alike"]][:k]
        assert len(few) == k


def test_nothing_close_is_said_and_answers_are_short(library: Index) -> None:
    found = call_tool(library, "search_declarations", query="who won the world cup").structured_content
    assert found["declarations"] == []
    assert "close enough" in found["note"]
    answer = call_tool(library, "search_declarations", query="compact", k=5)
    assert sum(len(part.text) for part in answer.content) < 6000
    assert answer.structured_content["declarations"][0]["place"].startswith("Toy/Compact.lean:")
