"""LaTeX formulas: read once, by one table of commands.

`lexer` and `macros` make tokens, `reader` makes rows of symbols and pieces (`syntax`) by the table in `commands`. `nodes` walks
them for the nodes that `grammar` groups into the trees which a search compares, `display` for the MathML of a page. Nodes and
drawn symbols know their tokens, so a match can be marked in both.
"""
