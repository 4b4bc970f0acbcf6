"""LaTeX to MathML for the eye: what a page shows of a formula, apart from the trees that a search compares."""
