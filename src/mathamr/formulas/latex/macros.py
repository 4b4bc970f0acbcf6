"""Macros of the user: definitions are taken out of the tokens, calls are replaced, within limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.lexer import tokenize

MAX_EXPANSIONS = 1_000
"""Calls of macros in one formula; what they produce is paid from its budget, so that a macro that grows or calls
itself ends in a `FormulaError`."""

_NEW = frozenset(["\\newcommand", "\\renewcommand", "\\providecommand", "\\DeclareRobustCommand"])
_DEF = frozenset(["\\def", "\\gdef", "\\edef", "\\xdef"])
_OTHER = frozenset(["\\DeclareMathOperator", "\\let", "\\DeclarePairedDelimiter", "\\newoperator"])
DEFINING = _NEW | _DEF | _OTHER
"""Commands that define macros."""


@dataclass(frozen=True, slots=True)
class Macro:
    """One macro: the pattern of its parameters (`#1`, or tokens that delimit them), a default, and its body."""

    pattern: tuple[str, ...]
    body: tuple[str, ...]
    default: tuple[str, ...] | None = None
    frozen: bool = False
    """Whether the body is never expanded again: `\\let` keeps the command as it was."""


@dataclass(frozen=True, slots=True)
class Macros:
    """A set of macros, to be given with every formula of a document.

    >>> macros = Macros.from_latex(r"\\newcommand{\\R}{\\mathbb{R}} \\DeclareMathOperator{\\tr}{tr}")
    >>> sorted(macros.table)
    ['\\\\R', '\\\\tr']
    """

    table: dict[str, Macro] = field(default_factory=dict)

    @classmethod
    def from_latex(cls, *definitions: str) -> Macros:
        """The macros that LaTeX text defines (a preamble, or single definitions); other text is ignored."""
        table: dict[str, Macro] = {}
        for text in definitions:
            tokens, offsets = tokenize(text)
            collector = _Expander(tokens, offsets, text, table)
            collector.collect()
        return cls(table)

    @classmethod
    def of(cls, macros: Macros | Iterable[str]) -> Macros:
        """What a caller gave, as macros."""
        return macros if isinstance(macros, Macros) else cls.from_latex(*macros)


def expanded(
    tokens: list[str], offsets: list[int], source: str, macros: Macros, budget: Budget
) -> tuple[list[str], list[int], list[tuple[str, int]]]:
    """The tokens with all macros replaced, their offsets (a macro's tokens stand where it was called), and notes."""
    if not macros.table and DEFINING.isdisjoint(tokens):
        return tokens, offsets, []
    return _Expander(tokens, offsets, source, dict(macros.table)).expand(budget)


class _Expander:
    """Replaces from the left; what a macro gives is read again."""

    def __init__(
        self, tokens: Sequence[str], offsets: Sequence[int], source: str, table: dict[str, Macro]
    ) -> None:
        self.pending = list(zip(reversed(tokens), reversed(offsets), strict=True))
        self.source, self.table = source, table
        self.notes: list[tuple[str, int]] = []
        self.here = 0

    def collect(self) -> None:
        """Only the definitions."""
        while self.pending:
            token, self.here = self.pending.pop()
            if token in DEFINING:
                self.define(token)

    def expand(self, budget: Budget) -> tuple[list[str], list[int], list[tuple[str, int]]]:
        tokens: list[str] = []
        offsets: list[int] = []
        expansions = 0
        while self.pending:
            token, self.here = self.pending.pop()
            if token in DEFINING:
                self.define(token)
                continue
            macro = self.table.get(token) if token[0] == "\\" else None
            if macro is None:
                tokens.append(token)
                offsets.append(self.here)
                continue
            expansions += 1
            if macro.frozen:
                tokens.extend(macro.body)
                offsets.extend([self.here] * len(macro.body))
                continue
            if token[-1].isalpha():
                self.skip_spaces()
            try:
                replacement = self.replacement(macro, budget)
            except SpentError:
                replacement, expansions = [], MAX_EXPANSIONS + 1
            if expansions > MAX_EXPANSIONS:
                raise FormulaError(
                    f"the macro {token} expands without end, or to far more than the formula",
                    self.source,
                    self.here,
                )
            here = self.here
            self.pending.extend((piece, here) for piece in reversed(replacement))
        return tokens, offsets, self.notes

    # -- reading pieces

    def skip_spaces(self) -> None:
        while self.pending and self.pending[-1][0].isspace():
            self.pending.pop()

    def peek(self) -> str:
        self.skip_spaces()
        return self.pending[-1][0] if self.pending else ""

    def argument(self) -> list[str]:
        """The next token, or the inside of the next group."""
        if not self.peek():
            self.notes.append(("missing argument of a macro", self.here))
            return []
        token, _ = self.pending.pop()
        return [token] if token != "{" else self.until(("}",))

    def until(self, ends: tuple[str, ...]) -> list[str]:
        """Tokens up to one of the ends outside braces, which is read too."""
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

    def replacement(self, macro: Macro, budget: Budget) -> list[str]:
        """What a call stands for, paid as it is put together."""
        arguments: dict[str, list[str]] = {}
        pattern = macro.pattern
        if macro.default is not None:
            given = self.optional()
            arguments["1"] = list(macro.default) if given is None else given
        for position, item in enumerate(pattern):
            if item[0] == "#":
                following = pattern[position + 1] if position + 1 < len(pattern) else "#"
                arguments[item[1:]] = self.argument() if following[0] == "#" else self.until((following,))
            elif position == 0 and self.peek() == item:
                self.pending.pop()
        budget.spend(len(macro.body))
        if not arguments:
            return list(macro.body)
        result: list[str] = []
        body = iter(macro.body)
        for token in body:
            if token == "#":
                argument = arguments.get(next(body, ""), ())
                budget.spend(len(argument))
                result.extend(argument)
            else:
                result.append(token)
        return result

    # -- definitions

    def name(self) -> str:
        """The command that is defined: `\\x` or `{\\x}`."""
        pieces = [piece for piece in self.argument() if not piece.isspace()]
        if len(pieces) != 1 or pieces[0][0] != "\\":
            self.notes.append(("a definition without a command", self.here))
            return ""
        return pieces[0]

    def define(self, how: str) -> None:
        if how in _NEW:
            self._new_command()
        elif how in _DEF:
            self._definition()
        elif how == "\\let":
            name = self.name()
            if self.peek() == "=":
                self.pending.pop()
            meant = self.argument()
            if name and meant:
                self.table[name] = self.table.get(meant[0]) or Macro((), tuple(meant), frozen=True)
        elif how == "\\DeclarePairedDelimiter":
            name, left, right = self.name(), self.argument(), self.argument()
            if name:
                body = ("\\left", *left, "#", "1", "\\right", *right)
                self.table[name] = Macro(("*", "#1"), body)
        else:
            starred = self.peek() == "*"
            if starred:
                self.pending.pop()
            name, text = self.name(), self.argument()
            if name:
                star = ("*",) if starred else ()
                self.table[name] = Macro((), ("\\operatorname", *star, "{", *text, "}"))

    def _new_command(self) -> None:
        if self.peek() == "*":
            self.pending.pop()
        name = self.name()
        count = "".join(self.optional() or ["0"]).strip()
        default = self.optional()
        body = self.argument()
        if not name:
            return
        number = int(count) if count.isdigit() and len(count) == 1 else 0
        first = 2 if default is not None else 1
        pattern = tuple(f"#{i}" for i in range(first, number + 1))
        self.table[name] = Macro(pattern, tuple(body), None if default is None else tuple(default))

    def _definition(self) -> None:
        name = self.name()
        pattern: list[str] = []
        while self.pending and self.pending[-1][0] != "{":
            token, _ = self.pending.pop()
            if token == "#" and self.pending:
                pattern.append("#" + self.pending.pop()[0])
            elif not token.isspace():
                pattern.append(token)
        body = self.argument()
        if name:
            self.table[name] = Macro(tuple(pattern), tuple(body))
