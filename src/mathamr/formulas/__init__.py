"""Formulas: LaTeX, MathML and typed mathematics in; layout and operator trees, MathML for pages and pictures out.

LaTeX and MathML meet in `mathml.element`: one module makes layout trees of Presentation MathML (`mathml.layouttree`), one operator trees of
Content MathML (`mathml.operatortree`), whoever wrote it.

    LaTeX ─lexer, macros─▶ tokens ─reader─▶ rows ─nodes─▶ nodes ─presentation─▶ MathML ─layouttree───▶ Slt
                                             │             │ ▲  └─content──────▶ MathML ─operatortree─▶ Opt
                                             │             │ └─expression, grammar: roles, as LaTeXML groups them
                                             │             └─meaning: the same nodes as search reads them
                                             └─display: atoms, as TeX spaces them ─▶ MathML for a page

`latex.commands` and `latex.symbols` say once how every command is read; `latex.walk` goes through rows for nodes and for drawings alike.
`parse` and `trees` are the ways in. `typed` turns what people type into LaTeX. Of trees, `visualkey`, `alignment`, `containment` compare,
`notation` and `picture` show, and `marking` finds what was written of a node.
"""
