"""The text form of a `MathGraph`: Penman with metadata, read by a parser of our own at any depth.

A layout tree is one long chain, so a formula of a thousand symbols nests a thousand parentheses deep; `penman`
reads such text only up to Python's recursion limit, the reader here without a limit.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mathamr.amr.graph import Amr, string, unquoted, upright
from mathamr.amr.notation import Triple, branches, by_source, layout, write_branches
from mathamr.core.errors import ParseError
from mathamr.formulas.tree import Tree
from mathamr.graphs.configuration import TREELESS, FormulaMode
from mathamr.graphs.mathgraph import COREFERENCE, FormulaPart, MathGraph
from mathamr.graphs.unify import TREE_VARIABLE, opt_of, opt_role, slt_of, slt_role, tree_atom, unified

_KEYS = ("id", "formula_map", "formulas", "sentences", "texts")


def write(graph: MathGraph, mode: FormulaMode = "both", *, one_line: bool = False) -> str:
    """Write the complete graph as Penman text; in mode ``both``, `read` is the inverse."""
    if mode in TREELESS:
        return "\n".join([*_metadata_lines(graph), unified(graph, mode).to_penman(one_line=one_line)])
    return _Writing(graph, mode).text(one_line=one_line)


def write_and_read(graph: MathGraph) -> tuple[str, MathGraph]:
    """Return the text of a graph on one line, and the graph that `read` would make of it: its triples in the order of the text.

    Nothing is parsed: an index writes every graph once and continues with the form that later readers will see.
    """
    writing = _Writing(graph, "both")
    return writing.text(one_line=True), replace(graph, amr=writing.read_back())


class _Writing:
    """Lays out a graph as Penman does. Trees hang from their formulas and leave the layout above them unchanged."""

    def __init__(self, graph: MathGraph, mode: FormulaMode) -> None:
        self._graph, amr = graph, graph.amr
        self._own = layout(amr)
        self._branches, self._concepts = dict(self._own), amr.concepts()
        for formula in graph.formulas:
            number = formula.placeholder.rpartition("_")[2]
            if formula.opt is not None and mode in ("both", "opt"):
                self._hang(formula.variable, ":opt", f"o{number}_", formula.opt, opt_role)
            if formula.slt is not None and mode in ("both", "slt"):
                self._hang(formula.variable, ":slt", f"s{number}_", formula.slt, slt_role)
        for source, role, target in graph.links:
            if source in self._branches and target in self._branches:
                self._branches[source].append((role, target, False))
        # A constant that is spelled like a node of a tree would be parsed as that node.
        self._attributes = by_source(
            (source, role, string(constant) if constant in self._concepts else constant)
            for source, role, constant in amr.attributes
        )

    def _hang(
        self, variable: str, role: str, prefix: str, tree: Tree, role_of: Callable[[str, str], str]
    ) -> None:
        names = [f"{prefix}{node}" for node in range(len(tree.labels))]
        self._branches[variable] = [*self._branches[variable], (role, names[0], True)]
        self._branches |= {name: [] for name in names}
        self._concepts |= zip(names, map(tree_atom, tree.labels), strict=True)
        for parent, edge, child in tree.triples():
            self._branches[names[parent]].append((role_of(tree.labels[parent], edge), names[child], True))

    def text(self, *, one_line: bool) -> str:
        """Return the Penman text after its metadata."""
        top, attributes = self._graph.amr.top, self._attributes
        text = write_branches(top, self._concepts, self._branches, attributes, one_line=one_line)
        return "\n".join([*_metadata_lines(self._graph), text])

    def read_back(self) -> Amr:
        """Return the meaning graph without its trees, everything in the order of the text."""
        instances: list[tuple[str, str]] = []
        edges: list[Triple] = []
        waiting = [("", "", self._graph.amr.top, True)]
        while waiting:
            source, role, variable, defines = waiting.pop()
            if role:
                edges.append(upright((source, role, variable)))
            if defines:
                instances.append((variable, self._concepts[variable]))
                waiting += [(variable, *branch) for branch in reversed(self._own[variable])]
        attributes = [triple for variable, _ in instances for triple in self._attributes.get(variable, ())]
        return Amr(self._graph.amr.top, tuple(instances), tuple(edges), tuple(attributes))


def _metadata_lines(graph: MathGraph) -> list[str]:
    formulas = [[f.placeholder, f.formula_id, f.variable, f.sentence, f.dropped] for f in graph.formulas]
    values = (graph.post_id, graph.formula_map, formulas, graph.sentences, graph.texts)
    return [f"# ::{key} {_json(value)}" for key, value in zip(_KEYS, values, strict=True)]


def _json(value: Any) -> str:
    # Penman takes "::" for the next key of the line; JSON can escape it.
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("::", ":\\u003a")


def read(text: str, source: str = "") -> MathGraph:
    """Parse the text that `write` wrote."""
    values, start = _read_metadata(text, source)
    top, instances, links = branches(text, start, source)
    variables = {variable for variable, _ in instances}
    edges = [upright(link) for link in links if link[2] in variables]
    attributes = [link for link in links if link[2] not in variables]
    labels: dict[str, list[str]] = {}
    own_instances = []
    for variable, concept in instances:
        match = TREE_VARIABLE.fullmatch(variable)
        if match is None:
            own_instances.append((variable, concept))
        else:
            labels.setdefault(match[1] + match[2], []).append(variable)
    concepts = dict(instances)
    trees: dict[str, dict[str, list[tuple[int, str, int]]]] = {"o": {}, "s": {}}
    own_edges, coreferences = [], []
    for a, role, b in edges:
        match_a, match_b = TREE_VARIABLE.fullmatch(a), TREE_VARIABLE.fullmatch(b)
        if role == COREFERENCE:
            coreferences.append((a, role, b))
        elif match_a is None and match_b is None:
            own_edges.append((a, role, b))
        elif match_a is not None and match_b is not None:
            trees[match_a[1]].setdefault(match_a[2], []).append((int(match_a[3]), role, int(match_b[3])))
    try:
        formulas = tuple(_formula(row, labels, concepts, trees) for row in values["formulas"])
        amr = Amr(top, tuple(own_instances), tuple(own_edges), tuple(attributes))
        sentences = tuple(tuple(map(str, variables)) for variables in values["sentences"])
        return MathGraph(
            values["id"], amr, sentences, formulas, tuple(map(str, values["texts"])), tuple(coreferences)
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ParseError(
            f"not a MathAMR+ graph: its metadata and its nodes do not agree ({error!r})", text, 0, source
        ) from error


def _formula(
    row: list[Any],
    variables: dict[str, list[str]],
    concepts: dict[str, str],
    trees: dict[str, dict[str, list[tuple[int, str, int]]]],
) -> FormulaPart:
    placeholder, formula_id, variable, sentence, dropped = row
    number = placeholder.rpartition("_")[2]

    def labels(kind: str) -> list[str]:
        count = len(variables.get(kind + number, ()))
        return [unquoted(concepts[f"{kind}{number}_{node}"]) for node in range(count)]

    opt_labels, slt_labels = labels("o"), labels("s")
    return FormulaPart(
        placeholder,
        formula_id,
        variable,
        int(sentence),
        opt_of(opt_labels, iter(trees["o"].get(number, ()))) if opt_labels else None,
        slt_of(slt_labels, iter(trees["s"].get(number, ()))) if slt_labels else None,
        bool(dropped),
    )


def _read_metadata(text: str, source: str) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    start = 0
    for line in text.split("\n"):
        if not line.startswith("# ::"):
            break
        key, _, value = line[4:].partition(" ")
        try:
            values[key] = json.loads(value)
        except ValueError as error:
            raise ParseError(f"not a MathAMR+ graph: {key} is not JSON", text, start, source) from error
        start += len(line) + 1
    missing = [key for key in _KEYS if key not in values]
    if missing:
        raise ParseError(f"not a MathAMR+ graph: the metadata lack {', '.join(missing)}", text, start, source)
    return values, start
