from __future__ import annotations

import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.index.catalogue.catalogue import Catalogue, digest_of
from mathamr.index.catalogue.journal import LARGEST_POST, VISUAL_STAGES, meaning_of
from mathamr.index.indexing.analysis import check_usable, visual_keys
from mathamr.index.snapshot import CatalogueSnapshot
from mathamr.posts.post import Formula, Place, Post
from tests.index.small import note
from tests.models import sample_posts


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(tmp_path / "catalogue.db", create=True)


def put(catalogue: Catalogue, *posts: Post, source: str = "file") -> None:
    with catalogue.transaction():
        for post in posts:
            catalogue.put(post, source, visual_keys(post))


def settle(catalogue: Catalogue) -> None:
    """Marks everything as derived."""
    with catalogue.transaction():
        catalogue.mark("graph", list(catalogue.pending("graph")))
        marks = [
            (
                each,
                None if each.post is None else meaning_of(each.post),
                1,
                {name: 2 for name, _ in each.formulas},
            )
            for each in catalogue.pending("vectors")
        ]
        catalogue.mark_vectors(marks)
        catalogue.mark("lexical", list(catalogue.pending("lexical")))
        for stage in VISUAL_STAGES:
            living = set(catalogue.visual_keys())
            stale = catalogue.stale_visuals(stage, -1)
            catalogue.mark_visuals(stage, living.intersection(stale), set(stale) - living)
        catalogue.purge()


def test_posts_come_back_as_they_were(catalogue: Catalogue) -> None:
    posts = sample_posts(30)
    put(catalogue, *posts)
    assert [catalogue.post(post.id) for post in posts] == posts
    assert list(catalogue.every_post()) == posts
    assert list(catalogue.ids()) == [post.id for post in posts]
    assert len(catalogue) == 30
    assert catalogue.kinds() == {"question": 30}
    tags = [tag for post in posts for tag in post.tags]
    assert catalogue.tags() == {tag: tags.count(tag) for tag in tags}


def test_a_table_that_the_format_has_got_since_is_added_when_a_catalogue_is_opened_for_changes(
    catalogue: Catalogue,
) -> None:
    put(catalogue, note("a", "A zebra."))
    catalogue._db.execute("DROP TABLE macros")
    catalogue.close()
    with Catalogue(catalogue.path) as opened:
        put(opened, replace(note("b", "Another."), macros=(r"\newcommand{\a}{b}",)))
        assert set(opened.ids()) == {"a", "b"}
        assert opened.macros()


def test_a_row_that_unpacks_to_more_than_a_post_may_have_is_refused_before_it_is_in_memory(
    catalogue: Catalogue,
) -> None:
    put(catalogue, note("good", "A zebra."), note("bomb", "Another."))
    dense = zlib.compress(b'{"id": "bomb", "kind": "note", "body": "' + b"a" * (100 << 20) + b'"}', 1)
    with catalogue.transaction():
        catalogue._db.execute("UPDATE posts SET post = ? WHERE id = 'bomb'", (dense,))
    tracemalloc.start()
    for read in (lambda: catalogue.posts(["good", "bomb"]), lambda: list(catalogue.every_post())):
        with pytest.raises(MathAMRError, match="index --check"):
            read()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80 << 20
    assert catalogue.post("good").body == "A zebra."


@pytest.mark.parametrize("part", ["body", "title", "macros"])
def test_a_post_that_could_not_be_read_again_is_not_stored(part: str) -> None:
    text = "a" * (LARGEST_POST + 1)
    with pytest.raises(MathAMRError, match="larger than 32 MB; cut it into several posts"):
        check_usable(replace(note("big", "x"), **{part: (text,) if part == "macros" else text}))


def test_formulas_know_their_post_and_how_they_visual(catalogue: Catalogue) -> None:
    put(catalogue, note("a", r"$x^2$ and $\frac{1}{2}$"), note("b", "${x}^{2}$"))
    first, second = catalogue.formulas_of("a")
    (other,) = catalogue.formulas_of("b")
    assert (first.post, first.position, first.formula.latex) == ("a", 0, "x^2")
    assert catalogue.formula(second.id) == second
    assert first.visual == other.visual != second.visual
    assert catalogue.with_visual(first.visual) == [first.id, other.id]
    assert catalogue.visuals_of([first.id, "nobody"]) == {first.id: first.visual}
    assert catalogue.count_formulas() == 3
    assert set(catalogue.visual_keys()) == {first.visual, second.visual}


def test_visual_ids_of_the_input_are_found(catalogue: Catalogue) -> None:
    post = Post("q", "question", "…", formulas=(Formula("7", "x", visual_id="42"), Formula("8", "y")))
    put(catalogue, post)
    assert catalogue.with_visual_id("42") == ["7"]
    assert catalogue.formula("7").formula.visual_id == "42"


def test_what_is_not_there_is_a_clear_error_or_left_out(catalogue: Catalogue) -> None:
    with pytest.raises(MathAMRError, match="no post 'x' in the index"):
        catalogue.post("x")
    with pytest.raises(MathAMRError, match="no formula 'x:0' in the index"):
        catalogue.formula("x:0")
    assert catalogue.posts(["x"]) == {}
    assert catalogue.formulas_of("x") == []
    assert catalogue.known("x") is None


def test_a_change_waits_for_every_part(catalogue: Catalogue) -> None:
    put(catalogue, note("a", "$x$"), note("b", "$y$"))
    settle(catalogue)
    assert catalogue.settled
    put(catalogue, note("b", "$y+1$"))
    assert not catalogue.settled
    for stage in ("graph", "vectors", "lexical"):
        (pending,) = catalogue.pending(stage)  # type: ignore[arg-type]
        assert pending.post == note("b", "$y+1$")
    old, new = (visual_keys(note("b", body))[0] for body in ("$y$", "$y+1$"))
    assert (
        set(catalogue.stale_visuals("lexical", -1))
        == set(catalogue.stale_visuals("vectors", -1))
        == {old, new}
    )
    settle(catalogue)
    assert catalogue.settled


def test_the_first_post_by_id_stands_for_a_visual_and_in_it_the_first_formula(catalogue: Catalogue) -> None:
    put(catalogue, note("c", "$x^{2}$"), note("b", "$y$ and ${x}^2$ and $x^2$"), note("a", "$z$"))
    squares, y, z = (visual_keys(note("n", body))[0] for body in ("$x^2$", "$y$", "$z$"))
    catalogue.choose_representatives("lexical")
    found = catalogue.representatives([squares, y, z, "unknown"])
    assert {visual: formula.latex for visual, (formula, _) in found.items()} == {
        squares: "{x}^2",
        y: "y",
        z: "z",
    }
    settle(catalogue)
    with catalogue.transaction():
        catalogue.delete("b")
    catalogue.choose_representatives("lexical")
    assert [formula.latex for formula, _ in catalogue.representatives([squares, y]).values()] == ["x^{2}"]


def test_the_rows_of_every_entry_are_remembered_until_its_vectors_are_lost(catalogue: Catalogue) -> None:
    put(catalogue, note("a", "$x$"), note("b", "$y$"))
    x, y = (visual_keys(note("n", body))[0] for body in ("$x$", "$y$"))
    settle(catalogue)
    with catalogue.transaction():
        catalogue.mark_visual_vectors(x, b"source", 3)
    assert dict(catalogue.post_rows()) == {"a": 1, "b": 1}
    assert dict(catalogue.formula_rows()) == {"a:0": 2, "b:0": 2}
    assert catalogue.visual_rows() == {x: 3, y: 0}
    assert catalogue.visuals_made_of([x, y]) == {x: b"source"}
    with catalogue.transaction():
        catalogue.unmark("vectors", ["a"])
        catalogue.unmark_visuals("vectors", [x])
    assert set(dict(catalogue.post_rows())) == {"b"}
    assert set(catalogue.visual_rows()) == {y}
    assert catalogue.visuals_made_of([x, y]) == {}


def test_a_visual_is_forgotten_when_its_last_formula_and_all_parts_let_go(catalogue: Catalogue) -> None:
    put(catalogue, note("a", "$x$"), note("b", "$x$"))
    settle(catalogue)
    count = "SELECT count(*) FROM visuals"
    for name, left in (("a", 1), ("b", 0)):
        with catalogue.transaction():
            catalogue.delete(name)
        assert catalogue._value(count) == 1
        settle(catalogue)
        assert catalogue._value(count) == left
    put(catalogue, note("c", "$x$"))
    assert catalogue.count_stale_visuals("vectors") == 1


def test_what_a_system_does_not_need_nothing_waits_for(catalogue: Catalogue) -> None:
    put(catalogue, note("a", "$x$"))
    with catalogue.transaction():
        catalogue.skip("graph")
        catalogue.skip_visuals("vectors")
    assert catalogue.count_pending("graph") == catalogue.count_stale_visuals("vectors") == 0
    assert catalogue.count_pending("vectors") == catalogue.count_stale_visuals("lexical") == 1


def test_a_post_that_changed_again_is_not_marked(catalogue: Catalogue) -> None:
    put(catalogue, note("a", "one"))
    (pending,) = catalogue.pending("graph")
    put(catalogue, note("a", "two"))
    with catalogue.transaction():
        catalogue.mark("graph", [pending])
        catalogue.mark_vectors([(pending, b"content", 1, {})])
    assert catalogue.count_pending("graph") == catalogue.count_pending("vectors") == 1


def test_a_deleted_post_is_unseen_at_once_and_forgotten_when_all_parts_let_go(catalogue: Catalogue) -> None:
    put(catalogue, note("a", "$x$", tags=("algebra",)), note("b", "$y$"))
    settle(catalogue)
    with catalogue.transaction():
        assert catalogue.delete("a")
        assert not catalogue.delete("nobody")
    assert "a" not in catalogue
    assert len(catalogue) == 1
    assert catalogue.tags() == {}
    assert catalogue.with_visual(visual_keys(note("a", "$x$"))[0]) == []
    (pending,) = catalogue.pending("vectors")
    assert (pending.id, pending.post, pending.gone) == ("a", None, ("a:0",))
    settle(catalogue)
    assert catalogue.settled
    put(catalogue, note("a", "again"))
    assert catalogue.post("a").body == "again"


def test_formulas_a_post_no_longer_has_are_named_until_the_engine_let_go(catalogue: Catalogue) -> None:
    put(catalogue, note("a", "$x$ $y$"))
    settle(catalogue)
    put(catalogue, note("a", "$x$"))
    (pending,) = catalogue.pending("vectors")
    assert [name for name, _ in pending.formulas] == ["a:0"]
    assert pending.gone == ("a:1",)
    assert [each.id for each in catalogue.formulas_of("a")] == ["a:0"]
    settle(catalogue)
    put(catalogue, note("a", "$x$"))
    assert next(iter(catalogue.pending("vectors"))).gone == ()


def test_two_posts_with_formulas_of_one_id_are_distinguished(catalogue: Catalogue) -> None:
    shared = (Formula("7", "x"), Formula("7", "y"))
    put(catalogue, Post("a", "note", "…", formulas=shared), Post("b", "note", "…", formulas=shared))
    ids = [entry.id for post in "ab" for entry in catalogue.formulas_of(post)]
    assert ids == ["7", "a/7", "b/7", "b/1"]
    assert [catalogue.formula(name).formula.latex for name in ids] == ["x", "y", "x", "y"]


def test_an_id_of_a_deleted_post_is_free_for_another(catalogue: Catalogue) -> None:
    put(catalogue, Post("a", "note", "…", formulas=(Formula("7", "x"),)))
    settle(catalogue)
    with catalogue.transaction():
        catalogue.delete("a")
    put(catalogue, Post("b", "note", "…", formulas=(Formula("7", "x"),)))
    assert catalogue.formula("7").post == "b"
    pending = {each.id: each for each in catalogue.pending("vectors")}
    assert pending["a"].gone == ()
    settle(catalogue)
    assert catalogue.formula("7").post == "b"


def test_ids_that_no_engine_takes_are_replaced(catalogue: Catalogue) -> None:
    formulas = (Formula("", "x"), Formula("n" * 5000, "y"), Formula("\ud800", "z"))
    put(catalogue, Post("a", "note", "\ud800", tags=("\udfff",), parent="\ud800", formulas=formulas))
    assert [entry.id for entry in catalogue.formulas_of("a")] == ["a/", "a/1", "a/2"]
    assert catalogue.post("a").body == "\ud800"


def test_a_transaction_that_fails_changes_nothing(catalogue: Catalogue) -> None:
    before = catalogue.revision

    def fail() -> None:
        with catalogue.transaction():
            catalogue.put(note("a", "x"), "file", [])
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert len(catalogue) == 0
    assert catalogue.revision == before


def test_a_file_that_is_no_database_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "catalogue.db").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(MathAMRError, match="is damaged"):
        Catalogue(tmp_path / "catalogue.db")
    with pytest.raises(MathAMRError, match="there is no catalogue"):
        Catalogue(tmp_path / "nowhere.db")


def test_another_format_is_refused(catalogue: Catalogue) -> None:
    with catalogue.transaction():
        catalogue.set_meta("format", "99")
    with pytest.raises(MathAMRError, match="format 99, this version reads 5"):
        Catalogue(catalogue.path)


@given(
    st.dictionaries(
        st.text(min_size=1).filter(lambda text: "\0" not in text),
        st.tuples(st.text(), st.lists(st.text(), max_size=3)),
        min_size=5,
        max_size=20,
    )
)
@settings(max_examples=6)
def test_any_text_is_kept(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, tuple[str, list[str]]]
) -> None:
    posts = [
        Post(name, "note", body, tags=tuple(tags), formulas=(Formula(name, body),))
        for name, (body, tags) in texts.items()
    ]
    with Catalogue(tmp_path_factory.mktemp("any") / "c.db", create=True) as catalogue:
        put(catalogue, *posts)
        for post in posts:
            assert digest_of(catalogue.post(post.id)) == digest_of(post)
            assert catalogue.formulas_of(post.id)[0].formula == post.formulas[0]


def test_a_label_leads_to_the_post_it_names_before_those_that_hold_it(catalogue: Catalogue) -> None:
    with catalogue.transaction():
        catalogue.put(Post("holds", "section", "", place=Place("a.tex", 1, "", ("thm:a",))), "a", ())
        catalogue.put(Post("is", "theorem", "", place=Place("a.tex", 9, "thm:a")), "a", ())
    assert catalogue.labelled("thm:a") == ["is", "holds"]
    with catalogue.transaction():
        catalogue.put(Post("is", "theorem", "", place=Place("a.tex", 9, "thm:b")), "a", ())
    assert catalogue.labelled("thm:a") == ["holds"]
    assert catalogue.labelled("thm:b") == ["is"]


def test_a_post_that_only_moved_is_not_made_again(catalogue: Catalogue) -> None:
    with catalogue.transaction():
        number = catalogue.put(Post("1", "note", "said", place=Place("a.tex", 1)), "a", ())
        catalogue._db.execute("UPDATE posts SET graph = 1, vectors = 1, lexical = 1")
        catalogue.put(Post("1", "note", "said", place=Place("b.tex", 7)), "a", ())
    sql = "SELECT graph, vectors, lexical FROM posts WHERE number = ?"
    assert catalogue._rows(sql, (number,)) == [(1, 1, 1)]
    assert catalogue.post("1").place == Place("b.tex", 7)
    with catalogue.transaction():
        catalogue.put(Post("1", "note", "said otherwise", place=Place("b.tex", 7)), "a", ())
    assert catalogue._rows(sql, (number,)) == [(0, 0, 0)]


def test_one_document_does_not_redefine_a_command_for_everybody(tmp_path: Path) -> None:
    inside = r"\renewcommand{\int}{\operatorname{int}}"
    own = r"\newcommand{\Hilb}{\mathcal{H}}"
    with Catalogue(tmp_path / "catalogue.sqlite", create=True) as catalogue:
        catalogue.put(Post("a", "note", r"$\int A$", markup="latex", macros=(inside, own)), "notes", [])
        assert catalogue.macros() == {"int": inside, "Hilb": own}
        for name in "bc":
            catalogue.put(Post(name, "note", r"$\int f$", markup="latex"), "notes", [])
        assert catalogue.macros() == {"Hilb": own}


def test_parents_and_the_posts_with_a_look_are_told(tmp_path: Path) -> None:
    formula = Formula("f", "x^2")
    with Catalogue(tmp_path / "catalogue.sqlite", create=True) as catalogue:
        catalogue.put(Post("q", "question", "$x^2$", markup="text", formulas=(formula,)), "in", ["look"])
        for name in ("a", "b"):
            answer = Post(name, "answer", "$x^2$", markup="text", parent="q", formulas=(formula, formula))
            catalogue.put(answer, "in", ["look", "look"])
        catalogue.put(Post("c", "answer", "", parent="gone"), "in", [])
        assert catalogue.parents(["a", "b", "c", "q"]) == {"a": "q", "b": "q"}
        assert catalogue.posts_with(["look", "other"], 5) == {"look": ["q", "a", "b"]}
        assert catalogue.posts_with(["look"], 2) == {"look": ["q", "a"]}
        for gone in ((), ("q",)):
            for each in gone:
                catalogue.delete(each)
            with CatalogueSnapshot(tmp_path / "catalogue.sqlite") as snapshot:
                read = [snapshot.posts_with(["look", "other"], most) for most in (1, 5)]
                snapshot.hold_occurrences()
                assert [snapshot.posts_with(["look", "other"], most) for most in (1, 5)] == read
        assert catalogue.parents(["a"]) == {}
        assert read[1] == catalogue.posts_with(["look"], 5) == {"look": ["a", "b"]}
