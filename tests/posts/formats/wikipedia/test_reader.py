"""Damage in a dump stays in its page, and is counted."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from mathamr.posts.formats.wikipedia.reader import _pages
from mathamr.posts.report import Report
from tests.cases import cases
from tests.posts.reading import read_files


def page(title: str, text: str) -> str:
    return f"<page><title>{title}</title><revision><text>{text}</text></revision></page>\n"


def test_a_page_of_more_than_ten_megabytes_is_left_out_alone(tmp_path: Path) -> None:
    large = page("Large", "word " * 2_200_000)
    posts, report = read_files(
        tmp_path, a_xml=f"<mediawiki>{page('A', 'Words.')}{large}{page('B', 'More.')}</mediawiki>"
    )
    assert list(posts) == ["A", "B"]
    assert report.skipped == {"row too large": 1}


def test_a_page_is_not_held_in_memory_beyond_a_bound() -> None:
    dump = f"<mediawiki>\n{page('A', 'x')}{page('B', 'y' * 5_000_000)}{page('C', 'z')}</mediawiki>".encode()
    report = Report()
    found = [(root.findtext("title"), line) for root, line in _pages(io.BytesIO(dump), "a", report, 1 << 20)]
    assert [title for title, _ in found] == ["A", "C"]
    assert report.skipped == {"row too large": 1}


@cases(
    ("source", "said"),
    [
        ("one &unknown; needle", "one &unknown; needle"),
        ("one &nbsp;needle", "one \N{NO-BREAK SPACE}needle"),
        ("one &eacute; needle", "one é needle"),
        ("one <![CDATA[&eacute;]]> needle", "one é needle"),
        ("one <b>needle</b>", "one needle"),
        ("one &lt;div class='a'&gt;needle&lt;/div&gt;", "one needle"),
    ],
)  # fmt: skip
def test_text_behind_what_is_unknown_is_read(tmp_path: Path, source: str, said: str) -> None:
    posts, report = read_files(tmp_path, a_xml=f"<mediawiki>{page('A', source)}</mediawiki>")
    assert said in posts["A"].body.replace("&amp;", "&")
    assert not report.skipped


@pytest.mark.parametrize(
    "damage", ["<page><title>T</title><revision><text>cut</text></revision>", "<b", page("T", "<b")]
)
def test_a_damaged_page_takes_none_with_it(tmp_path: Path, damage: str) -> None:
    posts, report = read_files(
        tmp_path, a_xml=f"<mediawiki>{page('A', 'Words.')}{damage}{page('B', 'More.')}</mediawiki>"
    )
    assert {"A", "B"} <= set(posts)
    assert "T" in posts or report.skipped or damage == "<b"
    assert "<page>" not in "".join(post.body for post in posts.values())


@pytest.mark.parametrize("end", ["", page("B", "More.")[:60], "<page>"])
def test_a_dump_that_breaks_off_is_counted_once(tmp_path: Path, end: str) -> None:
    posts, report = read_files(tmp_path, a_xml=f"<mediawiki>{page('A', 'Words.')}{end}")
    assert list(posts) == ["A"]
    assert report.skipped == {"truncated XML": 1}
