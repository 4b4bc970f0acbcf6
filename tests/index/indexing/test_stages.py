"""The stages make what an index needs, each thing once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mathamr.index.indexing import encoding, intake, stages
from mathamr.index.lexical.bags import formula_bag, post_bag
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import formula_terms
from mathamr.index.storage import IndexStorage
from mathamr.posts.post import Formula
from tests.index.small import build, note


def test_processes_that_encode_outlive_a_batch(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "BATCH", 5)
    monkeypatch.setattr(encoding, "FEW", 2)
    posts = [note(f"note-{number}", f"The number ${number}$ is one of many here.") for number in range(12)]
    build(tmp_path / "index", posts, model_folder, workers=2)
    with IndexStorage.open(tmp_path / "index", device="cpu") as archive:
        assert archive.catalogue.count_pending("vectors") == 0
        assert set(archive.engine.ids("posts")) == {post.id for post in posts}


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_lexical_entries_do_not_depend_on_batches_and_order(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(intake, "BATCH", batch)
    monkeypatch.setattr(intake, "TAKEN", batch)
    written: dict[str, Any] = {}
    update = LexicalPart.update_bags

    def remembering(part: LexicalPart, upserts: Any, deletes: Any = (), new: Any = ()) -> None:
        entries = list(upserts)
        written.update(entries)
        update(part, entries, deletes, new)

    monkeypatch.setattr(LexicalPart, "update_bags", remembering)
    posts = [note("c", "$x^{2}$ and $z$"), note("b", "${x}^2$ again"), note("a", "$y$"), note("d", "$y$ $y$")]
    build(tmp_path / "index", posts, model_folder)
    with IndexStorage.open(tmp_path / "index", device="cpu") as archive:
        square = archive.catalogue.formulas_of("b")[0].visual
        assert set(archive.lexical.formulas.ids()) == set(archive.catalogue.visual_keys())
        assert archive.lexical.formulas.search(formula_terms(Formula("q", "x^2")), 1)[0].id == square
    assert {post.id: post_bag(post) for post in posts}.items() <= written.items()
    assert written[square] == formula_bag(Formula("f", "{x}^2"))
    build(tmp_path / "index", [posts[0], *posts[2:]], model_folder)
    assert written[square] == formula_bag(Formula("f", "x^{2}"))
    build(tmp_path / "index", posts[2:], model_folder)
    with IndexStorage.open(tmp_path / "index", device="cpu") as archive:
        assert square not in set(archive.lexical.formulas.ids())
