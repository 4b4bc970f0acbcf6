from __future__ import annotations

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.writerlock import WriterLock
from mathamr.index.admin.check import check_index
from mathamr.index.indexing.builder import build_index
from mathamr.index.lexical.terms import post_terms
from mathamr.index.storage import IndexStorage
from mathamr.posts import markup
from mathamr.posts.post import Post
from tests.index.kills import content, differences
from tests.index.small import build, note, options, write_posts
from tests.models import sample_posts


def test_an_index_holds_every_post_with_its_vectors_and_terms(model_folder: Path, tmp_path: Path) -> None:
    posts = sample_posts(6)
    summary = build(tmp_path / "index", posts, model_folder)
    assert summary.intake.new == 6
    with IndexStorage.open(tmp_path / "index", device="cpu") as archive:
        assert set(archive.engine.ids("posts")) == {post.id for post in posts}
        assert set(archive.lexical.posts.ids()) == {post.id for post in posts}
        formulas = {formula.id for post in posts for formula in post.formulas}
        assert set(archive.engine.ids("formulas")) == formulas
        for post in posts:
            vectors = archive.vectors(post.id)
            (best, *_) = archive.engine["parts"].search_maxsim(vectors.vectors, 1)
            assert best.id == post.id
            payload = archive.engine.payloads("posts", [post.id])[post.id]
            assert (payload.kind, payload.tags, payload.score) == (post.kind, post.tags, post.score)
        entry = archive.catalogue.formulas_of(posts[0].id)[0]
        payload = archive.engine.payloads("formulas", [entry.id])[entry.id]
        assert (payload.post, payload.visual) == (posts[0].id, entry.visual)
    assert summary.manifest.counts["formula vectors"] == len(formulas)
    assert json.loads(json.dumps(summary.to_json()))["posts"]["new"] == 6


def test_an_update_touches_only_what_changed_and_equals_a_new_build(
    model_folder: Path, tmp_path: Path
) -> None:
    posts = sample_posts(8)
    build(tmp_path / "index", posts[:6], model_folder)
    changed = replace(posts[1], body="<p>Quite another question about $q^2$.</p>", formulas=())
    after = [posts[0], changed, *posts[3:]]
    summary = build(tmp_path / "index", after, model_folder)
    intake = summary.intake
    assert (intake.new, intake.changed, intake.deleted, intake.unchanged) == (2, 1, 1, 4)
    assert summary.log.posts["graphs"] == summary.log.posts["vectors"] == 3
    build(tmp_path / "fresh", after, model_folder)
    assert not differences(content(tmp_path / "index"), content(tmp_path / "fresh"))


def test_a_clock_that_was_set_back_hides_no_change(model_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    build(out, [note("a", "a zebra"), note("b", "b")], model_folder)
    for path in [tmp_path / "posts.jsonl", *out.rglob("*")]:
        os.utime(path, (4e9, 4e9))  # all was written in what is now the future
    summary = build(out, [note("a", "an okapi"), note("b", "b")], model_folder)
    assert (summary.intake.changed, summary.intake.unchanged) == (1, 1)
    with IndexStorage.open(out, device="cpu") as archive:
        assert archive.catalogue.post("a").body == "an okapi"
    assert not check_index(out, options(model_folder)).problems


def test_nothing_new_is_nothing_to_do(model_folder: Path, tmp_path: Path) -> None:
    build(tmp_path / "index", sample_posts(3), model_folder)
    before = content(tmp_path / "index")
    summary = build(tmp_path / "index", sample_posts(3), model_folder)
    assert summary.intake.unchanged == 3
    assert not summary.log.posts
    assert not differences(content(tmp_path / "index"), before)


def test_new_votes_and_tags_need_no_new_graph_and_no_new_vectors(model_folder: Path, tmp_path: Path) -> None:
    posts = sample_posts(3)
    build(tmp_path / "index", posts, model_folder)
    summary = build(
        tmp_path / "index", [replace(posts[0], score=99, tags=("new",)), *posts[1:]], model_folder
    )
    assert summary.intake.changed == 1
    assert summary.log.posts["graphs"] == summary.log.posts["vectors"] == 0
    with IndexStorage.open(tmp_path / "index") as archive:
        payload = archive.engine.payloads("posts", [posts[0].id])[posts[0].id]
        assert (payload.score, payload.tags) == (99, ("new",))
        assert archive.catalogue.tags()["new"] == 1


def test_a_folder_that_moved_is_not_encoded_again(model_folder: Path, tmp_path: Path) -> None:
    old, new, out = tmp_path / "old" / "notes", tmp_path / "new" / "notes", tmp_path / "index"
    old.mkdir(parents=True)
    for name in ("one", "two"):
        (old / f"{name}.md").write_text(f"# {name}\nLet $x_{{{name}}} > 0$ and $y$ be.\n")
    build_index([old], out, options(model_folder))
    before = content(out)
    new.parent.mkdir()
    old.rename(new)
    moved = build_index([new], out, options(model_folder))
    assert (moved.intake.changed, moved.intake.new, moved.intake.deleted) == (2, 0, 0)
    assert moved.log.posts["graphs"] == moved.log.posts["vectors"] == 0
    with IndexStorage.open(out) as archive:
        assert archive.engine.payloads("posts", ["one.md"])["one.md"].source == str(new / "one.md")
    build_index([new], tmp_path / "fresh", options(model_folder))
    assert not differences(content(out), content(tmp_path / "fresh"))
    assert differences(content(out), before)  # the files are told by their new paths
    (new / "one.md").write_text("# one\nLet $x > 1$ be.\n")
    assert build_index([new], out, options(model_folder)).log.posts["vectors"] == 1


def test_a_note_with_hardly_more_than_a_title_has_vectors_too(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "contents.md").write_text("# Contents of algebra\n\n```{toctree}\nrings\n```\n")
    (tmp_path / "notes" / "rings.md").write_text("# Rings\nA ring has two operations.\n")
    (tmp_path / "notes" / "units.md").write_text("# Units\n$ab = 1$\n")
    out = tmp_path / "index"
    build_index([tmp_path / "notes"], out, options(model_folder))
    with IndexStorage.open(out) as archive:
        assert set(archive.engine.ids("posts")) == {"contents.md", "rings.md", "units.md"}
        terms = post_terms(Post("query", "question", "contents of algebra", markup="text"))
        assert archive.lexical.posts.search(terms, 1)[0].id == "contents.md"
    assert not check_index(out, options(model_folder)).problems


def test_only_posts_of_the_inputs_that_are_read_can_disappear(model_folder: Path, tmp_path: Path) -> None:
    posts = sample_posts(5)
    out = tmp_path / "index"
    build(out, posts[:3], model_folder, "one.jsonl")
    build(out, posts[3:], model_folder, "two.jsonl")
    summary = build(out, posts[:1], model_folder, "one.jsonl")
    assert summary.intake.deleted == 2
    with IndexStorage.open(out) as archive:
        assert set(archive.catalogue.ids()) == {posts[0].id, posts[3].id, posts[4].id}
        assert [Path(record.path).name for record in archive.manifest.inputs] == ["one.jsonl", "two.jsonl"]


def test_a_post_belongs_to_the_input_that_brought_it_first(model_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    build(out, [note("a", "first"), note("b", "b")], model_folder, "one.jsonl")
    summary = build(out, [note("a", "first"), note("c", "c")], model_folder, "two.jsonl")
    assert (summary.intake.new, summary.intake.others) == (1, 1)
    (report,) = summary.intake.reports.values()
    assert report.skipped["id of another input"] == 1
    (tmp_path / "one.jsonl").unlink()
    build(out, [note("a", "second"), note("c", "c")], model_folder, "two.jsonl")
    with IndexStorage.open(out) as archive:
        assert archive.catalogue.post("a").body == "second"
        assert archive.catalogue.inputs() == {str(tmp_path / "one.jsonl"): 1, str(tmp_path / "two.jsonl"): 2}


def test_two_inputs_with_a_post_of_one_id_lose_nothing(model_folder: Path, tmp_path: Path) -> None:
    for folder, words in (("one", "First"), ("two", "Second"), ("more/two", "Third")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "README.md").write_text(f"# Home\n{words} about $x$; see [next](next.md).\n")
        (tmp_path / folder / "next.md").write_text(f"# Next\nBack [home](README.md) to {words}.\n")
        (tmp_path / folder / "same.md").write_text("# Licence\nThe same everywhere.\n")
    (tmp_path / "two" / "only.md").write_text("# Only\nHere; [home](README.md).\n")
    out = tmp_path / "index"
    inputs = [tmp_path / folder for folder in ("one", "two", "more/two")]
    first = build_index(inputs, out, options(model_folder))
    expected = {
        "README.md", "next.md", "same.md", "two/README.md", "two/next.md", "only.md", "more/two/README.md",
        "more/two/next.md",
    }  # fmt: skip
    with IndexStorage.open(out) as archive:
        posts = archive.catalogue.posts(sorted(expected))
        assert set(archive.catalogue.ids()) == expected == set(posts)
    assert first.intake.others == 2
    assert "First" in posts["README.md"].body
    assert [link.target for link in posts["two/README.md"].links] == ["two/next.md"]
    assert [link.target for link in posts["only.md"].links] == ["two/README.md"]
    assert [formula.id for formula in posts["two/README.md"].formulas] == ["two/README.md:0"]
    again = build_index(inputs, out, options(model_folder))
    assert (again.intake.new, again.intake.changed, again.intake.deleted) == (0, 0, 0)
    assert again.intake.unchanged == len(expected)


def test_the_posts_of_an_input_can_be_taken_out(model_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    build(out, [note("a", "a")], model_folder, "one.jsonl")
    build(out, [note("b", "b")], model_folder, "two.jsonl")
    summary = build_index([], out, without=[tmp_path / "one.jsonl"])
    assert summary.intake.deleted == 1
    with IndexStorage.open(out) as archive:
        assert list(archive.catalogue.ids()) == ["b"] == list(archive.engine.ids("posts"))
        assert [Path(record.path).name for record in archive.manifest.inputs] == ["two.jsonl"]
    with pytest.raises(MathAMRError, match=r"no posts of the index came from .*one\.jsonl"):
        build_index([], out, without=[tmp_path / "one.jsonl"])


def test_of_a_damaged_input_nothing_is_deleted(model_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl.gz"
    posts = [note(str(number), f"note {number} " + "é" * number) for number in range(40)]
    whole = gzip.compress("".join(post.to_json() + "\n" for post in posts).encode(), 0)
    path.write_bytes(whole)
    build_index([path], tmp_path / "index", options(model_folder))
    path.write_bytes(whole[: len(whole) // 2])
    summary = build_index([path], tmp_path / "index", options(model_folder))
    assert summary.intake.deleted == 0
    assert summary.intake.held_back > 0
    assert summary.manifest.counts["posts"] == 40


def test_an_id_and_a_score_that_no_engine_can_hold_are_replaced_and_reported(
    model_folder: Path, tmp_path: Path
) -> None:
    posts = [note("a", "fine"), note("n" * 4090, "a long id"), replace(note("b", "high"), score=2**60)]
    summary = build(tmp_path / "index", posts, model_folder)
    (report,) = summary.intake.reports.values()
    assert (summary.intake.new, report.repaired.total(), report.skipped.total()) == (3, 2, 0)


def test_hostile_posts_are_indexed(model_folder: Path, tmp_path: Path) -> None:
    bodies = [
        "",
        "$",
        "$$",
        "\\",
        "<p>",
        "$\\frac{$",
        "\x00",
        "🙂" * 50,
        "$x$" * 60,
        "RAISE this",
        "a/b#c\\d%",
    ]
    posts = [note(f"../{number} \n/x", body) for number, body in enumerate(bodies)]
    summary = build(tmp_path / "index", posts, model_folder)
    (report,) = summary.intake.reports.values()
    assert summary.intake.new + report.skipped.total() == len(posts)
    assert summary.intake.new >= len(posts) - 3
    assert not content(tmp_path / "index")["problems"]


def test_another_model_is_refused_and_may_take_over(
    model_folder: Path, other_model_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "index"
    build(out, sample_posts(4), model_folder)
    before = content(out)
    with pytest.raises(MathAMRError, match=r"was made with the model .* not with .*--rebuild"):
        build(out, sample_posts(4), other_model_folder)
    assert not differences(content(out), before)
    summary = build(out, sample_posts(4), other_model_folder, rebuild=True)
    assert summary.log.posts["graphs"] == 0
    assert summary.log.posts["vectors"] == 4
    build(tmp_path / "fresh", sample_posts(4), other_model_folder)
    assert not differences(content(out), content(tmp_path / "fresh"))


def test_another_engine_or_parser_is_refused_and_may_take_over(model_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    path = write_posts(tmp_path / "posts.jsonl", sample_posts(3))
    build_index([path], out, options(model_folder))
    half = replace(options(model_folder), engine_options={"dtype": "float16"})
    with pytest.raises(MathAMRError, match=r"keeps its vectors in the engine 'flat'.*--rebuild"):
        build_index([path], out, half)
    assert build_index([path], out, replace(half, rebuild=True)).log.posts["vectors"] == 3
    other = replace(options(model_folder), engine=None, parser_model="other")
    with pytest.raises(MathAMRError, match=r"were made with the AMR parser .*--rebuild"):
        build_index([path], out, other)
    assert build_index([path], out, replace(other, rebuild=True)).log.posts["graphs"] == 3
    assert not content(out)["problems"]


def test_a_second_writer_is_refused(model_folder: Path, tmp_path: Path) -> None:
    build(tmp_path / "index", sample_posts(2), model_folder)
    with WriterLock(tmp_path / "index", "somebody"):
        with pytest.raises(MathAMRError, match=r"is being changed by .*somebody"):
            build(tmp_path / "index", sample_posts(2), model_folder)
        with IndexStorage.open(tmp_path / "index") as archive:
            assert len(archive.catalogue) == 2


def test_a_folder_with_other_things_is_left_alone(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(MathAMRError, match=r"is not an index and not empty \(it has 'thesis\.tex'\)"):
        build(tmp_path, sample_posts(1), model_folder)
    with pytest.raises(MathAMRError, match="is a file; name a folder"):
        build(tmp_path / "thesis.tex", sample_posts(1), model_folder)
    assert (tmp_path / "thesis.tex").read_text() == "precious"


def test_wrong_paths_are_reported_before_anything_is_made(model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match=r"nowhere: no such file or folder"):
        build_index([tmp_path / "nowhere"], tmp_path / "index", options(model_folder))
    with pytest.raises(MathAMRError, match="is not an index; create one with"):
        build_index([], tmp_path / "index", options(model_folder))
    with pytest.raises(MathAMRError, match="is not a model folder"):
        build(tmp_path / "index", sample_posts(1), tmp_path)
    assert not (tmp_path / "index" / "manifest.json").exists()


def test_posts_whose_markup_is_read_otherwise_now_are_made_anew(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = r"This follows from Lemma \ref{lemma-noetherian-descent}."
    posts = [note("plain", "Nothing to see."), replace(note("paper", body), markup="latex")]
    markup._parse_once.cache_clear()
    with monkeypatch.context() as before:
        before.setattr("mathamr.posts.formats.latex.pieces.label_words", lambda label: "")
        before.setattr("mathamr.index.indexing.outdated.passage_fingerprints", lambda: {"latex": "as it was"})
        build(tmp_path / "index", posts, model_folder)
    markup._parse_once.cache_clear()
    summary = build(tmp_path / "index", posts, model_folder)
    assert summary.intake.unchanged == 2
    assert dict(summary.log.posts) == {"graphs": 1, "lexical": 1, "vectors": 1}
    build(tmp_path / "fresh", posts, model_folder)
    assert not differences(content(tmp_path / "index"), content(tmp_path / "fresh"))
    with IndexStorage.open(tmp_path / "index") as archive:
        assert archive.lexical.posts.holding("words", ["noetherian"]) == {"noetherian": ["paper"]}
        (preview,) = archive.catalogue.stored_previews(["paper"]).values()
    assert "noetherian" in preview.passage().sentences[-1].text
