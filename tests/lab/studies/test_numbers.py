"""Numbers of a book as they are shown, against what LaTeX and PreTeXt printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr_lab.studies.numbers import run
from tests.folders import write_files

PAPER = r"""\documentclass{article}\newtheorem{thm}{Theorem}[section]\begin{document}\section{A}\label{s}
\begin{thm}\label{a}$x$\end{thm}\begin{thm}\label{b}By \ref{a}.\end{thm}\begin{thm}$y$\end{thm}\end{document}"""
AUX = "\\newlabel{s}{{1}{1}{}{section.1}{}}\n\\newlabel{a}{{1.1}{1}{}{thm.1.1}{}}\n\\newlabel{b}{{1.7}{1}{}{thm.1.7}{}}\n"


def test_numbers_are_compared_with_those_of_latex(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(tmp_path, {"sources/paper.tex": PAPER, "build/paper.aux": AUX})
    run(tmp_path / "sources", [tmp_path / "build"])
    known, _, statements, references, wrong = capsys.readouterr().out.splitlines()
    assert known == "3 numbers known"
    assert statements.split() == ["statements", "3", "1", "1", "0", "1", "0"]
    assert references.split() == ["references", "1", "1", "0", "0", "0", "0"]
    assert wrong == "statements: b is 1.7, shown as 1.2 (paper.tex:2)"
