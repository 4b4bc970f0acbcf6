"""Source archives of LaTeX documents."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

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


def read(path: Path) -> tuple[list[Post], Report]:
    report = Report()
    return list(read_posts(path, report)), report


def test_an_archive_is_read_as_a_folder_of_its_own(tmp_path: Path) -> None:
    files = {"figure.png": b"\x89PNG", "main.tex": MAIN.encode(), "sections/one.tex": ONE.encode()}
    path = archive(tmp_path / "2101.01234.tar.gz", files)
    posts, report = read(path)
    theorem, proof = posts
    assert theorem.id == "2101.01234.tar.gz/main.tex#thm:a"
    assert theorem.macros == (r"\newcommand{\RR}{\mathbb{R}}",)
    assert theorem.formulas[0].id.startswith(theorem.id)
    assert theorem.place is not None
    assert theorem.place.path == "2101.01234.tar.gz/sections/one.tex"
    assert proof.parent == theorem.id
    assert {post.source for post in posts} == {str(path)}
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
    assert [post.kind for post in posts] == ["theorem", "proof"]
    assert report.skipped["damaged archive"] == 1
