from dataclasses import fields

from mathamr.posts.post import Formula, Link, Place, Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

POST = Post(
    id="book.tex#thm:main",
    kind="theorem",
    body="Every $x$ is, by \\cref{lem:a}.",
    title="Theorem",
    markup="latex",
    parent="book.tex#sec:1",
    accepted_answer="book.tex#thm:main/proof",
    tags=("limits", "real-analysis"),
    score=4,
    date="2020-01-02",
    macros=("\\newcommand{\\R}{\\mathbb{R}}",),
    aliases=("main theorem",),
    keywords=("theorem, main",),
    links=(
        Link("book.tex#lem:a", "mention", "lemma", "lem:a"),
        Link("", "mention", "elsewhere", "thm:other"),
        Link("9"),
    ),
    source="book.tex",
    formulas=(Formula("book.tex#thm:main:0", "x"),),
    place=Place("book.tex", 17, "thm:main", ("eq:1", "eq:2")),
)


def test_a_post_with_every_field_is_the_same_after_its_line_of_json(tmp_path):
    empty = Post("", "note", "")
    assert [
        field.name for field in fields(Post) if getattr(POST, field.name) == getattr(empty, field.name)
    ] == []
    assert Post.from_json(POST.to_json()) == POST
    file = tmp_path / "posts.jsonl"
    file.write_text(POST.to_json() + "\n", encoding="utf-8")
    report = Report()
    assert list(read_posts(file, report)) == [POST]
    assert not report.skipped + report.repaired


def test_defaults_are_not_written():
    line = Post("1", "note", "x", place=Place("a.md", 3), links=(Link("2"),)).to_json()
    assert '"place": {"path": "a.md", "line": 3}' in line
    assert '"links": [{"target": "2", "type": "related"}]' in line


def test_a_damaged_place_is_left_out_and_reported(tmp_path):
    file = tmp_path / "posts.jsonl"
    file.write_text(
        '{"id": "1", "body": "a", "place": 7}\n'
        '{"id": "2", "body": "a", "place": {"path": "b.md", "line": -4, "inside": 9}}\n',
        encoding="utf-8",
    )
    first, second = read_posts(file, report := Report())
    assert first.place is None
    assert second.place == Place("b.md", 1)
    assert report.repaired["wrong type"] == 3


def test_all_labels_lead_to_a_post_its_own_first():
    assert Place("a", 1, "thm:a", ("eq:1", "thm:a")).labels == ("thm:a", "eq:1")
    assert Place("a").labels == ()
