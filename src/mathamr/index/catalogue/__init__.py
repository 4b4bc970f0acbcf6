"""The catalogue: posts, formulas, and what has still to be derived from them."""
