"""How MathAMR learns from judged formulas."""
