"""The training of MaRF: words, context, formulas, and the fusion of both."""
