"""MathAMR+: one graph a post, read by a relational network, with a text encoder beside it."""
