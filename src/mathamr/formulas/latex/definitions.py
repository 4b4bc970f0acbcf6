r"""Definitions of macros: one grammar over tokens, for preambles, style files, notes and single formulas.

`TokenReader` is what the expander of formulas (`macros.py`) and the reader of whole texts below share. Time is linear in the
text, whatever is left unclosed in it. Where a definition does not end, nothing is defined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

LONGEST_DEFINITION = 4_000
ABSENT, TRUE, FALSE = ("\\-NoValue-",), "\\BooleanTrue", "\\BooleanFalse"
"""What stands for an argument that a call leaves out, and for a star that is there or not, as in xparse."""

_KINDS = {
    "new": "newcommand renewcommand providecommand DeclareRobustCommand newrobustcmd renewrobustcmd DeclareDocumentMacro"
    " newcommandx renewcommandx",
    "def": "def gdef edef xdef",
    "let": "let",
    "operator": "DeclareMathOperator newmathoperator newoperator",
    "alphabet": "DeclareMathAlphabet",
    "pair": "DeclarePairedDelimiter DeclarePairedDelimiterX DeclarePairedDelimiterXPP",
    "specified": " ".join(
        f"{how}{expandable}DocumentCommand"
        for how in ("New", "Renew", "Provide", "Declare")
        for expandable in ("", "Expandable")
    ),
    "environment": "newenvironment renewenvironment",
    "specified_environment": " ".join(
        f"{how}DocumentEnvironment" for how in ("New", "Renew", "Provide", "Declare")
    ),
}
DEFINING = {f"\\{name}": kind for kind, names in _KINDS.items() for name in names.split()}
"""Commands that define macros, with the kind of definition."""
_HOW = re.compile("(?:" + "|".join(re.escape(name) for name in DEFINING) + ")(?![A-Za-z@])")
_TOKEN = re.compile(r"\\(?:[A-Za-z@]+|.)|%[^\n]*\n?\s*|\s+|.", re.S)


class Parameter(NamedTuple):
    """A parameter of a macro.

    | kind     | a call gives                                               |
    |----------|------------------------------------------------------------|
    | argument | a token or a group                                         |
    | option   | what stands between `opening` and `closing`, or nothing    |
    | test     | `opening`, or nothing: the star                            |
    | until    | what stands before `closing`: TeX's delimited arguments    |
    | literal  | `opening`, which is no argument                            |
    """

    kind: str
    opening: str = ""
    closing: str = ""
    default: tuple[str, ...] = ABSENT


ARGUMENT = Parameter("argument")


@dataclass(frozen=True, slots=True)
class Definition:
    """What a definition says; `text` is the definition itself, without comments, and reads back as the same."""

    name: str
    """`\\R`, or `\\begin{proof}` and `\\end{proof}` of an environment."""
    parameters: tuple[Parameter, ...] = ()
    body: tuple[str, ...] = ()
    frozen: bool = False
    """True if the body is never expanded again: `\\let` keeps the old meaning of a command."""
    text: str = ""


class TokenReader:
    """Reads arguments and definitions from a stream of tokens; a subclass says where they come from."""

    def take(self) -> str:
        """Return the next token, empty at the end."""
        raise NotImplementedError

    def push(self, *tokens: str) -> None:
        """Put tokens back, to be read next."""
        raise NotImplementedError

    def peek(self) -> str:
        """Return the next token that is no blank, and step over the blanks."""
        while (token := self.take()).isspace():
            pass
        if token:
            self.push(token)
        return token

    def skip(self, token: str) -> bool:
        """Step over a token if it is the next one."""
        return self.peek() == token and bool(self.take())

    def until(self, closing: str, opening: str = "") -> list[str] | None:
        """Return the tokens before the one that closes, outside braces and inner brackets; `None` if it never comes."""
        depth = inside = 0
        found: list[str] = []
        while token := self.take():
            if not depth and token == closing:
                if not inside:
                    return found
                inside -= 1
            inside += not depth and token == opening
            depth += (token == "{") - (token == "}")
            found.append(token)
        return None

    def argument(self) -> list[str] | None:
        """Return the next token or the content of the next group; `None` where there is none, or it never ends."""
        if self.peek() in ("", "}"):
            return None
        token = self.take()
        return self.until("}") if token == "{" else [token]

    def option(self, opening: str = "[", closing: str = "]") -> list[str] | None:
        """Return what stands between brackets; `None` if no bracket follows."""
        return self.until(closing, opening) if self.skip(opening) else None

    def values(self, parameters: Sequence[Parameter]) -> list[list[str]] | None:
        """Return the arguments of a call; `None` where one is missing."""
        values: list[list[str] | None] = []
        for kind, opening, closing, default in parameters:
            if kind == "literal":
                self.skip(opening)
            elif kind == "test":
                values.append([TRUE if self.skip(opening) else FALSE])
            elif kind == "option":
                values.append(self.option(opening, closing) if self.peek() == opening else list(default))
            else:
                values.append(self.argument() if kind == "argument" else self.until(closing))
        return None if None in values else values  # type: ignore[return-value]

    def definitions(self, command: str) -> list[Definition]:
        """Return what one of `DEFINING` defines, whose rest is read; nothing if it is no definition after all."""
        self._command = command
        found: list[Definition] = getattr(self, f"_{DEFINING[command]}")()
        return found

    # -- the kinds of definitions

    def _name(self) -> str:
        """Return the command that is defined: `\\x` or `{\\x}`; empty where none stands."""
        pieces = [piece for piece in self.argument() or () if not piece.isspace()]
        return pieces[0] if len(pieces) == 1 and pieces[0][0] == "\\" else ""

    def _made(self, name: str, parameters: Sequence[Parameter], *body: list[str] | None) -> list[Definition]:
        tokens = tuple(token for part in body for token in part or () if token != "\\xspace")
        return [Definition(name, tuple(parameters), tokens)] if name and None not in body else []

    def _counted(self) -> list[Parameter]:
        """Read `[2][x]`: the number of parameters, and the default of the first."""
        count = "".join(self.option() or ()).strip()
        number = int(count) if count.isdigit() and len(count) == 1 else 0
        default = self.option()
        if self._command.endswith("x") and default is not None:
            return self._with_defaults(number, default)
        first = [] if default is None else [Parameter("option", "[", "]", tuple(default))]
        return first + [ARGUMENT] * (number - len(first))

    def _with_defaults(self, number: int, defaults: Sequence[str]) -> list[Parameter]:
        """Return the parameters of `\\newcommandx\\x[3][1=a, 3={b}]`: those that are named are optional."""
        found = [ARGUMENT] * number
        for entry in "".join(defaults).split(","):
            place, _, value = entry.strip().partition("=")
            if place.isdecimal() and 0 < int(place) <= number:
                found[int(place) - 1] = Parameter("option", "[", "]", tuple(_TOKEN.findall(value)))
        return found

    def _new(self) -> list[Definition]:
        self.skip("*")
        return self._made(self._name(), self._counted(), self.argument())

    def _def(self) -> list[Definition]:
        name = self._name()
        found: list[Parameter] = []
        while (token := self.peek()) not in ("{", "}", "") and len(found) < 20:
            self.take()
            if token == "#":
                found.append(ARGUMENT)
                self.take()
            elif found and found[-1] == ARGUMENT:
                found[-1] = Parameter("until", closing=token)
            else:
                found.append(Parameter("literal", token))
        return self._made(name, found, self.argument())

    def _let(self) -> list[Definition]:
        name = self._name()
        self.skip("=")
        return [replace(each, frozen=True) for each in self._made(name, (), self.argument())]

    def _operator(self) -> list[Definition]:
        star = ["*"] * self.skip("*")
        return self._made(self._name(), (), ["\\operatorname", *star, "{"], self.argument(), ["}"])

    def _alphabet(self) -> list[Definition]:
        name, family = self._name(), [self.argument() for _ in range(4)][1]
        return self._made(
            name, (), ["\\mathsf" if "".join(family or ()) in ("cmss", "lmss") else "\\mathcal"]
        )

    def _pair(self) -> list[Definition]:
        """Read paired delimiters; a star or a size before the argument says how large they are, not what they mean."""
        name, number = self._name(), "".join(self.option() or "1").strip()
        has_body, has_sides = self._command.endswith(("X", "XPP")), self._command.endswith("XPP")
        before = self.argument() if has_sides else []
        left, right = self.argument(), self.argument()
        after = self.argument() if has_sides else []
        body = self.argument() if has_body else ["#", "1"]
        if None in (before, left, right, after, body) or not number.isdecimal() or len(number) > 1:
            return []
        sized = [Parameter("test", "*"), Parameter("option", "[", "]")]
        inside = (["\\left"], left, _moved(body or []), ["\\right"], right)
        parts = (_moved(before or []), *inside, _moved(after or []))
        return self._made(name, sized + [ARGUMENT] * int(number), *parts)

    def _specified(self) -> list[Definition]:
        return self._made(self._name(), self._specification(), self.argument())

    def _specification(self) -> list[Parameter]:
        """Read what xparse says of arguments: `s o m O{x} t/ d<> D(){x}`."""
        inner = _Listed(self.argument() or ())
        found: list[Parameter] = []
        while (kind := inner.peek()) and len(found) < 9:
            inner.take()
            if kind in "mv":
                found.append(ARGUMENT)
            elif kind in "st":
                found.append(Parameter("test", "*" if kind == "s" else "".join(inner.argument() or ())))
            elif kind in "oOgGdDrR":
                marks = {"o": "[]", "g": "{}"}.get(kind.lower()) or inner.take() + inner.take()
                default = tuple(inner.argument() or ()) if kind.isupper() else ABSENT
                found.append(Parameter("option", marks[:1], marks[1:], default))
            elif kind == ">":
                inner.argument()
        return found

    def _environment(self) -> list[Definition]:
        self.skip("*")
        return self._two_parts("".join(self.argument() or ()).strip(), self._counted())

    def _specified_environment(self) -> list[Definition]:
        return self._two_parts("".join(self.argument() or ()).strip(), self._specification())

    def _two_parts(self, name: str, parameters: list[Parameter]) -> list[Definition]:
        beginning, end = self.argument(), self.argument()
        if not name or beginning is None or end is None:
            return []
        first = self._made(f"\\begin{{{name}}}", parameters, ["\\begingroup"], beginning)
        return first + self._made(f"\\end{{{name}}}", (), end, ["\\endgroup"])


def _moved(body: Sequence[str]) -> list[str]:
    """Return a body whose arguments are two places further back."""
    return [
        str(int(token) + 2) if token.isdecimal() and body[place - 1 : place] == ["#"] else token
        for place, token in enumerate(body)
    ]


class _Listed(TokenReader):
    """Tokens that are all there."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self._pending = list(tokens)[::-1]

    def take(self) -> str:
        return self._pending.pop() if self._pending else ""

    def push(self, *tokens: str) -> None:
        self._pending.extend(reversed(tokens))


class _Text(_Listed):
    """The tokens of a text from an offset on, up to the length of a definition."""

    def __init__(self, text: str, position: int) -> None:
        super().__init__(())
        self._text, self._position, self._end = text, position, position + LONGEST_DEFINITION

    def take(self) -> str:
        while not self._pending and (match := _TOKEN.match(self._text, self._position, self._end)):
            self._position = match.end()
            if match.group()[0] != "%":
                return match.group()
        return super().take()

    @property
    def offset(self) -> int:
        """Where reading stands."""
        return self._position - sum(map(len, self._pending))


def definitions_in(text: str) -> Iterator[Definition]:
    r"""Yield the definitions of a text in order; those in the body of another one are that one's affair.

    >>> [found.text for found in definitions_in("\\newcommand{\\foo}[1]{% why\n  \\mathbf{#1}%\n} \\let\\eps\\varepsilon")]
    ['\\newcommand{\\foo}[1]{\\mathbf{#1}}', '\\let\\eps\\varepsilon']
    """
    for _, _, found in definition_places(text):
        yield from found


def may_have_definitions(text: str) -> bool:
    """Return False if a text has none of the commands that define others."""
    return any(name in text for name in DEFINING)


def definition_places(text: str) -> Iterator[tuple[int, int, list[Definition]]]:
    """Yield where each definition of a text begins and ends, and what it defines."""
    if not may_have_definitions(text):
        return
    position, left = 0, 4 * len(text) + 20_000
    while match := _HOW.search(text, position):
        end, found = definition_at(text, match.start())
        left -= end - match.start()
        position = end if found or left < 0 else match.end()
        if found:
            written = _written(text, match.start(), position)
            yield match.start(), position, [replace(each, text=written) for each in found]


def definition_at(text: str, start: int) -> tuple[int, list[Definition]]:
    """Return how far a definition that begins at an offset was read, and what it defines."""
    match = _HOW.match(text, start)
    if match is None:
        return start, []
    reader = _Text(text, match.end())
    found = reader.definitions(match.group())
    return reader.offset, found


def without_definitions(text: str) -> Iterator[str]:
    """Yield the stretches of a text between its definitions."""
    position = 0
    for start, end, _ in definition_places(text):
        yield text[position:start]
        position = end
    yield text[position:]


def _written(text: str, start: int, end: int) -> str:
    """Return a definition as it is stored: without comments, each space one blank."""
    kept: list[str] = []
    for match in _TOKEN.finditer(text, start, end):
        token = match.group()
        if token[0] != "%":
            kept.append(token)
        elif kept and kept[-1][0] == "\\" and kept[-1][-1].isalpha():
            kept.append(" ")  # the name of a command ends with its line
    return " ".join("".join(kept).split())
