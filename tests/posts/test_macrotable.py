"""Macros of a collection: where people define them, and which definition of a name holds in a document."""

from __future__ import annotations

import json
from pathlib import Path

from mathamr.formulas.latex.macros import without_macros
from mathamr.formulas.latex.unknown import unknown_commands
from mathamr.formulas.parse import parse
from mathamr.posts.macrosources import learn_macros, may_define
from mathamr.posts.macrotable import MacroTable
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.cases import cases
from tests.folders import write_files

R = r"\newcommand{\R}{\mathbb{R}}"


def shown(folder: Path, **files: str) -> dict[str, list[str]]:
    """The formulas of the posts of a folder, with their macros expanded, by path; `__` is a slash, and `_` before the suffix a dot."""
    named = {".".join(name.replace("__", "/").rsplit("_", 1)): text for name, text in files.items()}
    found: dict[str, list[str]] = {}
    for post in read_posts(write_files(folder, named), Report()):
        assert post.place is not None
        formulas = [without_macros(formula.latex, post.macros) for formula in post.formulas]
        found.setdefault(post.place.path, []).extend(formulas)
    return found


NOTE = "Let $\\R$ be real."


@cases(
    ("name", "text"),
    [
        (
            "_config_yml",
            "sphinx:\n  config:\n    mathjax3_config:\n      tex:\n        macros:\n          R: '\\mathbb{R}'\n",
        ),
        ("myst_yml", "project:\n  math:\n    '\\R': '\\mathbb{R}'\n"),
        ("_quarto_yml", f"format:\n  pdf:\n    include-in-header:\n      - text: |\n          {R}\n"),
        (
            "_quarto_yml",
            "format:\n  html:\n    include-in-header:\n      - text: |\n          <script>MathJax = {tex: {macros: {R: '\\\\mathbb{R}'}}}</script>\n",
        ),
        ("conf_py", "mathjax3_config = {'tex': {'macros': {'R': r'\\mathbb{R}'}}}\nx = open('y')\n"),
        ("preamble_sty", f"% a vault's own\n{R}\n"),
        ("own_sty", R),
        (
            "macros_jax",
            '<script>window.MathJax = { tex: { macros: { N: "x", R: ["\\\\mathbb{R}"] } } };</script>',
        ),
        ("katex-macros_js", 'export default { macros: { "\\\\R": "\\\\mathbb{R}" } }'),
        ("header_html", f"<html><body><p>\\({R}\\) words</p></body></html>"),
        ("docinfo_xml", f"<docinfo><macros>{R}</macros></docinfo>"),
        ("macros_xml", f"<macros>\n{R} \\newcommand{{\\lt}}{{&lt;}}\n</macros>"),
        ("other_md", f"# Notation\n\n$${R}$$\n"),
        ("other_tex", f"\\documentclass{{article}}{R}\\begin{{document}}Words.\\end{{document}}"),
    ],
)
def test_macros_are_found_where_people_define_them(tmp_path: Path, name: str, text: str) -> None:
    found = shown(
        tmp_path,
        **{
            name: text,
            "chapters__a_md": NOTE,
            "b_ipynb": notebook(NOTE),
            "c_tex": NOTE,
            "d_rst": "Let :math:`\\R` be.",
        },
    )
    assert found["chapters/a.md"] == found["b.ipynb"] == found["c.tex"] == found["d.rst"] == [r"\mathbb{R}"]


def notebook(*cells: str) -> str:
    return json.dumps({"cells": [{"cell_type": "markdown", "source": [cell]} for cell in cells]})


def test_a_page_and_a_notebook_define_macros_for_themselves(tmp_path: Path) -> None:
    own = r"$$\newcommand{\ip}[2]{\langle #1,#2\rangle}$$"
    found = shown(
        tmp_path,
        a_md=f"{own}\n\nLet $\\ip{{x}}{{y}}$.",
        b_ipynb=notebook(own, "Let $\\ip{x}{y}$."),
        c_md="Let $\\ip{x}{y}$.",
    )
    assert found["a.md"][-1] == found["b.ipynb"][-1] == found["c.md"][-1] == r"\langle x,y\rangle"


def test_the_nearest_definition_holds(tmp_path: Path) -> None:
    def macro(body: str) -> str:
        return f"macros:\n  N: '{body}'\n"

    found = shown(
        tmp_path,
        _config_yml=macro("1"),
        part___config_yml=macro("2"),
        a_md="$\\N$",
        part__b_md="$\\N$",
        part__c_md="$$\\newcommand{\\N}{3}$$ and $\\N$",
        part__d_md="---\nmath:\n  '\\N': '4'\n---\nText $\\N$.",
        part__e_md="Text $\\renewcommand{\\N}{5}\\N$.",
    )
    assert [each[-1] for _, each in sorted(found.items())] == list("12345")


def test_the_own_macros_of_a_collection_hold_above_latex_and_packages(tmp_path: Path) -> None:
    settings = "macros:\n  P: '\\mathbb{P}'\n  ip: '\\cdot'\n"
    assert shown(tmp_path, _config_yml=settings, a_md="Let $\\P \\ip$.") == {"a.md": [r"\mathbb{P}\cdot"]}


def test_macros_of_another_document_are_for_what_nothing_else_knows(tmp_path: Path) -> None:
    other = r"\documentclass{a}\newcommand\P{p}\newcommand\abs{q}\newcommand\R{r}\begin{document}Words.\end{document}"
    assert shown(tmp_path, other_tex=other, a_md="Let $\\P\\abs\\R$.")["a.md"] == [r"\P qr"]


def test_of_several_definitions_elsewhere_the_nearest_and_most_frequent_counts() -> None:
    learned = {
        path: learn_macros(path, rf"$\newcommand\R{{{body}}}$")
        for path, body in {"x/a.md": "1", "y/a.md": "2", "y/b.md": "2", "y/z/c.md": "3"}.items()
    }
    table = MacroTable(learned)
    needed = {path: table.needed(f"{path}d.md", ["R"])[0][-2] for path in ("", "x/", "y/", "y/z/")}
    assert needed == {"": "2", "x/": "1", "y/": "2", "y/z/": "3"}
    assert table.conflicts == {"R": 3}


def test_of_equally_frequent_definitions_elsewhere_that_nearest_to_the_root_counts() -> None:
    table = MacroTable(
        {path: learn_macros(path, rf"\newcommand\R{{{path[0]}}}") for path in ("a/b.sty", "c.sty", "d.sty")}
    )
    assert table.needed("e/f.md", ["R"]) == (r"\newcommand\R{c}",)


def test_a_subfile_has_the_macros_of_its_root_and_of_what_that_inputs(tmp_path: Path) -> None:
    found = shown(
        tmp_path,
        main_tex=r"\documentclass{book}\newcommand\olpath{.}\input{\olpath/sty/own.sty}\newcommand\P{p}\begin{document}Words.\end{document}",
        sty__own_sty=r"\newcommand\N{n}\let\oldphi\phi\let\phi\varphi\let\varphi\oldphi",
        parts__a_tex=r"\documentclass[../main]{subfiles}\begin{document}Let $\P\N\phi$.\end{document}",
    )
    assert found["parts/a.tex"] == [r"pn\varphi"]


def test_a_quarto_page_has_the_macros_of_what_it_includes(tmp_path: Path) -> None:
    page = "{{< include _macros.qmd >}}\n\nLet $\\P$.\n"
    assert shown(tmp_path, _macros_qmd="::: {.hidden}\n$$\\renewcommand{\\P}{p}$$\n:::\n", a_qmd=page)[
        "a.qmd"
    ] == ["p"]


def test_pretext_documents_have_the_macros_of_their_book(tmp_path: Path) -> None:
    def section(words: str) -> str:
        return f'<section xmlns:xi="http://www.w3.org/2001/XInclude"><p>{words}</p></section>'

    found = shown(
        tmp_path,
        one__main_ptx="<pretext><docinfo><macros>\\newcommand{\\P}{p}</macros></docinfo><book><p>Let <m>\\P</m>.</p></book></pretext>",
        one__part__a_ptx=section("Let <m>\\P</m>."),
        two__macros_xml="<macros>\\newcommand{\\P}{q}</macros>",
        two__b_ptx=section("Let <m>\\P</m>."),
    )
    assert found == {"one/main.ptx": ["p"], "one/part/a.ptx": ["p"], "two/b.ptx": ["q"]}


@cases(
    ("name", "text"),
    [
        ("macros.tex", f"% all of them\n{R}\n\\DeclareMathOperator{{\\tr}}{{tr}}\n"),
        ("macros.xml", f"<macros>{R}</macros>"),
        ("macros.md", f"$$\n{R}\n\\def\\x#1{{y}}\n$$\n"),
        ("macros.qmd", f"::: {{.hidden}}\n$${R}$$\n:::\n"),
        ("macros.ipynb", notebook(f"${R}$")),
    ],
)
def test_a_file_of_macros_alone_is_no_entry(tmp_path: Path, name: str, text: str) -> None:
    folder = write_files(tmp_path, {name: text, "a.md": NOTE})
    posts = list(read_posts(folder, Report()))
    assert [post.id for post in posts] == ["a.md"]
    assert posts[0].macros == (R,)


def test_a_file_that_is_read_alone_has_the_settings_beside_it(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": NOTE, "_config.yml": "macros:\n  R: '\\mathbb{R}'\n"})
    (post,) = read_posts(tmp_path / "a.md", Report())
    assert post.macros == (R,)


def test_formulas_get_only_the_definitions_that_they_need() -> None:
    settings = "macros:\n  R: '\\mathbb{R}'\n  Rn: '\\R^n'\n  S: s\n"
    table = MacroTable({"_config.yml": learn_macros("_config.yml", settings)})
    assert table.needed("a.md", ["Rn"]) == (R, r"\newcommand{\Rn}{\R^n}")


def test_a_fingerprint_changes_with_what_a_document_uses_and_with_nothing_else() -> None:
    def table(first: str, second: str) -> MacroTable:
        return MacroTable(
            {name: learn_macros(name, text) for name, text in {"x.tex": first, "y.tex": second}.items()}
        )

    uses = learn_macros("a.md", "Let $\\R$.", uses=True)
    before = table(R, r"\newcommand\S{s}")
    assert before.fingerprint("a.md", uses) == table(R, r"\newcommand\S{t}").fingerprint("a.md", uses)
    assert before.fingerprint("a.md", uses) != table(
        R.replace("R}}", "Q}}"), r"\newcommand\S{s}"
    ).fingerprint("a.md", uses)
    assert before.fingerprint("a.md", None) != table(R, r"\newcommand\S{t}").fingerprint("a.md", None)
    assert MacroTable({}).fingerprint("a.md", uses) == ""


def test_what_a_configuration_repeats_without_end_is_bounded() -> None:
    bomb = "a0: &a0 ['\\x', '\\x']\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
    )
    assert learn_macros("_config.yml", bomb) == {}


def test_which_files_may_define_macros() -> None:
    assert [may_define(name) for name in ("a.sty", "_quarto.yml", "data.yml", "mathjax.js", "index.js", "a.py", "conf.py")] == [
        True, True, False, True, False, False, True,
    ]  # fmt: skip


def test_unknown_commands_are_counted_with_an_example(tmp_path: Path) -> None:
    report = Report()
    notes = {
        "a.md": "Let $\\Gal(K)$ and $\\Gal(L)$ be $\\alpha$, $\\R$.\n\n$\\begin{prooftree}x\\end{prooftree}$",
        "b.md": "$\\Gal$",
        "c.tex": R,
    }
    posts = list(read_posts(write_files(tmp_path, notes), report))
    assert len(posts) == 2
    found = report.to_dict()
    assert found["formulas_with_unknown_commands"] == 4
    assert found["unknown_commands"] == {"\\Gal": 3, "\\begin{prooftree}": 1}
    assert any(
        line.startswith("unknown command \\Gal: 3 formulas in 2 entries, as in a.md: ")
        for line in report.lines()
    )
    other = Report()
    other.add(report.to_row())
    assert other.lines() == report.lines()
    assert other.to_dict()["unknown_commands"] == found["unknown_commands"]


def test_macros_that_expand_to_nothing_are_counted_beside_unknown_ones(tmp_path: Path) -> None:
    preamble = (
        "$$\\newcommand{\\old}[1]{\\iffalse(#1)\\fi}\\newcommand{\\both}{\\old{x}\\old{y}}\\newcommand{\\todo}[1]{}"
        "\\newcommand{\\gap}{\\,}\\newcommand{\\id}{\\idarg}\\newcommand{\\idarg}[1]{#1}\\newcommand{\\set}{\\def\\x{1}}$$\n\n"
    )
    formulas = "$\\old{a}+b$, $c\\both$, $d\\todo{e}\\gap f$, $\\id g$, $\\set\\x$ and $\\both\\old{}$."
    report = Report()
    list(read_posts(write_files(tmp_path, {"a.md": preamble + formulas}), report))
    found = report.to_dict()
    assert found["formulas_with_empty_commands"] == 3
    assert found["empty_commands"] == {"\\old": 2, "\\both": 2}
    assert found["unknown_commands"] == {}
    assert any(
        line.startswith(
            "empty command \\both, which expands to nothing: 2 formulas in 1 entry, as in a.md: c"
        )
        for line in report.lines()
    )
    other = Report()
    other.add(report.to_row())
    assert other.lines() == report.lines()


def test_macros_with_several_definitions_are_counted(tmp_path: Path) -> None:
    report = Report()
    list(
        read_posts(
            write_files(tmp_path, {"a.md": f"{NOTE} ${R}$", "b.md": f"{NOTE} $\\def\\R{{r}}$"}), report
        )
    )
    assert report.to_dict()["conflicting_macros"] == {"R": 2}
    assert "macros with several definitions" in report.lines()[-1]


def test_what_is_unknown_is_what_the_parser_does_not_know() -> None:
    formulas = [
        r"\frac12",
        r"\foo+\sin x",
        r"\text{\textbf{a} $\foo$}",
        r"\begin{cases}1\end{cases}",
        r"\begin{foo}1\end{foo}",
        r"\left(\bra{x}\right)",
    ]
    for latex in formulas:
        repairs = " ".join(repair.message for repair in parse(latex).repairs)
        assert bool(unknown_commands(latex)) == ("unknown" in repairs), latex
