"""Training of SSEmb."""
