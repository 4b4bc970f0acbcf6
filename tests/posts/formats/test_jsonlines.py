from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.format import Collection, detect
from mathamr.posts.formats.jsonlines import markup_of, read_jsonlines
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.cases import cases


def read(folder: Path, *lines: object) -> tuple[list[Post], Report]:
    path = folder / "posts.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8", errors="surrogatepass")
    report = Report()
    return list(read_posts(path, report)), report


def test_visual_ids_and_mathml_of_a_row_reach_the_formulas_of_its_text(tmp_path):
    row = {
        "id": "1",
        "body": "<p>$x$ and $y$</p>",
        "formulas": [
            {"id": "1:1", "visual_id": 12, "content_mathml": "<math><ci>y</ci></math>"},
            {"id": "1:9"},
        ],
    }
    (post,), report = read(tmp_path, row)
    assert [formula.visual_id for formula in post.formulas] == [None, "12"]
    assert post.formulas[1].content_mathml == "<math><ci>y</ci></math>"
    assert dict(report.repaired) == {"formula not in the text": 1}


def test_a_pair_becomes_a_question_and_its_answer(tmp_path):
    row = {
        "id": "lemma-1",
        "source": "a book",
        "question": "Is $x$ even?",
        "answer": "Yes.",
        "tags": ["parity"],
    }
    (question, answer), report = read(tmp_path, row)
    assert (question.id, question.kind, question.accepted_answer) == (
        "lemma-1/question",
        "question",
        "lemma-1/answer",
    )
    assert (answer.id, answer.kind, answer.parent) == ("lemma-1/answer", "answer", "lemma-1/question")
    assert question.formulas[0].id == "lemma-1/question:0"
    assert question.source == answer.source == "a book"
    assert question.tags == answer.tags == ("parity",)
    assert not report.skipped + report.repaired


def test_only_a_text_is_needed(tmp_path):
    rows = [
        {"text": "Just $x$."},
        {"id": 5, "content": "b"},
        {"id": "t", "title": "only a title"},
        {"id": "c", "body": "d", "parent": 5},
    ]
    posts, report = read(tmp_path, *rows)
    assert [(post.id, post.kind) for post in posts] == [
        ("posts.jsonl:1", "note"),
        ("5", "note"),
        ("t", "note"),
        ("c", "answer"),
    ]
    assert posts[3].parent == "5"
    assert posts[0].source.endswith("posts.jsonl")
    assert dict(report.repaired) == {"no id": 1}


@cases(
    ("line", "cause"),
    [
        ('{"id": "x", "body": ', "damaged row"),
        ("[1, 2]", "damaged row"),
        ("null", "damaged row"),
        ("[" * 100_000, "damaged row"),
        ('{"id": "x", "body": ' + '{"a":' * 100_000, "damaged row"),
        ('{"id": "x", "score": ' + "9" * 5000 + "}", "damaged row"),
        ('{"id": "x"}', "no text"),
        ('{"id": "x", "question": "only half of a pair"}', "no text"),
        ('{"id": "1", "body": "the id of another"}', "duplicate id"),
    ],
)
def test_a_bad_line_is_skipped_with_its_number_and_the_others_are_read(tmp_path, line, cause):
    posts, report = read(tmp_path, {"id": "1", "body": "a"}, line, "", {"id": "2", "body": "b"})
    assert [post.id for post in posts] == ["1", "2"]
    assert dict(report.skipped) == {cause: 1}
    assert report.examples[cause][0].row == 2


@cases(
    "field",
    [
        {"kind": "essay"},
        {"markup": 3},
        {"markup": []},
        {"tags": [1]},
        {"tags": {"a": 1}},
        {"links": "q2"},
        {"links": [None]},
        {"links": [{"target": "q", "type": "odd"}]},
        {"score": "high"},
        {"score": float("nan")},
        {"date": 2020},
        {"parent": ["q"]},
        {"accepted_answer": True},
        {"title": 7},
        {"source": {}},
        {"macros": 7},
        {"formulas": "x"},
        {"formulas": [1]},
    ],
)
def test_a_field_of_the_wrong_type_is_left_out_and_reported(tmp_path, field):
    (post,), report = read(tmp_path, {"id": "1", "body": "text"} | field)
    assert post.body == "text"
    assert set(report.repaired) == {"wrong type"}
    assert report.examples["wrong type"][0].message.endswith("left out")


def test_characters_that_are_none_are_replaced(tmp_path):
    (post,), report = read(tmp_path, '{"id": "1", "body": "a\\ud800b\\u0000"}')
    assert post.body == "a\ufffdb\ufffd"
    assert dict(report.repaired) == {"control character": 1}
    post.to_json().encode()


def test_a_line_larger_than_the_limit_is_skipped(tmp_path):
    path, report = tmp_path / "posts.jsonl", Report()
    path.write_text('{"id": "1", "body": "' + "x" * 5000 + '"}\n{"id": "2", "body": "y"}\n', encoding="utf-8")
    posts = read_jsonlines(Collection(tmp_path, (path,)), report, largest_line=1000)
    assert [post.id for post in posts] == ["2"]
    assert dict(report.skipped) == {"row too large": 1}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from([*Post.__slots__, "text", "question", "answer", "target"])


@given(st.lists(st.dictionaries(FIELDS, JSON, max_size=6), max_size=4))
def test_any_objects_give_posts_or_are_counted(tmp_path_factory, rows: list[dict[str, Any]]):
    posts, report = read(tmp_path_factory.mktemp("json"), *rows)
    pairs = sum(1 for post in posts if post.id.endswith("/answer"))
    assert len(posts) + report.skipped.total() >= len(rows)
    assert len(posts) <= len(rows) + pairs
    for post in posts:
        assert Post.from_json(post.to_json()) == post


def test_json_lines_are_recognised_by_their_first_line(tmp_path):
    path = tmp_path / "data"
    path.write_text('{"id": 1, "text": "a"}\n')
    assert detect(path) == "jsonl"


@cases(
    ("text", "markup"),
    [
        ("<p>Let $x<y$.</p>", "html"),
        ("If $a<b$ and $b<c$ then $a<c$", "text"),
        ("By Lemma~\\ref{x} we get $1$.", "latex"),
        ("\\begin{enumerate}\\item a\\end{enumerate}", "latex"),
        ("Consider $$\\begin{align}a&=b\\end{align}$$", "text"),
        ("# Limits\n\nSee [here](a.md).", "markdown"),
        ("", "text"),
    ],
)
def test_the_markup_of_a_text_is_guessed_where_the_row_does_not_say(text, markup):
    assert markup_of(text) == markup


def test_macros_are_a_list_of_definitions_or_the_text_of_a_preamble(tmp_path: Path) -> None:
    """Rows of an encyclopedia with a preamble lost it: a sixth of their entries showed red commands."""
    listed = ["\\newcommand{\\Ints}{\\mathbb{Z}}", "\\newcommand{\\mv}[1]{\\mathbf{#1}}"]
    preamble = (
        f"\\usepackage{{amsmath}}\n{listed[0]} % integers\n{listed[1]}\n\\newtheorem{{thm}}{{Theorem}}\n"
    )
    posts, report = read(
        tmp_path, {"body": "$\\Ints$", "macros": listed}, {"body": "$\\mv x$", "macros": preamble}
    )
    assert [post.macros for post in posts] == [tuple(listed), tuple(listed)]
    assert "wrong type" not in report.repaired
