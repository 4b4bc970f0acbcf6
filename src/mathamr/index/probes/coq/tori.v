(** * Flat tori *)
Require Import Arith.
Module Tori.
(** The rank [n]. *)
Definition rank (n : nat) : nat := n.
Theorem one : forall n, n + 0 = n.
Proof. auto. Qed.
End Tori.
