"""MathAMR+: one graph per post, read by a relational network, with a text encoder beside it."""
