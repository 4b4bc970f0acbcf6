"""PDF files: their text by page, and what formulas they carry as LaTeX or MathML."""
