"""The commands of a text with what they are given, and what the author's own macros write where they are called."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mathamr.formulas.latex.definitions import ABSENT, FALSE, TRUE, Definition, Parameter, definitions_in
from mathamr.posts.formats.latex.definitions import BraceGroups

MOST_WRITTEN = 20_000
"""Characters that one call of a macro may write."""
LONGEST_ARGUMENT = 20_000
LONGEST_OPTION = 1_000

_ACTS = re.compile(
    r"\\(?:label|item|caption|appendix|nonumber|notag|tag|(?:sub)*section|chapter|part|(?:ref)?stepcounter|setcounter|addtocounter"
    r"|newtheorem|declaretheorem|newaliascnt|newcounter|numberwithin|counterwithin|@addtoreset)(?![A-Za-z@])"
)
_EDGE = re.compile(r"\\(?:begin|end)\s*\{\s*([A-Za-z@]+\*?)\s*\}")
_DECIDES = re.compile(
    r"\\(?:if(?!f?false)|@if|If[A-Z]|csname|expandafter|loop|futurelet|@ifnextchar|@ifstar|@for|foreach)"
)
_BRACKET = re.compile(r"\\.|[{}\]]", re.S)
_COMMAND = re.compile(r"\s*+(?:\{\s*+(\\[A-Za-z@]++)\s*+\}|(\\[A-Za-z@]++))")
_BLANK = re.compile(r"(?:\s|%[^\n]*\n|%\s)*+")


@dataclass
class Call:
    """One command in a text; what it is given is read on demand, from the left."""

    name: str
    text: str
    start: int
    end: int
    groups: BraceGroups
    at: int = 0
    words: list[str] = field(default_factory=list)

    def star(self) -> bool:
        """Step over a star."""
        if self.text.startswith("*", self.end):
            self.end += 1
            return True
        return False

    def group(self) -> str:
        """Return what the next group in braces holds, or the next token; empty where there is none."""
        start = _BLANK.match(self.text, self.end).end()  # type: ignore[union-attr]
        if not self.text.startswith("{", start):
            return ""
        end = self.groups.end(start, LONGEST_ARGUMENT)
        if end is None:
            return ""
        self.end = end
        return self.text[start + 1 : end - 1].strip()

    def option(self, absent: str | None = "") -> str:
        """Return what stands between brackets, if they follow."""
        start = _BLANK.match(self.text, self.end).end()  # type: ignore[union-attr]
        if self.text.startswith("[", start):
            depth = 0
            for match in _BRACKET.finditer(self.text, start, start + LONGEST_OPTION):
                if match.group() == "]" and depth <= 0:
                    self.end = match.end()
                    return self.text[start + 1 : match.start()].strip()
                depth += {"{": 1, "}": -1}.get(match.group(), 0)
        return absent  # type: ignore[return-value]

    def command(self) -> str:
        """Return the next command, in braces or not; empty where there is none."""
        found = _COMMAND.match(self.text, self.end)
        if found is None:
            return ""
        self.end = found.end()
        self.words.append(found[1] or found[2])
        return self.words[-1]

    def skip(self, sign: str, after: str) -> None:
        """Step over a sign that may follow what was read."""
        start = _BLANK.match(self.text, self.end).end()  # type: ignore[union-attr]
        if after and self.text.startswith(sign, start):
            self.end = start + len(sign)


class Calls:
    """Finds the commands that matter in texts: those of `names`, and macros of the author that write such commands.

    `environments` are those that matter; macros are given as whole definitions by their names.
    """

    def __init__(
        self, names: Collection[str], environments: Collection[str], macros: Mapping[str, str]
    ) -> None:
        self.environments: dict[str, tuple[Definition, str]] = {}
        """What the beginning and the end of an environment of the author write."""
        self.acting: dict[str, Definition] = {}
        self._uncertain: set[str] = set()
        self._uncertain_environments: set[str] = set()
        self._names = frozenset(names)
        self._wanted = frozenset(environments)
        pending = {
            name: definition
            for name, definition in macros.items()
            if name.isascii() and name not in self._names
        }
        for _ in range(4):  # macros that write macros that act
            known = len(self.acting)
            for name, definition in pending.items():
                if name in self.acting or not self._acts(definition.partition(name)[2]):
                    continue
                if (macro := read_macro(definition)) is not None:
                    self.acting[name] = macro
                    if _DECIDES.search("".join(macro.body)):
                        self._uncertain.add(name)
            if len(self.acting) == known:
                break
        self._find = self._pattern()

    def _acts(self, written: str) -> bool:
        if _ACTS.search(written):
            return True
        if any(found[1] in self._wanted for found in _EDGE.finditer(written)):
            return True
        return bool(self.acting) and any(f"\\{name}" in written for name in self.acting)

    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted({*self._names, *self.acting}, key=len, reverse=True)
        return re.compile(r"\\(?:(" + "|".join(map(re.escape, longest_first)) + r")(?![A-Za-z@])|[\\%])")

    def within(self, text: str, start: int, end: int) -> Iterator[Call]:
        """Yield the calls of a stretch; reading goes on where a call's `end` is set to."""
        position, groups = start, BraceGroups(text)
        while match := self._find.search(text, position, end):
            position = match.end()
            if match[1]:
                call = Call(match[1], text, match.start(), match.end(), groups)
                yield call
                position = max(call.end, position)

    def is_certain(self, name: str) -> bool:
        """Return whether what a macro writes does not depend on what TeX finds out."""
        return name not in self._uncertain

    def is_certain_environment(self, name: str) -> bool:
        """Return the same of the beginning of an environment."""
        return name not in self._uncertain_environments

    def written(self, call: Call) -> str | None:
        """Return what a call of a macro writes; `None` if it writes too much."""
        return _filled(self.acting[call.name], call)

    def define_environment(self, name: str, parameters: tuple[Parameter, ...], begin: str, end: str) -> None:
        """Add an environment of the author, if it writes what matters."""
        if name in self._wanted or not (self._acts(begin) or self._acts(end)):
            return
        self.environments[name] = (Definition(name, parameters, (begin,)), end)
        if _DECIDES.search(begin):
            self._uncertain_environments.add(name)

    def environment_begin(self, call: Call, name: str) -> str:
        """Return what the beginning of an environment of the author writes, with what it is given here."""
        found = self.environments.get(name)
        return (_filled(found[0], call) or "") if found else ""

    def environment_end(self, name: str) -> str:
        """Return what the end of an environment of the author writes."""
        found = self.environments.get(name)
        return found[1] if found else ""

    def expand(self, text: str) -> str:
        """Return a text with the acting macros in it replaced by what they write."""
        for _ in range(4):
            parts: list[str] = []
            done = 0
            for call in self.within(text, 0, len(text)):
                if call.name in self.acting and (written := self.written(call)) is not None:
                    parts += [text[done : call.start], written, " "]
                    done = call.end
            if not done:
                break
            text = "".join([*parts, text[done:]])
            if len(text) > MOST_WRITTEN:
                break
        return text


def read_macro(definition: str) -> Definition | None:
    """Return what a definition says of a macro whose arguments are in braces and brackets; `None` for any other."""
    found = next(definitions_in(definition), None)
    return found if found is not None and not found.frozen and is_simple(found.parameters) else None


def is_simple(parameters: Iterable[Parameter]) -> bool:
    """Return True if a call gives its arguments in braces and brackets, with a star before them."""
    return all(
        (each.kind, each.opening) in (("argument", ""), ("option", "["), ("test", "*")) for each in parameters
    )


def _filled(macro: Definition, call: Call) -> str | None:
    """Return the body with the arguments of a call in their places."""
    arguments: list[str] = []
    for each in macro.parameters:
        if each.kind == "test":
            arguments.append(TRUE if call.star() else FALSE)
        elif each.kind == "option":
            arguments.append(call.option("" if each.default == ABSENT else "".join(each.default)))
        else:
            arguments.append(call.group())
    body = "".join(macro.body)
    if len(body) + sum(map(len, arguments)) > MOST_WRITTEN:
        return None
    return re.sub(r"#(\d)", lambda match: (arguments[int(match[1]) - 1 : int(match[1])] or [""])[0], body)[
        :MOST_WRITTEN
    ]
