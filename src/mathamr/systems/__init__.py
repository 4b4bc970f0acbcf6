"""Systems: how posts and formulas become vectors, and how a query is ranked with them; one folder a system."""
