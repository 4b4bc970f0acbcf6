"""The catalogue: posts, formulas, and which parts must still be derived from them."""
