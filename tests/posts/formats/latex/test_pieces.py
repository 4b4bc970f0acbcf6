"""LaTeX text: what a reader of the page would see."""

from __future__ import annotations

from mathamr.posts.markup import pieces
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from tests.cases import cases


def found(source: str, *kinds: str) -> list[str]:
    return [piece.text for piece in pieces(source, "latex") if piece.kind in kinds]


def read(source: str) -> str:
    """The sentences of a text between bars."""
    return " | ".join(s.text for s in passage(Post("n", "note", source, markup="latex")).sentences)


@cases(
    ("source", "expected"),
    [
        (r"See Lemma \ref{lemma-a} of \cite[p.~3]{b}.", "See Lemma of."),
        (
            r"by \cite[Theorem~3]{b} and \citet{knuth84} and \hyperref[a]{this $x$}",
            "by (Theorem 3) and Knuth and this FORMULA_0",
        ),
        (r"by (\ref{eq}) and \eqref{x} and \cref{thm:a,thm:b}", "by (*) and (*) and theorem"),
        (r"\lemref{a} and \Cref{def-b}", "lemma and definition"),
        (
            r"By Lemma~\ref{algebra-lemma-flat-local}, (\ref{equation-lift}) and \eqref{eq:Zorn2} and \cref{thm:main,lem:a}.",
            "By Lemma algebra flat local, (lift) and (Zorn) and theorem main.",
        ),
        (r"an \emph{open \textbf{set}} here", "an open set here"),
        (r"\texorpdfstring{$n$-\emph{types}}{n-types} here", "FORMULA_0-types here"),
        (
            r"\NewDocumentCommand{\x}{s m}{Hidden #2} \newenvironment{y}{\begin{center}A}{B\end{center}} seen",
            "seen",
        ),
        (r"\let\x\emph \DeclarePairedDelimiter\abs{|}{|} \def\y(#1){Hidden} seen", "seen"),
        (r"Poincar\'e, G\"{o}del, \v{C}ech, Erd\H{o}s, \O re", "Poincaré, Gödel, Čech, Erdős, Øre"),
        (r"``quoted'' text---and~more 1--2", "“quoted” text—and more 1–2"),
        ("a comment % hidden $x$\nends", "a comment ends"),
        (r"50\% of 10\$ \& more", "50% of 10$ & more"),
        ("50% of them", "50% of them"),
        ("one\n\ntwo \\par three", "one | two | three"),
        (r"\begin{enumerate}[(i)]\item a \item[(b)] c\end{enumerate} d", "a | (b) c | d"),
        (r"\section*{Title $x$} Text", "Title FORMULA_0 | Text"),
        (r"\begin{theorem}[Rolle]\label{t} Let.\end{theorem}", "Rolle | Let."),
        ("[Rolle] Let $f$ be.", "Rolle | Let FORMULA_0 be."),
        (r"word\footnote{A note.} more", "word (A note.) more"),
        (r"\href{http://a.org}{the page} and \url{http://b.org}", "the page and http://b.org"),
        (r"\verb|$x$| is", "$x$ is"),
        ("\\begin{verbatim}\n$x$ % no\n\\end{verbatim} after", "$x$ % no | after"),
        (r"\newcommand{\R}{\mathbb{R}} \def\x#1{y} text", "text"),
        (r"\begin{tabular}{cc} a & b \\ c & d \end{tabular}", "a | b | c | d"),
        (r"\begin{tikzpicture} \draw (0,0); \end{tikzpicture} after", "after"),
        (r"[asy] draw(A--B); [/asy] after", "after"),
        (r"\indexsee{a!b}{b}For \index{a!b} \label{x} \vspace{1em} word \unknown[o]{kept}", "For word kept"),
        ("\\documentclass{article}\n\\begin{document}Body.\\end{document} rest", "Body."),
        (r"a line\\ and another", "a line and another"),
    ],
)
def test_text_reads_as_on_the_page(source: str, expected: str) -> None:
    assert read(source) == expected


@cases(
    ("source", "expected"),
    [
        (r"Let $x$ and \(y\).", ["x", "y"]),
        ("\\begin{equation}\\label{e}\nx = 1. % why\n\\end{equation}", ["\\label{e} x = 1"]),
        (r"$$\xymatrix{A \ar[r] & B}$$", [r"\xymatrix{A \ar[r] & B}"]),
        (r"\begin{align*} a &= b, \end{align*} where", [r"\begin{align*} a &= b\end{align*}"]),
        ("$a % comment\n+ b$", ["a + b"]),
        (r"costs \$5 and $5 and$", ["5 and"]),
        (r"the field \ensuremath{k} here", ["k"]),
        ("open $ here\n\nand $x$", ["x"]),
        (r"\begin{lstlisting}$x$\end{lstlisting}", []),
    ],
)
def test_formulas_are_found(source: str, expected: list[str]) -> None:
    assert found(source, "formula") == expected


def test_decoded_text_leads_back_to_its_source() -> None:
    source = r"Poincar\'e"
    accent = list(pieces(source, "latex"))[-1]
    assert (accent.text, source[accent.start : accent.end]) == ("é", r"\'e")
