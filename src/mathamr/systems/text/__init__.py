"""A text encoder alone: posts as text and formulas in place, without a graph."""
