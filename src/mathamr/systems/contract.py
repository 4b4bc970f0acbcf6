"""What every system keeps to: checks that a package calls in a test of its own, `check_system(system)`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mathamr.amr.parser import load_parser
from mathamr.core.errors import MathAMRError
from mathamr.formulas.trees import trees_of
from mathamr.formulas.visualkey import visual_key
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.tensor import tensorise
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.systems.models import OF_OTHERS, load_system
from mathamr.systems.ranking import TASKS, fields_of
from mathamr.systems.system import Encoded, Item, System, VisualFormula
from mathamr.systems.vectors import Vectors

TOLERANCE = 2e-6
"""How much the vectors of a post may differ by what stands beside it."""


class ContractError(MathAMRError):
    """A system does not do what index and search rely on."""


def _note(post_id: str, body: str) -> Post:
    return Post(post_id, "note", body, markup="text", formulas=formulas_of(post_id, "", body, "text"))


POSTS = (
    _note("plain", "A group is abelian when all its elements commute."),
    _note("empty", ""),
    _note("one", "Let $x$ be real."),
    _note("several", "If $a+b=c$ then $\\frac{a}{b}<c$. So $a^2 \\le c^2$ as well."),
    _note("formula", "$\\sum_{n=1}^\\infty \\frac{1}{n^2}=\\frac{\\pi^2}{6}$"),
    _note("unreadable", "What is $\\frac{$ here?"),
)
MANY = _note("many", " ".join(f"$x_{{{n}}}+{n}$ is a number." for n in range(300)))


def check_system(system: System, parser: str = "builtin") -> None:
    """Make every check; raise `ContractError` with what does not hold. `parser` is for systems that read graphs."""
    check_kind(type(system))
    check_rankings(system)
    check_posts(system, parser)
    check_visuals(system)
    check_neighbours(system, parser)
    check_names(system, parser)
    check_nothing(system)
    with tempfile.TemporaryDirectory() as folder:
        check_saving(system, Path(folder) / "model", parser)


def check_kind(kind: type[System]) -> None:
    """Check that a kind of system says what it is before weights are loaded."""
    _hold(bool(kind.tasks), "a system has at least one task")
    _hold(
        set(kind.rankings) == set(kind.tasks) <= set(TASKS), f"rankings belong to tasks, {', '.join(TASKS)}"
    )
    for task, named in kind.rankings.items():
        _hold(bool(named), f"the task {task} needs a ranking")
        for name in named:
            _hold(
                name.isascii() and name == name.lower(),
                f"{name!r}: names of rankings are small letters of ASCII",
            )


def check_rankings(system: System) -> None:
    """Check that rankings read fields that the system has."""
    known = {field.name for field in system.fields}
    _hold(len(known) == len(system.fields), "a field's name stands for one field")
    for named in system.rankings.values():
        for name, ranking in named.items():
            missing = set(fields_of(ranking)) - known
            _hold(not missing, f"the ranking {name} reads fields that the system lacks: {', '.join(missing)}")


def check_posts(system: System, parser: str = "builtin") -> None:
    """Check that posts come back in order, with rows as the fields say."""
    posts = (*POSTS, MANY)
    found = list(system.encode(items(system, posts, parser)))
    _hold([each.id for each in found] == [each.id for each in posts], "posts come back once each, in order")
    for each, source in zip(found, posts, strict=True):
        formulas = {formula.id for formula in source.formulas}
        _check_rows(system, "posts", each.post, each.id)
        for reference, named in each.formulas:
            _hold(reference in formulas, f"{each.id} has no formula {reference!r}")
            _check_rows(system, "formulas", named, reference)


def check_visuals(system: System) -> None:
    """Check that visual classes of formulas come back in order, with rows as the fields say."""
    given = list(visuals((*POSTS, MANY)))
    found = list(system.encode_visuals(given))
    _hold(len(found) == len(given), "encode_visuals yields one value for each formula, in order")
    for visual, named in zip(given, found, strict=True):
        _check_rows(system, "visual", named, visual.key)
        if any(field.of == "visual" for field in system.fields):
            _hold(bool(named) or visual.opt is None, f"{visual.key}: a formula that can be read has vectors")


def check_neighbours(system: System, parser: str = "builtin") -> None:
    """Check that what stands beside a post does not change it."""
    together = list(system.encode(items(system, POSTS, parser)))
    for place, each in enumerate(POSTS):
        (alone,) = system.encode(items(system, (each,), parser))
        _check_equal(alone, together[place], TOLERANCE)


def check_names(system: System, parser: str = "builtin") -> None:
    """Check that the same text under another id has the same vectors."""
    post = POSTS[3]
    one, other = system.encode(items(system, (post, replace(post, id="other")), parser))
    for name, vectors in one.post.items():
        _close(vectors, other.post[name], "another id gives other vectors", TOLERANCE)


def check_nothing(system: System) -> None:
    """Check that nothing is encoded to nothing."""
    _hold(not list(system.encode([])), "no posts have no vectors")
    _hold(not list(system.encode_visuals([])), "no formulas have no vectors")


def check_saving(system: System, folder: Path, parser: str = "builtin") -> None:
    """Check that a saved system loads to an equal one; a server or an encoder of other people must be named again."""
    system.save(folder)
    if system.kind in OF_OTHERS:
        return
    again = load_system(folder, "cpu")
    _hold(type(again) is type(system), "a saved system loads as another kind of system")
    _hold(again.fingerprint == system.fingerprint, "a saved system loads with another fingerprint")
    _hold(again.fields == system.fields, "a saved system loads with other fields")
    for one, other in zip(
        system.encode(items(system, POSTS, parser)), again.encode(items(again, POSTS, parser)), strict=True
    ):
        _check_equal(one, other, 0.0)
    looks, looks_again = system.encode_visuals(visuals(POSTS)), again.encode_visuals(visuals(POSTS))
    for ours, theirs in zip(looks, looks_again, strict=True):
        _hold(ours.keys() == theirs.keys(), "a saved system loads with other fields of formulas")
        for name, vectors in ours.items():
            _close(vectors, theirs[name], "a saved system loads with other vectors of formulas", 0.0)


def items(system: System, posts: Sequence[Post], parser: str = "builtin") -> Iterator[Item]:
    """Yield posts with what the system needs of them."""
    if not {"graph", "tensor"} & system.needs:
        yield from (Item(post=each) for each in posts)
        return
    maker = GraphMaker(load_parser(parser))
    for each, made in zip(posts, maker.make(list(posts)), strict=True):
        read = system.graphs
        tensor = None
        if read is not None:
            shape = GraphConfiguration.from_name(read.configuration)
            tensor = tensorise(made.graph, read.vocabulary, read.relations, shape)
        yield Item(post=each, graph=made.graph, tensor=tensor)


def visuals(posts: Iterable[Post]) -> Iterator[VisualFormula]:
    """Yield the formulas of posts as systems read them."""
    for each in posts:
        for formula in each.formulas:
            (opt, slt), _ = trees_of(formula)
            yield VisualFormula(key=visual_key(slt) if slt else formula.id, formula=formula, opt=opt, slt=slt)


def _check_rows(system: System, of: str, rows: Mapping[str, Vectors], what: str) -> None:
    fields = {field.name: field for field in system.fields}
    for name, vectors in rows.items():
        _hold(name in fields, f"{what}: no field is named {name!r}")
        field = fields[name]
        _hold(field.of == of, f"{what}: the field {name} is of {field.of}, not of {of}")
        _hold(
            vectors.vectors.shape == (len(vectors), field.size),
            f"{what}: {name} has the shape {vectors.vectors.shape}, expected rows of {field.size} numbers",
        )
        _hold(vectors.vectors.dtype == np.float32, f"{what}: {name} has {vectors.vectors.dtype}, not float32")
        _hold(
            len(vectors.levels) == len(vectors.references) == len(vectors),
            f"{what}: each row of {name} needs a level and a reference",
        )
        _hold(len(vectors) >= 1, f"{what}: leave out {name} instead of giving it no row")
        _hold(field.many or len(vectors) == 1, f"{what}: {name} has several rows, and its field is not many")
        lengths = np.linalg.norm(vectors.vectors, axis=1)
        _hold(
            bool(np.all((np.abs(lengths - 1) < 1e-3) | (lengths == 0))),
            f"{what}: the rows of {name} must have length one",
        )


def _check_equal(one: Encoded, other: Encoded, tolerance: float) -> None:
    _hold(one.id == other.id and one.post.keys() == other.post.keys(), f"{one.id} has other fields")
    _hold([name for name, _ in one.formulas] == [name for name, _ in other.formulas], "other formulas")
    for name, vectors in one.post.items():
        _hold(vectors.references == other.post[name].references, f"{one.id}: {name} stands for other parts")
        _close(vectors, other.post[name], f"{one.id}: {name} differs", tolerance)
    for (reference, ours), (_, theirs) in zip(one.formulas, other.formulas, strict=True):
        for name, vectors in ours.items():
            _close(vectors, theirs[name], f"{reference}: {name} differs", tolerance)


def _close(one: Vectors, other: Vectors, what: str, tolerance: float) -> None:
    same = one.vectors.shape == other.vectors.shape and np.allclose(
        one.vectors, other.vectors, atol=tolerance, rtol=1e-7 if tolerance else 0.0
    )
    _hold(same, what)


def _hold(holds: bool, what: str) -> None:  # noqa: FBT001
    if not holds:
        raise ContractError(what)
