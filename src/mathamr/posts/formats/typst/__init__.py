"""Typst documents: the reader, and formulas in Typst's notation as LaTeX."""
