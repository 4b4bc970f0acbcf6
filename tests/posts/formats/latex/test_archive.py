"""Source archives of LaTeX documents."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from tests.folders import write_files
from tests.posts.reading import read

MAIN = r"""\documentclass{article}\newcommand{\RR}{\mathbb{R}}\newtheorem{theorem}{Theorem}
\begin{document}\input{sections/one}
\begin{proof} By \ref{thm:a}. \end{proof}\end{document}"""
ONE = r"\begin{theorem}\label{thm:a} Let $x \in \RR$. \end{theorem}"


def archive(path: Path, files: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as packed:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return path


def test_an_archive_is_read_as_a_folder_of_its_own(tmp_path: Path) -> None:
    files = {"figure.png": b"\x89PNG", "main.tex": MAIN.encode(), "sections/one.tex": ONE.encode()}
    path = archive(tmp_path / "2101.01234.tar.gz", files)
    posts, report = read(path)
    theorem, proof = posts.values()
    assert theorem.id == "2101.01234.tar.gz/main.tex#thm:a"
    assert theorem.macros == (r"\newcommand{\RR}{\mathbb{R}}",)
    assert theorem.formulas[0].id.startswith(theorem.id)
    assert theorem.place is not None
    assert theorem.place.path == "2101.01234.tar.gz/sections/one.tex"
    assert proof.parent == theorem.id
    assert {post.source for post in posts.values()} == {str(path)}
    assert not report.skipped


def test_what_leads_out_of_the_archive_is_left_out(tmp_path: Path) -> None:
    files = {
        "../out.tex": b"no",
        "/abs.tex": b"no",
        "main.tex": MAIN.encode(),
        "sections/one.tex": ONE.encode(),
    }
    posts, report = read(archive(tmp_path / "a.tgz", files))
    assert len(posts) == 2
    assert report.skipped["path out of the archive"] == 2
    assert not (tmp_path.parent / "out.tex").exists()


def test_a_truncated_archive_gives_what_is_whole(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "a.tar",
        {"main.tex": MAIN.replace(r"\input{sections/one}", ONE).encode(), "b.tex": b"x" * 5000},
        "w",
    )
    path.write_bytes(path.read_bytes()[:2500])
    posts, report = read(path)
    assert [post.kind for post in posts.values()] == ["theorem", "proof"]
    assert report.skipped["damaged archive"] == 1


PAPER = r"""\documentclass{article}\newtheorem{theorem}{Theorem}
%\title{Not this}
\title{On the \emph{order} of $p$-groups}
\author[A]{Ada Byron\thanks{Supported} \\ London \and Emmy Noether$^1$, Sophie Germain}
\begin{document}
\begin{theorem}\label{thm:a} Let $x>0$. \end{theorem}\end{document}"""


def test_a_paper_has_number_title_authors_and_year_of_its_source(tmp_path: Path) -> None:
    posts, _ = read(archive(tmp_path / "2101.01234v2.tar.gz", {"main.tex": PAPER.encode()}))
    (post,) = posts.values()
    authors = ("author:Ada Byron", "author:Emmy Noether", "author:Sophie Germain")
    assert post.tags == ("arxiv:2101.01234v2", "paper:On the \\emph{order} of $p$-groups", *authors)
    assert post.date == "2021-01"


def test_metadata_beside_the_sources_count_more_and_folders_are_papers_too(tmp_path: Path) -> None:
    about = '{"id": "math/0309136", "title": "The entropy formula", "authors": "G. Perelman and others"}'
    papers = {f"{folder}/paper.tex": PAPER for folder in ("math_0309136", "draft2012001")}
    write_files(tmp_path, papers | {"arxiv-metadata.jsonl": f"broken\n{about}\n"})
    posts, _ = read(tmp_path, format="latex")
    assert posts["math_0309136/paper.tex#thm:a"].tags == (
        "arxiv:math/0309136",
        "paper:The entropy formula",
        "author:G. Perelman",
        "author:others",
    )
    assert posts["math_0309136/paper.tex#thm:a"].date == "2003-09"
    assert posts["draft2012001/paper.tex#thm:a"].tags == (), "a name with digits is not a number of arXiv"


def test_a_name_that_no_file_can_have_takes_no_others_with_it(tmp_path: Path) -> None:
    names = ["a.tex", f"{'n' * 300}.tex", "a.tex/b.tex", f"{'d' * 300}/c.tex", "z.tex"]
    document = b"\\documentclass{article}\\begin{document}Words.\\end{document}"
    path = archive(tmp_path / "p.tar.gz", dict.fromkeys(names, document))
    posts, report = read(path)
    assert list(posts) == ["p.tar.gz/a.tex", "p.tar.gz/z.tex"]
    assert report.skipped == {"unreadable input": 3}


def test_of_a_file_that_stands_twice_in_an_archive_the_last_is_read_and_the_first_counted(
    tmp_path: Path,
) -> None:
    document = "\\documentclass{{article}}\\begin{{document}}{}\\end{{document}}"
    with tarfile.open(tmp_path / "p.tar", "w") as packed:
        for words in ("A zebra.", "A quagga."):
            content = document.format(words).encode()
            entry = tarfile.TarInfo("a.tex")
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    posts, report = read(tmp_path / "p.tar")
    assert [post.body for post in posts.values()] == ["A quagga."]
    assert report.skipped == {"file twice in the archive": 1}
