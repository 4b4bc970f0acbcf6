"""A small Lean project for tests: two modules of our own, one of them a dependency."""

from __future__ import annotations

import json
from pathlib import Path

from tests.folders import write_files

COMPACT = """/-!
# Compact sets

Compact sets of a topological space, by open covers.
-/

namespace Topology.Toy

variable {X : Type*} [TopologicalSpace X] {s t : Set X}

/-- A set is compact if every open cover has a finite subcover. -/
def IsCompact (s : Set X) : Prop :=
  ∀ U : ι → Set X, (∀ i, IsOpen (U i)) → s ⊆ ⋃ i, U i → ∃ F : Finset ι, s ⊆ ⋃ i ∈ F, U i

/-- The union of two compact sets is compact. -/
theorem IsCompact.union (hs : IsCompact s) (ht : IsCompact t) : IsCompact (s ∪ t) := by
  sorry

/-- **Heine–Borel**: a subset of the real line is compact if and only if it is closed and bounded. See `IsCompact`. -/
theorem isCompact_iff_isClosed_bounded {s : Set ℝ} : IsCompact s ↔ IsClosed s ∧ Bounded s := by
  sorry

theorem IsCompact.aux (h : IsCompact s) : s = s := rfl

instance : Inhabited (CompactSets X) := ⟨∅⟩

end Topology.Toy
"""

SUMS = """/-! # Sums of natural numbers -/

namespace Nat

/-- Addition of natural numbers is commutative. -/
theorem add_comm_toy (a b : ℕ) : a + b = b + a := by
  omega

/-- **Gauss**: the sum of the first $n$ natural numbers. -/
theorem sum_range_id (n : ℕ) : ∑ i ∈ Finset.range (n + 1), i = n * (n + 1) / 2 := by
  sorry

/-- A product over a union of disjoint sets. -/
@[to_additive /-- A sum over a union of disjoint sets. -/]
theorem prod_union [CommMonoid M] (f : ℕ → M) (h : Disjoint s t) :
    ∏ i ∈ s ∪ t, f i = (∏ i ∈ s, f i) * ∏ i ∈ t, f i := by
  sorry

end Nat
"""


def write_project(folder: Path) -> Path:
    """A project `toy` whose package `sums` lies where Lake puts it."""
    manifest = {
        "version": "1.1.0",
        "packagesDir": ".lake/packages",
        "packages": [{"name": "sums", "type": "git", "rev": "a" * 40, "url": "https://example.org/sums"}],
        "name": "toy",
    }
    return write_files(
        folder,
        {
            "Toy/Compact.lean": COMPACT,
            ".lake/packages/sums/Sums/Basic.lean": SUMS,
            ".lake/packages/sums/lakefile.lean": "import Lake\n",
            "lakefile.toml": 'name = "toy"\n',
            "lake-manifest.json": json.dumps(manifest),
        },
    )
