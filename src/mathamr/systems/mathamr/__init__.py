"""MathAMR finds formulas by the meaning of the sentence they are in (Mansouri, Oard and Zanibbi, CIKM 2022)."""
