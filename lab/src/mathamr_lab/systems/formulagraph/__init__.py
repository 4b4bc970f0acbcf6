"""Training of formula-graph."""
