"""Notebooks: what is damaged is reported, and posts know their cells."""

from __future__ import annotations

import json
from pathlib import Path

from mathamr.posts.format import Collection
from mathamr.posts.formats.notebook import read_notebook
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.cases import cases


def read(path: Path) -> tuple[list[str], Report]:
    report = Report()
    return [post.id for post in read_posts(path, report, "notebook")], report


@cases(
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


def test_a_post_names_the_cell_in_which_it_begins(tmp_path):
    cells = [
        {"cell_type": "code", "source": "1 + 1", "outputs": []},
        {"cell_type": "markdown", "source": "# Title\n\n" + "word " * 500},
        {"cell_type": "code", "source": "2", "outputs": []},
        {"cell_type": "markdown", "source": "## Second\n\n" + "other $x$ " * 300},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}, indent=1))
    found = list(read_posts(tmp_path / "a.ipynb", Report()))
    assert [str(post.place) for post in found] == ["a.ipynb, cell 2", "a.ipynb, cell 4"]
    assert [Post.from_json(post.to_json()) for post in found] == found
