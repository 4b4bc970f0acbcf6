"""What notebooks show is asked of a real IPython shell; hostile text stays text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import mathamr
from mathamr.adapters.notebook import PICTURES, TABLES, register
from mathamr.amr.graph import Amr
from mathamr.search.searcher import Index

SVG = "{http://www.w3.org/2000/svg}svg"


@pytest.fixture
def shell() -> Iterator[Any]:
    shells = pytest.importorskip("IPython.core.interactiveshell")
    made = shells.InteractiveShell.instance()
    register(made)
    yield made
    shells.InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def index(small_index: Path) -> Iterator[Index]:
    with Index.open(small_index) as opened:
        yield opened


def shown(shell: Any, value: object) -> dict[str, str]:
    found, _ = shell.display_formatter.format(value)
    return dict(found)


def test_trees_graphs_and_explanations_are_pictures(shell: Any, index: Index) -> None:
    values = (
        mathamr.parse_formula("x^2+1"),
        mathamr.make_graph("Let $x^2$ be prime."),
        Amr.from_penman("(b / boy :ARG0-of (r / run-01))"),
        index.explain("sum of squares", next(iter(index.search("sum"))).id),
    )
    assert len(values) == len(PICTURES)
    for value in values:
        assert ElementTree.fromstring(shown(shell, value)["image/svg+xml"]).tag == SVG


def test_hits_are_a_table_with_drawn_formulas(shell: Any, index: Index) -> None:
    html = shown(shell, index.search("$\\sum 1/n^2$"))["text/html"]
    assert html.count("<tr>") == 10
    assert "<math" in html.partition("<table>")[0], "the query's formula is drawn too"
    assert "<math" in html.partition("<table>")[2]
    assert "text/html" not in shown(shell, index.search("$x$")[0])  # a single hit stays text
    assert len(TABLES) == 2


def test_hostile_entries_stay_text(shell: Any, tmp_path: Path) -> None:
    evil = '<img src=x onerror="alert(1)"> $\\href{javascript:alert(1)}{x}$ <script>alert(1)</script>'
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text(f"# Evil {evil}\n\nsum {evil}\n", encoding="utf-8")
    mathamr.build_index([notes], tmp_path / "index", mathamr.BuildOptions(device="cpu"))
    with Index.open(tmp_path / "index") as opened:
        html = shown(shell, opened.search(f"sum {evil}"))["text/html"]
    assert "<script" not in html
    assert "<img" not in html
    assert "javascript:" not in html.replace("\\href{javascript:alert(1)}", "")


def test_an_evaluation_is_a_table_with_its_tests(shell: Any, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("".join(f"A.{n} 0 d{m} {m % 3}\n" for n in range(5) for m in range(6)))
    for name, sign in (("good", 1), ("bad", -1)):
        rows = [f"A.{n} Q0 d{m} 1 {sign * (m % 3) + n / 10} {name}\n" for n in range(5) for m in range(6)]
        (tmp_path / name).write_text("".join(rows))
    found = mathamr.compare_runs(tmp_path / "q", tmp_path / "good", baseline=tmp_path / "bad")
    html = shown(shell, found)["text/html"]
    assert html.count("<table>") == 2, "columns of plain text are not aligned everywhere"
    assert "good" in html
    assert "interval" in html


def test_hits_and_runs_are_data_frames(index: Index, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    frame = index.search("sum", k=5).to_dataframe()
    assert list(frame["rank"]) == [1, 2, 3, 4, 5]
    assert all(isinstance(title, str) for title in frame["title"])
    (tmp_path / "run").write_text("A.1 Q0 d1 1 3.5 mine\nA.1 Q0 d2 2 2.5 mine\n")
    rows = mathamr.read_run(tmp_path / "run").to_dataframe()
    assert rows.to_dict("records")[1] == {"qid": "A.1", "docno": "d2", "score": 2.5, "rank": 1}


def test_all_posts_of_an_index_are_read_in_order(index: Index) -> None:
    assert len(list(index.posts())) == len(index)
