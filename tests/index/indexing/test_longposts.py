"""Long posts: every sentence has a vector, up to a bound behind which sentences are counted; older indexes are brought up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.index.indexing import outdated, stages
from mathamr.index.indexing.builder import BuildOptions, BuildSummary, build_index
from mathamr.index.indexing.fingerprints import PIECES_READ, Fingerprints
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.storage import IndexStorage
from mathamr.posts.level import Level
from mathamr.systems.mathamrplus.system import PARTS
from mathamr.systems.system import Item
from mathamr.systems.text.system import TextSystem
from mathamr.systems.vectors import Vectors
from mathamr.text import configuration
from tests.index.small import note, write_posts
from tests.text.small import small_text_encoder

SENTENCES = 400
POSTS = [
    note(
        "long",
        " ".join(
            f"Let ${number}$ prime then number let prime let then number." for number in range(SENTENCES)
        ),
    ),
    note("short", "Then let $p$ be prime. Number $5$ is."),
]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    TextSystem(small_text_encoder()).save(tmp_path / "model")
    return tmp_path / "model"


def build(model: Path) -> BuildSummary:
    source = write_posts(model.parent / "posts.jsonl", POSTS)
    return build_index(
        [source], model.parent / "index", BuildOptions(model=model, engine="flat", device="cpu")
    )


def rows(index: Path) -> dict[str, Vectors]:
    with IndexStorage.open(index) as archive:
        return archive.engine[PARTS].fetch(["long", "short"])


def with_windows(windows: int, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(configuration, "WINDOWS", windows)
    patch.setattr(outdated, "WINDOWS", windows)


def test_every_sentence_of_a_long_post_has_a_vector(model: Path) -> None:
    assert len(POSTS[0].body) > 20_000
    summary = build(model)
    found = rows(summary.folder)
    assert set(found["long"].at(Level.SENTENCE)[0]) == {*map(str, range(SENTENCES))}
    assert len(found["long"].at(Level.FORMULA)[0]) == SENTENCES
    assert not summary.log.fallbacks


def test_sentences_behind_the_bound_are_counted(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_windows(4, monkeypatch)
    summary = build(model)
    read = len(rows(summary.folder)["long"].at(Level.SENTENCE)[0])
    assert 0 < read < SENTENCES
    assert summary.log.fallbacks == {stages.UNREAD: SENTENCES - read}


def test_an_index_of_which_long_posts_were_read_in_part_gets_their_vectors_alone(model: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        with_windows(4, patch)
        index = build(model).folder
        with IndexWriter.open(index) as writer, writer.catalogue.transaction():
            writer.catalogue.set_meta(PIECES_READ, "")  # an earlier version stored nothing of it
    before = rows(index)
    with IndexStorage.open(index) as archive:
        parts = Fingerprints(archive.catalogue, archive.needs)._outdated_parts()
    assert "vectors of long entries" in parts
    summary = build(model)
    assert summary.log.posts["vectors"] == 1
    after = rows(index)
    assert len(after["long"].at(Level.SENTENCE)[0]) == SENTENCES > len(before["long"].at(Level.SENTENCE)[0])
    assert (after["short"].vectors == before["short"].vectors).all()
    with IndexStorage.open(index) as archive:
        assert (
            "vectors of long entries" not in Fingerprints(archive.catalogue, archive.needs)._outdated_parts()
        )
    assert not build(model).log.posts["vectors"]


def test_a_query_is_read_to_the_bound_of_queries(model: Path) -> None:
    system = TextSystem.load(model, "cpu")
    query, post = (
        next(system.encode([Item(post=POSTS[0], is_query=is_query)])).post[PARTS]
        for is_query in (True, False)
    )
    first = len(query.at(Level.SENTENCE)[0])
    assert 0 < first < len(post.at(Level.SENTENCE)[0]) == SENTENCES
    assert query.at(Level.SENTENCE)[0] == post.at(Level.SENTENCE)[0][:first]
