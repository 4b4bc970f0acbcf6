"""A mathematician's reading: what formulas mean, beside the published trees that say how LaTeXML groups them."""
