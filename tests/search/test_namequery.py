"""Whoever types a name finds what is called so first, misspelt or not, whatever vectors say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.index.lexical.terms import post_text, stems, words
from mathamr.index.preview import Preview, PreviewHead
from mathamr.index.scored import Scored
from mathamr.posts.post import Markup, Place, Post
from mathamr.search.namequery import Having, NameQuery
from mathamr.search.query import Query
from mathamr.search.searcher import Index
from mathamr.systems.mathamrplus.system import MathAMRPlusSystem
from mathamr.systems.ranking import Promote
from tests.cases import cases
from tests.index.small import build

LEMMAS = ("Zorn", "Gauss", "Nakayama", "Fatou", "Schur", "Yoneda", "Urysohn", "Burnside")


def named(identifier: str, title: str, body: str) -> Post:
    return Post(identifier, "note", body, title=title, markup="text")


POSTS = [
    *(named(who, f"{who}'s lemma", f"The lemma of {who}, a lemma that everybody knows.") for who in LEMMAS),
    named("test", "Testing identities", "Whether a polynomial vanishes: evaluate it at random, says Zippel."),
    named("sz", "The Schwartz\u2013Zippel lemma", "A polynomial of low degree has few zeros in a grid."),
    named("holder", "H\u00f6lder's inequality", "Norms of a product, for conjugate exponents."),
    named("jensen", "Jensen's inequality", "An inequality for convex functions, the mother of inequalities."),
    named("baire", "Meagre sets", "A union of nowhere dense sets; each is nowhere dense by itself."),
    Post(
        "area",
        "question",
        "How large is the area below the bell?",
        "Bell curves",
        "text",
        tags=("gaussian-integral",),
        keywords=("error function, complementary",),
    ),
    Post("polar", "answer", "Square it and change to other coordinates.", markup="text", parent="area"),
    named("other", "What a student said of the gaussian integral in class", "It is an integral."),
    named(
        "mixed", "Dense graphs", "The function is dense in values and nowhere is it continuous. Dense, dense."
    ),
]


@pytest.fixture(scope="module")
def index(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("names")
    build(folder / "index", POSTS, model_folder)
    with Index.open(folder / "index", device="cpu") as opened:
        yield opened


def first(index: Index, query: str, count: int = 1) -> list[str]:
    return [hit.id for hit in index.search(query)][:count]


@pytest.mark.parametrize("query", ["Zippel lemma", "Zippels lemma", "zippel  Lemma", "Zipel lemma"])
def test_the_rare_word_comes_first_in_the_title_then_in_the_text(index: Index, query: str) -> None:
    assert first(index, query, 2) == ["sz", "test"]


@cases("query", ["H\u00f6lder inequality", "Holder inequalty", "H\u00f6lder inequalty", "Hoelder"])
def test_a_misspelt_common_word_does_not_hide_the_rare_one(index: Index, query: str) -> None:
    assert first(index, query) == ["holder"]


def test_words_of_a_name_count_side_by_side_before_scattered_ones(index: Index) -> None:
    hits = index.search("nowhere dense")
    assert [hit.id for hit in hits][:2] == ["baire", "mixed"]
    assert hits[0].evidence["name"] > hits[1].evidence["name"] > 0
    assert max(hit.share for hit in hits) == 1.0


@pytest.mark.parametrize("typed", ["gaussian integral", "gaussian-integral", "Gaussian integrals"])
def test_what_has_the_typed_name_as_a_tag_comes_first(index: Index, typed: str) -> None:
    hit = index.search(typed)[0]
    assert (hit.id, hit.match, hit.reason) == ("area", "strong", "has this tag")


def test_an_answer_has_the_tags_of_its_question(index: Index) -> None:
    hits = index.search("gaussian integral")
    assert [hit.id for hit in hits][:3] == ["area", "other", "polar"]
    assert (hits[2].match, hits[2].reason) == ("strong", "its question has this tag")
    assert "question tag" not in index.search("error function")[1].evidence


@pytest.mark.parametrize("typed", ["error function", "complementary error function"])
def test_what_is_indexed_under_the_typed_name_comes_first(index: Index, typed: str) -> None:
    hit = index.search(typed)[0]
    assert (hit.id, hit.match, hit.reason) == ("area", "strong", "has this index entry")


def test_what_is_listed_under_a_name_is_found_however_low_it_ranks(
    model_folder: Path, tmp_path: Path
) -> None:
    many = [
        named(f"n{n}", f"Products {n}", "A direct way to a product, direct as a product.") for n in range(150)
    ]
    tagged = Post("far", "note", "Quite another thing.", "Subgroups", "text", tags=("direct-product",))
    build(tmp_path / "index", [*many, tagged], model_folder)
    with Index.open(tmp_path / "index", device="cpu") as opened:
        assert opened.search("direct product")[0].id == "far"


@pytest.mark.parametrize("typed", ["gcd and lcm", "limsup and liminf", "max or min"])
def test_names_of_operators_with_a_conjunction_are_words(typed: str) -> None:
    assert Query.of_text(typed).formulas == ()


def test_what_was_corrected_is_said(index: Index) -> None:
    assert "no post contains 'zipel'; searched for 'zippel' too" in index.search("Zipel lemma").notes
    shown = index.search("Zipel lemma")[0].title
    assert [str(piece) for piece in shown if piece.matched] == ["Zippel", "lemma"]
    assert not any("searched for" in note for note in index.search("Zippel lemma").notes)


@cases(
    "query",
    [
        "Is it the Zippel lemma?",
        "how does the Zippel lemma work",
        "Zippel lemma for $x^2$",
        "a polynomial of low degree has few zeros",
        "xyzzy",
    ],
)
def test_what_says_more_than_a_name_or_nothing_known_is_ranked_as_ever(index: Index, query: str) -> None:
    archive = index.archive
    assert NameQuery.of(Query.of_text(query), archive.lexical.posts, archive.catalogue) is None
    hybrid = MathAMRPlusSystem.rankings["answers"]["hybrid"]
    assert isinstance(hybrid, Promote)
    plain, _ = index.rank(query, strategy=hybrid.first)
    assert index.rank(query)[0] == plain


def test_a_filter_holds_for_names_too(index: Index) -> None:
    from mathamr.index.engines.entry import Filter

    assert not index.search("Zippel lemma", where=Filter(kinds=("theorem",))).hits


def test_without_its_promotion_vectors_would_have_won(index: Index) -> None:
    hybrid = MathAMRPlusSystem.rankings["answers"]["hybrid"]
    assert isinstance(hybrid, Promote)
    queries = {
        "Zippel lemma": ["sz", "test"],
        "Zipel lemma": ["sz", "test"],
        "nowhere dense": ["baire", "mixed"],
    }
    plain = {
        query: [each.id for each in index.rank(query, strategy=hybrid.first)[0]][:2] for query in queries
    }
    assert plain != queries


def noted(identifier: str, body: str, **more: object) -> Post:
    given: dict[str, object] = {"title": "", "markup": "latex"} | more
    return Post(identifier, "note", body, **given)  # type: ignore[arg-type]


def ranked(posts: Sequence[Post]) -> tuple[list[str], dict[str, dict[str, float]]]:
    """How posts of a large collection are ranked by a name whose words are all common, if the last had been first."""
    known = {post.id: post for post in posts}
    hits = [Scored(post.id, 1 - place / 1000) for place, post in enumerate(posts[::-1])]
    name = NameQuery(("nowhere", "dense"), dict.fromkeys(stems(["nowhere", "dense"]), 2.0), frozenset(), {})
    found, evidence = name.first(hits, Known(known), having(known))
    return [hit.id for hit in found], evidence


class Known:
    """Posts that are not in an index."""

    def __init__(self, posts: Mapping[str, Post]) -> None:
        self._posts = posts

    def texts(self, ids: Sequence[str]) -> dict[str, tuple[str, Markup]]:
        return {each: (post.body, post.markup) for each in ids if (post := self._posts.get(each))}

    def parents(self, ids: Sequence[str]) -> dict[str, str]:
        return {}

    def preview_heads(self, ids: Sequence[str]) -> dict[str, PreviewHead]:
        return {each: preview.head for each, preview in self.previews(ids).items()}

    def previews(self, ids: Sequence[str]) -> dict[str, Preview]:
        return {each: Preview.of(post) for each in ids if (post := self._posts.get(each))}


def having(posts: Mapping[str, Post]) -> Having:
    """What a lexical index of the posts tells about their stems."""
    known = {each: set(stems(words(post_text(post)))) for each, post in posts.items()}
    return lambda wanted, ids: {each: known[each] & set(wanted) for each in ids if each in known}


def _worth(name: NameQuery, post: Post) -> float:
    """The score of a post that had 0 before, in deviations, the scores of others being 1 and -1."""
    others = {each: Post(each, "note", "Quite another thing.", markup="text") for each in ("up", "down")}
    hits = [Scored("up", 1.5**0.5), Scored(post.id, 0.0), Scored("down", -(1.5**0.5))]
    posts = {post.id: post, **others}
    found, _ = name.first(hits, Known(posts), having(posts))
    return next(hit.score for hit in found if hit.id == post.id)


def test_what_defines_a_name_counts_before_what_mentions_it() -> None:
    small = {"title": "Small sets"}
    posts = [
        noted("exact", "Nothing.", title="Nowhere dense"),
        noted("alias", "Nothing.", aliases=("Rare sets", "Nowhere dense"), **small),
        noted("introduced", r"It is \emph{nowhere dense}.", keywords=("nowhere dense",)),
        noted("listed", "Dense or nowhere.", keywords=("nowhere dense",), **small),
        noted("label", "Nothing.", place=Place("a.tex", 3, "def:nowhere-dense"), **small),
        noted("titled", "Nothing.", title="Nowhere dense sets"),
        noted("latex", r"A set is \emph{\myindex{nowhere dense}} if its closure has no interior."),
        noted("html", "<p>It is <em>nowhere dense</em>.</p>", markup="html"),
        noted("markdown", "It is **nowhere dense**.", markup="markdown"),
        noted("mentioned", "As every nowhere dense set is."),
        noted("scattered", "It is dense nowhere."),
        noted("word", "It is dense."),
        noted("nothing", "It is."),
    ]
    found, evidence = ranked(posts)
    alike = {"latex", "html", "markdown"}
    assert set(found[6:9]) == alike
    assert [each for each in found if each not in alike] == [
        post.id for post in posts if post.id not in alike
    ]
    shown = evidence["name"]
    assert (
        shown["latex"]
        == shown["html"]
        == shown["markdown"]
        > shown["mentioned"]
        > shown["scattered"]
        > shown["word"]
    )


@cases(
    ("name", "body"),
    [
        ("$p$-adic integer", r"The \emph{$p$-adic integers} are a ring."),
        ("p-adic integers", r"A \textbf{$p$-adic integer} is a limit."),
        ("$\\sigma$-algebra", r"Call it a \emph{$\sigma$-algebra}."),
        ("Noetherian ring", r"Rings are {\it noetherian rings} if ideals stop."),
        ("Cauchy-Schwarz inequality", "The \\emph{Cauchy--Schwarz inequality} holds."),
        ("Banach space", "\\emph{Banach spaces} are complete."),
    ],
)
def test_plurals_hyphens_and_letters_make_no_difference(name: str, body: str) -> None:
    name = name.replace("\\\\", "\\")
    query = Query.of_text(name)
    found = query.name
    rarity = dict.fromkeys(stems(list(found)), 2.0)
    post = Post("p", "note", body, markup="latex")
    assert _worth(NameQuery(found, rarity, frozenset(), {}), post) == pytest.approx(4.0)


def test_a_name_that_is_the_beginning_of_another_comes_first_by_itself(index: Index) -> None:
    hits = [Scored("long", 1.0), Scored("short", 0.9), Scored("other", 0.8)]
    posts = {
        "long": named("long", "Jordan curve theorem", "A closed curve has an inside."),
        "short": named("short", "Jordan curve", "A closed curve that does not meet itself."),
        "other": named("other", "Curves", "A curve is a map."),
    }
    name = NameQuery(("jordan", "curve"), {"jordan": 3.0, "curv": 1.0}, frozenset(), {})
    found, evidence = name.first(hits, Known(posts), having(posts))
    shown = evidence["name"]
    assert [hit.id for hit in found] == ["short", "long", "other"]
    assert shown["short"] > shown["long"] > shown["other"] > 0


def test_a_name_that_no_post_mentions_is_told_and_its_hits_are_only_similar(index: Index) -> None:
    hits = index.search("Cantelli inequality")
    assert hits.absent == ("Cantelli",)
    assert hits.found == "nothing"
    assert hits.similar_from == 0
    known = index.search("Jensen's inequality?")
    assert known.absent == ()
    assert (known[0].id, known[0].match) == ("jensen", "strong")


def test_a_general_word_that_the_notes_lack_is_not_told(index: Index) -> None:
    assert index.search("the Gauss Lemma of a carpenter").absent == ()
    assert index.search("carpenter").absent == ("carpenter",)


@cases(
    ("typed", "corrected"),
    [
        ("Zipel lemma", True),
        ("Gausss lemma", True),
        ("Jansen lemma", True),
        ("hurnside", False),
        ("graves", False),
    ],
)
def test_only_what_is_no_word_is_corrected_and_never_in_its_first_letter(
    index: Index, typed: str, corrected: bool
) -> None:
    hits = index.search(typed)
    assert any("searched for" in note for note in hits.notes) == corrected
    assert bool(hits.absent) != corrected


def test_a_remark_with_its_sections_title_comes_behind_what_is_called_so(index: Index) -> None:
    name = NameQuery.of(Query.of_text("Jensen inequality"), index.archive.lexical.posts, Known({}))
    assert name is not None
    titled = Post(
        "t", "theorem", "", title="Theorem (Jensen's inequality for convex functions)", markup="latex"
    )
    section = Post("s", "section", "", title="Jensen's inequality", markup="latex")
    remark = Post("r", "remark", "", title="Remark: Jensen's inequality", markup="latex")
    bonuses = [name._title_bonus(post) for post in (section, titled, remark)]
    assert bonuses == sorted(bonuses, reverse=True)
    assert bonuses[1] > bonuses[2] > 0


UNIVALENCE = [
    Post(
        "introduction",
        "section",
        "Homotopy types and the univalence axiom, the univalence axiom by Voevodsky.",
        "Foundations: Introduction",
        "latex",
        keywords=("univalence axiom",),
    ),
    Post(
        "defined",
        "section",
        r"It is called the \emph{univalence axiom} and identifies equivalent types.",
        "Foundations: History",
        "latex",
    ),
    Post(
        "axiom",
        "axiom",
        "For all types, the canonical map from identity to equivalence is an equivalence.",
        "Axiom 2.10.3 (Univalence)",
        "latex",
        keywords=("axiom, univalence",),
    ),
    Post("tagged", "note", "Types without it.", "Set theory", "markdown", tags=("univalence-axiom",)),
    Post("consequence", "lemma", "The univalence axiom holds here.", "Lemma: Univalence axiom", "latex"),
]


@pytest.mark.parametrize("typed", ["univalence axiom", "Axiom (Univalence)", "Univalence"])
@pytest.mark.parametrize("title", ["Axiom 2.10.3 (Univalence)", "Axiom (The univalence axiom)", "Univalence"])
def test_an_own_name_comes_first_then_what_is_listed(
    model_folder: Path, tmp_path: Path, typed: str, title: str
) -> None:
    posts = [replace(each, title=title) if each.id == "axiom" else each for each in UNIVALENCE]
    build(tmp_path / "index", posts, model_folder)
    with Index.open(tmp_path / "index", device="cpu") as opened:
        found = [hit.id for hit in opened.search(typed)]
        assert found[0] == "axiom"
        if typed == "univalence axiom":
            assert set(found[1:3]) == {"introduction", "tagged"}
