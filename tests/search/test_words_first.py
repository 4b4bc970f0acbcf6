"""Words are searched while vectors are still being made, and vectors take over when they are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError, VectorsMissingError
from mathamr.index import snapshot
from mathamr.index.admin.check import check_index
from mathamr.index.indexing.builder import build_index
from mathamr.index.indexing.stages import IndexStages, WordWriter
from mathamr.search.hits import Hits
from mathamr.search.searcher import Index
from mathamr.systems.mathamrplus.system import MathAMRPlusSystem
from mathamr.systems.ranking import fields_of, uses_words, without_vectors
from mathamr.systems.system import SYSTEMS
from tests.index.small import build, note, options
from tests.models import sample_posts

WORDS = "zebra quagga"


class Killed(BaseException):
    """Stands for the end of a process: nothing catches it."""


def seen_by(index: Index) -> Hits:
    """What a search finds, after it was looked at whether its places have no hole."""
    hits = index.search(WORDS, k=20)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    return hits


@pytest.fixture
def encodes(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each post became vectors."""
    counted: Counter[str] = Counter()
    encode = MathAMRPlusSystem.encode

    def counting(self: MathAMRPlusSystem, items: object) -> object:
        for made in encode(self, items):  # type: ignore[arg-type]
            counted[made.id] += 1
            yield made

    monkeypatch.setattr(MathAMRPlusSystem, "encode", counting)
    return counted


def stopping(monkeypatch: pytest.MonkeyPatch, visual: Callable[[], None], *, after: bool) -> None:
    """Lets the making of vectors be looked at, before it or after it, and ended there."""
    make = IndexStages.make_vectors

    def made(*given: object) -> None:
        if after:
            make(*given)  # type: ignore[arg-type]
        visual()
        monkeypatch.setattr(IndexStages, "make_vectors", make)
        raise Killed

    monkeypatch.setattr(IndexStages, "make_vectors", made)


def test_a_first_build_is_searched_by_words_until_its_vectors_are_there(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encodes: Counter[str]
) -> None:
    folder = tmp_path / "index"
    posts = [*sample_posts(3), note("beast", f"The {WORDS} and $a^2+b^2$.")]
    readers: list[Index] = []

    def visual() -> None:
        reader = Index.open(folder, device="cpu")
        readers.append(reader)
        hits = seen_by(reader)
        assert [hit.id for hit in hits] == ["beast"]
        assert hits.strategy == "lexical"
        assert hits.notes == (
            "vectors: 0 of 4 made; until they are complete, results are found by words alone",
        )
        formulas = reader.search("$a^2+b^2$", "formulas")
        assert (formulas[0].id, formulas[0].formula.exact) == ("beast", True)  # type: ignore[union-attr]
        with pytest.raises(VectorsMissingError, match=r"'maxsim' needs vectors.*0 of 4 made"):
            reader.search(WORDS, strategy="maxsim")
        for asked in (
            lambda: reader.rank(WORDS),
            lambda: reader.score(WORDS, ["beast"]),
            lambda: reader.explain(WORDS, "beast"),
        ):
            with pytest.raises(VectorsMissingError, match="vectors: 0 of 4 made"):
                asked()
        assert not encodes, "the model was not asked for anything"

    stopping(monkeypatch, visual, after=False)
    with pytest.raises(Killed):
        build(folder, posts, model_folder)
    (reader,) = readers
    with reader:
        assert seen_by(reader).strategy == "lexical", "also after the build was killed"
        encodes.clear()
        build_index([], folder, options(model_folder))
        assert encodes == Counter({post.id: 1 for post in posts})
        hits = seen_by(reader)
        assert (hits.strategy, hits.notes) == ("hybrid", ())
        assert len(hits) == len(posts)
    assert check_index(folder, options(model_folder)).problems == []


def test_a_killed_build_keeps_the_vectors_it_has_made(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encodes: Counter[str]
) -> None:
    folder, posts = tmp_path / "index", sample_posts(3)
    stopping(monkeypatch, lambda: None, after=True)
    with pytest.raises(Killed):
        build(folder, posts, model_folder)
    assert sum(encodes.values()) == 3
    build(folder, posts, model_folder)
    assert sum(encodes.values()) == 3


@pytest.mark.parametrize("is_large", [True, False])
def test_an_open_reader_takes_the_words_of_a_large_update_at_once_and_waits_for_a_small_one(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_large: bool
) -> None:
    folder, posts = tmp_path / "index", sample_posts(3)
    monkeypatch.setattr(snapshot, "FEW_WAITING", 0 if is_large else 64)
    build(folder, posts, model_folder)
    seen: list[Hits] = []
    with Index.open(folder, device="cpu") as reader:
        assert seen_by(reader).strategy == "hybrid"
        stopping(monkeypatch, lambda: seen.append(seen_by(reader)), after=False)
        with pytest.raises(Killed):
            build(folder, [*posts[:2], note("beast", f"The {WORDS}.")], model_folder)
        if is_large:
            assert [hit.id for hit in seen[0]] == ["beast"]
            assert seen[0].notes[0].startswith("vectors: 2 of 3 made")
        else:
            assert seen[0].strategy == "hybrid"
            assert {hit.id for hit in seen[0]} == {post.id for post in posts}
        build_index([], folder, options(model_folder))
        hits = seen_by(reader)
        assert hits.strategy == "hybrid"
        assert hits[0].id == "beast"
        assert posts[2].id not in {hit.id for hit in hits}


def test_an_index_whose_words_are_not_there_is_refused(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*given: object) -> None:
        with pytest.raises(
            MathAMRError, match=r"still being made by .*; its words can be searched in a moment"
        ):
            Index.open(tmp_path / "index")
        raise Killed

    monkeypatch.setattr(WordWriter, "write", killed)
    with pytest.raises(Killed):
        build(tmp_path / "index", sample_posts(2), model_folder)
    with pytest.raises(MathAMRError, match="is not finished; finish it with: mathamr index --out"):
        Index.open(tmp_path / "index")


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SYSTEMS))
def test_what_is_left_of_a_ranking_without_vectors_reads_no_field(name: str) -> None:
    for rankings in SYSTEMS[name].rankings.values():
        for ranking in rankings.values():
            left = without_vectors(ranking)
            assert (left is None) == (not uses_words(ranking))
            assert left is None or not list(fields_of(left))
