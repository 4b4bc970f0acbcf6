"""Dumps of Stack Exchange and of ARQMath: rows of posts, and the tables beside them."""
