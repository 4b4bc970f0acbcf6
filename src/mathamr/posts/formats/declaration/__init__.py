"""Declarations of formal libraries, as the readers of Lean and Coq share them."""
