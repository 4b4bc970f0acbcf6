"""The mathematician's reading of a formula: `mathematician` reads relations, sums and products,
`factors` symbols; `items` and `reading` are shared."""
