"""LaTeX documents become sections, statements and proofs, linked to each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.format import Collection
from mathamr.posts.formats.latex.references import number_references
from mathamr.posts.passage import passage
from mathamr.posts.post import Link, Place, Post
from mathamr.posts.report import Report
from tests.posts.reading import read_files

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

REMARK, LEMMA = "#rem-b1b7b7", "#lemma-7f638e"


def read(folder: Path, text: str = DOCUMENT) -> tuple[dict[str, Post], Report]:
    return read_files(folder, paper_tex=text)


def test_a_document_is_cut_into_linked_posts(tmp_path: Path) -> None:
    posts, report = read(tmp_path)
    assert [(post.id.removeprefix("paper.tex"), post.kind, post.title) for post in posts.values()] == [
        ("", "note", "On \\emph{limits}"),
        ("#sec:one", "section", "On \\emph{limits}: First $x$"),
        ("#thm:main", "theorem", "Satz 1.1 (Rolle)"),
        ("#thm:main/proof", "proof", ""),
        (REMARK, "remark", "Remark 1.2: Details"),
        (LEMMA, "lemma", "Lemma: Details"),
        ("#thm:main/proof-2", "proof", ""),
        (f"{LEMMA}/proof", "solution", ""),
    ]
    assert passage(posts["paper.tex#sec:one"]).text.split("\n")[1:] == ["Text before.", "one", "Text after."]
    theorem = posts["paper.tex#thm:main"]
    assert [f.latex for f in theorem.formulas] == [r"f\colon\R\to\R", r"\label{eq:a} f(0) = 0"]
    assert theorem.macros == (r"\newcommand{\R}{\mathbb{R}}",)
    assert posts[f"paper.tex{LEMMA}"].macros == (), "only those in use are handed on"
    assert not report.skipped + report.repaired


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
        Link("paper.tex#sec:one", "mention", "Section 1", "sec:one", "1"),
        Link(statement.id, "mention", "(1)", "eq:a", "1"),
    )
    assert posts["paper.tex"].links == (Link("paper.tex#thm:main", "mention", "Satz 1.1", "thm:main", "1.1"),)
    assert all(link.target in posts for post in posts.values() for link in post.links)


@pytest.mark.parametrize(
    "text", ["\\section{A} text \\begin{theorem} open", "\\begin{lemma} one \\section{B} two"]
)
def test_an_environment_left_open_is_closed(tmp_path: Path, text: str) -> None:
    posts, report = read(tmp_path, text)
    assert report.repaired["unclosed environment"] == 1
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


@given(st.lists(st.sampled_from(PARTS), max_size=25).map("".join))
def test_any_document_gives_posts_with_links_that_exist(text: str) -> None:
    import tempfile

    from mathamr.posts.formats.latex.reader import read_latex

    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "paper.tex")
        file.write_text(text)
        posts = list(read_latex(Collection(Path(name), (file,)), Report()))
    ids = {post.id for post in posts}
    assert len(ids) == len(posts)
    assert {post.parent for post in posts if post.parent} <= ids
    assert {link.target for post in posts for link in post.links if link.type == "proof"} <= ids
    assert all(passage(post).post == post.id for post in posts)


def test_ids_without_labels_stay_when_something_is_inserted(tmp_path: Path) -> None:
    before, _ = read(tmp_path)
    longer = DOCUMENT.replace(
        "\\subsection{Details}",
        "\\begin{lemma} New. \\end{lemma}\n\\subsection{Other}\nNew.\n\\subsection{Details}\n\\begin{rem} First. \\end{rem}",
    )
    after, _ = read(tmp_path, longer)
    assert set(before) < set(after)
    assert len(after) == len(before) + 3


def test_equal_statements_have_ids_of_their_own(tmp_path: Path) -> None:
    posts, report = read(
        tmp_path, "\\begin{lemma} Same. \\end{lemma}" * 3 + "\\label{a}\\section{S}\\label{a}x"
    )
    assert len(posts) == 5
    assert not report.skipped


def test_references_keep_their_words_and_lead_to_posts(tmp_path: Path) -> None:
    posts, report = read(
        tmp_path,
        r"""\documentclass{article}\begin{document}\section{A}\label{s} By \hyperref[l]{the \emph{good} lemma}, Theorem~\ref{t}, \Cref{l,t} and \eqref{eq:e} of
        \cite[Theorem 2]{knuth84}, as \citet{knuth84} says \ref{nowhere}.
        \begin{lemma}\label{l} \begin{equation}\label{eq:e} x \end{equation} \end{lemma}
        \begin{theorem}\label{t} Yes. \end{theorem}
        \begin{thebibliography}{9}\bibitem[Kn]{knuth84} D. Knuth.\end{thebibliography}""",
    )
    section = posts["paper.tex#s"]
    lemma, theorem = "paper.tex#l", "paper.tex#t"
    assert section.links == (
        Link(lemma, "mention", "the good lemma", "l"),
        Link(theorem, "mention", "Theorem", "t"),
        Link(lemma, "mention", "lemma", "l"),
        Link(theorem, "mention", "lemma", "t"),
        Link(lemma, "mention", "(1)", "eq:e", "1"),
        Link("", "mention", "nowhere", "nowhere"),
    )
    assert posts["paper.tex#s"].place == Place("paper.tex", 1, "s", ("knuth84",))
    text = passage(section).text
    assert "By the good lemma, Theorem, lemma and (*) of (Theorem 2), as Knuth says nowhere." in text
    assert report.missing == {"reference to no label": 1}


def test_theorems_of_a_style_are_honoured(tmp_path: Path) -> None:
    (tmp_path / "ours.sty").write_text(
        r"\RequirePackage{base}\newtheorem{wow}{\bfseries Amazing Lemma}"
        r"\newtcbtheorem[number within=section]{box}{Definition}{colback=red}{def}"
        r"\declaretheorem[style=plain, name=Rule]{rule}"
    )
    (tmp_path / "base.sty").write_text(r"\RequirePackage{ours}\newtheorem{strange}{Odd thing}")
    posts, _ = read(
        tmp_path,
        r"""\documentclass{article}\usepackage{ours}\begin{document}
        \begin{wow} A. \end{wow} \begin{box}{Boxes}{b} B. \end{box} \begin{rule} C. \end{rule}
        \begin{strange} D. \end{strange} \begin{strange} E. \end{strange}\begin{proof} F.\end{proof}\end{document}""",
    )
    assert [(post.kind, post.title, post.body.strip()) for post in posts.values()] == [
        ("lemma", "Amazing Lemma 1: paper", "A."),
        ("definition", "Definition 0.1 (Boxes)", "B."),
        ("statement", "Rule 1: paper", "C."),
        ("statement", "Odd thing 1: paper", "D."),
        ("theorem", "Odd thing 2: paper", "E."),
        ("proof", "", "F."),
    ]
    assert "paper.tex#def:b" in posts


BLUEPRINT = r"""\newtheorem{thm}{Theorem}\newcommand{\itm}{\item}\newcommand{\be}{\begin{equation}}\newcommand{\ee}{\end{equation}}
\begin{document}
\begin{thm}\label{a}\lean{Nat.add_comm, Nat.mul_comm}\leanok First. \be x = y \ee \end{thm}
\begin{thm}\label{b}\uses{a} Second. \begin{itemize}\itm one \itm two\end{itemize}\end{thm}
\begin{proof}\proves{a}\uses{b, gone}\leanok Clear. \end{proof}
\end{document}"""


def test_blueprints_have_links_and_no_prose_for_them(tmp_path: Path) -> None:
    posts, _ = read(tmp_path, BLUEPRINT)
    first, second, proof = (posts[f"paper.tex#{name}"] for name in ("a", "b", "a/proof"))
    assert passage(first).text.split("\n")[1:] == ["First.", "FORMULA_0"]
    assert [link for link in first.links if link.type == "mention"] == [
        Link("", "mention", "Nat.add_comm", "Nat.add_comm"),
        Link("", "mention", "Nat.mul_comm", "Nat.mul_comm"),
    ]
    assert second.links == (Link(first.id, "mention", "Theorem 1", "a", "1"),)
    assert proof.parent == first.id
    assert passage(proof).text == "Clear."
    assert proof.links == (Link(first.id, "proof"), Link(second.id, "mention", "Theorem 2", "b", "2"))


def test_macros_for_items_and_environments_mean_what_they_stand_for(tmp_path: Path) -> None:
    posts, _ = read(tmp_path, BLUEPRINT)
    assert [formula.latex for formula in posts["paper.tex#a"].formulas] == ["x = y"]
    assert passage(posts["paper.tex#b"]).text.split("\n")[1:] == ["Second.", "one", "two"]


def test_a_reference_without_a_number_shows_kind_and_title_and_never_its_label(tmp_path: Path) -> None:
    posts, _ = read(
        tmp_path,
        r"""\section{Limits}\label{sec:lim} By \cref{thm:minusoneconn-surjective}, \Cref{thm:zorn-maximal} and
        Theorem~\ref{thm:zorn-maximal}, see \ref{sec:lim-other}, \autoref{thm:nowhere-known} and \eqref{eq:good-one}.
        \section{Others}\label{sec:lim-other} \begin{theorem}\label{thm:minusoneconn-surjective} A
        \begin{equation}\label{eq:good-one}x\end{equation}\end{theorem} \begin{theorem}[Zorn]\label{thm:zorn-maximal} B \end{theorem}""",
    )
    section = posts["paper.tex#sec:lim"]
    read_as = passage(section).sentences[-1]
    assert "minusoneconn surjective" in read_as.text  # the words of labels are searched
    assert number_references(read_as, section) == (
        "By theorem, theorem (Zorn) and Theorem (Zorn), see (Others), theorem and (*)."
    )


def test_words_of_a_link_are_those_of_a_page(tmp_path: Path) -> None:
    posts, _ = read(
        tmp_path,
        r"""\documentclass{article}\begin{document}\section{A}\label{sec:lim} Let $x+y$ be; by \cref{thm:minusoneconn-surjective},
        Theorem~\ref{thm:minusoneconn-surjective}, and \hyperref[thm:minusoneconn-surjective]{minusoneconn surjective
        maps} $z$ too. \begin{proposition}\label{thm:minusoneconn-surjective} A \end{proposition}""",
    )
    assert [link.words for link in posts["paper.tex#sec:lim"].links] == [
        "theorem",
        "Theorem",
        "minusoneconn surjective maps",
    ]


def test_headings_by_a_macro_of_the_author_are_headings(tmp_path: Path) -> None:
    own = r"\documentclass{article}\newcommand{\mysection}[1]{\section{#1}\label{x}}\newtheorem{thm}{Theorem}[section]\begin{document}"
    thm = "\n\\begin{thm}Let $x$ be.\\end{thm}\n\\end{document}"
    posts, _ = read(tmp_path, f"{own}\n\\mysection{{Sets}}\nText.{thm}")
    assert [post.title for post in posts.values()] == ["paper: Sets", "Theorem 1.1: Sets"]
    posts, _ = read(
        tmp_path, f"{own}\n\\olsection{{Bags of $x$}}\nText.\n\\phantomsection{{}}\n\\subsection{{More}}{thm}"
    )
    assert [post.title for post in posts.values()] == ["paper: Bags of $x$", "Theorem: More"]


def test_an_environment_named_by_a_macro_is_called_by_its_kind(tmp_path: Path) -> None:
    text = r"\declaretheorem[name=\theoremname]{thm}\newtheorem{prob}{\problemname}\begin{document}\begin{thm}A\end{thm}\begin{prob}B\end{prob}"
    posts, _ = read(tmp_path, f"\\documentclass{{article}}{text}\\end{{document}}")
    assert [post.title for post in posts.values()] == ["Theorem 1: paper", "Problem 1: paper"]


def test_headings_of_the_author_may_have_keys_before_their_title(tmp_path: Path) -> None:
    text = "\\olchapter{sfr}{set}{Sets}\nWords.\n\\section{Bags}\nMore.\n\\mysection{Titles}{sec:titles}"
    posts, _ = read(tmp_path, f"\\documentclass{{book}}\\begin{{document}}\n{text}\n\\end{{document}}")
    assert [post.title for post in posts.values()] == ["paper: Sets", "paper: Sets: Bags"]
    assert "sfr" not in "".join(post.body for post in posts.values())


def test_keys_of_a_glossary_that_print_nothing_are_no_words(tmp_path: Path) -> None:
    posts, _ = read(
        tmp_path, "\\begin{document}We \\glsadd{not:seq}write $x$ for a \\gls{limit}.\\end{document}"
    )
    (post,) = posts.values()
    assert "not:seq" not in passage(post).text
    assert "for a limit" in passage(post).text


@pytest.mark.parametrize(
    ("source", "titles"),
    [
        (
            r"\section{Hausdorff}\section{Tychonoff}Words.\section{Sylow}",
            ["a: Hausdorff", "a: Tychonoff", "a: Sylow"],
        ),
        (r"\section{A}\subsection{B}\subsection{C}Words.\section{D}\subsection{E}", ["a: A: B", "a: A: C", "a: D: E"]),
        (r"\section{A}\begin{theorem}[Urysohn]\end{theorem}\begin{lemma}\end{lemma}\section{}", ["a: A", "Theorem (Urysohn)"]),
        (r"\section{A}\begin{theorem}[Urysohn]Words.\end{theorem}", ["Theorem (Urysohn)"]),
        (r"\title{Zorn}", ["Zorn"]),
    ],
)  # fmt: skip
def test_what_is_still_to_be_written_is_found_by_its_title_where_no_other_post_shows_that(
    tmp_path, source, titles
):
    posts, _ = read_files(
        tmp_path, a_tex=f"\\documentclass{{article}}\\begin{{document}}{source}\\end{{document}}"
    )
    assert [post.title for post in posts.values()] == titles
