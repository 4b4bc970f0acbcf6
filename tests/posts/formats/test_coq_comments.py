from __future__ import annotations

from pathlib import Path

import pytest

from tests.posts.reading import read_files


@pytest.mark.parametrize("mark", ["(*", "(**"])
def test_behind_a_comment_that_is_never_closed_the_next_command_is_read(tmp_path: Path, mark: str) -> None:
    text = f"Theorem a : x = x.\nProof. trivial. Qed.\n\n{mark} A zebra. Lemma w : x = x.\n\n(** Of order two. *)\nLemma b : y = y.\nProof. trivial. Qed.\n"
    posts, report = read_files(tmp_path, a_v=text)
    found = {post.place.label: post for post in posts.values() if post.place}
    assert set(found) == {"a", "b"}
    assert "Of order two" in found["b"].body
    assert report.skipped == {"unclosed comment": 1}
