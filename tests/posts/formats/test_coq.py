"""Coq files: the full names and statements of declarations, documented or not."""

from __future__ import annotations

from pathlib import Path

from mathamr.posts.post import Post
from tests.posts.reading import read_files

SOURCE = """(** * Parity *)
Require Import Arith.
Module Numbers.
Section Even.
Variable n : nat.
(** Twice a number is even. *)
Theorem twice_even : forall m : nat, even (2 * m) = true.
Proof. intros m. (* Lemma hidden : True. *) exact "Lemma quoted : True.". Qed.
Lemma plain (m : nat) : m <= m + 1. Proof. auto. Qed.
End Even.
Definition double (m : nat) : nat := m + m.
End Numbers.
Module Short := Numbers.
#[global] Instance parity : Decidable := dec.
"""


def read(folder: Path, text: str) -> dict[str, Post]:
    return {post.title: post for post in read_files(folder, parity_v=text)[0].values()}


def test_declarations_have_the_names_of_their_modules_and_their_statements(tmp_path: Path) -> None:
    posts = read(tmp_path, SOURCE)
    assert list(posts) == ["Numbers.n", "Numbers.twice_even", "Numbers.plain", "Numbers.double", "parity"]
    even = posts["Numbers.twice_even"]
    assert even.body == (
        "Twice a number is even.\n\n```coq\nTheorem Numbers.twice_even : forall m : nat, even (2 * m) = true\n```\n"
    )
    assert even.place is not None
    assert (even.kind, even.place.line, even.tags[0]) == ("theorem", 7, "theorem")
    assert "```coq\nDefinition Numbers.double (m : nat) : nat := m + m\n```" in posts["Numbers.double"].body
    assert [formula.latex for formula in posts["Numbers.plain"].formulas] == [r"m \le m + 1"]


def test_many_unclosed_scopes_and_ends_are_read_in_linear_time(tmp_path: Path) -> None:
    text = "Require Import b.\n" + "Module a.\n" * 5000 + "End b.\n" * 5000 + "Lemma c : True.\n"
    assert len(read(tmp_path, text)) == 1
