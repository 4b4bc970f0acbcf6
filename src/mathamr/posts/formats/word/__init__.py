"""Word documents: their paragraphs as posts, their formulas as MathML."""
