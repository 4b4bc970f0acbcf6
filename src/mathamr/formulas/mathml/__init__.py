"""MathML in and out: Presentation to layout trees, Content to operator trees, safe markup for a page."""
