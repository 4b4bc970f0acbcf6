from __future__ import annotations

import json
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.posts.identifiers import LONGEST_ID, SeenIds, check_id, fitting_id
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.cases import cases

UNSEEN = ("\n", "\t", "\r", "\0", "\x1b", "\x7f", "\x85", "\xad", "\u200b", "\u2028", "\u2029", "\u202e", "\u2066", "\ufeff",
          "\ufffe", "\ud800", "\U000e0041", "\u3164", "\u2800", "\u115f", "\u034f", "\ufdd0")  # fmt: skip


@cases("character", UNSEEN)
def test_no_id_has_a_character_that_cannot_be_seen(character: str) -> None:
    for id in (f"a{character}b", f"{character}a", f"a{character}", character):
        with pytest.raises(MathAMRError, match="which cannot be seen"):
            check_id(id)
        check_id(fitting_id(id))
        assert fitting_id(fitting_id(id)) == fitting_id(id)


@cases("id", ["", " ", " a", "a\u3000", "x" * (LONGEST_ID + 1), " " * 10_000])
def test_an_id_has_a_bounded_length_and_no_space_around_it(id: str) -> None:
    with pytest.raises(MathAMRError):
        check_id(id)
    check_id(fitting_id(id))


@cases(
    "id", ["a b", "Übung/Größe.md#α", "مسئله", "数学 1", "a\u202fb", "x" * LONGEST_ID, "\U0001f9ee", "\u0378"]
)
def test_what_people_call_their_notes_is_an_id(id: str) -> None:
    check_id(id)
    assert fitting_id(id) == id


def test_ids_that_differ_in_what_cannot_be_seen_stay_two() -> None:
    assert len({fitting_id(f"a{character}b") for character in UNSEEN}) == len(UNSEEN)


def test_rows_and_files_with_such_ids_are_read_under_others_and_stay_linked(tmp_path: Path) -> None:
    rows = [
        {"id": "why\u202e?", "kind": "question", "body": "Why $x$?", "accepted_answer": "so\nit"},
        {
            "id": "so\nit",
            "kind": "answer",
            "body": "Because $y$.",
            "parent": "why\u202e?",
            "links": ["why\u202e?"],
        },
    ]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "a\u2028note.md").write_text("# A\n\nLet $x$ be.\n")
    report = Report()
    posts = {post.kind: post for post in read_posts(tmp_path, report)}
    assert len(posts) == 3
    for post in posts.values():
        check_id(post.id)
        assert all(formula.id.startswith(post.id) for formula in post.formulas)
    assert posts["question"].accepted_answer == posts["answer"].id
    assert posts["answer"].parent == posts["question"].id == posts["answer"].links[0].target
    assert sum(report.repaired.values()) >= 3


def test_it_grows_without_losing_an_id():
    seen = SeenIds()
    assert all(seen.add(str(n)) for n in range(50_000))
    assert not any(seen.add(str(n)) for n in range(50_000))
    assert len(seen) == 50_000
