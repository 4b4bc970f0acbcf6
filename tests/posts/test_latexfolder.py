"""LaTeX documents become sections, statements and proofs, linked to each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.posts.passage import passage
from mathamr.posts.post import Link, Post
from mathamr.posts.reader import Collection, read_posts
from mathamr.posts.report import Report

DOCUMENT = r"""
\documentclass{article}
\newtheorem{satz}{Satz}[section]
\newtheorem{rem}[satz]{Remark}
\newcommand{\R}{\mathbb{R}}
\title{On \emph{limits}}
\begin{document}
\maketitle
Introduction, see \cref{thm:main}.
\section{First $x$}\label{sec:one}
Text before. \begin{itemize}\item one\end{itemize}
\begin{satz}[Rolle]\label{thm:main}
Let $f\colon\R\to\R$.
\begin{equation}\label{eq:a} f(0) = 0. \end{equation}
\end{satz}
\begin{proof} See Section \ref{sec:one} and \eqref{eq:a}. \end{proof}
Text after.
\subsection{Details}
\begin{rem} Not $\R$. \end{rem}
\begin{lemma*} Easy. \end{lemma*}
\begin{proof}[Proof of Satz \ref{thm:main}] Another way. \end{proof}
\begin{solution} Clear. \end{solution}
\end{document}
ignored
"""


def read(folder: Path, text: str = DOCUMENT) -> tuple[dict[str, Post], Report]:
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    report = Report()
    return {post.id: post for post in read_posts(folder, report)}, report


def test_a_document_is_cut_into_linked_posts(tmp_path: Path) -> None:
    posts, report = read(tmp_path)
    assert [(post.id.removeprefix("paper.tex"), post.kind, post.title) for post in posts.values()] == [
        ("", "note", "On \\emph{limits}"),
        ("#sec:one", "note", "On \\emph{limits}: First $x$"),
        ("#thm:main", "question", "Satz (Rolle)"),
        ("#thm:main/proof", "answer", ""),
        ("#rem-1", "note", "Remark: Details"),
        ("#lemma-1", "question", "Lemma: Details"),
        ("#thm:main/proof-2", "answer", ""),
        ("#lemma-1/proof", "answer", ""),
    ]
    assert not report.skipped
    assert not report.mended


def test_statements_and_proofs_know_each_other(tmp_path: Path) -> None:
    posts, _ = read(tmp_path)
    statement, proof = posts["paper.tex#thm:main"], posts["paper.tex#thm:main/proof"]
    assert proof.parent == statement.id
    assert statement.links == (
        Link("paper.tex#thm:main/proof", "proof"),
        Link("paper.tex#thm:main/proof-2", "proof"),
    )
    assert proof.links == (
        Link(statement.id, "proof"),
        Link("paper.tex#sec:one", "mention"),
        Link(statement.id, "mention"),
    )
    assert posts["paper.tex"].links == (Link("paper.tex#thm:main", "mention"),)
    assert all(link.target in posts for post in posts.values() for link in post.links)


def test_sections_keep_the_text_around_statements(tmp_path: Path) -> None:
    posts, _ = read(tmp_path)
    assert passage(posts["paper.tex#sec:one"]).text.split("\n")[1:] == ["Text before.", "one", "Text after."]


def test_only_macros_in_use_are_handed_on(tmp_path: Path) -> None:
    posts, _ = read(tmp_path)
    assert posts["paper.tex#thm:main"].macros == (r"\newcommand{\R}{\mathbb{R}}",)
    assert posts["paper.tex#lemma-1"].macros == ()


def test_formulas_of_a_statement_are_listed(tmp_path: Path) -> None:
    posts, _ = read(tmp_path)
    assert [f.latex for f in posts["paper.tex#thm:main"].formulas] == [
        r"f\colon\R\to\R",
        r"\label{eq:a} f(0) = 0",
    ]


@pytest.mark.parametrize(
    "text", ["\\section{A} text \\begin{theorem} open", "\\begin{lemma} one \\section{B} two"]
)
def test_an_environment_left_open_is_mended(tmp_path: Path, text: str) -> None:
    posts, report = read(tmp_path, text)
    assert report.mended["unclosed environment"] == 1
    words = " ".join(passage(post).text for post in posts.values())
    assert all(word in words for word in ("text", "open") if word in text)
    assert all(word in words for word in ("one", "two") if word in text)


def test_a_file_without_document_or_sections_is_one_note(tmp_path: Path) -> None:
    posts, _ = read(tmp_path, "Just $x$ and a proof: \\begin{proof} it is.\\end{proof}")
    assert [(post.id, post.kind, post.title) for post in posts.values()] == [("paper.tex", "note", "paper")]
    assert "it is." in posts["paper.tex"].body


PARTS = [
    "\\section{a}", "\\section{", "\\begin{theorem}", "\\end{theorem}", "\\begin{proof}", "\\end{proof}", "[x]", "}",
    "\\begin{proof}[of \\ref{l}]", "\\label{l}", "\\newtheorem{foo}{Foo}", "\\begin{foo}", "\\end{foo}", "$x$", "{", "%",
    "\\input{paper}", "\\begin{document}", "\\end{document}", "\\title{t}", "\n", " word ", "\\newcommand{\\a}{",
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=25).map("".join))
def test_any_document_gives_posts_with_links_that_exist(text: str) -> None:
    import tempfile

    from mathamr.posts.latexfolder import LatexReader

    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "paper.tex")
        file.write_text(text)
        posts = list(LatexReader().read(Collection(Path(name), (file,)), Report()))
    ids = {post.id for post in posts}
    assert len(ids) == len(posts)
    assert {post.parent for post in posts if post.parent} <= ids
    assert {link.target for post in posts for link in post.links if link.type == "proof"} <= ids
    assert all(passage(post).post == post.id for post in posts)
