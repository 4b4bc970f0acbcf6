"""Search in an index: every strategy against what its definition says, filters, paging, notes, explanations."""

from __future__ import annotations

import gc
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mathamr import Filter, Index, Query
from mathamr.amr.graph import Amr
from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.formulas.parse import parse
from mathamr.formulas.visualkey import visual_key
from mathamr.index.engines.flat.engine import FlatEngine, FlatField
from mathamr.index.lexical.terms import post_terms
from mathamr.index.scored import Scored, best
from mathamr.index.snapshot import CatalogueSnapshot
from mathamr.posts.level import Level
from mathamr.search.explanations import UnknownPostError
from mathamr.search.fragment import plain
from mathamr.search.fusion import FUSIONS
from mathamr.search.hubness import HUBNESS, hubness, penalise_hubs
from mathamr.search.querycontext import StageTimer
from mathamr.systems.mathamrplus.system import MathAMRPlusSystem
from mathamr.systems.ranking import Component, Fuse, Lexical, Nearest, Promote, Rerank
from mathamr.systems.vectors import Vectors
from tests.cases import cases

STRATEGIES = tuple(MathAMRPlusSystem.rankings["answers"])

TEXT = "Why does the series $\\sum_{n=1}^\\infty \\frac{1}{n^2}$ converge, and to what?"


def query_vectors(index: Index, query: Query) -> Vectors:
    return index._encoder.encode(query, StageTimer()).encoded.post["parts"]


def naive_maxsim(query: np.ndarray, post: np.ndarray) -> float:
    return sum(max(float(row @ other) for other in post) for row in query) / len(query)


def same_order(found: list[Scored], expected: list[Scored]) -> None:
    assert [hit.id for hit in found] == [hit.id for hit in expected]
    assert np.allclose([hit.score for hit in found], [hit.score for hit in expected], atol=1e-5)


def ranked(index: Index, query: Query, strategy: str, depth: int, **options: object) -> list[Scored]:
    found, _ = index.rank(query, "answers", strategy, depth, **options)  # type: ignore[arg-type]
    return [Scored(each.id, each.score) for each in found]


def test_single_ranks_by_the_document_vector(index: Index) -> None:
    query = Query.of_text(TEXT)
    vector = query_vectors(index, query).document
    assert vector is not None
    ids = list(index.archive.catalogue.ids())
    stored = {each: rows.document for each, rows in index.archive.engine["parts"].fetch(ids).items()}
    expected = best(ids, [float(vector @ stored[each]) for each in ids], 25)
    same_order(ranked(index, query, "single", 25), expected)


def test_a_search_is_exact_unless_it_need_not_be_or_vectors_are_on_a_server(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    search = FlatField.search_maxsim

    def noted(
        self: FlatField, vectors: FloatArray, k: int, where: Filter | None, *, exact: bool
    ) -> list[Scored]:
        asked.append(exact)
        return search(self, vectors, k, where, exact=exact)

    monkeypatch.setattr(FlatField, "search_maxsim", noted)
    for remote, wanted in ((False, [True, True, False]), (True, [False, True, False])):
        monkeypatch.setattr(FlatEngine, "remote", remote)
        asked.clear()
        for exact in (None, True, False):
            index.search(TEXT, strategy="maxsim", k=3, exact=exact)
        assert asked == wanted


def test_maxsim_is_the_mean_of_the_best_cosines(index: Index) -> None:
    query = Query.of_text(TEXT)
    vectors = query_vectors(index, query).vectors
    ids = list(index.archive.catalogue.ids())
    field = index.archive.engine["parts"]
    stored, vectors = field.fetch(ids), field.as_compared(vectors)
    expected = best(ids, [naive_maxsim(vectors, stored[each].vectors) for each in ids], 25)
    same_order(ranked(index, query, "maxsim", 25), expected)


def test_rerank_of_everything_is_maxsim(index: Index) -> None:
    query = Query.of_text(TEXT)
    same_order(ranked(index, query, "rerank", 50, pool=len(index)), ranked(index, query, "maxsim", 50))


def test_lexical_is_the_lexicon_alone_and_needs_no_model(sample_index: Path) -> None:
    with Index.open(sample_index, device="cpu") as fresh:
        query = Query.of_text(TEXT)
        same_order(
            ranked(fresh, query, "lexical", 30),
            fresh.archive.lexical.posts.search(post_terms(query.post), 30),
        )
        assert fresh.search(query, strategy="lexical").hits
        assert vars(fresh.archive)["_system"] is None


def blend_of(index: Index) -> Fuse:
    """The fusion of answers, in which only what is called as was asked comes first."""
    _, ranking = index.ranking("answers", "fused")
    assert isinstance(ranking, Promote)
    assert isinstance(ranking.first, Fuse)
    return ranking.first


def test_hybrid_fuses_its_components_by_their_weights(index: Index) -> None:
    query = Query.of_text(TEXT)
    blend = blend_of(index)
    weights = {part.name: part.weight_for(query.kind) for part in blend.parts}
    assert query.kind == "words"
    assert weights.pop("formula") == 0
    rankings = [ranked(index, query, name, blend.depth) for name in weights]
    fusion = FUSIONS[blend.fusion](normalisation=blend.normalisation)
    fused = fusion(rankings, list(weights.values()))
    same_order(ranked(index, query, "fused", 20), fused[:20])
    documents = index.archive.engine["document"].fetch([hit.id for hit in fused[:50]])
    near = hubness({each: found.vectors[0] for each, found in documents.items()}, 10)
    same_order(ranked(index, query, "hybrid", 50), penalise_hubs(fused[:50], near, 0.2))
    hits = index.search(query, k=3)
    for hit in hits:
        assert set(hit.evidence) <= {*weights, HUBNESS}
        assert hit.evidence[HUBNESS] == pytest.approx(near[hit.id])


@cases("strategy", STRATEGIES)
def test_given_posts_are_scored_as_a_search_scores_them(index: Index, strategy: str) -> None:
    query = Query.of_text(TEXT)
    ids = [hit.id for hit in ranked(index, query, "lexical", 60)][::2]
    found = index.score(query, [*ids, "no such post"], strategy)
    assert {hit.id for hit in found} == set(ids)
    if strategy in ("hybrid", "fused"):  # of so few none is a hub
        blend = blend_of(index)
        weighed = [part for part in blend.parts if part.weight_for(query.kind)]
        parts = [index.score(query, ids, part.name) for part in weighed]
        weights = [part.weight_for(query.kind) for part in weighed]
        same_order(found, FUSIONS[blend.fusion](normalisation=blend.normalisation)(parts, weights))
    else:
        searched = ranked(index, query, strategy, len(index), pool=len(index))
        scored = [hit for hit in found if hit.score] if strategy == "formula" else found
        same_order(scored, [hit for hit in searched if hit.id in ids])
    assert index.score(query, [], strategy) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_filters_hold_for_every_strategy_and_task(index: Index, strategy: str) -> None:
    where = Filter(kinds=("question",), tags=("real-analysis",), minimum_score=5)
    for task in index.tasks:
        if strategy not in index.rankings(task):
            continue
        hits = index.search(TEXT, task, strategy, 200, where=where)
        assert hits.hits
        for hit in hits:
            post = index.archive.catalogue.post(hit.id)
            assert post.kind == "question"
            assert "real-analysis" in post.tags
            assert (post.score or 0) >= 5
    allowed = {
        post.id
        for post in index.archive.catalogue.every_post()
        if post.kind == "question" and "real-analysis" in post.tags and (post.score or 0) >= 5
    }
    found = {hit.id for hit in index.search(TEXT, "answers", strategy, 200, where=where)}
    assert found == allowed if strategy in ("single", "maxsim", "rerank", "hybrid") else found <= allowed


@pytest.mark.parametrize("task", ["answers", "formulas"])
def test_pages_are_one_ranking_cut_up(index: Index, task: str) -> None:
    whole = index.search(TEXT, task, k=12)  # type: ignore[arg-type]
    pages = [index.search(TEXT, task, k=5, offset=offset) for offset in (0, 5, 10)]  # type: ignore[arg-type]
    together = [hit for page in pages for hit in page]
    assert together[:12] == list(whole.hits)
    assert [hit.rank for hit in together] == list(range(1, 16))
    assert pages[0].more
    assert whole.offset == 0


def test_behind_the_last_hit_there_is_nothing(index: Index) -> None:
    end = index.search(TEXT, strategy="single", k=5, offset=len(index) - 2)
    assert len(end) == 2
    assert not end.more
    assert not index.search(TEXT, strategy="single", k=5, offset=len(index)).hits


def test_a_formula_is_found_once_at_its_best_place_with_the_number_of_its_places(index: Index) -> None:
    catalogue = index.archive.catalogue
    hits = index.search("$n$", "formulas", k=50)
    visuals = [hit.formula.visual for hit in hits if hit.formula]
    assert len(set(visuals)) == len(visuals) == 50
    first = hits[0].formula
    assert first is not None
    assert first.exact
    assert parse(first.latex).slt == parse("n").slt
    assert first.places == len(catalogue.with_visual(first.visual)) > 1
    assert catalogue.formula(first.id).post == hits[0].id


def test_dense_formula_search_is_the_best_cosine_of_each_visual(index: Index) -> None:
    query = Query.of_text("$\\frac{1}{n^2}$ is small", "formulas")
    vector = query_vectors(index, query).at(Level.FORMULA)[1][0]
    points = index.archive.engine["formula"]
    ids = list(points.ids())
    visuals = index.archive.catalogue.visuals_of(ids)
    expected: dict[str, float] = {}
    for identifier, rows in points.fetch(ids).items():
        visual = visuals[identifier]
        expected[visual] = max(expected.get(visual, -1.0), float(rows.vectors[0] @ vector))
    found, _ = index.rank(query, "formulas", "single", 40)
    scores = sorted(expected.values(), reverse=True)[:40]
    assert np.allclose([each.score for each in found], scores, atol=1e-5)
    for each in found:
        assert visuals[each.id] == each.visual
        assert expected[each.visual] == pytest.approx(each.score, abs=1e-5)


def test_what_fits_the_wildcards_comes_first(index: Index) -> None:
    hits = index.search("?a^2+?b^2", "formulas", k=8)
    patterns = [hit.evidence.get("pattern", 0.0) for hit in hits]
    assert patterns[0] == 1.0
    assert patterns == sorted(patterns, reverse=True)
    assert hits[0].formula is not None
    assert hits[0].formula.exact


def test_the_marked_formula_of_a_post_is_searched_in_its_context(index: Index) -> None:
    post = index.archive.catalogue.post("101")
    marked = post.formulas[-1]
    hits = index.search(Query.of_post(post, marked.id), "formulas", "hybrid", k=1)
    assert hits[0].formula is not None
    assert hits[0].formula.visual == visual_key(parse(marked.latex).slt)
    assert hits[0].evidence["single"] == pytest.approx(1.0, abs=1e-4)


def test_a_whole_question_finds_itself_first(index: Index) -> None:
    post = index.archive.catalogue.post("104")
    for strategy in ("hybrid", "maxsim", "lexical"):
        assert index.search(post, strategy=strategy, k=1)[0].id == "104"


def test_an_answer_is_shown_under_its_question(index: Index) -> None:
    hits = index.search(TEXT, k=20, where=Filter(kinds=("answer",)))
    for hit in hits:
        assert hit.parent is not None
        question = index.archive.catalogue.post(hit.parent)
        assert hit.kind == "answer"
        assert hit.tags == question.tags
        begins = question.title.partition("<")[0].split()  # a title may begin with a formula in a <span>
        assert plain(hit.title).split()[: len(begins[:1])] == begins[:1]


def test_a_found_formula_stands_in_its_snippet(index: Index) -> None:
    for hit in index.search("$x^2$", "formulas", k=20):
        assert hit.formula is not None
        shown = {fragment.formula for fragment in hit.snippet if fragment.matched}
        titled = {fragment.formula for fragment in hit.title}
        assert index.archive.catalogue.formula(hit.formula.id).formula.id in shown | titled


def test_time_is_reported_by_stage(index: Index) -> None:
    hits = index.search("a query that nobody asked before: $q_{17}$")
    assert {"parse", "amr", "encode", "search", "snippet"} <= set(hits.seconds)
    assert all(seconds >= 0 for seconds in hits.seconds.values())


def test_a_note_does_not_deny_words_that_occur_below_the_first_hits(index: Index) -> None:
    parts = (Component("lexical", Lexical(), 0.001), Component("single", Nearest("document"), 1.0))
    said = []
    words = "converge prime integral group matrix limit number series function space real proof sum root"
    for query in words.split():
        if index.rank(query, strategy="lexical", depth=1)[0]:
            said += index.rank(query, strategy=Fuse(parts=parts, normalisation="z"), depth=1)[1]
    assert any("in these hits" in note for note in said)
    assert not any("in what is searched" in note for note in said)
    assert (
        "no word or formula of the query occurs in what is searched"
        in index.rank("qwxz", strategy="lexical")[1]
    )


def test_a_note_does_not_deny_the_words_by_which_hits_were_found(index: Index) -> None:
    for task, field in (("answers", "document"), ("formulas", "formula")):
        query, ways = "the sum of $x^2$", (Lexical(), Nearest(field))
        found_by_words = Rerank(first=ways[0], then=ways[1])
        named_otherwise = Fuse(parts=(Component("mine", ways[0]), Component("single", ways[1])))
        for ranking in (found_by_words, named_otherwise):
            ranked, notes = index.rank(query, task, ranking, depth=5)
            assert ranked
            assert not any("no word or formula" in note for note in notes)


def test_notes_say_what_is_odd_about_a_query(index: Index) -> None:
    assert any("only common words" in note for note in index.search("what is it?").notes)
    nothing = index.search("zzqqx")
    assert (nothing.absent, nothing.found) == (("zzqqx",), "nothing")
    assert index.search("zzqqx", strategy="lexical").found == "nothing"
    nothing = index.search(TEXT, where=Filter(tags=("no such tag",)))
    assert not nothing.hits
    assert any("passes the filter" in note for note in nothing.notes)
    several = index.search("$a$ and $b+c$", "formulas")
    assert any("2 formulas" in note for note in several.notes)


class BrokenParser:
    """A parser whose weights are gone."""

    name = fingerprint = "broken"

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        raise MathAMRError("the weights of the built-in parser cannot be read")


def test_a_parser_that_fails_is_reported(sample_index: Path) -> None:
    with Index.open(sample_index, device="cpu") as opened:
        opened.use_parser(BrokenParser())
        for _ in range(2):  # what is remembered of a query is told again
            assert any(
                "AMR parser could not parse the query (exception)" in note
                for note in opened.search(TEXT).notes
            )
        assert any("AMR parser" in note for note in opened.rank(TEXT, strategy="maxsim")[1])
        assert not any("AMR parser" in note for note in opened.search("groups", strategy="lexical").notes)


def test_a_parser_that_reads_the_query_is_not_mentioned(index: Index) -> None:
    assert not any("AMR parser" in note for note in index.search(TEXT).notes)


@cases(
    ("options", "message"),
    [
        ({"strategy": "magic"}, "unknown strategy 'magic'; known: hybrid, maxsim"),
        ({"task": "proofs"}, "unknown task 'proofs'; known: answers, formulas"),
        ({"k": 0}, "at least 1"),
        ({"offset": -1}, "offset must be at least 0"),
        ({"k": 20_000}, "between 1 and 10,000"),
        ({"pool": 0}, "pool"),
        ({"where": Filter(kinds=("answers",))}, "unknown kind of post"),
        ({"where": Filter(after="soon")}, "is not a date"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(index: Index, options: dict[str, object], message: str) -> None:
    with pytest.raises(MathAMRError, match=message):
        index.search(TEXT, **options)  # type: ignore[arg-type]


def test_explain_is_the_alignment_behind_the_score(index: Index) -> None:
    hits = index.search(TEXT, strategy="maxsim", k=3)
    for hit in hits:
        alignment = index.explain(TEXT, hit.id)
        assert alignment.score == pytest.approx(hit.score, abs=1e-5)
        assert [part.level for part in alignment.query] == ["document", "sentence", "formula"]
        post = index.archive.catalogue.post(hit.id)
        for part in alignment.post:
            source = {"title": post.title, "body": post.body, None: ""}[part.field]
            if part.level == "formula":
                assert part.fragments[0].text.split()[0][:1] in source[part.start : part.end]
        rows = alignment.to_json()
        assert len(rows["similarities"]) == len(rows["query_parts"]) == 3
        assert len(rows["similarities"][0]) == len(rows["post_parts"]) == len(index.archive.vectors(hit.id))


def test_a_formula_is_explained_through_its_post(index: Index) -> None:
    hit = index.search("$x^2$", "formulas", k=1)[0]
    assert hit.formula is not None
    alignment = index.explain("$x^2$", hit.formula.id)
    assert alignment.post_id == hit.id
    assert any(part.reference == alignment.formula_id for part in alignment.post)


def test_an_unknown_id_cannot_be_explained(index: Index) -> None:
    with pytest.raises(UnknownPostError, match=r"no post or formula '\.\./\.\./etc/passwd'"):
        index.explain(TEXT, "../../etc/passwd")


def test_a_formula_whose_post_is_deleted_meanwhile_cannot_be_explained(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    hit = index.search("$x^2$", "formulas", k=1)[0]
    assert hit.formula is not None
    monkeypatch.setattr(CatalogueSnapshot, "posts", lambda self, ids: {})
    with pytest.raises(UnknownPostError, match="no post or formula"):
        index.explain("$x^2$", hit.formula.id)


def test_vectors_that_are_damaged_are_no_unknown_post(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(post_id: str, field: str) -> Vectors:
        raise MathAMRError("the vectors are not complete")

    monkeypatch.setattr(index.archive, "vectors", damaged)
    with pytest.raises(MathAMRError, match="not complete"):
        index.explain(TEXT, index.search(TEXT, k=1)[0].id)


def test_threads_get_the_same_hits_as_one(index: Index) -> None:
    queries = [f"the limit of $\\frac{{1}}{{n^{power}}}$ and of sequences" for power in range(2, 8)]
    expected = [[hit.id for hit in index.search(query, k=5)] for query in queries]
    other = Index(index.archive)
    results: dict[int, list[list[str]]] = {}

    def work(number: int) -> None:
        order = queries if number % 2 else queries[::-1]
        found = [[hit.id for hit in other.search(query, k=5)] for query in order]
        results[number] = found if number % 2 else found[::-1]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(4), expected)


def test_the_catalogue_names_a_visual_by_its_first_place_for_each_visual_id(index: Index) -> None:
    catalogue = index.archive.catalogue
    keys = sorted({each.visual for name in catalogue.ids() for each in catalogue.formulas_of(name)})
    for key, known in catalogue.visuals([*keys, "no such look"]).items():
        entries = [catalogue.formula(each) for each in catalogue.with_visual(key)]
        assert known[0][0] == entries[0].id
        assert {visual_id for _, _, visual_id in known} == {entry.formula.visual_id for entry in entries}
        for formula, post, visual_id in known:
            entry = catalogue.formula(formula)
            assert (entry.post, entry.formula.visual_id, entry.visual) == (post, visual_id, key)
    assert set(catalogue.visuals(keys)) == set(keys)


def test_loading_in_advance_leaves_the_garbage_collector_of_the_program_alone(index: Index) -> None:
    before = gc.get_freeze_count()
    index.warm()
    assert gc.get_freeze_count() == before
