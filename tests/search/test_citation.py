"""Citations of hits."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from mathamr.cli import app
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.citation import cite
from mathamr.search.searcher import Index

PAPER = r"""\documentclass{article}\newtheorem{theorem}{Theorem}
\title{Orders & $p$-groups}\author{Ada Byron \and Emmy Noether}
\begin{document}
\begin{theorem}\label{thm:a} Every ring of quaternions is zigzag. \end{theorem}
\end{document}"""
BIBLIOGRAPHY = "\n@book{Lang2002, author = {Serge Lang}, title = {Algebra}, year = 2002}\n"


def write_paper(notes: Path) -> None:
    (notes / "2101.00123v2").mkdir(parents=True)
    (notes / "2101.00123v2" / "main.tex").write_text(PAPER, encoding="utf-8")


def test_papers_bibliographies_and_notes_are_cited_with_their_lines(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    write_paper(notes)
    (notes / "refs.bib").write_text(BIBLIOGRAPHY, encoding="utf-8")
    (notes / "a_b.md").write_text("# Hopf fibration\n\nIt is a sphere over a sphere.\n", encoding="utf-8")
    build_index([notes], tmp_path / "index", BuildOptions())
    with Index.open(tmp_path / "index") as index:
        cited = {
            query: cite(index.search(query, k=1, strategy="lexical")[0])
            for query in ("quaternions zigzag", "Lang Algebra", "Hopf fibration")
        }
    assert cited == {
        "quaternions zigzag": """@misc{arXiv:2101.00123v2,
  title = {Orders \\& $p$-groups},
  author = {Ada Byron and Emmy Noether},
  year = {2021},
  eprint = {2101.00123v2},
  archiveprefix = {arXiv},
  note = {Theorem 1: Orders $p$-groups, 2101.00123v2/main.tex, line 4},
}""",
        "Lang Algebra": "\\cite{Lang2002}  % refs.bib, line 2",
        "Hopf fibration": """@misc{a-b.md,
  title = {Hopf fibration},
  note = {a\\_b.md, line 1},
}""",
    }
    command = [
        "search",
        str(tmp_path / "index"),
        "quaternions zigzag",
        "--strategy",
        "lexical",
        "--cite",
        "--json",
    ]
    hits = json.loads(CliRunner().invoke(app, command).stdout)["hits"]
    assert hits[0]["citation"] == cited["quaternions zigzag"]


def test_a_changed_file_of_metadata_makes_its_papers_be_read_again(tmp_path: Path) -> None:
    notes, folder = tmp_path / "notes", tmp_path / "index"
    write_paper(notes)
    cited = []
    for title in ("First title", "Second title"):
        row = {"id": "2101.00123", "title": title, "authors": "Ada Byron"}
        (notes / "arxiv-metadata.jsonl").write_text(json.dumps(row), encoding="utf-8")
        build_index([notes], folder, BuildOptions())
        with Index.open(folder) as index:
            cited.append(cite(index.search("quaternions zigzag", k=1, strategy="lexical")[0]))
    assert "First title" in cited[0]
    assert "Second title" in cited[1]
