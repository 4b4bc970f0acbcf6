"""Bullets of a module's notes: what they say of a declaration is read with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.formats.lean.bullets import LONGEST, bullets
from mathamr.posts.formats.lean.source import Comment
from tests.folders import write_files
from tests.posts.reading import read as read_folder
from tests.slopes import slope

FILE = """/-!
# Wugs

A wug is small.

## Main definitions

* `Zoo.Wug`: a creature of one size,
  which never grows
* `Wug.size n`, `Wug.legs` : numbers of a *wug*
- `no_such_name`: nothing is called so
* `Zoo.Wug.tail`
* **Theorem** without a name

`Zoo.Wug.size` is not in a bullet.
-/
namespace Zoo
/-- The wug. -/
structure Wug where
  eye : ℕ
namespace Wug
def size (n : ℕ) : ℕ := n
theorem legs : 1 + 1 = 2 := rfl
def tail : ℕ := 0
end Wug
end Zoo
"""


def test_a_bullet_is_read_with_the_declaration_that_it_names(tmp_path: Path) -> None:
    posts, _ = read_folder(write_files(tmp_path, {"A.lean": FILE}))
    found = {post.title: post for post in posts.values()}
    assert found["Zoo.Wug"].body.startswith(
        "The wug.\n\na creature of one size, which never grows\n\n```lean\n"
    )
    for name in ("Zoo.Wug.size", "Zoo.Wug.legs"):
        assert found[name].body.startswith("numbers of a *wug*\n\n```lean\n")
        assert "undocumented" not in found[name].tags
    assert "undocumented" in found["Zoo.Wug.tail"].tags
    assert "* `Zoo.Wug`: a creature" in found["Wugs"].body


def said(text: str, *names: str) -> dict[str, str]:
    return bullets([Comment(0, 0, text, True)], names)


def test_a_name_without_namespaces_means_the_only_declaration_called_so() -> None:
    assert said("* `one`: the first one", "A.one", "two") == {"A.one": "the first one"}
    assert said("* `one`: the first one", "A.one", "B.one") == {}
    assert said("* `one`: the first one", "A.one", "one") == {"one": "the first one"}
    assert said("* `A.one`: the first one", "one") == {}


def test_what_says_nothing_is_left_out() -> None:
    notes = "* `one`\n* `two`: $x$\n* `three`: see\n* `four`, `five`\n"
    assert said(notes, "one", "two", "three", "four", "five") == {}
    assert bullets([Comment(0, 0, "* `one`: the first one", False)], ["one"]) == {}
    assert len(said("* `one`: " + "word " * 1_000, "one")["one"]) <= LONGEST


@pytest.mark.parametrize(
    "unit", ["* `aa`", "* `aa`, ", "`aa`, ", "* `aa b", "* `aa`: b\n  ", "* `aa`**, and/", "\n- \n"]
)
def test_hostile_notes_take_linear_time(unit: str) -> None:
    assert slope(lambda size: said("* `bb`, " + unit * size, "bb"), 20_000) < 1.5
