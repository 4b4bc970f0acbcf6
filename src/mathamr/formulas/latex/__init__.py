"""LaTeX mathematics: tokens, macros, symbols, and the grammar that reads a formula as an expression."""
