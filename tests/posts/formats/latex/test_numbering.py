"""Numbers of sections, theorems and equations, as LaTeX prints them."""

from __future__ import annotations

import pytest

from mathamr.posts.formats.latex.auxiliary import numbers_in
from mathamr.posts.formats.latex.definitions import TheoremStyle, macros_in, theorems_in
from mathamr.posts.formats.latex.numbering import CounterSettings, Numbered, Numbering, theorems_written
from tests.cases import cases


def numbers(text: str) -> dict[str, str]:
    theorems: dict[str, TheoremStyle] = {}
    macros: dict[str, str] = {}
    macros_in(text, macros)
    theorems_in(text, theorems)
    theorems_in(theorems_written([text], macros), theorems)
    numbering = Numbering(text, theorems, CounterSettings(macros=macros))
    return {label: found.number for label, found in numbering.labels.items()}


# What LaTeX prints was found with pdfTeX (TeX Live 2022), or taken from the manuals of amsmath (3.11), amsthm (3), thmtools and enumitem.
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
        {"a": "1.1", "c": "1.2", "s": "1.3", "d": r"\ast", "e": "2.1"},
    ),
    (
        r"\begin{subequations}\label{p}\begin{align}a\label{a}\\b\label{b}\end{align}\end{subequations}"
        r"\begin{equation}c\label{c}\end{equation}",
        {"p": "1", "a": "1a", "b": "1b", "c": "2"},
    ),
    (
        r"\begin{enumerate}\item a\item\label{b}\begin{enumerate}\item\label{c}\end{enumerate}\end{enumerate}"
        r"\begin{enumerate}[label=(\roman*)]\item\label{d}\end{enumerate}\begin{enumerate}[(a)]\item\item\label{e}\end{enumerate}",
        {"b": "2", "c": "2a", "d": "(i)", "e": "(b)"},
    ),
    (
        r"\declaretheorem[name=Theorem,numberwithin=section]{thm}\declaretheorem[sibling=thm]{lemma}"
        r"\declaretheorem[numbered=no]{note}\section{S}\begin{thm}\label{t}\end{thm}\begin{lemma}\label{l}\end{lemma}",
        {"t": "1.1", "l": "1.2"},
    ),
    (
        r"\newtheorem{thm}{T}\NewDocumentCommand{\claim}{s O{x} m}{\begin{thm}\label{#2}\label{#3}\end{thm}}"
        r"\newcommandx{\fact}[2][1=d]{\begin{thm}\label{#1}\label{#2}\end{thm}}\claim{a}\claim*[b]{c}\fact{e}",
        {"x": "1", "a": "1", "b": "2", "c": "2", "d": "3", "e": "3"},
    ),
    (
        r"\newtheorem{thm}{T}\NewDocumentEnvironment{claim}{s O{x}}{\begin{thm}\label{#2}}{\end{thm}}"
        r"\begin{claim}[a]\end{claim}\begin{claim}\end{claim}",
        {"a": "1", "x": "2"},
    ),
    (r"\renewcommand{\thethm}{\Alph{thm}}\newtheorem{thm}{T}\begin{thm}\label{a}\end{thm}", {"a": "A"}),
    (r"\section{A}\setcounter{section}{4}\section{B}\label{b}", {"b": "5"}),
    (r"\begin{figure}\caption{x}\label{f}\end{figure}\begin{figure}\caption{y}\label{g}\end{figure}", {"f": "1", "g": "2"}),
    (  # environments made by a macro of the author, and equations that share their counter
        r"\documentclass{book}\usepackage{amsmath,amsthm,aliascnt}\newtheorem{thm}{Theorem}[section]\makeatletter"
        "\\def\\defthm#1#2{%\n\\newaliascnt{#1}{thm}%\n\\newtheorem{#1}[#1]{#2}}\n"
        r"\defthm{lem}{Lemma}\let\c@equation\c@thm\numberwithin{equation}{section}\makeatother\begin{document}"
        r"\chapter{A}\begin{equation}\label{e}x\end{equation}\section{S}\begin{thm}\label{t}\end{thm}"
        r"\begin{lem}\label{l}\begin{align}a\label{a}\\b\tag{by \textbf{a \emph{b}}}\end{align}\end{lem}"
        r"\section{T}\begin{equation}\label{f}x\end{equation}\begin{lem}\label{m}\end{lem}",
        {"e": "1.0.1", "t": "1.1.1", "l": "1.1.2", "a": "1.1.3", "f": "1.2.1", "m": "1.2.2"},
    ),
    (
        r"\documentclass{report}\newcounter{x}\counterwithin{x}{chapter}\newtheorem{thm}[x]{T}\setcounter{secnumdepth}{1}"
        r"\begin{document}\setcounter{chapter}{2}\chapter{A}\begin{thm}\label{a}\end{thm}\addtocounter{x}{3}"
        r"\begin{thm}\label{b}\end{thm}\section{S}\subsection{not}\label{s}\chapter*{B}\begin{thm}\label{c}\end{thm}"
        r"\appendix\chapter{C}\begin{thm}\label{d}\end{thm}\setcounter{x}{\value{chapter}}\begin{thm}\label{e}\end{thm}",
        {"a": "3.1", "b": "3.5", "s": "3.1", "c": "3.6", "d": "A.1", "e": "A.2"},
    ),
    (
        r"\documentclass{article}\newtheorem{thm}{Theorem}\newcommand{\result}[2][x]{\begin{thm}\label{#2}#1\end{thm}}"
        r"\newenvironment{boxed}[1]{\begin{quote}\begin{thm}\label{#1}}{\end{thm}\end{quote}}\newcommand{\no}{\nonumber}"
        r"\newenvironment{disp}{\csname equation\endcsname}{\csname endequation\endcsname}\newcommand{\sect}[1]{\section{#1}}"
        r"\begin{document}\sect{A}\result{a}\begin{boxed}{b}x\end{boxed}\result[y]{c}\begin{disp}x\label{d}\end{disp}"
        r"\begin{eqnarray}x\label{e}\\y\no\\z\label{f}\end{eqnarray}\sect{B}\label{s}\def\x{X}\section\x\label{t}",
        {"a": "1", "b": "2", "c": "3", "d": "1", "e": "2", "f": "3", "s": "2", "t": "3"},
    ),
    (
        r"\documentclass{article}\newtheorem{thm}{Theorem}\begin{document}"
        r"\renewcommand{\theenumi}{(\roman{enumi})}\begin{enumerate}\item x\item\label{a}\end{enumerate}"
        r"\begin{verbatim}\begin{thm}\section{No}\end{verbatim}\iffalse\begin{thm}\end{thm}\fi\begin{thm}\label{b}\end{thm}",
        {"a": "(ii)", "b": "1"},
    ),
    (
        r"\documentclass{book}\newtheorem{thm}{Theorem}[chapter]\begin{document}\frontmatter\chapter{Preface}\mainmatter\part{P}"
        r"\label{p}\chapter{A}\begin{thm}\label{a}\end{thm}\part{Q}\chapter{B}\begin{thm}\label{b}\end{thm}",
        {"p": "I", "a": "1.1", "b": "2.1"},
    ),
    (  # what TeX decides is not known, until a counter is set back
        r"\documentclass{article}\newtheorem{thm}{Theorem}[section]\newcommand{\maybe}{\ifodd\value{page}\begin{thm}\end{thm}\fi}"
        r"\begin{document}\section{A}\begin{thm}\label{a}\end{thm}\maybe\begin{thm}\label{b}\end{thm}\section{B}\label{s}"
        r"\begin{thm}\label{c}\end{thm}",
        {"a": "1.1", "s": "2", "c": "2.1"},
    ),
]  # fmt: skip


@cases(("text", "expected"), CASES)
def test_labels_have_the_numbers_of_latex(text: str, expected: dict[str, str]) -> None:
    assert numbers(text) == expected


def test_what_latex_wrote_counts_more_than_what_is_counted() -> None:
    text = r"\newtheorem{thm}{Theorem}\newtheorem{lem}{Lemma}\begin{thm}\label{a}\end{thm}\begin{thm}\end{thm}\begin{lem}\end{lem}"
    theorems: dict[str, TheoremStyle] = {}
    theorems_in(text, theorems)
    numbering = Numbering(text, theorems)
    assert list(numbering.at.values()) == ["1", "2", "1"]
    numbering.correct(numbers_in("\\newlabel{a}{{3.7}{12}{}{thm.3.7}{}}\n\\newlabel{x}{{\\relax 4}{13}}"))
    assert numbering.labels == {"a": Numbered("Theorem", "3.7"), "x": Numbered("", "4")}
    assert list(numbering.at.values()) == ["3.7", "", "1"]


@pytest.mark.parametrize(("before", "expected"), [(r"\frontmatter", ["1.1"]), ("", [""])])
def test_a_missing_input_of_the_front_matter_makes_no_number_doubtful(
    before: str, expected: list[str]
) -> None:
    text = (
        r"\documentclass{book}\newtheorem{thm}{Theorem}[chapter]\begin{document}"
        rf"{before} \vfill \mainmatter\chapter{{A}}\begin{{thm}}\end{{thm}}\end{{document}}"
    )
    theorems: dict[str, TheoremStyle] = {}
    theorems_in(text, theorems)
    numbering = Numbering(text, theorems, CounterSettings(missing=[text.index(r"\vfill")]))
    assert [numbering.at[at] for at in sorted(numbering.at)][-1:] == expected
