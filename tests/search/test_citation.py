"""Citations of hits."""

from __future__ import annotations

from pathlib import Path

from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.citation import cite
from mathamr.search.searcher import Index

PAPER = r"""\documentclass{article}\newtheorem{theorem}{Theorem}
\title{Orders & $p$-groups}\author{Ada Byron \and Emmy Noether}
\begin{document}
\begin{theorem}\label{thm:a} Every ring of quaternions is zigzag. \end{theorem}
\end{document}"""
BIBLIOGRAPHY = "\n@book{Lang2002, author = {Serge Lang}, title = {Algebra}, year = 2002}\n"


def test_papers_bibliographies_and_notes_are_cited_with_their_lines(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "2101.00123v2").mkdir(parents=True)
    (notes / "2101.00123v2" / "main.tex").write_text(PAPER, encoding="utf-8")
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
