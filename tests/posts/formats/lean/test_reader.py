"""Lean files: the full names, statements, documentation and places of declarations."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.formats.lean.commands import Declaration, declarations
from mathamr.posts.formats.lean.source import LeanSource
from mathamr.posts.post import Post
from tests.cases import cases
from tests.folders import write_files
from tests.posts.reading import read as read_folder
from tests.posts.reading import read_files
from tests.slopes import slope


def read(text: str) -> dict[str, Declaration]:
    return {each.name: each for each in declarations(LeanSource(text))}


def posts_of(folder: Path, **files: str) -> dict[str, Post]:
    posts, _ = read_folder(write_files(folder, {f"{name}.lean": text for name, text in files.items()}))
    return {post.place.label or post.id: post for post in posts.values() if post.place}


def test_names_follow_namespaces_sections_and_root() -> None:
    found = read(
        """
namespace Geometry.Plane
section Lines
theorem meets : True := trivial
namespace Line
lemma _root_.far_away : True := trivial
def length.half := 1
end Line
end Lines
end Geometry.Plane
mutual
theorem even_zero : True := trivial
theorem odd_one : True := trivial
end
theorem outside : True := trivial
"""
    )
    assert list(found) == [
        "Geometry.Plane.meets",
        "far_away",
        "Geometry.Plane.Line.length.half",
        "even_zero",
        "odd_one",
        "outside",
    ]


def test_comments_and_strings_declare_nothing() -> None:
    text = """
/- theorem a : True /- theorem b : True -/ theorem c : True -/
-- theorem d : True
def e := "theorem f : True\\" \\n
theorem g : True"
def h := r#"
theorem i : True "quoted"
"#
def j := '"'
theorem k : True := trivial -- "
theorem l' (x : α) : f' x = '\\n' := rfl
"""
    assert list(read(text)) == ["e", "h", "j", "k", "l'"]


@cases(
    ("source", "statement"),
    [
        ("theorem a (x : ℕ := 3) : x = x := rfl", "theorem a (x : ℕ := 3) : x = x"),
        ("theorem a : let y := 2; y = 2 := by simp", "theorem a : let y := 2; y = 2"),
        ("theorem a : ∀ n, P n\n  | 0 => p\n  | n + 1 => q", "theorem a : ∀ n, P n"),
        ("theorem a : |x| ≤ 1 := by\n  simp", "theorem a : |x| ≤ 1"),
        ("theorem a.{u, v} (α : Type u) : α = α := rfl", "theorem a (α : Type u) : α = α"),
        ("theorem a\n    /- why -/ (h : p) :\n    p :=\n  h", "theorem a\n    /- why -/ (h : p) :\n    p"),
        ("def a (x : ℕ) : ℕ := x + 1\n\n/-- Next. -/\ndef b := 2", "def a (x : ℕ) : ℕ :=\n  x + 1"),
        ("instance a : Foo Bar where\n  x := 1", "instance a : Foo Bar"),
        ("axiom a : 1 = 1\n\nopen Nat", "axiom a : 1 = 1"),
    ],
)
def test_a_statement_ends_where_its_proof_begins(source: str, statement: str) -> None:
    assert read(source)["a"].code == statement


def test_documentation_belongs_to_the_next_declaration_alone() -> None:
    found = read(
        """
/-- First. -/
@[simp, norm_cast]
protected theorem a : p := q

theorem b : p := q

open Nat in
/-- Third. -/
private lemma c : p := q
/-- Nothing follows. -/
"""
    )
    assert [(each.doc.strip(), each.attributes, each.modifiers) for each in found.values()] == [
        ("First.", ("simp", "norm_cast"), ("protected",)),
        ("", (), ()),
        ("Third.", (), ("private",)),
    ]
    assert [each.line for each in found.values()] == [4, 6, 10]


def test_brackets_that_a_section_changes_are_those_of_before_behind_it() -> None:
    found = read(
        """
variable (n : Nat)
section
variable {n}
theorem inside : n = n := rfl
end
theorem behind : n = n := rfl
"""
    )
    assert [found[name].variables for name in ("inside", "behind")] == [("{n : Nat}",), ("(n : Nat)",)]


def test_a_statement_has_the_section_variables_that_it_uses() -> None:
    found = read(
        """
variable {G H : Type*} [Group G] (x : G)
section
variable {K : Type*} [Ring K] (h : x = x)
theorem a : x = 1 := p
theorem b (k : K) : k = k := p
include h
theorem c : True := p
end
theorem d (k : K) (G : Nat) : G = k := p
variable (y : H) in
theorem e : y = y := p
theorem f : y = y := p
omit [Group G] in
theorem g : x = x := p
variable {x} in
theorem i : x = x := p
"""
    )
    assert {name: each.variables for name, each in found.items()} == {
        "a": ("{G : Type*}", "[Group G]", "(x : G)"),
        "b": ("{K : Type*}", "[Ring K]"),
        "c": ("{G : Type*}", "[Group G]", "(x : G)", "(h : x = x)"),
        "d": (),
        "e": ("{H : Type*}", "(y : H)"),
        "f": (),
        "g": ("{G : Type*}", "(x : G)"),
        "i": ("{G : Type*}", "[Group G]", "{x : G}"),
    }


def test_to_additive_makes_a_second_declaration() -> None:
    found = read(
        """
/-- Multiples. -/
@[to_additive /-- Sums. -/]
theorem Finset.prod_twice [CommMonoid M] (f : ι → M) : ∏ i ∈ s, f i * f i = 1 := p
@[to_additive (attr := simp) sum_thing]
theorem prod_mul_thing (a : M) : a⁻¹ = 1 := p
@[to_additive existing]
theorem mul_known : p := q
@[to_additive]
structure Monoid.Thing (M : Type*) where
  one : M
theorem Monoid.Thing.plain : p := q
@[to_additive]
theorem Monoid.Thing.mul_one : p := q
"""
    )
    made = found["Finset.sum_twice"]
    assert (made.doc.strip(), made.origin) == ("Sums.", "Finset.prod_twice")
    assert made.code == "theorem Finset.sum_twice [AddCommMonoid M] (f : ι → M) : ∑ i ∈ s, f i + f i = 0"
    assert found["sum_thing"].attributes == ("simp",)
    assert found["sum_thing"].code == "theorem sum_thing (a : M) : -a = 0"
    assert "add_known" not in found
    assert "AddMonoid.Thing.add_zero" in found
    assert "AddMonoid.Thing" not in found


def test_aliases_instances_fields_and_constructors_have_names() -> None:
    found = read(
        """
namespace Ring
alias ⟨forward, backward⟩ := foo_iff
@[deprecated new (since := "2026-01-01")] alias old := new
instance : Inhabited (Ideal R) := x
instance (priority := low) named : Foo R := x
/-- A pair. -/
@[ext]
structure Pair (α : Type*) extends Base α where
  /-- The first. -/
  fst : α
  snd (n : ℕ) : α := fst
  base := 3
inductive Tree
  /-- Empty. -/
  | leaf
  | node (l r : Tree) : Tree
end Ring
"""
    )
    assert {name: each.word for name, each in found.items()} == {
        "Ring.forward": "alias",
        "Ring.backward": "alias",
        "Ring.old": "alias",
        "Ring.instInhabitedIdeal": "instance",
        "Ring.named": "instance",
        "Ring.Pair": "structure",
        "Ring.Pair.fst": "field",
        "Ring.Pair.snd": "field",
        "Ring.Tree": "inductive",
        "Ring.Tree.leaf": "constructor",
        "Ring.Tree.node": "constructor",
    }
    assert found["Ring.old"].is_deprecated
    assert found["Ring.Pair"].aliases == ("Ring.Pair.ext", "Ring.Pair.ext_iff")
    assert found["Ring.Pair.fst"].doc.strip() == "The first."
    assert found["Ring.Tree.leaf"].doc.strip() == "Empty."
    assert found["Ring.Pair.snd"].code == "Ring.Pair.snd (n : ℕ) : α"


def test_counterparts_of_types_are_known_across_files(tmp_path: Path) -> None:
    posts = posts_of(
        tmp_path,
        A="@[to_additive]\ntheorem Blob.mul_one : 1 = 1 := rfl\n",
        B="@[to_additive AddBlob]\nclass Blob (M : Type*) where\n  one : M\n",
    )
    assert "AddBlob.add_zero" in posts


@pytest.mark.parametrize("mark", ["/-", "/--", "/-!"])
def test_behind_a_comment_that_is_never_closed_the_next_command_is_read(tmp_path: Path, mark: str) -> None:
    text = f"theorem a : p := q\n\n{mark} A zebra: theorem w : p\n\n/-- Of order two. -/\nlemma b : r := s\n\n@[simp]\ntheorem c : t := u\n"
    posts, report = read_files(tmp_path, a_lean=text)
    found = {post.place.label: post for post in posts.values() if post.place}
    assert set(found) == {"a", "b", "c"}
    assert "Of order two" in found["b"].body
    assert report.skipped == {"unclosed comment": 1}


def test_many_comments_that_are_never_closed_take_time_linear_in_the_file() -> None:
    assert slope(lambda size: LeanSource("/- a\n" * (size // 5)), 80_000) < 1.4


def test_an_unclosed_comment_is_reported(tmp_path: Path) -> None:
    posts, report = read_files(tmp_path, a_lean="theorem a : p := q\n/- never")
    assert len(posts) == 1
    assert report.skipped["unclosed comment"] == 1
