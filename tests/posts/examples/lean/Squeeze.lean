/-
Copyright (c) 2024. All rights reserved.
-/
import Mathlib.Order.Filter

/-! # The squeeze theorem

A sequence $b_n$ between two others. -/

/-- If $a_n \le b_n$ for all $n$, then `tendsto_of_le` holds. /- nested -/ -/
@[simp]
theorem squeeze_zero {a : ℕ → ℝ} (h : ∀ n, a n = 0) :
    a 0 = 0 := by
  simp [h]

-- no documentation /-- not this -/
lemma undocumented : True := trivial

/-- The *limit* of a sequence. -/
noncomputable def limit (a : ℕ → ℝ) : ℝ := 0
