"""LaTeX to MathML for display, independent of the trees that a search compares."""
