"""Search: queries, strategies, fusion of evidence, and why a hit was found."""
