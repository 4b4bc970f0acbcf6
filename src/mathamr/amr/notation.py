"""Penman notation of an `Amr`: `write` and `read`, which agree with the `penman` library on every triple.

Both walk the graph without recursion, so that neither depth nor size of a text can exhaust the stack. The layout
puts every node under the parent that lies nearest to the top: the text is as flat as the graph allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from mathamr.core.errors import ParseError

_INDENT, _MAX_COLUMN = 4, 200  # deeper levels share a column, or a long chain would be mostly blanks
_FORWARD_COST, _INVERSE_COST = 2, 3  # an inverse role is written only where it makes the text much flatter
_WHOLE_LINE_KEYS = ("snt", "tok")
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n\v\f]+)
    | (?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*")
    | (?P<open>\() | (?P<close>\)) | (?P<slash>/)
    | (?P<role>:[^ \t\r\n\v\f"()/:~]*)
    | (?P<symbol>[^ \t\r\n\v\f"()/:~]+)
    | (?P<alignment>~(?:[a-z]\.?)?[0-9]{1,9}(?:,[0-9]{1,9})*)
    | (?P<stray>.)""",
    re.VERBOSE,
)

Triple = tuple[str, str, str]
Branches = dict[str, list[tuple[str, str, bool]]]


@dataclass(frozen=True, slots=True)
class AmrFields:
    """What Penman text says of a graph, as it stands there; `Amr` checks it."""

    top: str
    instances: tuple[tuple[str, str], ...]
    edges: tuple[Triple, ...] = ()
    attributes: tuple[Triple, ...] = ()
    tokens: tuple[str, ...] = ()
    alignments: tuple[tuple[str, tuple[int, ...]], ...] = ()
    metadata: tuple[tuple[str, str], ...] = field(default=(), compare=False)


def write(amr: AmrFields, *, one_line: bool, alignments: bool, metadata: bool) -> str:
    """Return Penman text of `amr`, which reads back to the same triples."""
    lines = _metadata_lines(amr) if metadata else []
    numbers = dict(amr.alignments) if alignments else {}
    heads = {
        variable: f"{concept}~e.{','.join(map(str, numbers[variable]))}" if numbers.get(variable) else concept
        for variable, concept in amr.instances
    }
    lines.append(write_branches(amr.top, heads, layout(amr), by_source(amr.attributes), one_line=one_line))
    return "\n".join(lines)


def write_branches(
    top: str,
    concepts: Mapping[str, str],
    children: Branches,
    attributes: Mapping[str, Sequence[Triple]],
    *,
    one_line: bool,
) -> str:
    """Return Penman text of a layout."""
    parts: list[str] = []
    # An open node is (what is still to be written under it, the column its roles stand in).
    stack: list[tuple[list[tuple[str, str, bool]], int]] = []

    def open_node(variable: str, column: int) -> None:
        parts.append(f"({variable} / {concepts[variable]}")
        parts.extend(f" {role} {constant}" for _, role, constant in attributes.get(variable, ()))
        stack.append((children[variable][::-1], min(column + _INDENT, _MAX_COLUMN)))

    open_node(top, 0)
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
    return "".join(parts)


def layout(amr: AmrFields) -> Branches:
    """Return for every node its written edges: (role, other end, whether that end is defined there).

    The parent of a node is its predecessor on the shortest path from the top, inverse edges costing more.
    """
    edges = amr.edges
    ends, defined = _spanned(amr.top, [variable for variable, _ in amr.instances], edges)
    # An edge is written where it defines a node, and otherwise at its own source.
    return {
        variable: [
            (
                edges[number][1] if step == _FORWARD_COST else f"{edges[number][1]}-of",
                target,
                defined.get(number) == target,
            )
            for step, number, target in its_ends
            if (defined[number] == target if number in defined else step == _FORWARD_COST)
        ]
        for variable, its_ends in ends.items()
    }


def written_order(top: str, variables: Iterable[str], edges: Sequence[Triple]) -> list[str]:
    """Return the variables reachable from `top`, in the order in which Penman defines them."""
    ends, defined = _spanned(top, variables, edges)
    found: list[str] = []
    waiting = [top]
    while waiting:
        variable = waiting.pop()
        found.append(variable)
        waiting += [target for _, number, target in reversed(ends[variable]) if defined.get(number) == target]
    return found


def _spanned(
    top: str, variables: Iterable[str], edges: Sequence[Triple]
) -> tuple[dict[str, list[tuple[int, int, str]]], dict[int, str]]:
    """Return the edges at every node (cost, number, other end), and for those on a shortest path from the top the node they lead to."""
    ends: dict[str, list[tuple[int, int, str]]] = {variable: [] for variable in variables}
    for number, (source, _, target) in enumerate(edges):
        ends[source].append((_FORWARD_COST, number, target))
        ends[target].append((_INVERSE_COST, number, source))
    queue: list[tuple[int, int, str]] = [(0, 0, top)]
    costs, defining, order = {top: 0}, {top: -1}, 0
    settled: set[str] = set()
    while queue:
        cost, _, variable = heappop(queue)
        if variable in settled:
            continue
        settled.add(variable)
        for step, number, target in ends[variable]:
            if target not in settled and (target not in costs or cost + step < costs[target]):
                costs[target], defining[target], order = cost + step, number, order + 1
                heappush(queue, (cost + step, order, target))
    return ends, {number: variable for variable, number in defining.items()}


def depth(amr: AmrFields) -> int:
    """Return the nesting depth of the text's parentheses."""
    children, deepest = layout(amr), 0
    waiting = [(amr.top, 1)]
    while waiting:
        variable, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(target, level + 1) for _, target, defines in children[variable] if defines]
    return deepest


def by_source(triples: Iterable[Triple]) -> dict[str, list[Triple]]:
    """Group triples by their first variable and keep their order."""
    groups: dict[str, list[Triple]] = {}
    for triple in triples:
        groups.setdefault(triple[0], []).append(triple)
    return groups


def _metadata_lines(amr: AmrFields) -> list[str]:
    values = dict(amr.metadata)
    if amr.tokens:
        # The number of tokens must not change, or the alignments would point to other tokens.
        values["tok"] = " ".join("_".join(token.split()) or "_" for token in amr.tokens)
    return [f"# ::{key} {_one_line(value)}".rstrip() for key, value in values.items()]


def _one_line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def read(text: str, source: str = "") -> AmrFields:
    """Parse the fields of the graph in `text`; a `ParseError` shows the place of a mistake."""
    start = _graph_start(text)
    reading = _Reading(text, source, start)
    reading.run()
    values = _metadata(text[:start])
    tokens = tuple(values.pop("tok", "").split())
    return reading.fields(tokens, tuple(values.items()))


def branches(text: str, start: int = 0, source: str = "") -> tuple[str, list[tuple[str, str]], list[Triple]]:
    """Parse Penman text without interpreting it: the top, (variable, concept) and (variable, role, target).

    Roles stay as written, including inverted ones, in the order of the text.
    """
    reading = _Reading(text, source, start)
    reading.run()
    return reading.top, reading.instances, reading.triples


class _Reading:
    """One pass over the tokens of a graph; it keeps the open nodes on an explicit stack."""

    def __init__(self, text: str, source: str, start: int) -> None:
        self.text, self.source = text, source
        tokens = [match for match in _TOKEN.finditer(text, start) if match.lastgroup != "blank"]
        self.starts = [match.start() for match in tokens]
        self.kinds = [match.lastgroup for match in tokens] + [None, None, None]
        self.texts = [match[0] for match in tokens]
        self.position = 0
        self.top = ""
        self.instances: list[tuple[str, str]] = []
        self.bare: dict[str, int] = {}
        self.triples: list[Triple] = []
        self.numbers: dict[str, set[int]] = {}

    def run(self) -> None:
        """Read the text, which must be one graph and nothing else."""
        kinds, texts, triples = self.kinds, self.texts, self.triples
        stack = [self.node()]
        self.top = stack[0]
        while stack:
            kind = kinds[self.position]
            if kind == "close":
                stack.pop()
                self.position += 1
                continue
            if kind != "role":
                raise self.error("not a Penman graph: a role or a closing parenthesis should stand here")
            role = texts[self.position]
            self.position += 1
            self.accept("alignment")
            kind = kinds[self.position]
            if kind == "open":
                variable = self.node()
                triples.append((stack[-1], role, variable))
                stack.append(variable)
            elif kind in ("symbol", "string"):
                triples.append((stack[-1], role, texts[self.position]))
                self.position += 1
                self.align(stack[-1])
            else:
                raise self.error(f"not a Penman graph: the role {role} has no target")
        if kinds[self.position] is not None:
            raise self.error("not a Penman graph: text follows its closing parenthesis")

    def node(self) -> str:
        """Read the head of a node, `(variable / concept`; the concept may stand elsewhere."""
        self.expect("open", "an opening parenthesis")
        start = self.offset()
        variable = self.expect("symbol", "a variable")
        if not self.accept("slash"):
            self.bare.setdefault(variable, start)
            return variable
        concept = self.accept("symbol") or self.accept("string")
        if not concept:
            raise self.error(f"not an AMR: node {variable!r} has no concept")
        self.instances.append((variable, concept))
        self.align(variable)
        return variable

    def align(self, variable: str) -> None:
        """Read an alignment after a concept or a constant and assign it to the node."""
        marker = self.accept("alignment")
        if marker:
            numbers = map(int, re.findall("[0-9]+", marker))
            self.numbers.setdefault(variable, set()).update(numbers)

    def fields(self, tokens: tuple[str, ...], metadata: tuple[tuple[str, str], ...]) -> AmrFields:
        """Return the fields read so far; raise a `ParseError` if a node has no concept."""
        variables = {variable for variable, _ in self.instances}
        for variable, offset in self.bare.items():
            if variable not in variables:
                raise ParseError(
                    f"not an AMR: node {variable!r} has no concept", self.text, offset, self.source
                )
        return AmrFields(
            self.top,
            tuple(self.instances),
            tuple(triple for triple in self.triples if triple[2] in variables),
            tuple(triple for triple in self.triples if triple[2] not in variables),
            tokens,
            tuple((variable, tuple(sorted(numbers))) for variable, numbers in self.numbers.items()),
            metadata,
        )

    def accept(self, kind: str) -> str:
        """Consume and return the next token if it is of that kind, else return an empty text."""
        if self.kinds[self.position] != kind:
            return ""
        self.position += 1
        return self.texts[self.position - 1]

    def expect(self, kind: str, what: str) -> str:
        """Consume the next token, or raise an error that says what should stand there."""
        if self.kinds[self.position] != kind:
            raise self.error(f"not a Penman graph: {what} should stand here")
        return self.accept(kind)

    def offset(self) -> int:
        """Return where the next token starts."""
        return self.starts[self.position] if self.position < len(self.starts) else len(self.text)

    def error(self, message: str) -> ParseError:
        """Return an error at the next token."""
        return ParseError(message, self.text, self.offset(), self.source)


def _graph_start(text: str) -> int:
    """Return where the comment lines before the graph end."""
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip() and not line.lstrip().startswith("#"):
            return start
        start += len(line)
    return start


def _metadata(comments: str) -> dict[str, str]:
    """Parse ``# ::key value`` lines; several keys may share a line, and a sentence may itself hold ``::``."""
    values: dict[str, str] = {}
    for line in comments.splitlines():
        whole = re.match(rf"\s*#\s*::({'|'.join(_WHOLE_LINE_KEYS)})(?:\s+|$)(.*)", line)
        if whole:
            values[whole[1]] = whole[2].strip()
            continue
        for entry in re.split(r"(?<!\S)::(?=\S)", line)[1:]:
            key, _, value = entry.partition(" ")
            values[key] = value.strip()
    return values
