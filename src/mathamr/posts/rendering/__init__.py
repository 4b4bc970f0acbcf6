"""Posts as safe HTML: formulas drawn as MathML, the rest of what an author wrote sanitised."""
