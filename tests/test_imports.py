"""Every module of the package stands on others, never in a circle: what it needs can be read without it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import mathamr

PACKAGE = Path(mathamr.__file__).parent
LABORATORY = PACKAGE.parents[1] / "lab/src/mathamr_lab"
CONTRIBUTING = PACKAGE.parents[1] / "CONTRIBUTING.md"

ROOMS = (
    "core", "formulas", "posts", "text", "amr", "graphs", "systems", "index", "search", "evaluation", "serve",
    "adapters", "cli",
)  # fmt: skip
"""A room imports only from those before it."""
WINGS = ("catalogue", "engines", "lexical", "indexing", "admin")
"""The wings of the index; those before `indexing` do not know each other."""
SEAM = {
    f"mathamr.systems.{name}"
    for name in ("abilities", "field", "models", "nodematch", "ranking", "system", "vectors")
}
"""What index, search, evaluation and serve may know of systems; a system's own folder is not among them."""
FRONT_DOORS = {"mathamr", "mathamr.__main__", "mathamr.cli.environment"}
"""Modules that stand beside the rooms and look into them: the package's own names, the command, what is installed."""


def modules(package: Path) -> dict[str, str]:
    """The names of all modules in a package's folder, with their sources."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


def graph(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """For every module the others that it imports, at its top or inside a function."""
    return {name: set(_imports(tree, trees)) - {name} for name, tree in trees.items()}


@cache
def parsed() -> dict[str, ast.Module]:
    """The modules of the package, parsed once."""
    return {name: ast.parse(text) for name, text in modules(PACKAGE).items()}


@cache
def own() -> dict[str, set[str]]:
    """The imports of the package, looked up once."""
    return graph(parsed())


def _imports(tree: ast.AST, known: Collection[str]) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports name their module in full"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from (name for name in (whole if whole in known else node.module,) if name in known)
        waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, _STATEMENTS)]


_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
"""What imports can stand in."""


def circle(imports: Mapping[str, set[str]]) -> list[str]:
    """A circle of modules, if there is one."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_needs_itself() -> None:
    assert len(own()) > 100
    assert own()["mathamr.search.searcher"] >= {"mathamr.index.storage", "mathamr.posts.post"}
    assert not circle(own()), " imports ".join(reversed(circle(own())))


def test_no_module_of_the_laboratory_needs_itself() -> None:
    found = graph({name: ast.parse(text) for name, text in modules(LABORATORY).items()})
    assert len(found) > 100
    recipe = found["mathamr_lab.systems.mathamr.recipe"]
    assert "mathamr_lab.experiments.judgedformulas" in recipe, "an import inside a function counts"
    assert not circle(found), " imports ".join(reversed(circle(found)))


def room(module: str) -> str | None:
    """The room of a module; none for what stands beside the rooms."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else None


def test_rooms_import_only_from_rooms_before_them() -> None:
    backwards = [
        f"{module} imports {other}"
        for module, others in own().items()
        for other in others
        if (mine := room(module)) and (theirs := room(other)) and ROOMS.index(theirs) > ROOMS.index(mine)
    ]
    assert not backwards, "\n".join(backwards)


def test_what_stands_beside_the_rooms_knows_none_of_them() -> None:
    knowing = [
        f"{module} imports {other}"
        for module, others in own().items()
        if room(module) is None and module not in FRONT_DOORS and not module.startswith("mathamr.sample")
        for other in others
        if room(other)
    ]
    assert not knowing, "\n".join(knowing)


def test_the_product_never_imports_the_laboratory() -> None:
    importing = [
        name
        for name, text in modules(PACKAGE).items()
        if re.search(r"^\s*(from|import) mathamr_lab\b", text, re.M)
    ]
    assert not importing


def test_systems_are_known_by_their_seam_alone() -> None:
    inside = [
        f"{module} imports {other}"
        for module, others in own().items()
        if room(module) in ("index", "search", "evaluation", "serve")
        for other in others
        if room(other) == "systems" and other not in SEAM
    ]
    assert not inside, "\n".join(inside)


def test_the_wings_of_the_index_stand_apart() -> None:
    def wing(module: str) -> str | None:
        parts = module.split(".")
        return parts[2] if parts[1:2] == ["index"] and len(parts) > 3 and parts[2] in WINGS else None

    crossing = [
        f"{module} imports {other}"
        for module, others in own().items()
        for other in others
        if (mine := wing(module)) and (theirs := wing(other)) and mine != theirs
        if mine not in ("indexing", "admin")
    ]
    assert not crossing, "\n".join(crossing)


def test_every_room_is_on_the_map_in_this_order() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    places = [text.index(f"| `{name}/`") for name in ROOMS]
    assert places == sorted(places)
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()} - {"sample"}
    assert folders == set(ROOMS)
    beside = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    missing = [name for name in sorted(beside) if f"`{name}`" not in text]
    assert not missing, f"CONTRIBUTING does not name the modules beside the rooms: {missing}"


def test_no_two_modules_have_a_class_of_one_name() -> None:
    """A reader who meets a name knows which class it is; what a module keeps to itself begins with an underscore."""
    places: dict[str, list[str]] = {}
    for module, tree in parsed().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module)
    assert not {name: found for name, found in places.items() if len(found) > 1}
