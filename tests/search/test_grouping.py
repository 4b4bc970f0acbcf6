"""Groups of hits: nothing is lost or repeated on any page, and the index, the server and the shell group alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr.core.errors import MathAMRError
from mathamr.posts.post import Place, Post
from mathamr.search.grouping import MOST_FOLDED, REACH, group_places, ranks_needed
from mathamr.search.hits import Hits
from mathamr.search.searcher import Index
from tests.index.small import build, note


@given(st.lists(st.integers(0, 5), max_size=200), st.integers(1, 20))
def test_every_hit_is_in_one_group_and_enough_ranks_hold_enough_complete_groups(
    documents: list[int], wanted: int
) -> None:
    groups = group_places(documents)
    assert sorted(chain.from_iterable(groups)) == list(range(len(documents)))
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)
    for group in groups:
        assert len({documents[place] for place in group}) == 1
        assert group == sorted(group)
        assert len(group) <= 1 + MOST_FOLDED
        assert group[-1] - group[0] <= REACH
    assert group_places(documents[: ranks_needed(wanted)])[:wanted] == groups[:wanted]


def _posts() -> list[Post]:
    """Five documents with six sections each, a question with answers, and a bibliography."""
    sections = [
        note(
            f"doc{d}.md#part-{s}" if s else f"doc{d}.md",
            f"The zebra {'zebra ' * ((d * 7 + s * 5) % 11)} walks, part {s}.",
            title=f"Document {d}: part {s}",
            place=Place(f"doc{d}.md", 1 + 10 * s),
            source=f"/notes/doc{d}.md",
        )
        for d in range(5)
        for s in range(6)
    ]
    forum = [
        Post("q", "question", "Where is the zebra zebra?", title="Zebra", markup="text"),
        *(Post(f"q/{n}", "answer", f"The zebra is here {n}.", markup="text", parent="q") for n in range(2)),
    ]
    books = [
        Post(f"b.bib#{n}", "reference", f"A zebra book {n}.", title=f"Book {n}", markup="text")
        for n in range(3)
    ]
    return [*sections, *forum, *books]


@pytest.fixture(scope="module")
def folder(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("grouped") / "index"
    build(out, _posts(), model_folder)
    return out


@pytest.fixture(scope="module")
def index(folder: Path) -> Iterator[Index]:
    with Index.open(folder, device="cpu") as opened:
        yield opened


def _groups(hits: Hits) -> list[list[str]]:
    return [[hit.id, *(other.id for other in hit.others)] for hit in hits]


def test_pages_of_groups_hold_all_hits_once_in_their_order(index: Index) -> None:
    plain = index.search("zebra", strategy="lexical", k=100)
    ranks = {hit.id: hit.rank for hit in plain}
    pages, offset = [], 0
    while True:
        page = index.search("zebra", strategy="lexical", k=3, offset=offset, group="document")
        pages.append(page)
        offset += 3
        if not page.more:
            break
        assert len(page) == 3
    found = list(chain.from_iterable(map(_groups, pages)))
    assert sorted(chain.from_iterable(found)) == sorted(ranks)
    assert [ranks[group[0]] for group in found] == sorted(ranks[group[0]] for group in found)
    for hit in chain.from_iterable(pages):
        assert [each.rank for each in (hit, *hit.others)] == [ranks[each.id] for each in (hit, *hit.others)]
    whole = index.search("zebra", strategy="lexical", k=100, group="document")
    assert _groups(whole) == found
    by_document = {frozenset(each.partition("#")[0] for each in group) for group in found}
    assert all(len(names) == 1 for names in by_document if "q" not in names)
    assert any({"q", "q/0"} <= set(group) for group in found)
    assert all(len(group) == 1 for group in found if group[0].startswith("b.bib"))


def test_searches_are_grouped_only_on_request_and_formulas_never(index: Index) -> None:
    assert not any(hit.others for hit in index.search("zebra", strategy="lexical"))
    with pytest.raises(MathAMRError, match="not grouped"):
        index.search("$x$", "formulas", group="document")


def test_the_shell_groups_for_people_and_programs_ask_for_it(folder: Path) -> None:
    def run(*arguments: str) -> str:
        ran = CliRunner().invoke(app, ["search", str(folder), "zebra", "--strategy", "lexical", *arguments])
        assert ran.exit_code == 0, ran.output
        return ran.stdout

    assert "folded under them" in run()
    assert "folded under them" not in run("--no-group")
    assert not any("others" in hit for hit in json.loads(run("--json"))["hits"])
    grouped = json.loads(run("--json", "--group", "--editor", "vscode"))["hits"]
    others = [other for hit in grouped for other in hit.get("others", ())]
    assert others
    assert all(other["open"].startswith("vscode:") for other in others if other["place"])
    ran = CliRunner().invoke(app, ["search", str(folder), "$x$", "--task", "formulas", "--group"])
    assert ran.exit_code == 2
