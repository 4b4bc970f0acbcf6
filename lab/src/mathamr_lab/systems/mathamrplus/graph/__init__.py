"""The training of the graph network (thesis, section 3.4)."""
