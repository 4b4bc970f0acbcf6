(** * Parity *)
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
