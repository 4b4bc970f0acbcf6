"""LaTeX formulas: one front end (`lexer`, `macros`, `groupreader`) with two back ends.

`reader` makes nodes, which `grammar` groups into the trees that a search compares; `display.typesetter` makes atoms, which
become MathML for a page. `environments`, `text`, `transparent` and `symbols` hold what both back ends share.
"""
