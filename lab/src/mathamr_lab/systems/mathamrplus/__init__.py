"""The training of MathAMR+: its graph network, its text encoder, and both joined."""
