"""MathML input and output: Presentation to layout trees, Content to operator trees, safe markup for a page."""
