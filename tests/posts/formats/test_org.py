"""Org files: what is a reference or a name and no text."""

from __future__ import annotations

from pathlib import Path

from mathamr.posts.passage import passage
from tests.posts.reading import read_files


def test_citations_and_labels_are_no_text(tmp_path: Path) -> None:
    note = (
        "* Bounds\nAs shown in [cite/t:see @knuth84 p. 3; @gauss], see cite:euler,noether. With label:eqn:x we write\n\n"
        "$$a = b$$ label:eqn:y\n\nBy eqref:eqn:y and [[cref:eqn:x]] and [[cite:&hardy]] it holds. A label: not a name.\n"
    )
    (post,) = read_files(tmp_path, note_org=note)[0].values()
    assert [sentence.text for sentence in passage(post).sentences][2:] == [
        "As shown in, see.",
        "With we write FORMULA_0",
        "By (*) and (*) and it holds.",
        "A label: not a name.",
    ]
    assert post.place is not None
    assert post.place.labels == ("eqn:x", "eqn:y")
    assert [link.label for link in post.links if not link.target] == [
        "knuth84", "gauss", "euler", "noether", "hardy",
    ]  # fmt: skip
