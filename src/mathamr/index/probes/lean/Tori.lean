/-! # Flat tori

* `Tori.rank`: how many vectors make a basis
-/
namespace Tori
/-- The rank `n` of a lattice, $n \ge 1$. -/
def rank (n : ℕ) : ℕ := n
/-- Minkowski. -/
@[to_additive add_one]
theorem mul_one {M : Type*} [Monoid M] (a : M) : a * 1 = a := by simp
end Tori
