"""User macros: takes definitions out of the tokens and expands calls, within limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from mathamr.core.listing import names
from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.definitions import ABSENT, DEFINING, TRUE, Definition, TokenReader, definitions_in
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.reader import is_predefined
from mathamr.formulas.latex.symbols import SPACES

_PREFIXES = frozenset(["\\global", "\\long", "\\protected", "\\outer"])
_GLOBAL = frozenset(["\\gdef", "\\xdef"])
_EXPANDED = ("\\edef", "\\xdef")
_OPENING = frozenset(["{", "\\begingroup", "\\bgroup"])
_CLOSING = frozenset(["}", "\\endgroup", "\\egroup"])
_TESTS = {
    f"\\If{test}{branches}": (test, branches)
    for test in ("NoValue", "Value", "Boolean", "Blank")
    for branches in ("TF", "T", "F")
} | {
    "\\ifblank": ("Blank", "TF"),
    "\\ifstrempty": ("Blank", "TF"),
    "\\@ifnextchar": ("Next", "TF"),
    "\\@ifstar": ("Star", "TF"),
    "\\texorpdfstring": ("Formula", "TF"),
}
"""What definitions are written with: the test, and which branches follow."""
_NOTHING = frozenset(
    [*ABSENT, "\\xspace", "\\expandafter", "\\MakeUppercase", "\\slshape", "\\leavevmode", "\\pause"]
)
"""Commands that leave nothing behind."""
_CONDITIONALS = {"\\if"} | {
    f"\\if{name}"
    for name in names(
        "cat x case num odd hmode vmode mmode inner dim void hbox vbox eof true false defined csname"
    )
}
_IN_FORMULAS = frozenset(["\\ifmmode", "\\iftrue"])
"""TeX's conditionals that hold in a formula; of the others the branch of `\\else` is taken."""
_INVISIBLE = _OPENING | _CLOSING | _NOTHING | SPACES.keys() | {"\\relax"}
_ACTIVE = {"\\mathchoice"} | _PREFIXES | _NOTHING | _CONDITIONALS | DEFINING.keys() | _TESTS.keys()


@dataclass(frozen=True, slots=True)
class Macros:
    """The macros of a document, for all of its formulas.

    >>> macros = Macros.from_latex(r"\\newcommand{\\R}{\\mathbb{R}} \\DeclareMathOperator{\\tr}{tr}")
    >>> sorted(macros.table)
    ['\\\\R', '\\\\tr']
    """

    table: dict[str, Definition] = field(default_factory=dict)

    @classmethod
    def from_latex(cls, *definitions: str) -> Macros:
        """Read the macros that LaTeX text defines (a preamble, or single definitions); other text is ignored."""
        table: dict[str, Definition] = {}
        for text in definitions:
            for found in definitions_in(text):
                with suppress(FormulaError):  # an `\\edef` without end is left out, and its calls are unknown
                    _put(table, _expanded(found, table, text) if found.text.startswith(_EXPANDED) else found)
        return cls(table)

    @classmethod
    def of(cls, macros: Macros | Iterable[str]) -> Macros:
        """Convert a caller's argument to macros."""
        return macros if isinstance(macros, Macros) else cls.from_latex(*macros)


def _put(table: dict[str, Definition], found: Definition) -> None:
    """Add a definition to a table; what is only provided gives way, and `\\let` to a macro copies it."""
    if _gives_way(found.text, found.name, table):
        return
    if found.frozen and (old := table.get(found.body[0])):
        found = replace(old, name=found.name, text=found.text)
    table[found.name] = found


def _gives_way(how: str, name: str, table: dict[str, Definition]) -> bool:
    return how.startswith(("\\provide", "\\Provide")) and (name in table or is_predefined(name))


def _expanded(
    found: Definition, table: dict[str, Definition], source: str, budget: Budget | None = None
) -> Definition:
    """Return what `\\edef` defines: its body is expanded now."""
    inner = _Expander(found.body, [0] * len(found.body), source, dict(table))
    return replace(found, body=tuple(inner.expand(budget or Budget(len(source)))[0]))


def expanded(
    tokens: list[str], offsets: list[int], source: str, macros: Macros, budget: Budget
) -> tuple[list[str], list[int], list[tuple[str, int]]]:
    """Return the tokens with all macros expanded, their offsets (a macro's tokens have that of its call), and repairs."""
    if not macros.table and _ACTIVE.isdisjoint(tokens):
        return tokens, offsets, []
    return _Expander(tokens, offsets, source, dict(macros.table)).expand(budget)


def without_macros(latex: str, macros: Macros | Iterable[str]) -> str:
    """Return a formula with all macros expanded.

    >>> without_macros(r"\\Zc n", [r"\\newcommand{\\Zc}[1]{\\mathbb{Z}/#1\\mathbb{Z}}"])
    '\\\\mathbb{Z}/n\\\\mathbb{Z}'
    """
    tokens, _, _ = expanded(*tokenize(latex), latex, Macros.of(macros), Budget(len(latex)))
    written: list[str] = []
    for token in tokens:
        follows_command = written and written[-1][0] == "\\" and written[-1][-1].isalpha()
        written.append(f" {token}" if follows_command and token[0].isalpha() else token)
    return "".join(written)


def empty_macros(macros: Macros) -> frozenset[str]:
    r"""Return the macros whose body shows something but expands to nothing, whatever they are called with.

    Their author hid something with TeX's own means, or it is lost here.

    >>> macros = Macros.from_latex(r"\def\old#1{\iffalse(#1)\fi} \newcommand{\todo}[1]{} \newcommand{\R}{\iftrue\mathbb R\fi}")
    >>> empty_macros(macros)
    frozenset({'\\old'})
    """
    return frozenset(name for name, each in macros.table.items() if _is_empty(each, macros))


def _is_empty(macro: Definition, macros: Macros) -> bool:
    if _ACTIVE.isdisjoint(macro.body) and macros.table.keys().isdisjoint(macro.body):
        return False  # the body stays as it is
    inner = _Alone(macro.body, [0] * len(macro.body), "", dict(macros.table))
    try:
        body = inner._replacement(macro.body, [["x"]] * 9)
        inner.pending = [(token, 0) for token in reversed(body)]
        shown = inner.expand(Budget(len(body)))[0]
    except (FormulaError, SpentError):
        return False  # that is an error of its own
    return _shows(macro.body) and not _shows(shown) and inner.table == macros.table


def _shows(tokens: Iterable[str]) -> bool:
    return any(not token.isspace() and token not in _INVISIBLE for token in tokens)


class _Expander(TokenReader):
    """Expands from the left; the expansion of a macro is read again, and a definition ends with its group."""

    def __init__(
        self, tokens: Sequence[str], offsets: Sequence[int], source: str, table: dict[str, Definition]
    ) -> None:
        self.pending = list(zip(reversed(tokens), reversed(offsets), strict=True))
        self.source, self.table = source, table
        self.notes: list[tuple[str, int]] = []
        self.here = 0
        self.scopes: list[dict[str, Definition | None]] = []
        """For every open group, the definitions that its own definitions replaced."""
        self.budget = Budget(len(source))

    def take(self) -> str:
        return self.pending.pop()[0] if self.pending else ""

    def peek(self) -> str:
        """Return the next token that is no blank; it stays where it is, and keeps its offset."""
        while self.pending and self.pending[-1][0].isspace():
            self.pending.pop()
        return self.pending[-1][0] if self.pending else ""

    def push(self, *tokens: str) -> None:
        self.pending.extend((token, self.here) for token in reversed(tokens))

    def expand(self, budget: Budget) -> tuple[list[str], list[int], list[tuple[str, int]]]:
        self.budget = budget
        tokens: list[str] = []
        offsets: list[int] = []
        while self.pending:
            token, self.here = self.pending.pop()
            if token in _OPENING:
                self.scopes.append({})
            elif token in _CLOSING and self.scopes:
                self._close()
            elif token == "\\noexpand" and self.pending:
                token, self.here = self.pending.pop()
            elif token[0] == "\\":
                name = token if token not in ("\\begin", "\\end") else self._environment_name(token)
                if macro := self.table.get(name):
                    self._call(name, macro, tokens, offsets)
                    continue
                if token in _ACTIVE and self._act(token):
                    continue
            tokens.append(token)
            offsets.append(self.here)
        return tokens, offsets, self.notes

    def _act(self, token: str) -> bool:
        """Do what a command says that is no part of a formula; return False if it is one after all."""
        if token in DEFINING:
            self._define(token)
        elif token in _TESTS:
            self._choose(*_TESTS[token])
        elif token in _CONDITIONALS:
            self._choose_branch(token)
        elif token == "\\mathchoice":
            return self._choose_style()
        elif token in _PREFIXES:
            return self._prefixed(token)
        return True

    def _close(self) -> None:
        for name, before in self.scopes.pop().items():
            if before is None:
                self.table.pop(name, None)
            else:
                self.table[name] = before

    def _call(self, name: str, macro: Definition, tokens: list[str], offsets: list[int]) -> None:
        """Push the expansion of a macro back to be read; a frozen one is final."""
        here = self.here
        if macro.frozen:
            tokens.extend(macro.body)
            offsets.extend([here] * len(macro.body))
            return
        if name[-1].isalpha():
            self.peek()
        elif name.startswith(("\\begin{", "\\end{")):
            self.argument()
        values = self.values(macro.parameters)
        if values is None:
            self.notes.append(("missing argument of a macro", here))
            values = [[]] * 9
        try:
            self.push(*self._replacement(macro.body, values))
        except SpentError:
            message = f"the macro {name} expands without end, or to far more than the formula"
            raise FormulaError(message, self.source, here) from None

    def _replacement(self, body: Sequence[str], values: Sequence[list[str]]) -> list[str]:
        """Return a body with the arguments in their places, and spend budget while it is built."""
        self.budget.spend(1 + len(body))
        result: list[str] = []
        tokens = iter(body)
        for token in tokens:
            if token != "#":
                result.append(token)
                continue
            number = next(tokens, "")
            argument = (
                values[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(values) else []
            )
            self.budget.spend(len(argument))
            result.extend(argument)
        return result

    def _choose(self, test: str, branches: str) -> None:
        """Read a test and its branches, and push back the one that is taken."""
        value = [] if test in ("Star", "Formula") else self.argument() or []
        first = self.argument() or [] if "T" in branches else []
        second = [self.argument() or [] for _ in range(branches.count("F"))]
        if test == "Next":
            holds = self.peek() == ("{" if value == ["\\bgroup"] else "".join(value).strip())
        elif test == "Star":
            holds = self.skip("*")
        else:
            holds = {
                "NoValue": tuple(value) == ABSENT,
                "Value": tuple(value) != ABSENT,
                "Boolean": value == [TRUE],
                "Blank": not "".join(value).strip(),
                "Formula": True,
            }[test]
        self._take_branch(first if holds else second[0] if second else [])

    def _choose_style(self) -> bool:
        """Read the branches of `\\mathchoice`; return False if it stays because none of them can grow.

        Of branches with macros the first is taken: all four of nested ones would grow beyond every limit.
        """
        branches = [self.argument() or [] for _ in range(4)]
        if any(token in self.table or token in _ACTIVE for branch in branches for token in branch):
            self._take_branch(branches[0])
            return True
        for branch in reversed(branches):
            self.push("{", *branch, "}")
        return False

    def _choose_branch(self, command: str) -> None:
        """Read one of TeX's conditionals up to its `\\fi`, and push back the branch that is taken; all where no end comes."""
        inside: list[str] = []
        depth, other = 1, 0
        while depth and (token := self.take()):
            depth += (token in _CONDITIONALS) - (token == "\\fi")
            inside.append(token)
            if token == "\\else" and depth == 1:
                other = len(inside)
        if depth:
            self._take_branch(inside)
        elif command in _IN_FORMULAS:
            self._take_branch(inside[: other - 1 if other else -1])
        else:
            self._take_branch(inside[other:-1] if other else [])

    def _take_branch(self, tokens: list[str]) -> None:
        self.budget.spend(1 + len(tokens))
        self.push(*tokens)

    def _prefixed(self, prefix: str) -> bool:
        """Read a definition after `\\global` or `\\long`; return False if none follows."""
        if self.peek() not in DEFINING and self.peek() not in _PREFIXES:
            return False
        everywhere = False
        while prefix in _PREFIXES:
            everywhere = everywhere or prefix == "\\global"
            self.peek()
            prefix = self.take()
        if prefix in DEFINING:
            self._define(prefix, everywhere=everywhere)
        elif prefix:
            self.push(prefix)
        return True

    def _define(self, how: str, *, everywhere: bool = False) -> None:
        """Read a definition; it ends with its group unless it is global."""
        found = self.definitions(how)
        if not found:
            self.notes.append(("a definition without a command", self.here))
        for each in found:
            if _gives_way(how, each.name, self.table):
                continue
            if how in _EXPANDED:
                each = _expanded(each, self.table, self.source, self.budget)
            if everywhere or how in _GLOBAL:
                for scope in self.scopes:
                    scope.pop(each.name, None)
            elif self.scopes:
                self.scopes[-1].setdefault(each.name, self.table.get(each.name))
            _put(self.table, each)

    def _environment_name(self, token: str) -> str:
        """Return the key of `\\begin{name}` in the table; its tokens stay unread."""
        position = len(self.pending) - 1
        while position >= 0 and self.pending[position][0].isspace():
            position -= 1
        if position < 0 or self.pending[position][0] != "{":
            return token
        name = token
        while position >= 0 and len(name) < 60:
            piece = self.pending[position][0]
            name += piece
            if piece == "}":
                return name
            position -= 1
        return token


class _Alone(_Expander):
    """Expands what stands alone: arguments that it would take from behind it are the letter x."""

    def argument(self) -> list[str] | None:
        return super().argument() or ["x"]
