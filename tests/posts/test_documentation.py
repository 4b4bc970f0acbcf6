"""`docs/formats.md` names every format, field and cause that there is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mathamr.posts
from mathamr.posts.format import FORMATS
from mathamr.posts.formats.stackexchange.tables import table_kind
from mathamr.posts.inputs import Head
from mathamr.posts.post import Post
from mathamr.posts.postcounts import PostCounts
from mathamr.posts.postkind import KINDS, role_of
from mathamr.posts.report import Report
from tests.conftest import ROOT

TEXT = "".join((ROOT / "docs" / f"{name}.md").read_text() for name in ("formats", "reading-report"))
SOURCES = sorted(Path(mathamr.posts.__path__[0]).rglob("*.py"))


def section(title: str) -> str:
    return TEXT.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def causes() -> Iterator[str]:
    """The first argument of every `report.skip(…)` and its like in the sources, where it is a literal."""
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("skip", "repair", "miss", "ignore")
                and node.args
            ):
                first = node.args[0]
                first = first.values[0] if isinstance(first, ast.JoinedStr) else first
                if isinstance(first, ast.Constant):
                    yield str(first.value).strip()


def test_every_cause_is_explained():
    explained, known = section("Causes"), set(causes())
    assert {cause for cause in known if f"`{cause}" not in explained} == set()
    assert len(known) > 25


@pytest.mark.parametrize("name", list(FORMATS))
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


def test_every_field_of_the_json_output_is_explained():
    explained = section("The JSON object")
    fields = [*PostCounts().to_dict(), *Report().to_dict()]
    assert [name for name in fields if f"`{name}`" not in explained] == []


def test_the_columns_in_the_docs_are_those_of_tables():
    rows = [
        line for line in section("Formats").splitlines() if line.startswith("| `id`") or "_id`" in line[:20]
    ]
    kinds = []
    for row in rows:
        columns = row.split("|")[1].split("`")[1::2]
        kinds.append(table_kind(Head(Path("table.tsv"), "\t".join(columns).encode())))
    assert kinds == ["formulas", "formulas", "mathml", "links"]
