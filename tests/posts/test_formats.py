"""Small files of every format and dialect, and what must be found in each: the contract of the readers.

`examples/NAME/` is a folder as a user may have it; `examples/NAME.json` says what reading it must give: its `format`,
its `posts` by id in order, and the `problems` that are told. Of a post only what is declared is compared:

| field | what must hold |
|---|---|
| `kind`, `title`, `parent`, `tags`, `date`, `macros`, `aliases` | equal |
| `path`, `line`, `label`, `inside` | equal to those of its place |
| `at` | stands in the line of its file that its place names |
| `formulas`, `displayed` | the LaTeX of all formulas, of those that are displayed |
| `links` | target and type of all links, with their words and label where they are declared |
| `words`, `no_words` | each stands, or does not, in the sentences of the post's passage |
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mathamr.posts.format import FORMATS, detect
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

EXAMPLES = Path(__file__).parent / "examples"
DECLARED: dict[str, dict[str, Any]] = {
    file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(EXAMPLES.glob("*.json"))
}
FIELDS = ("kind", "title", "parent", "tags", "date", "macros", "aliases")


@pytest.fixture(scope="module", params=DECLARED)
def reading(request) -> tuple[dict[str, Any], Path, dict[str, Post], Report]:
    """A declaration, its folder, and what is read from it."""
    folder, report = EXAMPLES / request.param, Report()
    return DECLARED[request.param], folder, {post.id: post for post in read_posts(folder, report)}, report


def test_every_reader_has_a_folder_and_every_folder_a_declaration():
    assert {declared["format"] for declared in DECLARED.values()} == set(FORMATS)
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert folders == set(DECLARED)


def test_its_files_are_recognised(reading):
    declared, folder, _, _ = reading
    for name in declared.get("files", []) or [
        post["path"] for post in declared["posts"].values() if "path" in post
    ]:
        assert detect(folder / name) == declared["format"]


def test_its_posts_are_found_in_order(reading):
    declared, _, posts, _ = reading
    assert list(posts) == list(declared["posts"])


def test_its_problems_are_reported_and_no_others(reading):
    declared, _, _, report = reading
    reported = report.skipped + report.repaired + report.missing
    assert dict(reported) == declared.get("problems", {})


def test_each_post_is_what_it_is_declared_to_be(reading):
    declared, _, posts, _ = reading
    for name, expected in declared["posts"].items():
        found = {field: getattr(posts[name], field) for field in FIELDS if field in expected}
        assert found == {field: _frozen(expected[field]) for field in FIELDS if field in expected}, name


def test_each_post_stands_where_it_is_declared_to(reading):
    declared, folder, posts, _ = reading
    for name, expected in declared["posts"].items():
        place = posts[name].place
        for field in ("path", "line", "label", "inside"):
            if field in expected:
                assert place is not None, name
                assert getattr(place, field) == _frozen(expected[field]), (name, field)
        if "at" in expected:
            assert place is not None, name
            line = (folder / place.path).read_text(encoding="utf-8").splitlines()[place.line - 1]
            assert expected["at"] in line, name


def test_the_formulas_of_each_post_are_those_declared(reading):
    declared, _, posts, _ = reading
    for name, expected in declared["posts"].items():
        formulas = posts[name].formulas
        if "formulas" in expected:
            assert [formula.latex for formula in formulas] == expected["formulas"], name
        if "displayed" in expected:
            assert [formula.latex for formula in formulas if formula.display] == expected["displayed"], name


def test_the_links_of_each_post_are_those_declared(reading):
    declared, _, posts, _ = reading
    for name, expected in declared["posts"].items():
        if "links" in expected:
            found = [[link.target, link.type, link.words, link.label] for link in posts[name].links]
            kept = [link[: len(wanted)] for link, wanted in zip(found, expected["links"], strict=False)]
            assert kept + found[len(kept) :] == expected["links"], name


def test_the_words_of_each_post_are_read_and_its_marks_are_not(reading):
    declared, _, posts, _ = reading
    for name, expected in declared["posts"].items():
        text = passage(posts[name]).text
        assert [words for words in expected.get("words", []) if words not in text] == [], (name, text)
        assert [words for words in expected.get("no_words", []) if words in text] == [], (name, text)


def test_its_formulas_are_those_of_its_passages_each_under_its_own_id(reading):
    _, _, posts, _ = reading
    formulas = [formula.id for post in posts.values() for formula in post.formulas]
    assert len(set(formulas)) == len(formulas)
    assert formulas == [id for post in posts.values() for id in passage(post).formula_map.values()]


def test_its_posts_survive_json_lines(reading, tmp_path):
    declared, _, posts, _ = reading
    path, report = tmp_path / "all.jsonl", Report()
    path.write_text("".join(post.to_json() + "\n" for post in posts.values()), encoding="utf-8")
    assert {post.id: post for post in read_posts(path, report)} == posts
    assert dict(report.skipped + report.repaired).items() <= declared.get("problems", {}).items()


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
