"""The lexical index: words, LaTeX and paths of formula trees."""
