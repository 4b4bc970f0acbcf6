"""User macros: takes definitions out of the tokens and expands calls, within limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.reader import is_predefined

_NEW = frozenset(["\\newcommand", "\\renewcommand", "\\providecommand", "\\DeclareRobustCommand"])
_DEF = frozenset(["\\def", "\\gdef", "\\edef", "\\xdef"])
_ENVIRONMENT = frozenset(["\\newenvironment", "\\renewenvironment"])
_OTHER = frozenset(["\\DeclareMathOperator", "\\let", "\\DeclarePairedDelimiter", "\\newoperator"])
DEFINING = _NEW | _DEF | _ENVIRONMENT | _OTHER
"""Commands that define macros."""
_PREFIXES = frozenset(["\\global", "\\long", "\\protected", "\\outer"])
_GLOBAL = frozenset(["\\gdef", "\\xdef"])
_EXPANDED = frozenset(["\\edef", "\\xdef"])
_OPENING = frozenset(["{", "\\begingroup", "\\bgroup"])
_CLOSING = frozenset(["}", "\\endgroup", "\\egroup"])


@dataclass(frozen=True, slots=True)
class Macro:
    """One macro: the pattern of its parameters (`#1`, or tokens that delimit them), a default, and its body."""

    pattern: tuple[str, ...]
    body: tuple[str, ...]
    default: tuple[str, ...] | None = None
    frozen: bool = False
    """True if the body is never expanded again: `\\let` keeps the command's old meaning."""


@dataclass(frozen=True, slots=True)
class Macros:
    """The macros of a document, for all of its formulas.

    >>> macros = Macros.from_latex(r"\\newcommand{\\R}{\\mathbb{R}} \\DeclareMathOperator{\\tr}{tr}")
    >>> sorted(macros.table)
    ['\\\\R', '\\\\tr']
    """

    table: dict[str, Macro] = field(default_factory=dict)

    @classmethod
    def from_latex(cls, *definitions: str) -> Macros:
        """Read the macros that LaTeX text defines (a preamble, or single definitions); other text is ignored."""
        table: dict[str, Macro] = {}
        for text in definitions:
            tokens, offsets = tokenize(text)
            collector = _Expander(tokens, offsets, text, table)
            collector.collect()
        return cls(table)

    @classmethod
    def of(cls, macros: Macros | Iterable[str]) -> Macros:
        """Convert a caller's argument to macros."""
        return macros if isinstance(macros, Macros) else cls.from_latex(*macros)


def expanded(
    tokens: list[str], offsets: list[int], source: str, macros: Macros, budget: Budget
) -> tuple[list[str], list[int], list[tuple[str, int]]]:
    """Return the tokens with all macros expanded, their offsets (a macro's tokens have that of its call), and repairs."""
    if not macros.table and DEFINING.isdisjoint(tokens):
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


class _Expander:
    """Expands from the left; the expansion of a macro is read again, and a definition ends with its group."""

    def __init__(
        self, tokens: Sequence[str], offsets: Sequence[int], source: str, table: dict[str, Macro]
    ) -> None:
        self.pending = list(zip(reversed(tokens), reversed(offsets), strict=True))
        self.source, self.table = source, table
        self.notes: list[tuple[str, int]] = []
        self.here = 0
        self.scopes: list[dict[str, Macro | None]] = []
        """For every open group, the definitions that its own definitions replaced."""
        self.budget = Budget(len(source))

    def collect(self) -> None:
        """Collect only the definitions; an `\\edef` without end is left out, and its calls are unknown."""
        while self.pending:
            token, self.here = self.pending.pop()
            if token in DEFINING:
                with suppress(FormulaError):
                    self.define(token)

    def expand(self, budget: Budget) -> tuple[list[str], list[int], list[tuple[str, int]]]:
        self.budget = budget
        tokens: list[str] = []
        offsets: list[int] = []
        while self.pending:
            token, self.here = self.pending.pop()
            if token in DEFINING:
                self.define(token)
                continue
            if token in _PREFIXES and self.peek() in DEFINING | _PREFIXES:
                self._prefixed(token)
                continue
            if token in _OPENING:
                self.scopes.append({})
            elif token in _CLOSING and self.scopes:
                self._close()
            if token == "\\noexpand" and self.pending:
                token, self.here = self.pending.pop()
            elif token[0] == "\\":
                name = token if token not in ("\\begin", "\\end") else self._environment(token)
                macro = self.table.get(name)
                if macro is not None:
                    self._call(name, macro, tokens, offsets)
                    continue
            tokens.append(token)
            offsets.append(self.here)
        return tokens, offsets, self.notes

    def _call(self, name: str, macro: Macro, tokens: list[str], offsets: list[int]) -> None:
        """Pushes the expansion of a macro back to be read; a frozen one is final."""
        here = self.here
        if macro.frozen:
            tokens.extend(macro.body)
            offsets.extend([here] * len(macro.body))
            return
        if name[-1].isalpha():
            self.skip_spaces()
        elif name.startswith(("\\begin{", "\\end{")):
            self.argument()
        try:
            replacement = self.replacement(macro)
        except SpentError:
            message = f"the macro {name} expands without end, or to far more than the formula"
            raise FormulaError(message, self.source, here) from None
        self.pending.extend((piece, here) for piece in reversed(replacement))

    def _close(self) -> None:
        for name, before in self.scopes.pop().items():
            if before is None:
                self.table.pop(name, None)
            else:
                self.table[name] = before

    def _prefixed(self, prefix: str) -> None:
        """Read a definition after `\\global` or `\\long`."""
        everywhere = False
        while prefix in _PREFIXES:
            everywhere = everywhere or prefix == "\\global"
            self.skip_spaces()
            prefix, self.here = self.pending.pop() if self.pending else ("", self.here)
        if prefix in DEFINING:
            self.define(prefix, everywhere=everywhere)
        elif prefix:
            self.pending.append((prefix, self.here))

    def _environment(self, token: str) -> str:
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

    # -- reading pieces

    def skip_spaces(self) -> None:
        while self.pending and self.pending[-1][0].isspace():
            self.pending.pop()

    def peek(self) -> str:
        self.skip_spaces()
        return self.pending[-1][0] if self.pending else ""

    def argument(self) -> list[str]:
        """Read the next token, or the content of the next group."""
        if not self.peek():
            self.notes.append(("missing argument of a macro", self.here))
            return []
        token, _ = self.pending.pop()
        return [token] if token != "{" else self.until(("}",))

    def until(self, ends: tuple[str, ...]) -> list[str]:
        """Read tokens up to and including one of the ends outside braces."""
        depth = 0
        result: list[str] = []
        while self.pending:
            token, _ = self.pending.pop()
            if depth == 0 and token in ends:
                return result
            depth += (token == "{") - (token == "}")
            result.append(token)
        self.notes.append((f"missing {' or '.join(ends)}", self.here))
        return result

    def optional(self) -> list[str] | None:
        if self.peek() != "[":
            return None
        self.pending.pop()
        return self.until(("]",))

    def replacement(self, macro: Macro) -> list[str]:
        """Return the expansion of a call, and spends budget while it is built."""
        arguments: dict[str, list[str]] = {}
        pattern = macro.pattern
        if macro.default is not None:
            optional = self.optional()
            arguments["1"] = list(macro.default) if optional is None else optional
        for position, item in enumerate(pattern):
            if item[0] == "#":
                following = pattern[position + 1] if position + 1 < len(pattern) else "#"
                arguments[item[1:]] = self.argument() if following[0] == "#" else self.until((following,))
            elif position == 0 and self.peek() == item:
                self.pending.pop()
        self.budget.spend(1 + len(macro.body))
        if not arguments:
            return list(macro.body)
        result: list[str] = []
        body = iter(macro.body)
        for token in body:
            if token == "#":
                argument = arguments.get(next(body, ""), ())
                self.budget.spend(len(argument))
                result.extend(argument)
            else:
                result.append(token)
        return result

    # -- definitions

    def name(self) -> str:
        """Read the command that is defined: `\\x` or `{\\x}`."""
        pieces = [piece for piece in self.argument() if not piece.isspace()]
        if len(pieces) != 1 or pieces[0][0] != "\\":
            self.notes.append(("a definition without a command", self.here))
            return ""
        return pieces[0]

    def put(self, name: str, macro: Macro, *, everywhere: bool = False) -> None:
        """Define a macro, in the open group or globally."""
        if everywhere:
            for scope in self.scopes:
                scope.pop(name, None)
        elif self.scopes:
            self.scopes[-1].setdefault(name, self.table.get(name))
        self.table[name] = macro

    def define(self, how: str, *, everywhere: bool = False) -> None:
        if how in _NEW:
            self._new_command(how, everywhere=everywhere)
        elif how in _DEF:
            self._definition(how, everywhere=everywhere or how in _GLOBAL)
        elif how in _ENVIRONMENT:
            self._new_environment(everywhere=everywhere)
        elif how == "\\let":
            name = self.name()
            if self.peek() == "=":
                self.pending.pop()
            meant = self.argument()
            if name and meant:
                macro = self.table.get(meant[0]) or Macro((), tuple(meant), frozen=True)
                self.put(name, macro, everywhere=everywhere)
        elif how == "\\DeclarePairedDelimiter":
            name, left, right = self.name(), self.argument(), self.argument()
            if name:
                body = ("\\left", *left, "#", "1", "\\right", *right)
                self.put(name, Macro(("*", "#1"), body), everywhere=everywhere)
        else:
            starred = self.peek() == "*"
            if starred:
                self.pending.pop()
            name, text = self.name(), self.argument()
            if name:
                star = ("*",) if starred else ()
                self.put(name, Macro((), ("\\operatorname", *star, "{", *text, "}")), everywhere=everywhere)

    def _new_command(self, how: str, *, everywhere: bool) -> None:
        if self.peek() == "*":
            self.pending.pop()
        name = self.name()
        pattern, default = self._parameters()
        body = self.argument()
        if how == "\\providecommand" and (name in self.table or is_predefined(name)):
            return
        if name:
            self.put(name, Macro(pattern, tuple(body), default), everywhere=everywhere)

    def _parameters(self) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        """Read `[2][x]`: the number of parameters, and the default of the first."""
        count = "".join(self.optional() or ["0"]).strip()
        default = self.optional()
        number = int(count) if count.isdigit() and len(count) == 1 else 0
        first = 2 if default is not None else 1
        pattern = tuple(f"#{i}" for i in range(first, number + 1))
        return pattern, None if default is None else tuple(default)

    def _new_environment(self, *, everywhere: bool) -> None:
        """Define an environment as two macros; it is also a group."""
        if self.peek() == "*":
            self.pending.pop()
        name = "".join(self.argument()).strip()
        pattern, default = self._parameters()
        beginning, end = self.argument(), self.argument()
        if name:
            begin = Macro(pattern, ("\\begingroup", *beginning), default)
            self.put(f"\\begin{{{name}}}", begin, everywhere=everywhere)
            self.put(f"\\end{{{name}}}", Macro((), (*end, "\\endgroup")), everywhere=everywhere)

    def _definition(self, how: str, *, everywhere: bool) -> None:
        name = self.name()
        pattern: list[str] = []
        while self.pending and self.pending[-1][0] != "{":
            token, _ = self.pending.pop()
            if token == "#" and self.pending:
                pattern.append("#" + self.pending.pop()[0])
            elif not token.isspace():
                pattern.append(token)
        body = self.argument()
        if how in _EXPANDED:
            inner = _Expander(body, [self.here] * len(body), self.source, dict(self.table))
            body, _, notes = inner.expand(self.budget)
            self.notes.extend(notes)
        if name:
            self.put(name, Macro(tuple(pattern), tuple(body)), everywhere=everywhere)
