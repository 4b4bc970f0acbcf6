"""Declarations of Lean files as training data."""

from __future__ import annotations

from pathlib import Path

from mathamr_lab.systems.text.materials import TextMaterials, library
from mathamr_lab.systems.text.mathlib import MAPS, declarations, mapped, queries, ways_to_ask

SOURCE = """
namespace Nat
/-- Addition of natural numbers is commutative, whichever comes first. -/
protected theorem add_comm' (a b : ℕ) : a + b = b + a := by simp
section
lemma helper_one : 1 = 1 := rfl
end
/-- There are infinitely many prime numbers above any bound. -/
theorem exists_infinite_primes (n : ℕ) : ∃ p, n ≤ p ∧ Prime p :=
  sorry
end Nat
"""


def _folder(tmp_path: Path) -> Path:
    (tmp_path / "Mathlib").mkdir()
    (tmp_path / "Mathlib" / "A.lean").write_text(SOURCE, encoding="utf-8")
    (tmp_path / f"{MAPS[0]}.yaml").write_text(
        "11:\n  title  : The Infinitude of Primes\n  decl   : Nat.exists_infinite_primes\n"
    )
    (tmp_path / f"{MAPS[1]}.yaml").write_text("")
    (tmp_path / f"{MAPS[2]}.yaml").write_text("Numbers:\n  A:\n    natural number: 'Nat'\n")
    (tmp_path / f"{MAPS[3]}.yaml").write_text("")
    return tmp_path


def test_declarations_have_full_names_statements_and_docstrings(tmp_path: Path) -> None:
    found = list(declarations(_folder(tmp_path)))
    assert [each.name for each in found] == ["Nat.add_comm'", "Nat.helper_one", "Nat.exists_infinite_primes"]
    assert found[0].document == "nat add comm. (a b : ℕ) : a + b = b + a"
    assert found[0].documentation.startswith("Addition of natural")
    assert (found[1].documentation, found[2].words) == ("", "nat exists infinite primes")


def test_a_declaration_is_asked_for_in_words_in_latex_and_in_lean_with_other_letters(tmp_path: Path) -> None:
    first, *_, last = declarations(_folder(tmp_path))
    assert dict(ways_to_ask(first)) == {
        "words": "Addition of natural numbers is commutative, whichever comes first.",
        "lean": "(c d : ℕ) : c + d = d + c",
    }
    assert dict(ways_to_ask(last))["latex"] == r"$\exists p, n \le p \land \operatorname{Prime}(p)$"


def test_what_the_maps_name_is_not_trained_on(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    assert list(queries(folder)) == [
        ("100", "The Infinitude of Primes", ("Nat.exists_infinite_primes",)),
        ("overview", "natural number", ("Nat",)),
    ]
    assert mapped(folder) == {"exists_infinite_primes", "Nat"}
    materials = TextMaterials()
    library(folder, materials)
    assert any("add_comm" in post.id for post in materials.posts)
    assert not any("infinite" in post.body for post in materials.posts)
