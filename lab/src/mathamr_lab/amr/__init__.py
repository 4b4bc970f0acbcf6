"""Training of the built-in parser: corpora, word alignment, examples and fitting. Needs torch and the gold graphs."""
