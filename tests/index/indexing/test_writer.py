from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.workers import Lost
from mathamr.graphs.guarded import GuardedGraphs, TooMuchWorkError
from mathamr.index.admin.check import check_index
from mathamr.index.catalogue.postrow import row_of
from mathamr.index.indexing import analysis
from mathamr.index.indexing.analysis import analyse
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.storage import IndexStorage
from mathamr.posts.post import Formula, Post
from tests.index.kills import content, differences
from tests.index.small import build, note, options, write_posts
from tests.models import sample_posts
from tests.slopes import slope


def test_a_post_that_is_put_is_found_at_once_and_after_reopening(index: Path) -> None:
    with IndexWriter.open(index, device="cpu") as archive:
        archive.put([note("new", "Is $e^{i\\pi}+1=0$ beautiful?", tags=("taste",))])
        assert archive.catalogue.post("new").tags == ("taste",)
        assert archive.vectors("new").references[-1] == "new"
        assert "new" in set(archive.lexical.posts.ids())
        archive.put([note("new", "Is it?")])
        assert archive.catalogue.formulas_of("new") == []
    with IndexStorage.open(index) as archive:
        assert archive.catalogue.post("new").body == "Is it?"
        assert "new:0" not in set(archive.engine.ids("formulas"))
        assert archive.manifest.counts["posts"] == 6
    assert not content(index)["problems"]


def test_a_deleted_post_is_gone_from_every_part(index: Path) -> None:
    victim = sample_posts(1)[0]
    with IndexWriter.open(index, device="cpu") as archive:
        assert archive.delete([victim.id, "nobody", victim.id]) == [victim.id]
        assert victim.id not in archive.catalogue
        assert victim.id not in set(archive.engine.ids("posts")) | set(archive.lexical.posts.ids())
        assert not {formula.id for formula in victim.formulas} & set(archive.engine.ids("formulas"))
        assert archive.delete(["nobody"]) == []
        with pytest.raises(MathAMRError, match=r"no post '101' in"):
            archive.vectors(victim.id)
    assert not content(index)["problems"]


def test_putting_equals_building(read_index: Path, model_folder: Path, tmp_path: Path) -> None:
    posts = sample_posts(7)
    with IndexWriter.open(read_index, device="cpu") as archive:
        archive.put(posts[5:])
        archive.delete([posts[0].id])
    build(tmp_path / "fresh", posts[1:5], model_folder)
    with IndexWriter.open(tmp_path / "fresh", device="cpu") as archive:
        archive.put(posts[5:])
    assert not differences(content(read_index), content(tmp_path / "fresh"))


def test_posts_that_another_process_analysed_are_not_analysed_again(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = [note("new", "A quagga of order $q^2+1$."), note("other", "Another quagga, $q^2+1$ and $r$.")]
    found = [analyse(post) for post in posts]
    with IndexWriter.open(index, device="cpu") as archive:
        monkeypatch.setattr(analysis, "analyse", lambda _: pytest.fail("analysed again"))
        archive.put(posts, found)
        assert {"new", "other"} <= set(archive.lexical.posts.ids())
        visual = archive.catalogue.formulas_of("new")[0].visual
        assert archive.catalogue.represented_words([visual]) == {visual: "new"}
    monkeypatch.undo()
    assert not content(index)["problems"]


def test_the_formulas_of_one_post_are_written_in_time_linear_in_their_number(index: Path) -> None:
    with IndexWriter.open(index, device="cpu") as archive:

        def represented(count: int) -> None:
            formulas = tuple(Formula(f"many:{number}", f"x_{{{number}}}") for number in range(count))
            post = Post("many", "note", "Many.", formulas=formulas)
            with archive.catalogue.transaction():
                archive.catalogue.put_rows([row_of(post, [each.latex for each in formulas])], "")
                archive.catalogue.choose_representatives("lexical")
            while stale := archive.catalogue.stale_visuals("lexical", 2048):
                found = archive.catalogue.representatives(
                    stale
                )  # not those of a larger post that was measured before
                with archive.catalogue.transaction():
                    archive.catalogue.mark_visuals(
                        "lexical", found, [each for each in stale if each not in found]
                    )
            assert len(archive.catalogue.formulas_of("many")) == count

        assert slope(represented, 4000) < 1.4


def test_what_was_put_stays_when_files_are_read_again(read_index: Path, model_folder: Path) -> None:
    posts = sample_posts(5)
    with IndexWriter.open(read_index, device="cpu") as archive:
        archive.put([note(posts[0].id, "mine now"), note("new", "mine")])
    summary = build(read_index, posts, model_folder)
    assert summary.intake.others == 1
    with IndexStorage.open(read_index) as archive:
        assert archive.catalogue.post(posts[0].id).body == "mine now"
        assert len(archive.catalogue) == 6


def test_a_post_that_cannot_be_held_is_refused_and_nothing_is_changed(index: Path) -> None:
    with IndexWriter.open(index, device="cpu") as archive:
        before = archive.catalogue.revision
        with pytest.raises(MathAMRError, match="an id must have 1 to"):
            archive.put([note("fine", "fine"), note("", "no id")])
        assert archive.catalogue.revision == before


def test_threads_read_while_one_writes(index: Path) -> None:
    """Every answer a reader gets is a post as it was at some time, never half of one."""
    failures: list[BaseException] = []
    stop = threading.Event()
    with IndexWriter.open(index, device="cpu") as archive:
        query = archive.vectors(sample_posts(1)[0].id).vectors

        def read() -> None:
            try:
                while not stop.is_set():
                    hits = archive.engine["parts"].search_maxsim(query, 5)
                    for post in archive.catalogue.posts([hit.id for hit in hits]).values():
                        assert post.body
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(6):
            archive.put([note("busy", f"version {number} of $x^{number}$")])
            archive.delete(["busy"])
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures


def test_readers_see_a_post_as_soon_as_its_write_has_returned(index: Path) -> None:
    """Also while several of them open the new state at once."""
    written, failures = [-1], list[str]()
    stop = threading.Event()
    with IndexWriter.open(index, device="cpu") as archive:

        def read() -> None:
            while not stop.is_set():
                least = written[-1]
                with archive.reading():
                    post = archive.catalogue.posts(["busy"]).get("busy")
                if (int(post.body.split()[1]) if post else -1) < least:
                    failures.append(f"{post and post.body} after version {least} was written")

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(12):
            archive.put([note("busy", f"version {number} of $x^{number}$")])
            written.append(number)
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures


def test_a_post_that_takes_too_much_is_refused_and_nothing_of_the_write_is_stored(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with IndexWriter.open(index, device="cpu") as archive:
        before = (list(archive.catalogue.ids()), archive.catalogue.revision)
        asked = archive.work._pool.ask

        def lost(lines: list[str], _: float | None) -> Any:
            return Lost("time-out", "too long") if "poison" in lines[0] else asked(lines)

        monkeypatch.setattr(archive.work._pool, "ask", lost)
        with pytest.raises(TooMuchWorkError, match="'bad' exceeded its limit"):
            archive.put([note("good", "A good one."), note("bad", "A poison.")])
        assert (list(archive.catalogue.ids()), archive.catalogue.revision) == before
        archive.put([note("good", "A good one.")])
        assert "good" in archive.catalogue


def test_a_post_of_a_file_that_takes_too_much_has_words_alone_and_the_rest_goes_on(
    index: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = GuardedGraphs.__call__

    def lost(self: GuardedGraphs, lines: list[str], _: float | None = None) -> Any:
        return Lost("time-out", "too long") if any("poison" in line for line in lines) else asked(self, lines)

    monkeypatch.setattr(GuardedGraphs, "__call__", lost)
    posts = [note("p1", "First."), note("p2", "A poison."), note("p3", "Third.")]
    summary = build(index, posts, model_folder, "more.jsonl")
    why = "building the graph of 'p2' exceeded its limit (too long); split or shorten the post"
    assert summary.log.fallbacks == {f"post 'p2' is found by its words alone: {why}": 1}
    assert check_index(index, options(model_folder)).problems == []
    with IndexStorage.open(index) as archive:
        assert set(archive.engine["document"].fetch(["p1", "p2", "p3"])) == {"p1", "p3"}
        assert [hit.id for hit in archive.lexical.posts.search({"words": ["poison"]}, 5)] == ["p2"]
    again = build(index, posts, model_folder, "more.jsonl")
    assert again.log.fallbacks == summary.log.fallbacks, "it is tried again"
    monkeypatch.undo()
    assert not build(index, posts, model_folder, "more.jsonl").log.fallbacks
    with IndexStorage.open(index) as archive:
        assert "p2" in archive.engine["document"].fetch(["p2"])


def test_a_write_whose_vectors_take_too_long_changes_nothing(tmp_path: Path) -> None:
    file = write_posts(
        tmp_path / "posts.jsonl", [note("a", "A zebra of order $n^2$."), note("b", "A quagga.")]
    )
    build_index([file], tmp_path / "index", BuildOptions(model="mathamr-3", device="cpu", workers=1))
    with IndexWriter.open(tmp_path / "index", device="cpu") as writer:
        before = writer.vectors("a").vectors
        with pytest.raises(TooMuchWorkError, match="more than 1e-09 s of a processor"):
            writer.put([note("a", "An okapi. " * 2_000), note("new", "An okapi.")], seconds=1e-9)
        assert writer.catalogue.post("a").body == "A zebra of order $n^2$."
        assert "new" not in writer.catalogue
        assert (writer.vectors("a").vectors == before).all()
        assert writer.lexical.posts.search({"words": ["okapi"]}, 5) == []
        writer.put([note("new", "An okapi.")], seconds=600)
        assert [hit.id for hit in writer.lexical.posts.search({"words": ["okapi"]}, 5)] == ["new"]


def test_an_id_that_cannot_be_seen_is_refused_from_python_too(index: Path) -> None:
    with IndexWriter.open(index, device="cpu") as writer:
        before = len(writer.catalogue)
        for id in ("two\nlines", "a\u202eb", "x" * 4096):
            with pytest.raises(MathAMRError, match=r"cannot be seen|1 to 4,000 characters"):
                writer.put([Post(id, "note", "Let $x$ be.", markup="text")])
        assert len(writer.catalogue) == before
