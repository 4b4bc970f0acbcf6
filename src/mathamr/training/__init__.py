"""Training: from pairs of stored graphs to the weights of an encoder (thesis, section 3.4)."""
