"""Mathematics as people type it without LaTeX: Unicode characters and ASCII conventions, read into LaTeX."""
