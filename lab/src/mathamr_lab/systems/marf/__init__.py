"""How MaRF learns: words, context, formulas, and the fusion of both."""
