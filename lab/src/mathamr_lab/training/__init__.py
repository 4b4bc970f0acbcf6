"""Training: one loop for every network, and what contrastive trainings share (thesis, section 3.4)."""
