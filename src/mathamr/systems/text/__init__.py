"""A text encoder alone: it reads posts as text with formulas in place, without a graph."""
