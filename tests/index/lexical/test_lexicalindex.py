"""The lexical index scores as BM25 says, and as if it had been built at once, whatever happened to it before."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.storage import durable, mappedarrays, segmentlist
from mathamr.core.storage.segmentlist import SegmentList
from mathamr.index.lexical import segments
from mathamr.index.lexical.bags import bag_of, term_number
from mathamr.index.lexical.lexicalindex import LexicalIndex, LexicalPart
from mathamr.index.lexical.scoring import Weighting
from mathamr.index.lexical.segment import MOST, Segment
from mathamr.index.lexical.terms import Terms, post_terms
from mathamr.index.scored import Scored
from tests.cases import cases
from tests.models import sample_posts

WORDS = Weighting({"stems": 1.0})
BOTH = Weighting({"stems": 1.0, "latex": 0.5})


def terms(text: str) -> Terms:
    """`a b $x` has two stems and one term of a formula."""
    tokens = text.split()
    return {
        "stems": [token for token in tokens if token[0] != "$"],
        "latex": [token for token in tokens if token[0] == "$"],
    }


def part(folder: Path, entries: dict[str, str], weighting: Weighting = WORDS) -> LexicalPart:
    made = LexicalPart(folder, weighting)
    made.update((name, terms(text)) for name, text in entries.items())
    return made


def ids(hits: Sequence[Scored]) -> list[str]:
    return [hit.id for hit in hits]


TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "$x", "$y", "$z"]), max_size=8).map(" ".join)
NAMES = st.sampled_from(["p", "q", "r", "s", "t", "ü"])


def test_plain_bm25_ranks_as_bm25s_does(tmp_path: Path) -> None:
    import bm25s

    documents = {post.id: post_terms(post)["stems"] for post in sample_posts(120)}
    made = LexicalPart(tmp_path, Weighting({"stems": 1.0}, k1=1.5, b=0.75, rarity=1.0))
    made.update((name, {"stems": stems}) for name, stems in documents.items())
    numbers = {stem: place for place, stem in enumerate(sorted({s for d in documents.values() for s in d}))}
    oracle = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    corpus = [[numbers[stem] for stem in stems] for stems in documents.values()]
    oracle.index((corpus, numbers), create_empty_token=False, show_progress=False)
    for name in list(documents)[::15]:
        query = sorted(set(documents[name]))
        scores = oracle.get_scores_from_ids([numbers[stem] for stem in query])
        found = {hit.id: hit.score for hit in made.score({"stems": query}, list(documents))}
        ours = np.array([found[each] for each in documents])
        assert ours / ours.max() == pytest.approx(scores / scores.max(), abs=2e-4)


CHANGES = st.lists(
    st.tuples(st.dictionaries(NAMES, TEXTS, max_size=4), st.lists(NAMES, max_size=3)), min_size=1, max_size=7
)


@settings(max_examples=15)
@given(CHANGES, TEXTS)
def test_any_updates_leave_the_same_as_a_build_at_once(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[dict[str, str], list[str]]], query: str
) -> None:
    folder = tmp_path_factory.mktemp("lexical")
    made = LexicalPart(folder / "updated", BOTH)
    state: dict[str, str] = {}
    for upserts, deletes in changes:
        made.update([(name, terms(text)) for name, text in upserts.items()], deletes)
        state = {name: text for name, text in state.items() if name not in deletes} | upserts
        assert (made.count(), sorted(made.ids())) == (len(state), sorted(state))
    fresh = part(folder / "fresh", state, BOTH)
    again = LexicalPart(folder / "updated", BOTH, read_only=True)
    for each in (made, again):
        assert each.search(terms(query), 10) == fresh.search(terms(query), 10)


@settings(max_examples=15)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.integers(0, 6))
def test_a_segment_holds_what_counting_finds_and_a_merged_one_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("segments")
    entries = [(f"p{number}", bag_of(terms(text))) for number, text in enumerate(texts)]
    made = Segment.write(folder / "whole", entries)
    for field in ("stems", "latex"):
        counted = [Counter(terms(text)[field]) for text in texts]
        assert made.lengths(field).tolist() == [each.total() for each in counted]
        for term in {term for each in counted for term in each}:
            places, (begin,), (end,) = made.find(field, np.array([term_number(term)]))
            rows, often = (each[begin:end] for each in made.postings(field))
            wanted = [(row, each[term]) for row, each in enumerate(counted) if each[term]]
            assert (places.tolist(), list(zip(rows.tolist(), often.tolist(), strict=True))) == ([0], wanted)
    parts = [
        Segment.write(folder / str(place), some) for place, some in enumerate((entries[:cut], entries[cut:]))
    ]
    Segment.merge(folder / "merged", [(each, np.ones(len(each), bool)) for each in parts])
    assert (folder / "merged").read_bytes() == (folder / "whole").read_bytes()


def test_of_entries_with_the_same_id_the_last_counts_also_across_batches(tmp_path: Path) -> None:
    made = LexicalPart(tmp_path, WORDS, batch=2)
    made.update(
        [("p", terms("a")), ("q", terms("a")), ("p", terms("b")), ("r", terms("c")), ("p", terms("d"))]
    )
    assert (ids(made.search(terms("a b d"), 9)), made.count()) == (["p", "q"], 3)
    assert ids(made.search(terms("b"), 9)) == []


def test_segments_are_merged_and_their_files_removed(tmp_path: Path) -> None:
    made = LexicalPart(tmp_path, WORDS)
    for number in range(40):
        made.update([(str(number), terms(f"a w{number}"))])
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) <= 9
    assert made.count() == 40
    made.update([], [str(number) for number in range(37)])
    assert sorted(made.ids()) == ["37", "38", "39"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 20_000
    made.update([], ["37", "38", "39"])
    assert (made.count(), made.search(terms("a"), 5)) == (0, [])


def test_an_update_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    made = part(tmp_path, {"p": "a"})
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    made.update([], ["unknown"])
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_only_wanted_ids_are_found_and_their_scores_stay(tmp_path: Path) -> None:
    made = part(tmp_path, {"p": "a a", "q": "a b", "r": "b"})
    everything = {hit.id: hit for hit in made.search(terms("a b"), 9)}
    assert made.search(terms("a b"), 9, where=made.mask(["r", "p", "nobody"])) == sorted(
        [everything["p"], everything["r"]], key=lambda hit: -hit.score
    )
    assert made.search(terms("a b"), 9, where=made.mask([])) == []


@cases("query", [{}, {"stems": []}, {"stems": ["unheard"]}, {"latex": ["$x"]}])
def test_a_query_that_shares_nothing_finds_nothing(tmp_path: Path, query: Terms) -> None:
    assert part(tmp_path, {"p": "a b"}).search(query, 5) == []
    assert LexicalPart(tmp_path / "empty", WORDS).search(query, 5) == []


def test_a_word_said_very_often_saturates(tmp_path: Path) -> None:
    made = part(tmp_path, {"p": "a " * (2 * MOST), "q": "b"})
    assert 0.5 < made.search(terms("a"), 1)[0].score < 1


def test_wrong_requests_are_clear_errors(tmp_path: Path) -> None:
    made = part(tmp_path, {"p": "a"})
    with pytest.raises(MathAMRError, match="at least 1, got 0"):
        made.search(terms("a"), 0)
    with pytest.raises(MathAMRError, match="an id must have 1 to"):
        made.update([("", terms("a"))])
    with pytest.raises(UnknownNameError, match="unknown field 'smell'; known: words, stems"):
        Weighting({"smell": 1.0})
    with pytest.raises(MathAMRError, match="must be at least 0, not -1"):
        Weighting({"stems": -1.0})
    with pytest.raises(MathAMRError, match="opened for reading only"):
        LexicalPart(tmp_path, WORDS, read_only=True).update([("q", terms("a"))])
    assert ids(made.search(terms("a"), 5)) == ["p"]


def test_a_crash_at_any_write_leaves_the_old_state_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writing functions fail one after another, before and after they have done their work."""

    class CrashError(Exception):
        pass

    write_whole, write_arrays = durable.write_whole, mappedarrays.write_arrays
    write, merge = Segment.write, Segment.merge
    outcomes = set()
    for moment in range(12):
        folder = tmp_path / str(moment)
        made = part(folder, {"p": "a", "q": "a b", "r": "c", "s": "d"})
        left = [moment]

        def crashing(function: Callable[..., Any], left: list[int] = left) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                for after in (False, True):
                    if after:
                        result = function(*arguments)
                    if left[0] == 0:
                        raise CrashError
                    left[0] -= 1
                return result

            return call

        monkeypatch.setattr(segmentlist, "write_whole", crashing(write_whole))
        monkeypatch.setattr(segments, "write_arrays", crashing(write_arrays))
        monkeypatch.setattr(Segment, "write", crashing(write))
        monkeypatch.setattr(Segment, "merge", crashing(merge))
        monkeypatch.setattr(SegmentList, "remove_unlisted", lambda self: None)
        done = True
        try:
            made.update([("p", terms("e")), ("t", terms("a"))], ["q"])
        except CrashError:
            done = False
        monkeypatch.undo()
        opened = LexicalPart(folder, WORDS)
        state = (tuple(sorted(opened.ids())), tuple(ids(opened.search(terms("e"), 9))))
        assert state in ((("p", "r", "s", "t"), ("p",)), (("p", "q", "r", "s"), ()))
        assert state[0][1] == "r" if done else True
        outcomes.add(state)
        listed = json.loads((folder / segments.LIST).read_text())["segments"]
        names = {row[key] for row in listed for key in ("file", "alive") if row[key]}
        assert {path.name for path in folder.iterdir()} == names | {segments.LIST}
    assert len(outcomes) == 2


def test_a_full_disk_leaves_the_index_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = part(tmp_path, {"p": "a"})

    def full(path: Path, content: bytes) -> None:
        raise MathAMRError(f"cannot write {path}: No space left on device; nothing of it was changed")

    monkeypatch.setattr(segmentlist, "write_whole", full)
    with pytest.raises(MathAMRError, match="No space left"):
        made.update([("q", terms("a"))])
    monkeypatch.undo()
    assert ids(made.search(terms("a"), 5)) == ["p"]
    made.update([("q", terms("a"))])
    assert ids(made.search(terms("a"), 5)) == ["p", "q"]


def test_damage_is_refused_or_found(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match=r"has no segments\.json"):
        LexicalPart(tmp_path / "nothing", WORDS, read_only=True)
    part(tmp_path, {"p": "a b c"})
    (file,) = tmp_path.glob("*.segment")
    whole = file.read_bytes()
    assert LexicalPart(tmp_path, WORDS).verify() == []
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(MathAMRError, match="checksum"):
        LexicalPart(tmp_path, WORDS)
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(MathAMRError, match="damaged"):
        LexicalPart(tmp_path, WORDS)
    file.write_bytes(whole)
    listing = tmp_path / segments.LIST
    for text, message in (("{", "damaged"), ('{"format": 99}', "has format 99"), ("[]", "damaged")):
        listing.write_text(text)
        with pytest.raises(MathAMRError, match=message):
            LexicalPart(tmp_path, WORDS, read_only=True)


def test_a_reader_sees_the_entries_that_were_there_when_it_was_opened(tmp_path: Path) -> None:
    writer = LexicalIndex(tmp_path)
    with LexicalIndex(tmp_path, read_only=True) as early:
        writer.posts.update([("p", terms("a"))])
        writer.formulas.update([("f", terms("$x"))])
        assert early.posts.count() == 0
    with LexicalIndex(tmp_path, read_only=True) as reader:
        assert ids(reader.posts.search(terms("a"), 5)) == ["p"]
        assert ids(reader.formulas.search(terms("$x"), 5)) == ["f"]
        writer.posts.update([("q", terms("a"))])
        assert ids(reader.posts.search(terms("a"), 5)) == ["p"]
        assert reader.verify() == []


@pytest.mark.slow
def test_searches_of_other_threads_see_one_state_or_the_next(tmp_path: Path) -> None:
    made = part(tmp_path, {"a0": "even", "a1": "even"})
    wrong: list[object] = []
    done = threading.Event()

    def visual() -> None:
        while not done.is_set():
            found = ids(made.search(terms("even"), 10))
            if len(found) != 2 or {name[0] for name in found} not in ({"a"}, {"b"}):
                wrong.append(found)

    threads = [threading.Thread(target=visual) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(10):
        old, new = ("a", "b") if number % 2 == 0 else ("b", "a")
        made.update([(f"{new}0", terms("even")), (f"{new}1", terms("even"))], [f"{old}0", f"{old}1"])
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_terms_that_given_entries_have_are_told_across_segments_and_deletions(tmp_path: Path) -> None:
    with LexicalIndex(tmp_path) as index:
        index.posts.update([("a", {"stems": ["ring", "field"]}), ("b", {"stems": ["ring"]})])
        index.posts.update([("c", {"stems": ["field"]}), ("d", {"stems": ["field"]})], deletes=["b"])
        found = index.posts.having("stems", ["ring", "field", "group"], ["c", "a", "b", "nowhere"])
        assert found == {"a": {"ring", "field"}, "c": {"field"}}
        assert index.posts.having("stems", [], ["a"]) == {"a": set()}
