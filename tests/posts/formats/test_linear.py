"""Every reader takes time linear in the size of a text, whatever its author wanted: a generator for each way to make it try again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mathamr.index.indexing.analysis import analyse_all
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.slopes import slope

MOST = 1.4
"""Far from 2, which is quadratic, and far enough from 1 for a busy machine."""


def repeat(text: str, head: str = "", tail: str = "") -> Callable[[int], str]:
    return lambda size: head + text * (size // len(text)) + tail


def wiki(text: str, tail: str = "") -> Callable[[int], str]:
    before = "<mediawiki><page><title>A</title><revision><text>Words. "
    return repeat(text, before, f"{tail}</text></revision></page></mediawiki>")


GENERATORS: dict[str, tuple[str, Callable[[int], str]]] = {
    "comments before no root": ("a.xml", repeat("<!--a--><!--b-->", "<?xml?>")),
    "declarations before no root": ("a.xml", repeat("<?xml a?> ")),
    "comments before no page": ("a", repeat("<!--a-->", "<p>")),
    "quoted values that hold tags": ("a.html", repeat('<a "< <a ')),
    "quoted values that are never followed by a tag's end": ("a.html", repeat('<a b="<" ')),
    "quotes in tags": ("a.html", repeat("<a \"<'")),
    "annotations that are no LaTeX": ("a.html", lambda size: f"<p>Words <math><annotation {'x-tex' * (size // 5)}</math>"),
    "blanks behind a style": ("a.html", lambda size: f'<p>Words <math alttext="{{\\displaystyle{" " * size}x">y</math>'),
    "spans of formulas in each other": ("a.html", repeat('<span class="math">', "<p>Words ")),
    "spans that are closed but no formulas": ("a.html", lambda size: f"<p>Words {'<span class=math>' * (size // 24)}{'</span>' * (size // 24)}"),
    "a heading's signs": ("a.xml", lambda size: wiki(" =", "x\n")(size).replace("Words. ", "\n=a")),
    "blanks in a heading": ("a.xml", lambda size: wiki(" \t", "x\n")(size).replace("Words. ", "\n=a")),
    "raised words never closed": ("a.xml", wiki("&lt;sup&gt;", "}}")),
    "raised words in a template": ("a.xml", lambda size: wiki("&lt;sup&gt;", "}}")(size).replace("Words. ", "{{math|")),
    "categories": ("a.xml", lambda size: wiki("x", "".join(f"[[Category:{n}]]" for n in range(size // 17)))(1)),
}  # fmt: skip


@pytest.mark.parametrize("case", GENERATORS)
def test_a_text_is_read_in_time_linear_in_its_size(tmp_path: Path, case: str) -> None:
    name, text = GENERATORS[case]
    (tmp_path / "words.md").write_text("Words.")

    def read(size: int) -> None:
        (tmp_path / name).write_text(text(size), encoding="utf-8")
        list(analyse_all(read_posts(tmp_path, Report())))

    read(100)  # what is imported by the first reading is not measured
    assert slope(read, 40_000) < MOST
