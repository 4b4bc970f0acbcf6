extensions = ["sphinx.ext.autodoc", "sphinx_math_dollar"]
