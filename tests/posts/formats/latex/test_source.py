"""LaTeX in several files: inputs stay inside the folder, loops stop, macros are collected."""

from __future__ import annotations

from pathlib import Path

from mathamr.posts.formats.latex.definitions import macros_in
from mathamr.posts.formats.latex.source import Source, Sources, strip_comments
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.cases import cases
from tests.folders import write_files


def sources(folder: Path, **files: str) -> tuple[list[Source], Report]:
    paths = []
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.tex"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        paths.append(path)
    report = Report()
    return list(Sources(folder, tuple(paths)).read(report)), report


def test_inputs_stand_in_their_places(tmp_path: Path) -> None:
    found, report = sources(
        tmp_path,
        main=r"\documentclass{a} A \input{sub/b} D \include{c.tex} E \import{sub}{d}",
        sub__b=r"B \input e B",
        sub__e="e",
        c="C",
        sub__d="d",
    )
    assert [source.text.split() for source in found] == [
        ["\\documentclass{a}", "A", "B", "e", "B", "D", "C", "E", "d"]
    ]
    assert not report.skipped
    assert not report.missing


def test_inputs_that_leave_the_folder_are_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "secret.tex"
    outside.write_text("SECRET")
    folder = tmp_path / "paper"
    folder.mkdir()
    (folder / "linked.tex").symlink_to(outside)
    found, report = sources(
        folder, main=rf"\input{{../secret}} \input{{{outside}}} \input{{linked}} \input{{gone}} ok"
    )
    assert found[0].text.strip() == "ok"
    assert report.skipped == {"input outside the folder": 3}
    assert report.missing == {"input without a file": 1}
    assert "main.tex" in str(report.examples["input outside the folder"][0])


def test_loops_and_repeats_of_inputs_stop(tmp_path: Path) -> None:
    found, report = sources(tmp_path, a=r"A \input{b}", b=r"B \input{a} \input{b} \input{c} \input{c}", c="C")
    assert [source.text.split() for source in found] == [["A", "B", "C"]]
    assert report.repaired["repeated input"] == 3


def test_an_input_in_a_comment_is_none(tmp_path: Path) -> None:
    found, report = sources(tmp_path, a="A % \\input{b}\n\\% \\input{c}", b="B", c="C")
    assert sorted(source.text for source in found) == ["A %\n\\% C", "B"]
    assert not report.skipped
    assert not report.missing


def test_macros_come_from_the_document_its_inputs_and_its_styles(tmp_path: Path) -> None:
    (tmp_path / "own.sty").write_text(r"\newcommand{\half}[1]{\frac{#1}{2}}")
    (source,), _ = sources(
        tmp_path,
        main=r"\usepackage{own,amsmath} \newcommand\R{\mathbb{R}} \input{more} \renewcommand{\R}{\mathbf{R}}",
        more=r"\DeclareMathOperator*{\argmax}{arg\,max} \def\pair#1#2{(#1,\R_{#2})}",
    )
    assert list(source.macros) == ["half", "R", "argmax", "pair"]
    assert source.macros_for(r"$\pair{a}{b}$") == (
        r"\renewcommand{\R}{\mathbf{R}}",
        r"\def\pair#1#2{(#1,\R_{#2})}",
    )
    assert source.macros_for("no macros") == ()


def test_a_macro_that_is_never_closed_is_left_out() -> None:
    found: dict[str, str] = {}
    macros_in(r"\newcommand{\a}{\frac{1} \newcommand{\b}{2}", found)
    assert found == {"b": r"\newcommand{\b}{2}"}


def test_comments_go_and_verbatim_text_stays() -> None:
    text = "a % x\n\\% b\n\\begin{verbatim}\n% kept\n\\end{verbatim}\n%gone\n\\begin{comment}no\\end{comment}c\\\\%d"
    assert strip_comments(text) == "a %\n\\% b\n\\begin{verbatim}\n% kept\n\\end{verbatim}\n%\nc\\\\%"


def test_names_that_are_no_paths_are_reported(tmp_path: Path) -> None:
    (tmp_path / "loop.tex").symlink_to(tmp_path / "loop.tex")
    long = "a" * 300
    found, report = sources(
        tmp_path,
        main=f"\\input{{{long}}} \\input{{loop}} \\usepackage{{{long},x}} \\input{{a\0b}} \\input{{}} ok",
    )
    assert found[0].text.split() == [f"\\usepackage{{{long},x}}", "ok"]
    assert report.missing == {"input without a file": 4}


def test_the_macros_of_a_preamble_are_read_by_the_grammar_of_formulas(tmp_path: Path) -> None:
    (tmp_path / "own.sty").write_text("\\newcommand{\\foo}[1]{%\n  \\mathbf{#1}%\n}\\let\\eps\\varepsilon\n")
    preamble = r"\usepackage{own}\DeclarePairedDelimiter\abs{|}{|}\newenvironment{e}{(}{)}\newcommand\Cat\mathcal\let\old\eps"
    found, _ = sources(tmp_path, main=rf"\documentclass{{a}}{preamble}\begin{{document}}x\end{{document}}")
    assert found[0].macros_for(r"\foo{x}+\abs x\begin{e}\Cat C\end{e}\old") == (
        r"\newcommand{\foo}[1]{\mathbf{#1}}",
        r"\DeclarePairedDelimiter\abs{|}{|}",
        r"\newenvironment{e}{(}{)}",
        r"\newcommand\Cat\mathcal",
        r"\let\old\varepsilon",
    )


def test_a_command_that_needs_the_machine_of_tex_keeps_its_meaning() -> None:
    macros: dict[str, str] = {}
    macros_in(r"\def\x{\setbox0\hbox{a}\copy0}\providecommand\y{b}\providecommand\y{c}", macros)
    assert macros == {"y": r"\providecommand\y{b}"}


def test_macros_of_the_author_that_input_files_are_followed(tmp_path: Path) -> None:
    style = r"\newcommand{\chapterfile}[2][.]{\subfile{#1/#2}} \newcommand{\both}[1]{\ifx1\fi\input{#1}}"
    part = "\\documentclass[../book]{subfiles}\n\\newtheorem{satz}{Satz}\n\\begin{document}\n%s\n\\end{document}\nrest"
    write_files(
        tmp_path,
        {
            "ours.sty": style,
            "book.tex": r"\documentclass{book}\newcommand{\here}{./parts}\usepackage{ours}\begin{document}\input{\here/one}\both{gone}"
            "\n\\chapterfile[parts]{two} E\\end{document}",
            "parts/one.tex": part % "A",
            "parts/two.tex": part % "B \\chapterfile{three} D",
            "parts/three.tex": "C",
        },
    )
    report = Report()
    posts = list(read_posts(tmp_path, report))
    assert [post.id for post in posts] == ["book.tex"]
    assert "".join(posts[0].body.split()).endswith("A\\both{gone}BCDE")
    assert not report.missing


def test_an_input_of_an_authors_macro_keeps_its_place(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "book.tex": "\\documentclass{article}\\newcommand{\\part}[1]{\\input{parts/#1}}\n\\begin{document}\n\\section{A}\nx\n\\part{p}\\end{document}",
            "parts/p.tex": "\\documentclass[../book]{subfiles}\n\\begin{document}\n\n\\section{B}\ny\\end{document}",
        },
    )
    places = {post.title: post.place for post in read_posts(tmp_path, Report())}
    assert {title: (place.path, place.line) for title, place in places.items() if place} == {
        "book: A": ("book.tex", 3),
        "book: B": ("parts/p.tex", 4),
    }


@cases("definition", [r"\declaretheorem[name=Satz]{satz}", r"\newtheorem{satz}{Satz}"])
@cases(("before", "after"), [(r"\input{styles}", ""), ("", r"\input{styles}")])
def test_every_document_gets_the_theorems_of_a_file_that_several_input(
    tmp_path: Path, definition: str, before: str, after: str
) -> None:
    document = r"\documentclass{article}%s\begin{document}%s\begin{satz}%s\end{satz}\end{document}"
    write_files(
        tmp_path,
        {
            "styles.tex": rf"\input{{inner}}\section*{{Styles}}{definition}",
            "inner.tex": r"\newcommand{\R}{R}",
            "a.tex": document % (before, after, "x"),
            "b.tex": document % (before, after, "$y\\R$"),
        },
    )
    found = {
        post.id.partition("#")[0]: post for post in read_posts(tmp_path, Report()) if post.kind == "theorem"
    }
    assert set(found) == {"a.tex", "b.tex"}
    assert found["b.tex"].title.startswith("Satz")
    assert found["b.tex"].macros == (r"\newcommand{\R}{R}",)
