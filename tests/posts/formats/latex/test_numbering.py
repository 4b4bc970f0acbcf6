"""Numbers of sections, theorems and equations, as LaTeX prints them."""

from __future__ import annotations

import pytest

from mathamr.posts.formats.latex.definitions import TheoremStyle, theorems_in
from mathamr.posts.formats.latex.numbering import CounterSettings, Numbering


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
