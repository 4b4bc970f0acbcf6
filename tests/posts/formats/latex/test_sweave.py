"""Sweave: chunks of R are code, hidden ones are left out, and every line keeps its number."""

from __future__ import annotations

from pathlib import Path

from mathamr.posts.format import detect
from mathamr.posts.markup import pieces
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

DOCUMENT = r"""\documentclass{article}
\begin{document}
\section{Means}\label{sec:means}
The mean is $\bar x = \Sexpr{round(mean(x), 2)}$ of 100\% of the data.
<<simulate, fig=TRUE>>=
x <- rnorm(100) # $not math$ \section{no}
y <- x %*% t(x)
@
<<hidden, echo=FALSE>>=
plot(x, main = "$hidden$")
@ %def
\section{Variance}\label{sec:variance}
Then $s^2 > 0$, by \texttt{<<}.
\end{document}
"""


def test_chunks_are_code_and_lines_stay(tmp_path: Path) -> None:
    file = tmp_path / "vignette.Rnw"
    file.write_text(DOCUMENT, encoding="utf-8")
    report = Report()
    posts = {post.id: post for post in read_posts(tmp_path, report)}
    assert detect(file) == "latex"
    means, variance = posts["vignette.Rnw#sec:means"], posts["vignette.Rnw#sec:variance"]
    assert [formula.latex for formula in means.formulas] == [r"\bar x = \ldots{}"]
    assert [formula.latex for formula in variance.formulas] == ["s^2 > 0"]
    code = [piece.text.strip() for piece in pieces(means.body, "latex") if piece.kind == "code"]
    assert code == ["x <- rnorm(100) # $not math$ \\section{no}\ny <- x %*% t(x)"]
    assert "hidden" not in means.body
    assert (means.place.line, variance.place.line) == (3, 12)  # type: ignore[union-attr]
    assert not report.skipped + report.repaired + report.missing
