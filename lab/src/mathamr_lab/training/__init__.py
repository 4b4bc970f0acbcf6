"""Training: one loop for every network, and the common parts of contrastive trainings (thesis, section 3.4)."""
