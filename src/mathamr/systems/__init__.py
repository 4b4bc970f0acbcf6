"""Systems define how posts and formulas become vectors and how a query is ranked with them; each has a folder."""
