"""Details of the markup of Typst documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.post import Post
from tests.posts.reading import read_files


def read(folder: Path, source: str) -> list[Post]:
    return list(read_files(folder, a_typ=source)[0].values())


@pytest.mark.parametrize(
    ("call", "title"),
    [
        ('#theorem("Euler")[X $a$]', "Theorem (Euler)"),
        ("#theorem(title: [Euler])[X $a$]", "Theorem (Euler)"),
        ('#theorem(name: "Euler $n$")[X $a$]', "Theorem (Euler $n$)"),
        ("#theorem[Euler][X $a$]", "Theorem (Euler)"),
        ("#theorem[X $a$]", "Theorem"),
        ("#theorem-box[X $a$]", "Theorem"),
        ('#let satz = thmbox("theorem", "Theorem")\n#satz[X $a$]', "Theorem"),
    ],
)
def test_statements_of_the_common_packages_are_found(tmp_path: Path, call: str, title: str) -> None:
    (post,) = read(tmp_path, call)
    assert (post.kind, post.title, post.body) == (
        "theorem", title, '<p>X <span class="math-container">$a$</span></p>',
    )  # fmt: skip


def test_code_is_left_out_and_its_content_is_read(tmp_path: Path) -> None:
    source = "#set page(margin: (x: 1cm))\n#show heading: it => [#it.body]\n#let f(x) = {\n x\n}\n#{ let y = 1 }\n#text(fill: red)[Red] words."
    assert [post.body for post in read(tmp_path, source)] == ["<p>Red words.</p>"]
