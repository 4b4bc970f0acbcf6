"""What every system keeps to, whichever it is; a registered one without an example here fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr.amr.parser import load_parser
from mathamr.core.errors import MathAMRError
from mathamr.formulas.trees import trees_of
from mathamr.formulas.visualkey import visual_key
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.tensor import tensorise
from mathamr.posts.post import Post
from mathamr.systems.models import OF_OTHERS, load_system, system_of
from mathamr.systems.models import model_folder as encoder
from mathamr.systems.ranking import TASKS, fields_of
from mathamr.systems.system import SYSTEMS, Encoded, Item, System, VisualFormula
from mathamr.systems.text.system import TextSystem
from tests.index.small import note
from tests.systems.encoders.examples import (
    embeddings_server,
    tiny_late_interaction,
    tiny_sentence_transformer,
)
from tests.systems.formulamodels import tiny_formula_graph, tiny_ssemb
from tests.systems.tiny import TINY, NodeSystem, WordSystem
from tests.systems.tinytext import tiny_base, tiny_marf, tiny_mathamr, tiny_published_marf
from tests.text.small import small_text_encoder

PARSER = "tests.amr.rule_parser:RuleParser"


POSTS = (
    note("plain", "A group is abelian when all its elements commute."),
    note("empty", ""),
    note("one", "Let $x$ be real."),
    note("several", "If $a+b=c$ then $\\frac{a}{b}<c$. So $a^2 \\le c^2$ as well."),
    note("formula", "$\\sum_{n=1}^\\infty \\frac{1}{n^2}=\\frac{\\pi^2}{6}$"),
    note("unreadable", "What is $\\frac{$ here?"),
)
MANY = note("many", " ".join(f"$x_{{{n}}}+{n}$ is a number." for n in range(300)))


@pytest.fixture(autouse=True)
def _tiny_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, place in TINY.items():
        monkeypatch.setitem(SYSTEMS._built_in, name, place)


Folders = dict[str, Callable[[Path], Path]]


def _saved(system: System, folder: Path) -> Path:
    system.save(folder)
    return folder


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with embeddings_server() as found:
        yield found.address


@pytest.fixture(scope="session")
def folders(model_folder: Path, server: str, tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A model folder of every kind of system."""
    base = tiny_base(tmp_path_factory.mktemp("text") / "base")
    return {
        "sentence-transformers": lambda folder: encoder(f"st:{tiny_sentence_transformer(folder / 'st')}"),
        "late-interaction": lambda folder: encoder(f"pylate:{tiny_late_interaction(folder / 'late')}"),
        "embeddings": lambda folder: encoder(f"{server}#words"),
        "mathamr": lambda folder: _saved(tiny_mathamr(base), folder),
        "marf": lambda folder: _saved(tiny_marf(base), folder),
        "marf-paper": lambda folder: _saved(tiny_published_marf(base), folder),
        "mathamrplus": lambda folder: model_folder,
        "text": lambda folder: _saved(TextSystem(small_text_encoder(projection=8)), folder),
        "formula-graph": lambda folder: _saved(tiny_formula_graph(), folder),
        "ssemb": lambda folder: _saved(tiny_ssemb(base), folder),
        "tiny-words": lambda folder: _saved(WordSystem(), folder),
        "tiny-nodes": lambda folder: _saved(NodeSystem(), folder),
    }


KINDS = [*SYSTEMS, *TINY]


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, folders: Folders, tmp_path: Path) -> Path:
    assert request.param in folders, f"give the contract an example of the system {request.param}"
    return folders[request.param](tmp_path / "model")


@pytest.fixture
def system(folder: Path) -> System:
    return load_system(folder, "cpu")


def items(system: System, posts: tuple[Post, ...]) -> Iterator[Item]:
    """Posts with what the system needs of them."""
    if not {"graph", "tensor"} & system.needs:
        yield from (Item(post=each) for each in posts)
        return
    maker = GraphMaker(load_parser(PARSER))
    for each, made in zip(posts, maker.make(list(posts)), strict=True):
        read = system.graphs
        tensor = read and tensorise(
            made.graph, read.vocabulary, read.relations, GraphConfiguration.from_name(read.configuration)
        )
        yield Item(post=each, graph=made.graph, tensor=tensor)


def visuals(posts: tuple[Post, ...]) -> Iterator[VisualFormula]:
    for each in posts:
        for formula in each.formulas:
            (opt, slt), _ = trees_of(formula)
            yield VisualFormula(key=visual_key(slt) if slt else formula.id, formula=formula, opt=opt, slt=slt)


def assert_equal(one: Encoded, other: Encoded, tolerance: float = 0.0) -> None:
    assert one.id == other.id
    assert one.post.keys() == other.post.keys()
    assert [name for name, _ in one.formulas] == [name for name, _ in other.formulas]
    for name, vectors in one.post.items():
        assert vectors.references == other.post[name].references
        np.testing.assert_allclose(vectors.vectors, other.post[name].vectors, atol=tolerance)
    for (_, ours), (_, theirs) in zip(one.formulas, other.formulas, strict=True):
        for name, vectors in ours.items():
            np.testing.assert_allclose(vectors.vectors, theirs[name].vectors, atol=tolerance)


def test_a_system_says_what_it_is_before_weights_are_loaded(folder: Path) -> None:
    kind = system_of(folder)
    assert kind.tasks
    assert set(kind.rankings) == set(kind.tasks) <= set(TASKS)
    for named in kind.rankings.values():
        assert named
        assert all(name.isascii() and name == name.lower() for name in named)


def test_rankings_read_fields_that_the_system_has(system: System) -> None:
    known = {field.name for field in system.fields}
    assert len(known) == len(system.fields), "a field's name stands for one field"
    for named in system.rankings.values():
        for ranking in named.values():
            assert set(fields_of(ranking)) <= known


def test_posts_come_back_in_order_with_rows_as_the_fields_say(system: System) -> None:
    posts = (*POSTS, MANY)
    found = list(system.encode(items(system, posts)))
    assert [each.id for each in found] == [each.id for each in posts]
    fields = {field.name: field for field in system.fields}
    for each, source in zip(found, posts, strict=True):
        formulas = {formula.id for formula in source.formulas}
        rows = [("posts", name, vectors) for name, vectors in each.post.items()]
        for reference, named in each.formulas:
            assert reference in formulas
            rows += [("formulas", name, vectors) for name, vectors in named.items()]
        for kind, name, vectors in rows:
            field = fields[name]
            assert field.of == kind
            assert vectors.vectors.shape == (len(vectors), field.size)
            assert vectors.vectors.dtype == np.float32
            assert len(vectors.levels) == len(vectors.references) == len(vectors)
            assert len(vectors) >= 1
            assert field.many or len(vectors) == 1
            lengths = np.linalg.norm(vectors.vectors, axis=1)
            assert np.all((np.abs(lengths - 1) < 1e-3) | (lengths == 0))


def test_visuals_come_back_in_order_with_rows_as_the_fields_say(system: System) -> None:
    given = list(visuals((*POSTS, MANY)))
    found = list(system.encode_visuals(given))
    assert len(found) == len(given) > 300
    fields = {field.name: field for field in system.fields if field.of == "visual"}
    for named in found:
        for name, vectors in named.items():
            assert vectors.vectors.shape == (len(vectors), fields[name].size)
            assert fields[name].many or len(vectors) == 1
    if fields:
        readable = [place for place, visual in enumerate(given) if visual.opt is not None]
        assert all(found[place] for place in readable)


def test_what_stands_beside_a_post_does_not_change_it(system: System) -> None:
    together = list(system.encode(items(system, POSTS)))
    for place, each in enumerate(POSTS):
        (alone,) = system.encode(items(system, (each,)))
        assert_equal(alone, together[place], 2e-6)


def test_the_same_text_under_another_id_has_the_same_vectors(system: System) -> None:
    renamed = replace(POSTS[3], id="other")
    one, other = system.encode(items(system, (POSTS[3], renamed)))
    for name, vectors in one.post.items():
        np.testing.assert_allclose(vectors.vectors, other.post[name].vectors, atol=2e-6)


def test_a_saved_system_loads_to_an_equal_one(system: System, tmp_path: Path) -> None:
    system.save(tmp_path / "again")
    if system.kind in OF_OTHERS:
        with pytest.raises(MathAMRError, match=r"which only you can choose.* name it yourself"):
            load_system(tmp_path / "again", "cpu")
        return
    again = load_system(tmp_path / "again", "cpu")
    assert type(again) is type(system)
    assert again.fingerprint == system.fingerprint
    assert again.fields == system.fields
    for one, other in zip(
        system.encode(items(system, POSTS)), again.encode(items(again, POSTS)), strict=True
    ):
        assert_equal(one, other)
    for ours, theirs in zip(
        system.encode_visuals(visuals(POSTS)), again.encode_visuals(visuals(POSTS)), strict=True
    ):
        for name, vectors in ours.items():
            np.testing.assert_array_equal(vectors.vectors, theirs[name].vectors)


def test_nothing_is_encoded_to_nothing(system: System) -> None:
    assert list(system.encode([])) == []
    assert list(system.encode_visuals([])) == []
