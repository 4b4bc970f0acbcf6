(* Copyright: not documentation. *)
(** * The squeeze lemma

  A sequence %$b_n$% between two others, see [squeeze_zero]. *)

Require Import Arith.

(** If [n] is zero then $n^2 = 0$. *)
Lemma squeeze_zero : forall n : nat, n = 0 ->
  n * n = 0.
Proof. intros n ->. reflexivity. Qed.

(** The "(* limit *)" of a sequence. *)
Definition limit (a : nat -> nat) := a 0.
