"""Penman notation of an `Amr`: read through `penman`, written by a layout of our own.

`penman.encode` searches for a layout and recurses into it; here every node is written under the parent that lies
nearest to the top, so that the text is as flat as the graph allows and any size is written in linear time.
"""

from __future__ import annotations

import re
from heapq import heappop, heappush

from mathamr.amr.graph import Amr, InvalidAmrError, Triple
from mathamr.errors import ParseError

MAX_DEPTH = 200
"""Parentheses nested deeper than this are refused: `penman` recurses, and no sentence needs it."""

_INDENT = 4
_WHOLE_LINE_KEYS = ("snt", "tok")
_FORWARD_COST, _INVERSE_COST = 2, 3  # an inverse role is written only where it makes the text much flatter
_DEPTH_TOKEN = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|[()]')


def write(amr: Amr, *, one_line: bool, alignments: bool, metadata: bool) -> str:
    """Penman text of `amr`, which `penman` reads back to the same triples."""
    lines = _metadata_lines(amr) if metadata else []
    numbers = dict(amr.alignments) if alignments else {}
    concepts, children, attributes = amr.concepts(), _layout(amr), _by_source(amr.attributes)

    parts: list[str] = []
    # An open node is (what is still to be written under it, the column its roles stand in).
    stack: list[tuple[list[tuple[str, str, bool]], int]] = []

    def open_node(variable: str, column: int) -> None:
        marker = "~e." + ",".join(map(str, numbers[variable])) if numbers.get(variable) else ""
        parts.append(f"({variable} / {concepts[variable]}{marker}")
        parts.extend(f" {role} {constant}" for _, role, constant in attributes.get(variable, ()))
        stack.append((children[variable][::-1], column + _INDENT))

    open_node(amr.top, 0)
    while stack:
        waiting, column = stack[-1]
        if not waiting:
            stack.pop()
            parts.append(")")
            continue
        role, target, defines = waiting.pop()
        parts.append(f" {role} " if one_line else f"\n{' ' * column}{role} ")
        if defines:
            open_node(target, column)
        else:
            parts.append(target)
    lines.append("".join(parts))
    return "\n".join(lines)


def depth(amr: Amr) -> int:
    """How deep the parentheses of the text are nested."""
    children = _layout(amr)
    deepest, waiting = 0, [(amr.top, 1)]
    while waiting:
        variable, level = waiting.pop()
        deepest = max(deepest, level)
        waiting.extend((target, level + 1) for _, target, defines in children[variable] if defines)
    return deepest


def _layout(amr: Amr) -> dict[str, list[tuple[str, str, bool]]]:
    """For every node its written edges: (role, other end, whether that end is defined there).

    The parent of a node is its predecessor on the shortest path from the top, inverse edges costing more.
    """
    ends: dict[str, list[tuple[int, str, int, str]]] = {variable: [] for variable, _ in amr.instances}
    for number, (source, role, target) in enumerate(amr.edges):
        ends[source].append((_FORWARD_COST, role, number, target))
        if source != target:
            ends[target].append((_INVERSE_COST, f"{role}-of", number, source))

    queue: list[tuple[int, int, str]] = [(0, 0, amr.top)]
    costs, defining, order = {amr.top: 0}, {amr.top: -1}, 0
    settled: set[str] = set()
    while queue:
        cost, _, variable = heappop(queue)
        if variable in settled:
            continue
        settled.add(variable)
        for step, _, number, target in ends[variable]:
            if target not in settled and cost + step < costs.get(target, cost + step + 1):
                costs[target], defining[target], order = cost + step, number, order + 1
                heappush(queue, (cost + step, order, target))

    # An edge is written where it defines a node, and otherwise at its own source.
    defined = {number: variable for variable, number in defining.items()}
    written: dict[str, list[tuple[str, str, bool]]] = {}
    for variable, its_ends in ends.items():
        written[variable] = [
            (role, target, defined.get(number) == target)
            for step, role, number, target in its_ends
            if (defined[number] == target if number in defined else step == _FORWARD_COST)
        ]
    return written


def _by_source(triples: tuple[Triple, ...]) -> dict[str, list[Triple]]:
    groups: dict[str, list[Triple]] = {}
    for triple in triples:
        groups.setdefault(triple[0], []).append(triple)
    return groups


def _metadata_lines(amr: Amr) -> list[str]:
    values = dict(amr.metadata)
    if amr.tokens:
        # The number of tokens must survive, or the alignments would point elsewhere.
        values["tok"] = " ".join("_".join(token.split()) or "_" for token in amr.tokens)
    return [f"# ::{key} {_one_line(value)}".rstrip() for key, value in values.items()]


def _one_line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def read(text: str, source: str = "") -> Amr:
    """The `Amr` that `text` writes; `ParseError` shows the place where it is no Penman."""
    import penman
    from penman.models.amr import model
    from penman.surface import alignments

    _check_depth(text, source)
    try:
        graph = penman.decode(text, model=model)
        aligned = alignments(graph)
    except penman.PenmanError as error:
        raise ParseError(f"no Penman graph: {_reason(error)}", text, _offset(text, error), source) from error
    if graph.top is None:
        raise ParseError("no Penman graph: the node is empty", text, 0, source)
    variables = graph.variables()
    for variable, role, target in graph.triples:
        if target is None:
            what = "has no concept" if role == ":instance" else f"has the role {role} without a target"
            place = max(text.find(f"({variable}"), 0)
            raise ParseError(f"no AMR: node {variable!r} {what}", text, place, source)
    edges = tuple(t for t in graph.triples if t[1] != ":instance" and t[2] in variables)
    attributes = tuple(t for t in graph.triples if t[1] != ":instance" and t[2] not in variables)
    numbers: dict[str, set[int]] = {}
    for (variable, _, target), marker in aligned.items():
        if target not in variables or (variable, ":instance", target) in aligned:
            numbers.setdefault(variable, set()).update(marker.indices)
    values = _metadata(text)
    tokens = tuple(values.pop("tok", "").split())
    try:
        return Amr(
            graph.top,
            tuple((variable, concept) for variable, role, concept in graph.triples if role == ":instance"),
            edges,
            attributes,
            tokens,
            tuple((variable, tuple(sorted(its_numbers))) for variable, its_numbers in numbers.items()),
            tuple(values.items()),
        )
    except InvalidAmrError as error:
        raise ParseError(str(error), text, 0, source) from error


def read_all(text: str, source: str = "") -> list[Amr]:
    """Every graph of a file in which blank lines part them, as AMR corpora are written."""
    blocks = re.split(r"\n\s*\n", text.strip("\ufeff\n "))
    return [read(block, source) for block in blocks if "(" in _without_comments(block)]


def _without_comments(block: str) -> str:
    return "\n".join(line for line in block.splitlines() if not line.startswith("#"))


def _metadata(text: str) -> dict[str, str]:
    """``# ::key value`` lines; several keys may share a line, but a sentence may hold ``::`` itself."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        if line.lstrip().startswith("("):
            break
        if not line.startswith("#"):
            continue
        whole = re.match(rf"#\s*::({'|'.join(_WHOLE_LINE_KEYS)})(?:\s+|$)(.*)", line)
        if whole:
            values[whole[1]] = whole[2].strip()
            continue
        for field in re.split(r"(?<!\S)::(?=\S)", line)[1:]:
            key, _, value = field.partition(" ")
            values[key] = value.strip()
    return values


def _check_depth(text: str, source: str) -> None:
    level = 0
    for match in _DEPTH_TOKEN.finditer(text):
        level += {"(": 1, ")": -1}.get(match[0], 0)
        if level > MAX_DEPTH:
            message = f"no Penman graph: parentheses nested deeper than {MAX_DEPTH}"
            raise ParseError(message, text, match.start(), source)


def _reason(error: Exception) -> str:
    return str(getattr(error, "message", None) or error)


def _offset(text: str, error: Exception) -> int:
    """penman counts lines from 1 and columns from 0; 0 lines means the end of the text."""
    lineno, column = getattr(error, "lineno", None), getattr(error, "offset", None)
    if not isinstance(lineno, int) or not isinstance(column, int) or lineno < 1:
        return len(text)
    lines = text.splitlines(keepends=True)
    return min(sum(map(len, lines[: lineno - 1])) + column, len(text))
