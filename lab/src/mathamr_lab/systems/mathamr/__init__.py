"""The training of MathAMR from judged formulas."""
