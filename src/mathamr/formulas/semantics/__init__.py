"""The mathematician's reading: what a formula means (application, bound variables, derivatives, quantifiers).

The published trees show how LaTeXML groups a formula. The package is called `semantics` because it reads the same nodes again
for their meaning; `latex/grammar` is the syntax that the published trees follow.
"""
