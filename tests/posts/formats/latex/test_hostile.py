"""Styles and links of LaTeX that lead to themselves end."""

from __future__ import annotations

from pathlib import Path

from tests.posts.hostile import read_bounded


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
