from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.posts.format import detect
from mathamr.posts.post import Link
from tests.posts.reading import read


def row(**attributes: object) -> str:
    return "<row " + " ".join(f"{name}={quoteattr(str(value))}" for name, value in attributes.items()) + " />"


def write(path: Path, *rows: str, root: str = "posts") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n<{root}>\n' + "\n".join(rows) + f"\n</{root}>")
    return path


QUESTION = row(
    Id=7,
    PostTypeId=1,
    AcceptedAnswerId=9,
    CreationDate="2011-03-02T10:00:00.000",
    Score=-3,
    ViewCount=12,
    Body="<p>Is $x<y$ or \\(a\\) when $$z=1.$$ <code>$no$</code></p>\n\\begin{align}p&amp;=q\\end{align}",
    Title="Why is $2^n > n$ & not less?",
    Tags="<number-theory><c++>",
)
ANSWER = row(Id=9, PostTypeId=2, ParentId=7, Score=5, Body="<p>Because.</p>")


def test_every_field_of_a_dump_is_read(tmp_path):
    path = write(tmp_path / "Posts.xml", QUESTION, ANSWER)
    assert detect(path) == "stackexchange"
    posts, report = read(path)
    question, answer = posts["7"], posts["9"]
    assert question.kind == "question"
    assert question.title == "Why is $2^n > n$ & not less?"
    assert question.body.startswith("<p>Is $x<y$ or")
    assert question.accepted_answer == "9"
    assert question.score == -3
    assert question.date == "2011-03-02T10:00:00.000"
    assert question.tags == ("number-theory", "c++")
    assert question.markup == "html"
    assert (answer.kind, answer.parent, answer.score, answer.title) == ("answer", "7", 5, "")
    assert not report.skipped + report.repaired


@pytest.mark.parametrize(
    "tags", ["<limits><real-analysis>", "|limits|real-analysis|", "limits real-analysis"]
)
def test_tags_are_read_in_each_syntax(tmp_path, tags):
    posts, _ = read(write(tmp_path / "Posts.xml", row(Id=1, PostTypeId=1, Tags=tags, Body="x")))
    assert posts["1"].tags == ("limits", "real-analysis")


def test_other_post_types_are_skipped_and_counted_by_type(tmp_path):
    rows = [row(Id=n, PostTypeId=kind, Body="x") for n, kind in enumerate([1, 4, 5, 5, 99], 1)]
    posts, report = read(write(tmp_path / "Posts.xml", *rows))
    assert list(posts) == ["1"]
    assert dict(report.skipped) == {
        "post type 5 (tag wiki)": 2,
        "post type 4 (tag wiki excerpt)": 1,
        "post type 99 (unknown)": 1,
    }


def test_damaged_rows_are_reported_with_file_and_row_and_nothing_else_is_lost(tmp_path):
    path = write(
        tmp_path / "Posts.xml",
        row(Id=1, PostTypeId=1, Body="<p>first</p>"),
        row(PostTypeId=1, Body="no id"),
        '<row Id="3" PostTypeId="1" Body="a "quoted" word" />',
        row(Id=1, PostTypeId=2, ParentId=1, Body="the same id again"),
        row(Id=5, Body="no type"),
        row(Id=6, PostTypeId=2, Body="no parent"),
        row(Id=7, PostTypeId=1, Score="many", Body="an unclosed $ sign, and an empty $$$$ one"),
        row(Id=8, PostTypeId=1, Body="$\\text{nested $x$ formula}$"),
        row(Id=9, PostTypeId=1, Body="<p>last $x$</p>"),
    )
    posts, report = read(path)
    assert list(posts) == ["1", "3", "5", "6", "7", "8", "9"]
    assert posts["3"].body == "a "
    assert posts["1"].body == "<p>first</p>"
    assert dict(report.skipped) == {"no id": 1, "duplicate id": 1}
    assert {"damaged row", "no post type", "answer without parent", "score not a number"} <= set(
        report.repaired
    )
    assert any(cause.startswith(("unclosed", "empty")) for cause in report.repaired)
    places = {cause: problems[0].row for cause, problems in report.examples.items()}
    assert places["no id"] == 2
    assert places["damaged row"] == 3
    assert places["duplicate id"] == 4
    assert all(problem.file == str(path) for problems in report.examples.values() for problem in problems)


def test_links_beside_the_posts_are_taken_up(tmp_path):
    write(
        tmp_path / "PostLinks.xml",
        row(Id=1, PostId=7, RelatedPostId=5, LinkTypeId=1),
        row(Id=2, PostId=7, RelatedPostId=6, LinkTypeId=3),
        row(Id=3, PostId=8, RelatedPostId=6, LinkTypeId=3),
        row(Id=4, PostId=8, RelatedPostId=6, LinkTypeId=42),
        row(Id=5, PostId=8, LinkTypeId=1),
        root="postlinks",
    )
    posts, report = read(write(tmp_path / "Posts.xml", QUESTION, ANSWER))
    assert posts["7"].links == (Link("5", "related"), Link("6", "duplicate"))
    assert posts["9"].links == ()
    assert dict(report.skipped) == {"other link type": 1, "damaged link": 1}


def test_a_folder_of_a_dump_reads_its_posts_and_names_what_else_lies_there(tmp_path):
    write(tmp_path / "Posts.xml", QUESTION, ANSWER)
    write(tmp_path / "PostLinks.xml", row(Id=1, PostId=7, RelatedPostId=9, LinkTypeId=1), root="postlinks")
    write(tmp_path / "Users.xml", row(Id=1, Reputation=3), root="users")
    posts, report = read(tmp_path)
    assert list(posts) == ["7", "9"]
    assert posts["7"].links == (Link("9", "related"),)
    assert not report.skipped
    assert dict(report.ignored) == {"not posts: .xml files": 1}
    assert report.examples["not posts: .xml files"][0].file == str(tmp_path / "Users.xml")


def test_the_dumps_of_several_sites_are_kept_apart(tmp_path):
    link = row(Id=1, PostId=7, RelatedPostId=9, LinkTypeId=1)
    for site in ("math", "physics"):
        write(tmp_path / site / "Posts.xml", QUESTION, ANSWER)
    write(tmp_path / "math" / "PostLinks.xml", link, root="postlinks")
    posts, report = read(tmp_path)
    assert list(posts) == ["math/7", "math/9", "physics/7", "physics/9"]
    assert posts["physics/9"].parent == "physics/7"
    assert posts["math/7"].accepted_answer == "math/9"
    assert posts["math/7"].links == (Link("math/9", "related"),)
    assert posts["physics/7"].links == ()
    assert posts["math/7"].formulas[0].id == "math/7:0"
    assert not report.skipped


def test_a_table_of_links_named_by_the_user_must_be_one(tmp_path):
    path = write(tmp_path / "dump" / "Posts.xml", QUESTION)
    links = tmp_path / "links.tsv"
    links.write_text("post_id\trelated_post_id\tlink_type\n7\t5\t3\n")
    posts, _ = read(path, beside=[links])
    assert posts["7"].links == (Link("5", "duplicate"),)
    other = tmp_path / "other.tsv"
    other.write_text("a\tb\n")
    with pytest.raises(MathAMRError, match=r"other\.tsv: not a formula, MathML or link table"):
        read(path, beside=[other])
    with pytest.raises(MathAMRError, match=r"none\.tsv: no such file"):
        read(path, beside=[tmp_path / "none.tsv"])
