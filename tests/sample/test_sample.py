"""The sample corpus that is shipped is what its sources compile to; `test_build_sample.py` says what compiling checks."""

from __future__ import annotations

import html
import importlib
import re
from xml.etree import ElementTree

import pytest

from mathamr.sample import folder
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def posts() -> dict[str, dict[str, str]]:
    return {row.attrib["Id"]: row.attrib for row in ElementTree.parse(folder() / "Posts.xml").getroot()}


def topics(task: int) -> dict[str, dict[str, str]]:
    root = ElementTree.parse(folder() / "topics" / f"task{task}.xml").getroot()
    return {topic.attrib["number"]: {child.tag: child.text or "" for child in topic} for topic in root}


def test_compiled_files_are_what_the_sources_compile_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    compiled = importlib.import_module("build_sample").compile_sample(ROOT / "sample" / "areas")
    shipped = {
        path.relative_to(folder()).as_posix(): path.read_text(encoding="utf-8")
        for path in folder().rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    stale = sorted(
        name for name in compiled.keys() | shipped.keys() if compiled.get(name) != shipped.get(name)
    )
    assert not stale, "run python scripts/build_sample.py"


def test_bodies_are_balanced_html(posts: dict[str, dict[str, str]]) -> None:
    for post in posts.values():
        root = ElementTree.fromstring(f"<div>{post['Body']}</div>")
        assert {child.tag for child in root} <= {"p", "ul", "ol", "blockquote", "pre", "table"}


def test_no_markdown_is_left_in_the_text(posts: dict[str, dict[str, str]]) -> None:
    for post_id, post in posts.items():
        prose = re.sub(r"<span.*?</span>|<code>.*?</code>", "", post["Body"], flags=re.DOTALL)
        assert not re.search(r"\*\S|\S\*|`|\$|\]\(|^[|>-]", html.unescape(prose), re.MULTILINE), post_id


def test_topics_are_no_questions_of_the_corpus(posts: dict[str, dict[str, str]]) -> None:
    def plain(text: str) -> str:
        return re.sub(r' id="[^"]*"', "", text)

    corpus = {plain(post[part]) for post in posts.values() for part in ("Title", "Body") if part in post}
    for topic in (*topics(1).values(), *topics(2).values()):
        assert plain(topic["Title"]) not in corpus
        assert plain(topic["Question"]) not in corpus
