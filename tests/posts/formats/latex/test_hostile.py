"""Hostile LaTeX is read in linear time: each of these took minutes where a pattern was quadratic."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.posts.hostile import read_bounded

MANY = 150_000
HOSTILE = {
    "blanks after a package": "\\usepackage" + " " * MANY + "x",
    "blanks after a section": "\\section" + " " * MANY + "x",
    "blanks after a definition": "\\newcommand{\\a}" + " " * MANY + "x",
    "blanks after a theorem": "\\newtheorem{a}" + " " * MANY + "x",
    "blanks after a begin": "\\begin" + " " * MANY + "x",
    "blanks after an input": "\\input" + " " * MANY,
    "blanks after a reference": "\\cref" + " " * MANY + "x",
    "escaped percents": "\\%" * MANY,
    "backslashes": "\\" * MANY,
    "open brackets": "\\section[" * (MANY // 9),
    "open braces": "\\section{" * (MANY // 9),
    "open definitions": "\\newcommand{\\a}{" * (MANY // 16),
    "open references": "\\ref{" * (MANY // 5),
    "open theorems": "\\begin{theorem}[" * (MANY // 16),
    "proofs of one theorem": "\\begin{theorem}\\label{a}x\\end{theorem}"
    + "\\begin{proof}[of \\ref{a}]y\\end{proof}" * 4000,
    "theorems and named proofs": "".join(
        f"\\begin{{lemma}}\\label{{l{n}}}x\\end{{lemma}}\\begin{{proof}}[\\ref{{l0}}]y\\end{{proof}}"
        for n in range(4000)
    ),
    "lines": "\n" * MANY + "\\section{a}x" * 4000,
}


@pytest.mark.slow
def test_hostile_documents_are_read_in_linear_time(tmp_path: Path) -> None:
    for name, text in HOSTILE.items():
        (tmp_path / f"{name}.tex").write_text("Words. " + text)
    posts, _ = read_bounded(tmp_path, seconds=30)
    assert {post[0].partition("#")[0] for post in posts} == {f"{name}.tex" for name in HOSTILE}


def test_styles_that_use_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text("\\usepackage{s0}\\begin{t0}x\\end{t0}\\begin{t299}y\\end{t299}")
    for n in range(300):
        uses = "".join(f"\\RequirePackage{{s{m}}}" for m in ((n + 1) % 300, n, 0))
        (tmp_path / f"s{n}.sty").write_text(f"{uses}\\newtheorem{{t{n}}}{{Lemma}}")
    posts, report = read_bounded(tmp_path)
    assert ["lemma", 1] in [post[1:3] for post in posts]
    assert report["skipped_by_cause"] == {"too many styles": 1}


def test_loops_of_links_in_a_folder_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text("\\input{loop}\\input{" + "b" * 300 + "}\\input{" + "c/" * 3000 + "d} ok")
    (tmp_path / "loop.tex").symlink_to("loop.tex")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "again").symlink_to("..")
    posts, report = read_bounded(tmp_path)
    assert len(posts) == 1
    assert report["missing_by_cause"] == {"input without a file": 3}
    assert report["skipped_by_cause"]["not a file"] == 1
