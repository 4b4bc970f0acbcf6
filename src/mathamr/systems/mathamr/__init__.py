"""MathAMR: formulas found by the meaning of the sentence they stand in (Mansouri, Oard and Zanibbi, CIKM 2022)."""
