"""How much of a post is read in one context, and how much of it at most."""

WINDOW = 254
"""Pieces that are read in one context; with the marks of begin and end they are 256, as MiniLM was trained."""
WINDOWS = 4
"""Windows of a post that are read at most; formulas and sentences beyond them have no text vector."""
