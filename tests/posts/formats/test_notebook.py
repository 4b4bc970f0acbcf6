"""Notebooks: what is damaged is reported, and posts know their cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mathamr.posts.format import Collection
from mathamr.posts.formats.notebook import read_notebook
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report


def read(path: Path) -> tuple[list[str], Report]:
    report = Report()
    return [post.id for post in read_posts(path, report, "notebook")], report


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", "{}", '{"cells": 3}', '{"cells": [1, null, {}]}', '{"worksheets": [3, {"cells": [[]]}]}',
        '{"cells": [{"cell_type": "markdown", "source": [1, {}]}]}', '{"cells": [{"cell_type": "markdown"}]}',
    ],
)  # fmt: skip
def test_what_is_no_notebook_gives_no_post_and_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.ipynb").write_text(text)
    (tmp_path / "b.ipynb").write_text(
        json.dumps({"cells": [{"cell_type": "heading", "level": 99, "source": "Good"}]})
    )
    found, report = read(tmp_path)
    assert found == ["b.ipynb"]
    assert report.skipped["damaged notebook"] + report.ignored.total() == 1


def test_the_text_of_one_notebook_is_bounded(tmp_path: Path) -> None:
    cells = [{"cell_type": "markdown", "source": f"Cell {n} " + "x" * 30} for n in range(10)]
    path, report = tmp_path / "a.ipynb", Report()
    path.write_text(json.dumps({"cells": cells}))
    (post,) = read_notebook(Collection(tmp_path, (path,)), report, largest_text=100)
    assert [f"Cell {n}" in post.body for n in range(10)] == [True, True] + [False] * 8
    assert report.skipped["damaged notebook"] == 1


def test_a_section_stands_at_the_line_of_its_cell_and_names_the_cell(tmp_path: Path) -> None:
    words = "Words about $x$ that fill a section, one after the other. " * 20
    sources = ["# Book \u00fc\n", f"{words}\n", "## Part one\n", words, "## Part two\n", words]
    cells = [{"cell_type": "markdown", "source": [source]} for source in sources]
    file = tmp_path / "a.ipynb"
    for ascii_only in (True, False):
        file.write_text(json.dumps({"cells": cells}, indent=1, ensure_ascii=ascii_only), encoding="utf-8")
        lines = file.read_text(encoding="utf-8").splitlines()
        posts = list(read_posts(tmp_path, Report()))
        assert [post.title for post in posts] == [
            "Book \u00fc",
            "Book \u00fc: Part one",
            "Book \u00fc: Part two",
        ]
        for post, heading in zip(posts, ("# Book", "## Part one", "## Part two"), strict=True):
            assert post.place is not None
            assert heading in lines[post.place.line - 1]
        assert [str(post.place) for post in posts] == [f"a.ipynb, cell {number}" for number in (1, 3, 5)]
        assert [Post.from_json(post.to_json()) for post in posts] == posts
