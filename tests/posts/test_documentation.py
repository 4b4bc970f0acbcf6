"""The pages about formats and passages: every format and field is named, and the examples hold."""

from __future__ import annotations

import doctest

from mathamr.posts.format import FORMATS
from mathamr.posts.post import Post
from mathamr.posts.postcounts import PostCounts
from mathamr.posts.postkind import KINDS, role_of
from mathamr.posts.report import Report
from tests.cases import cases
from tests.conftest import ROOT

TEXT = "".join(
    (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("reference", "formats")
)


def section(title: str) -> str:
    return TEXT.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


@cases("name", list(FORMATS))
def test_every_format_is_described(name):
    assert f"| `{name}` |" in section("Formats")


def test_every_field_of_a_post_is_in_the_schema():
    schema = section("The schema of JSON lines")
    assert [name for name in Post.__slots__ if f"| `{name}` |" not in schema] == []


def test_every_kind_is_listed_under_its_role():
    table = section("The schema of JSON lines").split("| role | kinds |")[1]
    listed = {
        row.split("|")[1].strip()[:5]: row.split("|")[2].split("`")[1::2] for row in table.splitlines()[2:5]
    }
    roles = {"question": "asked", "answer": "answe", "note": "neith"}
    assert {kind: role for role, kinds in listed.items() for kind in kinds} == {
        kind: roles[role_of(kind)] for kind in KINDS
    }


def test_the_example_of_passages_runs():
    found = doctest.testfile(str(ROOT / "docs" / "graphs.md"), module_relative=False)
    assert (found.attempted > 5, found.failed) == (True, 0)


def test_every_field_of_the_json_output_is_explained():
    explained = section("The JSON object")
    fields = [*PostCounts().to_dict(), *Report().to_dict()]
    assert [name for name in fields if f"`{name}`" not in explained] == []
