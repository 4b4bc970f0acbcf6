"""Numbers of sections, theorems and equations, as LaTeX prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.formats.latex.definitions import TheoremStyle, theorems_in
from mathamr.posts.formats.latex.numbering import CounterSettings, Numbering
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.bounded import bounded


def numbers(text: str) -> dict[str, str]:
    theorems: dict[str, TheoremStyle] = {}
    settings = CounterSettings()
    theorems_in(text, theorems)
    settings.read(text)
    return {label: found.number for label, found in Numbering(text, theorems, settings).labels.items()}


# What LaTeX prints was taken from the manuals of amsmath (3.11), amsthm (3), thmtools and enumitem.
CASES = [
    (r"\section{A}\label{a}\subsection{B}\label{b}\section*{C}\section{D}\label{d}", {"a": "1", "b": "1.1", "d": "2"}),
    (
        r"\documentclass{book}\chapter{A}\section{B}\label{b}\begin{equation}\label{e}x\end{equation}"
        r"\chapter{C}\begin{equation}\label{f}x\end{equation}\appendix\chapter{D}\section{E}\label{g}",
        {"b": "1.1", "e": "1.1", "f": "2.1", "g": "A.1"},
    ),
    (
        r"\newtheorem{thm}{Theorem}[section]\newtheorem{lem}[thm]{Lemma}\newtheorem{ax}{Axiom}\newtheorem*{rem}{Remark}"
        r"\section{S}\begin{thm}\label{t}\end{thm}\begin{rem}\label{r}\end{rem}\begin{lem}\label{l}\end{lem}"
        r"\begin{ax}\label{a}\end{ax}\section{T}\begin{lem}\label{m}\end{lem}\begin{ax}\label{b}\end{ax}",
        {"t": "1.1", "l": "1.2", "a": "1", "m": "2.1", "b": "2"},
    ),
    (
        r"\numberwithin{equation}{section}\section{S}\begin{align}a\label{a}\\b\nonumber\label{n}\\c\label{c}\end{align}"
        r"\begin{align*}x\label{x}\end{align*}\begin{equation}\begin{split}a\\b\end{split}\label{s}\end{equation}"
        r"\section{T}\begin{gather}d\label{d}\tag{$\ast$}\\e\label{e}\end{gather}",
        {"a": "1.1", "c": "1.2", "s": "1.3", "d": r"\ast", "e": "2.1", "x": "1"},
    ),
    (
        r"\begin{subequations}\label{p}\begin{align}a\label{a}\\b\label{b}\end{align}\end{subequations}"
        r"\begin{equation}c\label{c}\end{equation}",
        {"p": "1", "a": "1a", "b": "1b", "c": "2"},
    ),
    (
        r"\begin{enumerate}\item a\item\label{b}\begin{enumerate}\item\label{c}\end{enumerate}\end{enumerate}"
        r"\begin{enumerate}[label=(\roman*)]\item\label{d}\end{enumerate}\begin{enumerate}[(a)]\item\item\label{e}\end{enumerate}",
        {"b": "2", "c": "a", "d": "(i)", "e": "(b)"},
    ),
    (
        r"\declaretheorem[name=Theorem,numberwithin=section]{thm}\declaretheorem[sibling=thm]{lemma}"
        r"\declaretheorem[numbered=no]{note}\section{S}\begin{thm}\label{t}\end{thm}\begin{lemma}\label{l}\end{lemma}",
        {"t": "1.1", "l": "1.2"},
    ),
    (r"\renewcommand{\thethm}{\Alph{thm}}\newtheorem{thm}{T}\begin{thm}\label{a}\end{thm}", {"a": "A"}),
    (r"\section{A}\setcounter{section}{4}\section{B}\label{b}", {"b": "5"}),
    (r"\begin{figure}\caption{x}\label{f}\end{figure}\begin{figure}\caption{y}\label{g}\end{figure}", {"f": "1", "g": "2"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_labels_have_the_numbers_of_latex(text: str, expected: dict[str, str]) -> None:
    assert numbers(text) == expected


PAPER = r"""
\newtheorem{thm}{Theorem}[section]
\newtheorem{rem}[thm]{Remark}
\begin{document}
\section{Compact spaces}\label{sec:c}
\begin{thm}[Heine--Borel]\label{thm:hb} Closed and bounded. \begin{equation}\label{eq:b} x \le y \end{equation}\end{thm}
\begin{proof} By \eqref{eq:b}, \Cref{rem:x} and Section~\ref{sec:c}. \end{proof}
\begin{rem}\label{rem:x} Also by \cref{thm:hb}. \end{rem}
\end{document}
"""


def posts_of(folder: Path, text: str = PAPER) -> dict[str, Post]:
    (folder / "a.tex").write_text(text, encoding="utf-8")
    return {post.place.label if post.place else "": post for post in read_posts(folder, Report())}


def test_statements_are_called_by_kind_and_number(tmp_path: Path) -> None:
    found = posts_of(tmp_path)
    assert found["thm:hb"].title == "Theorem 1.1 (Heine--Borel)"
    assert found["rem:x"].title == "Remark 1.2: Compact spaces"


def test_references_have_the_words_and_number_of_their_target(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(PAPER, encoding="utf-8")
    links = [
        (link.label, link.words, link.number)
        for post in read_posts(tmp_path, Report())
        for link in post.links
        if link.type == "mention"
    ]
    assert links == [
        ("eq:b", "(1)", "1"),
        ("rem:x", "Remark 1.2", "1.2"),
        ("sec:c", "Section 1", "1"),
        ("thm:hb", "Theorem 1.1", "1.1"),
    ]


def test_ids_stay_when_a_theorem_is_inserted(tmp_path: Path) -> None:
    text = PAPER.replace(r"\label{rem:x}", "")
    before = {post.id for post in read_posts(_written(tmp_path, text), Report())}
    more = text.replace(r"\begin{thm}[", r"\begin{thm}\label{new} New. \end{thm}\begin{thm}[")
    after = {post.id for post in read_posts(_written(tmp_path, more), Report())}
    assert after - before == {"a.tex#new"}


def _written(folder: Path, text: str) -> Path:
    (folder / "a.tex").write_text(text, encoding="utf-8")
    return folder


HOSTILE = r"""
from mathamr.posts.formats.latex.definitions import theorems_in
from mathamr.posts.formats.latex.numbering import CounterSettings, Numbering
ring = "".join(f"\\\\numberwithin{{a{chr(97 + n)}}}{{a{chr(97 + (n + 1) % 26)}}}" for n in range(26))
likes = "".join(f"\\\\newtheorem{{t{chr(97 + n)}}}[t{chr(97 + (n + 1) % 26)}]{{T}}" for n in range(26))
texts = [
    ring + "\\\\stepcounter{aa}" * 2000,
    likes + "\\\\begin{ta}\\\\label{x}" * 20_000,
    "\\\\begin{enumerate}\\\\item" * 50_000,
    "\\\\begin{align}" * 50_000 + "\\\\\\\\" * 50_000 + "\\\\end{align}" * 50_000,
    "\\\\renewcommand{\\\\thea}{\\\\thea\\\\thea}" + "\\\\stepcounter{a}" * 1000,
    "\\\\tag{" * 100_000 + "\\\\section[" * 100_000,
    "\\\\setcounter{a}{999999}\\\\label{b}" * 50_000,
]
for text in texts:
    theorems, settings = {}, CounterSettings()
    theorems_in(text, theorems)
    settings.read(text)
    Numbering(text, theorems, settings)
print("done")
"""


@pytest.mark.slow
def test_hostile_counters_take_bounded_time() -> None:
    assert bounded(HOSTILE).stdout.strip() == "done"
