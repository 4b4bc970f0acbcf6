"""The command `mathamr twins`: places, verdicts, what fails and what is ignored."""

from __future__ import annotations

import json
from pathlib import Path

NOTES = r"""\section{Sums}
\begin{lemma}
For all real numbers $x, y$ we have $(x+y)^2 = x^2 + 2xy + y^2$.
\end{lemma}
\begin{lemma}
For all real numbers $a, b$ we have $(a+b)^2 = a^2 + 2ab + b^2$.
\end{lemma}
\begin{theorem}
Every continuous function $f$ on a compact interval $[a,b]$ attains its maximum.
\end{theorem}
\begin{theorem}
The harmonic series $\sum_{n=1}^\infty \frac{1}{n}$ diverges.
\end{theorem}
\begin{theorem}
Let $A$ be a ring. The polynomial ring $A[X]$ is Noetherian if $A$ is Noetherian.
\end{theorem}
"""
LIBRARY = """/-- A square of a sum. -/
theorem add_sq (a b : ℝ) : (a + b) ^ 2 = a ^ 2 + 2 * a * b + b ^ 2 := by ring

/-- Polynomials over a Noetherian ring are a Noetherian ring. -/
theorem Polynomial.isNoetherianRing {R : Type*} [CommRing R] [IsNoetherianRing R] : IsNoetherianRing R[X] := foo
"""


def test_the_command_prints_both_places_and_fails_on_demand(mathamr, tmp_path: Path) -> None:
    notes = tmp_path / "notes.tex"
    notes.write_text(NOTES, "utf-8")
    ran = mathamr("twins", notes, "--json", "--fail-on", "same")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 1
    assert [row["verdict"] for row in rows] == ["same statement"]
    assert [rows[0][side]["place"]["line"] for side in ("first", "second")] == [2, 5]
    allowed = tmp_path / "allowed.txt"
    allowed.write_text(
        f"# meant\n{rows[0]['first']['id']} {rows[0]['second']['id']}  # as an exercise\n", "utf-8"
    )
    ran = mathamr("twins", notes, "--fail-on", "near", "--ignore", allowed)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_a_library_beside_a_book_gives_each_statement_a_name_or_nothing_close(
    mathamr, tmp_path: Path
) -> None:
    (tmp_path / "notes.tex").write_text(NOTES, "utf-8")
    (tmp_path / "library.lean").write_text(LIBRARY, "utf-8")
    ran = mathamr("twins", tmp_path / "notes.tex", "--beside", tmp_path / "library.lean")
    lines = [line.strip() for line in ran.stdout.splitlines()][1::2]
    assert lines[0].startswith(r"\lean{add_sq}")
    assert lines[2] == lines[3] == "nothing close"
    assert lines[4].startswith(r"\lean{Polynomial.isNoetherianRing}")
