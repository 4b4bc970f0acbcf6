"""What is read is in posts or counted: words planted into the examples of every format, whole, damaged and cut."""

from __future__ import annotations

import json
import random
import re
import shutil
import zipfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.posts.accounting import WordAccount
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.cases import cases
from tests.folders import write_files
from tests.posts.documents import zipped

EXAMPLES = Path(__file__).parent / "examples"
FORMATS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
KINDS = 3
"""Every third place gets a word, so that most of a document stays as it is."""
_XML_TEXT = re.compile(r">([^<>]*[^\s<>][^<>]*)(?=<)")
_WORD_TEXT = re.compile(r"<w:(?:t|delText)\b[^<>]*>[^<>]*(?=<)")
_ATTRIBUTE = re.compile(r"\b(Body|Title)=\"[^\"]*(?=\")")
_LINE = re.compile(r"[^\n]*\S(?=[ \t]*(?:\n|\Z))")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?=(?:\\n)?"\s*[,\]}])')
_PATTERNS = {
    ".xml": _XML_TEXT,
    ".xhtml": _XML_TEXT,
    ".html": _XML_TEXT,
    ".ptx": _XML_TEXT,
    ".ipynb": _STRING,
    ".jsonl": _STRING,
}
READ = {
    "asciidoc": 0.6, "commonmark": 0.9, "dollars": 0.7, "epub": 0.6, "html": 0.4, "latex": 0.4, "org": 0.6, "rst": 0.6, "text": 0.7,
    "word": 0.8, "wikipedia": 0.25, "pretext": 0.7, "stackexchange": 0.9, "arqmath": 0.9,
}  # fmt: skip
"""The part of the planted words that posts must hold: the others stand in comments, preambles, settings, navigation and proofs."""


def word(number: int) -> str:
    """A word of letters alone that no example has."""
    return "qz" + "".join("abcdefghij"[int(digit)] for digit in f"{number:04}") + "zq"


def planted(text: str, pattern: re.Pattern[str], first: int, numbers: Iterator[int]) -> str:
    """The text with a new word at the end of every third match."""
    places = count(first)

    def plant(match: re.Match[str]) -> str:
        return match.group() if next(places) % KINDS else f"{match.group()} {word(next(numbers))}"

    return pattern.sub(plant, text)


def plant_file(path: Path, first: int, numbers: Iterator[int]) -> None:
    """Plant words into a file, or into the files in it."""
    suffix = path.suffix
    if suffix in (".docx", ".epub"):
        with zipfile.ZipFile(path) as archive:
            members = {each: archive.read(each) for each in archive.namelist()}
        for name, content in members.items():
            if name.endswith((".html", ".xhtml")) or name == "word/document.xml":
                pattern = _WORD_TEXT if name.startswith("word/") else _XML_TEXT
                members[name] = planted(content.decode(), pattern, first, numbers).encode()
        path.write_bytes(zipped(members))
    elif suffix not in (".pdf", ".gz", ".tsv") and not path.name.startswith("."):
        text = path.read_text(encoding="utf-8")
        pattern = _ATTRIBUTE if "PostTypeId" in text else _PATTERNS.get(suffix, _LINE)
        path.write_text(planted(text, pattern, first, numbers), encoding="utf-8")


def words_of(posts: list[Post]) -> str:
    """Everything by which the posts can be found."""
    return "\n".join(post.to_json() for post in posts)


def read(folder: Path) -> tuple[list[Post], Report]:
    report = Report()
    try:
        return list(read_posts(folder, report)), report
    except MathAMRError as error:
        report.skip("nothing read", str(error))
        return [], report


@pytest.mark.parametrize("name", FORMATS)
def test_each_planted_word_is_in_a_post_or_counted(tmp_path: Path, name: str) -> None:
    number, found = 0, 0
    for first in range(KINDS):
        folder = shutil.copytree(
            EXAMPLES / name, tmp_path / str(first), ignore=shutil.ignore_patterns("__pycache__")
        )
        numbers = count(number)
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                plant_file(path, first, numbers)
        end = next(numbers)
        posts, report = read(folder)
        said = words_of(posts)
        lost = [word(n) for n in range(number, end) if word(n) not in said]
        counted = report.account.left_out + report.skipped.total() + report.ignored.total()
        assert len(lost) <= counted, lost
        found += end - number - len(lost)
        number = end
    assert found >= READ.get(name, 0) * number


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_document_loses_nothing_in_silence(tmp_path: Path, name: str) -> None:
    whole, before = read(shutil.copytree(EXAMPLES / name, tmp_path / "w"))
    for seed in range(4):
        chance = random.Random(seed)
        folder = shutil.copytree(EXAMPLES / name, tmp_path / str(seed))
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.stat().st_size:
                data = path.read_bytes()
                place = chance.randrange(len(data))
                path.write_bytes(data[:place] + (b"", data[place + 9 :], b"<" + data[place:])[seed % 3])
        posts, after = read(folder)
        gone = len(words_of(whole)) - len(words_of(posts))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        counted = (
            after.account.left_out + after.skipped.total() + after.ignored.total() + after.repaired.total()
        )
        is_cut = size < sum(path.stat().st_size for path in (EXAMPLES / name).rglob("*") if path.is_file())
        assert gone <= 0 or counted or is_cut, (seed, gone, before.lines(), after.lines())


def account_of(name: str, text: str, folder: Path) -> WordAccount:
    write_files(folder, {name: text})
    return read(folder / name)[1].account


@cases(
    ("name", "text", "left"),
    [
        ("a.md", "One two needle.\n", set()),
        ("a.typ", "Words. // needle\n", {"needle"}),
        ("a.tex", "\\documentclass{article}% needle\n\\begin{document}Words.\\end{document}", {"needle"}),
        ("a.html", "<html><body><nav>needle</nav><p>Words.</p></body></html>", {"needle"}),
        ("a.html", "<html><script>needle()</script><style>needle {}</style><!-- needle --><p class='needle'>Words.</p></html>", set()),
        ("a.rst", "Words.\n\n.. needle\n", {"needle"}),
        ("a.org", "Words.\n# needle\n", {"needle"}),
        ("a.adoc", "Words.\n\n// needle\n", {"needle"}),
        ("a.lean", "/-- Words. -/\ntheorem a : b := by\n  needle\n", {"needle"}),
        ("a.bib", "@book{a, title={Words}, isbn={needle}}", {"needle"}),
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": "Words."}, {"cell_type": "code", "source": ["needle"]}]}), {"needle"}),
        ("a.jsonl", json.dumps({"id": "1", "body": "Words.", "remark": "needle"}), {"needle"}),
    ],
)  # fmt: skip
def test_what_a_reader_leaves_out_is_counted(tmp_path: Path, name: str, text: str, left: set[str]) -> None:
    account = account_of(name, text, tmp_path)
    shown = {each for _, words in account.examples for each in words}
    assert left <= shown
    assert ("needle" in shown) == bool(left)
    assert account.left_out >= len(left)
    assert account.left_out < account.read


def test_words_of_one_document_do_not_stand_for_those_of_another() -> None:
    account = WordAccount()
    account.took("needle words", "a")
    account.gave(Post("a", "note", "words"))
    account.took("more words", "b")
    account.gave(Post("b", "note", "needle more words"))
    account.close()
    assert (account.read, account.left_out, account.examples) == (4, 1, [("a", ["needle"])])
