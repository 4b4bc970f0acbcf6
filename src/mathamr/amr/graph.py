"""`Amr`: an immutable meaning graph with alignments to tokens; its text form is Penman."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from mathamr.amr import notation
from mathamr.amr.notation import AmrFields, Triple
from mathamr.core.errors import MathAMRError, ParseError

# What Penman's lexer takes as one bare symbol; ``#`` would open a comment and the last seven characters end a
# line for `str.splitlines`, so that text holding any of them has to be quoted.
_SYMBOL = re.compile(r'(?!#)[^\s"()/:~\x1c-\x1e\x85\u2028\u2029\x00-\x08\x0e-\x1b\x7f\ud800-\udfff]+')
_STRING = re.compile(
    r'"[^"\\\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]*(?:\\.[^"\\\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]*)*"'
)
_ROLE = re.compile(r':[^\s"()/:~\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]+')
_ESCAPED = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")

OF_ROLES = frozenset({":consist-of", ":prep-on-behalf-of", ":prep-out-of"})
"""The roles of AMR that end in ``-of`` without being the inverse of another one."""


class InvalidAmrError(MathAMRError):
    """Raised if a graph is not an AMR: a variable occurs twice, an edge has no target, or a part is disconnected."""


@lru_cache(maxsize=16_384)
def is_atom(text: str) -> bool:
    """Return True if Penman reads `text` as one symbol or one quoted string.

    >>> is_atom("run-01"), is_atom('"and/or"'), is_atom("and/or"), is_atom("#5")
    (True, True, False, False)
    """
    return bool(_SYMBOL.fullmatch(text) or _STRING.fullmatch(text))


def atom(text: str) -> str:
    r"""Return `text` as a Penman atom: unchanged if that reads back, else as a quoted string.

    >>> atom("boy"), atom("and/or"), atom('"quoted"'), atom('say "x')
    ('boy', '"and/or"', '"quoted"', '"say \\"x"')
    """
    return text if is_atom(text) else string(text)


def string(text: str) -> str:
    r"""Return `text` as a quoted string constant, as in ``:op1 "Euler"``; `unquoted` is the inverse.

    >>> string("Euler"), string("a\nb")
    ('"Euler"', '"a\\nb"')
    """
    quoted = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def unquoted(constant: str) -> str:
    r"""Return the text that a constant or a concept stands for, without quotes and escapes.

    >>> unquoted('"Euler"'), unquoted("-"), unquoted('"a\\nb"')
    ('Euler', '-', 'a\nb')
    """
    if not _STRING.fullmatch(constant):
        return constant
    try:
        return str(json.loads(constant))
    except ValueError:
        return constant[1:-1]


@dataclass(frozen=True, slots=True)
class Amr(AmrFields):
    """The meaning of one sentence, or of several joined under `multi-sentence`.

    `instances` are (variable, concept) in the order in which Penman writes them, `edges` are
    (source variable, role, target variable), `attributes` are (variable, role, constant); roles start with ``:``
    and are never inverted (no ``-of`` unless the role itself is, like ``:consist-of``).
    `alignments` are (variable, token numbers) for the variables whose words are known.

    Concepts and constants are Penman atoms: bare symbols (``-``, ``12``, ``run-01``) or quoted strings
    (``"Euler"``). The constructor normalises its input: it reverses inverted edges, drops repeated triples, and quotes
    concepts and constants that Penman could not read back or that are spelled like a variable. It raises
    `InvalidAmrError` if the result is not a connected graph.

    >>> Amr("b", (("r", "run-01"), ("b", "boy")), edges=(("b", ":ARG0-of", "r"),)).edges
    (('r', ':ARG0', 'b'),)
    """

    def __post_init__(self) -> None:
        settle = object.__setattr__
        settle(self, "instances", tuple([(variable, atom(concept)) for variable, concept in self.instances]))
        settle(self, "edges", tuple(dict.fromkeys(map(upright, self.edges))))
        variables = {variable for variable, _ in self.instances}
        attributes = [
            (source, role, string(constant) if constant in variables else atom(constant))
            for source, role, constant in self.attributes
        ]
        settle(self, "attributes", tuple(dict.fromkeys(attributes)))
        self._validate(variables)

    def _validate(self, variables: set[str]) -> None:
        if not self.instances:
            raise InvalidAmrError("an AMR needs at least one node")
        if len(variables) < len(self.instances):
            twice = Counter(variable for variable, _ in self.instances).most_common(1)[0][0]
            raise InvalidAmrError(f"variable {twice!r} stands for two nodes; give each node its own variable")
        for variable in variables:
            if not _is_symbol(variable):
                raise InvalidAmrError(f"{variable!r} is not a variable: Penman cannot read it back")
        if self.top not in variables:
            raise InvalidAmrError(f"the top {self.top!r} is not a variable of the graph")
        for source, role, target in self.edges:
            if source not in variables or target not in variables:
                lost = source if source not in variables else target
                raise InvalidAmrError(
                    f"edge {source} {role} {target}: {lost!r} is not a variable of the graph"
                )
            _validate_role(role)
        for source, role, constant in self.attributes:
            if source not in variables:
                raise InvalidAmrError(
                    f"attribute {source} {role} {constant}: {source!r} is not a variable of the graph"
                )
            _validate_role(role)
        for variable, numbers in self.alignments:
            if variable not in variables or (numbers and min(numbers) < 0):
                raise InvalidAmrError(
                    f"alignment of {variable!r} to tokens {numbers}: no such variable or token"
                )
        reached = reachable(self.top, self.edges)
        if len(reached) < len(variables):
            lost = next(variable for variable, _ in self.instances if variable not in reached)
            raise InvalidAmrError(f"disconnected graph: no path leads from the top {self.top!r} to {lost!r}")

    def __len__(self) -> int:
        return len(self.instances)

    def concepts(self) -> dict[str, str]:
        """Return the concept of every variable."""
        return dict(self.instances)

    def triples(self) -> Iterator[Triple]:
        """Yield every instance, edge and attribute as `penman` holds them: (variable, role, variable or atom)."""
        for variable, concept in self.instances:
            yield variable, ":instance", concept
        yield from self.edges
        yield from self.attributes

    def renamed(self, names: Mapping[str, str]) -> Amr:
        """Return the same graph with other variables; those that `names` does not hold stay."""
        new = {variable: names.get(variable, variable) for variable, _ in self.instances}
        return replace(
            self,
            top=new[self.top],
            instances=tuple((new[variable], concept) for variable, concept in self.instances),
            edges=tuple((new[source], role, new[target]) for source, role, target in self.edges),
            attributes=tuple((new[source], role, constant) for source, role, constant in self.attributes),
            alignments=tuple((new[variable], numbers) for variable, numbers in self.alignments),
        )

    def to_penman(self, *, one_line: bool = False, alignments: bool = False, metadata: bool = False) -> str:
        """Return Penman text; `alignments` as ``~e.3`` behind the concepts, `metadata` as comment lines before it."""
        return notation.write(self, one_line=one_line, alignments=alignments, metadata=metadata)

    @classmethod
    def from_penman(cls, text: str, source: str = "") -> Amr:
        """Return the graph that Penman `text` writes, with its alignments and metadata; `source` is named in errors."""
        parts = notation.read(text, source)
        try:
            return cls(**{each.name: getattr(parts, each.name) for each in fields(parts)})
        except InvalidAmrError as error:
            raise ParseError(str(error), text, max(0, text.find("(")), source) from error

    def to_json(self) -> str:
        """Return one JSON line with every field; it is faster to read than Penman, for caches and between processes."""
        return json.dumps([getattr(self, each.name) for each in fields(self)], separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Amr:
        """Parse the JSON line of `to_json`."""
        top, instances, edges, attributes, tokens, alignments, metadata = json.loads(line)
        return cls(
            top,
            tuple((variable, concept) for variable, concept in instances),
            tuple((source, role, target) for source, role, target in edges),
            tuple((source, role, constant) for source, role, constant in attributes),
            tuple(tokens),
            tuple((variable, tuple(numbers)) for variable, numbers in alignments),
            tuple((key, value) for key, value in metadata),
        )


def reachable(top: str, edges: Iterable[Triple]) -> set[str]:
    """Return the variables that are connected with `top` along edges in either direction."""
    neighbours: dict[str, list[str]] = {}
    for source, _, target in edges:
        neighbours.setdefault(source, []).append(target)
        neighbours.setdefault(target, []).append(source)
    reached, waiting = {top}, [top]
    while waiting:
        for variable in neighbours.get(waiting.pop(), ()):
            if variable not in reached:
                reached.add(variable)
                waiting.append(variable)
    return reached


def upright(edge: Triple) -> Triple:
    """Reverse an edge with an inverse role; other edges stay as they are."""
    source, role, target = edge
    while role.endswith("-of") and role not in OF_ROLES:
        source, role, target = target, role[: -len("-of")], source
    return source, role, target


@lru_cache(maxsize=1024)
def _is_symbol(text: str) -> bool:
    return _SYMBOL.fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _validate_role(role: str) -> None:
    if role == ":instance" or not _ROLE.fullmatch(role):
        raise InvalidAmrError(f"{role!r} is not a role of an edge: it starts with a colon and holds no blank")


class Names:
    """Gives every node of a graph its own variable: the first letter of its concept and a number, as AMR annotators do.

    >>> names = Names(taken={"b2"})
    >>> [names.fresh(concept) for concept in ("boy", "bird", "bear", "FORMULA_0", "-")]
    ['b', 'b3', 'b4', 'f', 'x']
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def fresh(self, concept: str) -> str:
        """Return an unused variable for a node with that concept."""
        letter = concept[:1].lower()
        if not "a" <= letter <= "z":
            letter = next((c for c in concept[:2].lower() if "a" <= c <= "z"), "x")
        while True:
            number = self._counts[letter] = self._counts.get(letter, 0) + 1
            variable = f"{letter}{number}" if number > 1 else letter
            if variable not in self._taken:
                self._taken.add(variable)
                return variable
