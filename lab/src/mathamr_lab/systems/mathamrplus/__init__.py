"""How MathAMR+ is trained: its graph network, its text encoder, and both joined."""
