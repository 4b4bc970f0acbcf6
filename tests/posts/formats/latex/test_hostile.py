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
