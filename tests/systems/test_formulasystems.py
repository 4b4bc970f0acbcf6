"""Systems of formulas in use: an index of notes, searched by every ranking, explained node by node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.formulas.parse import parse
from mathamr.index.engines.maxsim import mutual_maxsim
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.posts.post import Formula, Post
from mathamr.search.hits import Hit
from mathamr.search.results import GRADE
from mathamr.search.searcher import Index
from mathamr.systems.abilities import MatchesNodes
from mathamr.systems.formulagraph.system import FormulaGraphSystem
from mathamr.systems.ranking import MaxSim, Mutual, Nearest, NearestRows, Rerank
from mathamr.systems.ssemb.system import SsembSystem
from mathamr.systems.system import Item, System, VisualFormula
from tests.systems.formulamodels import tiny_formula_graph, tiny_ssemb
from tests.systems.tinytext import tiny_base

NOTES = """# Sums

We know that $a^2+b^2=c^2$ holds in triangles.

# Fractions

Here $\\frac{a}{b}<c$ and $x-y-x=-y$.

# More

Nothing but $x$, and $\\sqrt{x^2+1}$.
"""


def indexed(folder: Path, system: System) -> Index:
    system.save(folder / "model")
    (folder / "notes.md").write_text(NOTES, encoding="utf-8")
    options = BuildOptions(model=folder / "model", engine="flat", device="cpu")
    build_index([folder / "notes.md"], folder / "index", options)
    return Index.open(folder / "index")


def latex_of(hit: Hit) -> str:
    assert hit.formula is not None
    return hit.formula.latex


def visual(latex: str) -> VisualFormula:
    parsed = parse(latex)
    return VisualFormula(key=latex, formula=Formula("1", latex), opt=parsed.opt, slt=parsed.slt)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The notes by formula graphs."""
    with indexed(tmp_path_factory.mktemp("nodes"), tiny_formula_graph()) as made:
        yield made


@pytest.fixture(scope="module")
def structures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The notes by SSEmb."""
    folder = tmp_path_factory.mktemp("structures")
    with indexed(folder, tiny_ssemb(tiny_base(folder / "base"))) as made:
        yield made


@pytest.fixture(params=["nodes", "structures"])
def index(request: pytest.FixtureRequest) -> Index:
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]


def test_every_ranking_finds_formulas_and_the_same_formula_first(index: Index) -> None:
    named = index.archive.system.rankings["formulas"]
    for name in named:
        hits = index.search("we ask for $a^2+b^2=c^2$", task="formulas", strategy=name, k=5)
        assert hits, name
        if name not in ("context", "both", "paper"):
            assert latex_of(hits[0]) == "a^2+b^2=c^2", name


def test_an_explanation_says_which_node_matched_which(index: Index) -> None:
    system = index.archive.system
    assert isinstance(system, MatchesNodes)
    query, found = visual("x^2+1"), visual("\\sqrt{x^2+1}")
    for match in system.match_nodes(query, found):
        trees = (query.opt, found.opt) if match.view == "opt" else (query.slt, found.slt)
        assert trees[0] is not None
        assert trees[1] is not None
        assert -1 <= match.score <= 1.0001
        assert {met.node for met in match.met} <= set(range(len(trees[0])))
        assert {met.other for met in match.met} <= set(range(len(trees[1])))
    for match in system.match_nodes(query, query):
        assert match.score == pytest.approx(1, abs=1e-4)
        tree = query.opt if match.view == "opt" else query.slt
        assert tree is not None
        assert [tree.labels[met.node] for met in match.met] == [tree.labels[met.other] for met in match.met]


def test_mutual_comparison_equals_what_the_rows_give(nodes: Index) -> None:
    system = nodes.archive.system
    assert isinstance(system, FormulaGraphSystem)
    ranking = Rerank(first=NearestRows("layout"), then=Mutual("layout"))
    hits = nodes.search("$x^2+1$", task="formulas", strategy=ranking, k=10)
    (query,) = system.node_vectors("slt", [parse("x^2+1").slt])
    for hit in hits:
        (rows,) = system.node_vectors("slt", [parse(latex_of(hit)).slt])
        assert hit.score == pytest.approx(mutual_maxsim(query.vectors, rows.vectors), abs=2e-3)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    with pytest.raises(MathAMRError, match="can only rerank"):
        nodes.search("$x^2+1$", task="formulas", strategy=Mutual("layout"))


def test_views_are_merged_by_sums_over_the_nodes_of_the_query(nodes: Index) -> None:
    system, query = nodes.archive.system, parse("x^2+1")
    assert isinstance(system, FormulaGraphSystem)

    def sums(latex: str) -> list[float]:
        found = parse(latex)
        return [
            float((ours.vectors @ theirs.vectors.T).max(axis=1).sum())
            for view in ("slt", "opt")
            for ours, theirs in [system.node_vectors(view, [getattr(query, view), getattr(found, view)])]
        ]

    for name, merged in (("max", max), ("mean", np.mean), ("near", max)):
        hits = nodes.search("$x^2+1$", task="formulas", strategy=name, k=10)
        assert len(hits) == 5
        for hit in hits:
            assert hit.score == pytest.approx(merged(sums(latex_of(hit))), abs=1e-2)
    for hit in nodes.search("$x^2+1$", task="formulas", strategy="normalised", k=10):
        layout, operators = sums(latex_of(hit))
        means = layout / len(query.slt), operators / len(query.opt)
        assert hit.score == pytest.approx(max(means), abs=2e-3)


def test_the_weighted_sum_is_that_of_structure_and_context(structures: Index) -> None:
    text = "in triangles $a^2+b^2=c^2$ holds"
    structure, context = (
        {
            latex_of(hit): hit.score
            for hit in structures.search(text, task="formulas", strategy=Nearest(field))
        }
        for field in ("structure", "context")
    )
    for hit in structures.search(text, task="formulas", strategy="paper"):
        latex = latex_of(hit)
        assert hit.score == pytest.approx((structure[latex] + context[latex]) / 2, abs=2e-3)


def test_a_formula_without_words_is_ranked_by_its_structure_alone(structures: Index) -> None:
    def parts(query: str) -> list[set[str]]:
        hits = structures.search(query, task="formulas", strategy="both", k=5)
        return [set(hit.evidence) - {GRADE} for hit in hits]

    assert parts("$x^2+1$") == [{"structure"}] * 5
    assert parts("the square in $x^2+1$ and words") == [{"structure", "context"}] * 5


def test_rows_of_a_visual_stand_for_its_nodes() -> None:
    (rows,) = tiny_formula_graph().encode_visuals([visual("a^2+b^2=c^2")])
    assert rows["layout"].references == tuple(map(str, range(len(parse("a^2+b^2=c^2").slt))))
    np.testing.assert_allclose(np.linalg.norm(rows["operators"].vectors, axis=1), 1, atol=1e-5)


def test_a_window_of_text_is_encoded_alone_as_published(tmp_path: Path) -> None:
    from mathamr.systems.ssemb.context import CHARACTERS, ContextReader

    reader = ContextReader("own", folder=tiny_base(tmp_path / "base"))
    formulas = (Formula("7:0", "x>0"), Formula("7:1", "y=1"))
    short = Post("7", "answer", "Let $x>0$ and $y=1$.", markup="text", formulas=formulas)
    long = replace(short, body=f"Let $x>0$. {'So be it. ' * 300}Then $y=1$.")
    (once,), (apart,) = (
        [dict(found) for found in encode([short])] for encode in (reader.encode, reader.encode_windows)
    )
    for formula in once:
        np.testing.assert_allclose(apart[formula].vectors, once[formula].vectors, atol=1e-6)
    cut = CHARACTERS - 100
    others = [
        replace(
            long, body=f"{long.body[:cut]}{'Not so. ' * 10}{long.body[cut + 80 :]}"
        ),  # beyond the encoder's window
        replace(long, body=long.body.replace("So be", "Not so", 1)),
    ]
    found, late, early = (each["7:0"].vectors for each in map(dict, reader.encode_windows([long, *others])))
    np.testing.assert_allclose(late, found, atol=1e-6)
    assert np.abs(early - found).max() > 1e-4


def test_a_model_reads_the_text_of_a_post_or_of_windows_as_its_folder_says(tmp_path: Path) -> None:
    made = tiny_ssemb(tiny_base(tmp_path / "base"))
    formulas = (Formula("7:0", "x>0"), Formula("7:1", "y=1"))
    post = Post(
        "7", "answer", f"Let $x>0$. {'So be it. ' * 300}Then $y=1$.", formulas=formulas, markup="text"
    )
    published = SsembSystem(made.network, made.labels, reader="own", own_text=tmp_path / "base", windows=True)
    assert published.fingerprint != made.fingerprint
    for system, encode in ((made, made.context.encode), (published, made.context.encode_windows)):
        folder = tmp_path / f"model {system.fingerprint}"
        system.save(folder)
        loaded = SsembSystem.load(folder, "cpu")
        assert loaded.fingerprint == system.fingerprint
        (found,) = loaded.encode([Item(post=post)])
        (expected,) = encode([post])
        for (name, fields), (formula, vectors) in zip(found.formulas, expected, strict=True):
            assert name == formula
            np.testing.assert_allclose(fields["context"].vectors, vectors.vectors, atol=1e-6)


def test_a_model_without_a_text_encoder_has_structures_alone(tmp_path: Path) -> None:
    made = tiny_ssemb(tmp_path / "nothing")
    with indexed(tmp_path, SsembSystem(made.network, made.labels, reader="")) as index:
        assert [field.name for field in index.archive.manifest.model.fields] == ["structure"]
        ranked, _ = index.rank("$x^2+1$", "formulas", "structure", depth=3)
        assert len(ranked) == 3
        with pytest.raises(MathAMRError, match="context"):
            index.rank("$x^2+1$", "formulas", "paper")


def test_a_missing_text_encoder_is_named(tmp_path: Path) -> None:
    from mathamr.systems.ssemb.context import ContextReader

    with pytest.raises(MathAMRError, match="which is not installed"):
        _ = ContextReader("no-such-model").encoder


def test_maxsim_alone_ranks_whole_fields(nodes: Index) -> None:
    hits = nodes.search("$x$", task="formulas", strategy=MaxSim("operators"), k=1)
    assert latex_of(hits[0]) == "x"
