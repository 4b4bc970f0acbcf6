"""Reads a formula that was typed without LaTeX, such as `sum_(n=1)^oo 1/n^2` or `x² ≤ √2`, into LaTeX.

The grammar is that of AsciiMath with the conventions of people who never read it: a product without spaces binds tighter than a
slash (`n(n+1)/2`), bars and angles are brackets where they can be, `R` is a set after `in`. LaTeX commands pass unchanged.
A `Dialect` is the same grammar with other spellings, and without those conventions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.latex.unicode import (
    accent,
    fraction,
    letter,
    lowered,
    raised,
    root,
    symbols,
    unicode_to_latex,
)
from mathamr.formulas.typed import names
from mathamr.formulas.typed.fractions import OPERANDS, Kind, TypedItem, fractions, written
from mathamr.formulas.typed.names import rewritten
from mathamr.formulas.typed.tokens import ASCII, Dialect, Token, split_tokens

DEEPEST = 40
"""Brackets inside each other; deeper ones are read as single characters."""
MOST_NESTED = 80
"""Operands, scripts and arguments inside each other; a text that nests more of them is taken for LaTeX."""
MOST_STEPS = 10
"""Parts that are read for each token, however often bars that close nothing are tried inside each other."""
P = ParamSpec("P")
T = TypeVar("T")

_ACCENTED = re.compile("([^\\W\\d_])([\u0300-\u036f\u20d0-\u20ff])")
_CLOSING = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉", "‖": "‖"}
_SHOWN = {
    "{": r"\{", "}": r"\}", "⟨": r"\langle ", "⟩": r"\rangle ", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ",
    "⌉": r"\rceil ", "‖": r"\|",
}  # fmt: skip
_KINDS: tuple[tuple[Mapping[str, str], Kind], ...] = (
    (names.LIMITS, "big"), (names.CONSTANTS, "atom"), (names.RELATIONS, "relation"), (names.OPERATIONS, "operation"),
    (names.CONNECTIVES, "text"),
)  # fmt: skip
"""What words mean by the kind of their item."""
_RELATION_ROLES = frozenset(["RELOP", "ARROW", "METARELOP"])
_OPERATION_ROLES = frozenset(["ADDOP", "MULOP", "BINOP", "COMPOSEOP", "MODIFIEROP"])
_BIG_ROLES = frozenset(["SUMOP", "INTOP", "LIMITOP", "BIGOP"])


def typed_to_latex(text: str, dialect: Dialect | None = None) -> str:
    r"""Return the LaTeX of a typed formula, or of one in a dialect.

    >>> typed_to_latex("sum_(n=1)^oo 1/n^2"), typed_to_latex("x² ≤ √2")
    ('\\sum_{n=1}^\\infty \\frac{1}{n^2}', 'x^2 \\le \\sqrt{2}')
    >>> typed_to_latex("|<x,y>| <= ||x|| ||y||"), typed_to_latex("n(n+1)/2")
    ('|\\langle x,y\\rangle | \\le \\|x\\| \\|y\\|', '\\frac{n(n+1)}{2}')
    """
    typed = text
    text = rewritten(text) if dialect is None else text
    text = "".join(map(_decomposed, text))
    text = _ACCENTED.sub(
        lambda match: f"\\{name} {match[1]}" if (name := accent(match[2])) else match[1], text
    )
    try:
        return _Reader(text, dialect).formula()
    except _NestedTooDeeplyError:
        return unicode_to_latex(typed)


_remembered_script = lru_cache(maxsize=256)(typed_to_latex)


def _decomposed(character: str) -> str:
    if character <= "\x7f" or not character.isalpha():
        return character
    parts = unicodedata.normalize("NFD", character)
    return parts if len(parts) == 2 and accent(parts[1]) else character


class _NestedTooDeeplyError(Exception):
    """The text nests more than `MOST_NESTED` parts, or is read again more often than `MOST_STEPS` allows."""


def _nested(
    method: Callable[Concatenate[_Reader, P], T],
) -> Callable[Concatenate[_Reader, P], T]:
    """Bound how deeply a method calls itself; every cycle of the grammar passes one that is bounded."""

    @wraps(method)
    def bounded(self: _Reader, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.steps += 1
        if self.nested >= MOST_NESTED or self.steps > MOST_STEPS * (len(self._tokens) + MOST_NESTED):
            raise _NestedTooDeeplyError
        self.nested += 1
        found = method(self, *args, **kwargs)
        self.nested -= 1
        return found

    return bounded


class _Reader:
    """Reads tokens from the left; whatever is typed gives LaTeX."""

    def __init__(self, text: str, dialect: Dialect | None) -> None:
        self._tokens, self._dialect = split_tokens(text, dialect), dialect
        self._wrapping = names.WRAPPED if dialect is None else {**names.WRAPPED, **dialect.wrapped}
        self._at = 0
        self._depth = 0
        self.nested = self.steps = 0
        self._unclosed: set[int] = set()
        """Bars that were found not to open anything; to try them again inside each other takes exponential time."""
        self._half_bar = False
        """True if the first bar of `||` was taken as a closing one."""
        self._crosses = dialect is None and text.count("x") == len(re.findall(r"(?<=\s)x(?=\s)", text))

    def formula(self) -> str:
        items: list[TypedItem] = []
        while self._at < len(self._tokens):
            items += self._items(())
            if self._at < len(self._tokens):  # a closing bracket that nothing opened
                items.append(TypedItem(self._take(), "atom"))
        return self._written(items)

    def _written(self, items: list[TypedItem], *, flat: bool = False) -> str:
        """Return the LaTeX of items with their slashes as fractions; in scripts they stay slashes, unless in a dialect."""
        is_dialect = self._dialect is not None
        return written(fractions(items, flat=flat and not is_dialect, single=is_dialect))

    # -- tokens

    def _peek(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return self._tokens[place].text if place < len(self._tokens) else ""

    def _spaced(self, ahead: int = 0) -> bool:
        place = self._at + ahead
        return place >= len(self._tokens) or self._tokens[place].space

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    # -- grammar

    def _items(self, closers: Collection[str]) -> list[TypedItem]:
        """Return everything up to a closing bracket of those that are open."""
        items: list[TypedItem] = []
        while self._at < len(self._tokens):
            token = self._peek()
            is_operand = bool(items) and items[-1].kind in OPERANDS
            if token in closers and (token not in "|‖" or is_operand):
                break
            if token == "||" and "|" in closers and is_operand:
                self._half_bar = True
                break
            if token in (")", "]", "}", "⟩", "⌋", "⌉"):
                break
            items.append(self._next(after_operand=is_operand))
        return items

    @_nested
    def _next(self, *, after_operand: bool) -> TypedItem:
        token, space = self._peek(), self._spaced()
        if token in ("|", "||", "‖", "∥"):
            opened = self._bar(token, after_operand=after_operand)
            if opened is not None:
                return self._scripted(opened)
            self._at += 1
            return TypedItem(r"\mid" if token == "|" else r"\|", "relation", space)
        if token == "<" and (not after_operand) and self._is_angle():
            return self._scripted(self._group("<", ">", r"\langle ", r"\rangle ", space=space))
        if (
            token == "x"
            and after_operand
            and self._crosses
            and self._tokens[self._at - 1].text not in names.GREEK
            and space
            and self._spaced(1)
            and self._peek(1)[:1].isalnum()
        ):
            self._at += 1
            return TypedItem(r"\times", "operation", space=True)
        if token == "*" and (self._peek(1) in ("", ")", "]", ",", "=") or not after_operand):
            self._at += 1
            return TypedItem("^*" if after_operand else "*", "atom")
        kind = self._tokens[self._at].kind
        if kind == "sign" and token in ASCII:
            self._at += 1
            return self._indexed(TypedItem(*ASCII[token], space))
        if kind == "word":
            item = self._name(space=space)
            if item.kind == "function":
                return self._applied(self._scripted(item))
            return self._scripted(item) if item.kind in ("atom", "big") else item
        if kind == "character":
            return self._character(space=space)
        return self._scripted(self._primary())

    def _primary(self) -> TypedItem:
        """Return an operand without its scripts."""
        space = self._spaced()
        token = self._peek()
        kind = self._tokens[self._at].kind
        if token in _CLOSING and self._depth < DEEPEST:
            if token == "(" and self._peek(1) == "mod":
                return self._modulus(space=space)
            return self._group(token, _CLOSING[token], _SHOWN.get(token, token), "", space=space)
        self._at += 1
        if kind == "number":
            return TypedItem(token, "number", space)
        if kind == "command":
            return TypedItem(token + self._arguments(), "atom", space)
        if token == "?" and self._peek()[:1].isalnum() and not self._spaced():
            word = self._take()
            return TypedItem(f"?{word}", "atom", space)
        if token in ("^", "_"):
            self._at -= 1
            return TypedItem("{}", "atom", space)
        return TypedItem(token, "atom", space)

    def _arguments(self) -> str:
        """Return the groups that belong to a LaTeX command."""
        groups = ""
        while self._peek() == "{" and not self._spaced():
            self._at += 1
            groups += f"{{{self._written(self._items('}'))}}}"
            self._at += self._peek() == "}"
        return groups

    def _modulus(self, *, space: bool) -> TypedItem:
        self._at += 2
        inside = self._written(self._items(")"))
        self._at += self._peek() == ")"
        return TypedItem(rf"\pmod{{{inside}}}", "text", space)

    def _group(self, opening: str, closing: str, left: str, right: str, *, space: bool) -> TypedItem:
        self._at += 1
        self._depth += 1
        items = self._items(closing) if opening != "<" else self._until_angle()
        self._depth -= 1
        inside = self._written(items)
        found = self._peek()
        if self._dialect is not None and found == closing and (matrix := _matrix(opening, items)):
            self._at += 1
            return TypedItem(matrix, "atom", space)
        if found == closing or (found in (")", "]") and opening in "(["):
            self._at += 1
            right = right or _SHOWN.get(found, found)
        return TypedItem(
            f"{left}{inside}{right}",
            "atom",
            space,
            inside if opening == "(" and right == ")" and "," not in inside else "",
        )

    def _until_angle(self) -> list[TypedItem]:
        """Return the parts of an inner product: none of them is a relation."""
        items: list[TypedItem] = []
        while self._at < len(self._tokens) and self._peek() != ">":
            items.append(self._next(after_operand=bool(items) and items[-1].kind in OPERANDS))
        return items

    def _is_angle(self) -> bool:
        """Return True if `<` opens an inner product: a comma or a bar, and `>` before any other relation."""
        separated = False
        for ahead in range(1, 40):
            token = self._peek(ahead)
            if token == ">":
                return separated
            if token in ("", "<", "=", "<=", ">=", "->"):
                return False
            separated = separated or token in (",", "|")
        return False

    def _bar(self, token: str, *, after_operand: bool) -> TypedItem | None:
        """Return the value or norm that a bar opens; `None` where the bar is a relation."""
        space = self._spaced()
        if token == "|" and after_operand and space and self._spaced(1):
            return None
        closing = token
        start = self._at
        if (
            self._depth >= DEEPEST
            or start in self._unclosed
            or not self._closes(closing, after_operand=after_operand)
        ):
            return None
        self._at += 1
        self._depth += 1
        items = self._items((closing,))
        self._depth -= 1
        if not items or (self._peek() != closing and not self._half_bar):
            self._at = start
            self._unclosed.add(start)
            return None
        if self._half_bar:  # the second bar of || opens the next value
            self._half_bar = False
            self._tokens[self._at] = Token("sign", "|", space=False)
        else:
            self._at += 1
        shown = "|" if token == "|" else r"\|"
        return TypedItem(f"{shown}{self._written(items)}{shown}", "atom", space)

    def _closes(self, bar: str, *, after_operand: bool) -> bool:
        """Return True if a bar of the same kind follows before the open bracket closes."""
        level = 0
        for ahead in range(1, len(self._tokens) - self._at):
            token = self._peek(ahead)
            level += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
            if level < 0:
                return False
            if token == bar or (bar == "|" and token == "||"):
                return not (after_operand and self._spaced(ahead) and self._spaced(ahead + 1))
        return False

    # -- words

    def _name(self, *, space: bool) -> TypedItem:
        """Return what a word means, with its arguments but without its scripts."""
        word = self._take()
        if not word[-1].isalpha():
            words = re.split(r"[\"({]", word, maxsplit=1)[1][:-1]
            return TypedItem(rf"\text{{{words}}}", "atom", space)
        if word in self._wrapping:
            return self._wrapped(self._wrapping[word], space=space)
        if self._dialect is not None and word in self._dialect.pairs:
            first, second = self._argument(), self._argument()
            return TypedItem(_filled(self._dialect.pairs[word], first, second), "atom", space)
        if word in names.PAIRS and self._peek() == "(":
            return self._pair(names.PAIRS[word], space=space)
        if word == "inf" and self._at > 1 and self._tokens[self._at - 2].text in ("-", "+", "->", "^", "to"):
            return TypedItem(r"\infty", "atom", space)
        for known, kind in _KINDS:
            if word in known:
                return TypedItem(known[word], kind, space)
        if (name := names.function(word)) is not None:
            return TypedItem(name, "function", space)
        return TypedItem(*self._letters(word), space)

    def _argument(self) -> str:
        argument = self._scripted_argument()
        return argument.group or argument.latex

    def _letters(self, word: str) -> tuple[str, Kind]:
        """Return the letters of a word as a product, or a word of four and more letters as text."""
        if (letter := names.greek(word)) is not None:
            return letter, "atom"
        if word[0] == "d" and (letter := names.greek(word[1:])) is not None:
            return f"d{letter}", "atom"
        for name in ("pi", "theta", "lambda"):
            if word.startswith(name) and len(word) == len(name) + 1:
                return f"\\{name} {word[-1]}", "atom"
        if len(word) > 3 and not word.isupper() and re.search("[aeiou]", word[1:]):
            return rf"\text{{{word}}}", "atom"
        return word, "atom"

    def _applied(self, function: TypedItem) -> TypedItem:
        """Return a function as one factor with its argument in brackets right behind it; in a dialect, with any operand."""
        if self._peek() in ("(", "[") and not self._spaced():
            argument = self._scripted(self._primary())
            return TypedItem(function.latex + argument.latex, "atom", function.space)
        if self._dialect is not None and self._peek() and self._tokens[self._at].kind in ("word", "number"):
            argument = self._next(after_operand=False)
            return TypedItem(written([function, replace(argument, space=True)]), "atom", function.space)
        return function

    def _wrapped(self, pattern: str, *, space: bool) -> TypedItem:
        return TypedItem(pattern.replace("%s", self._argument()), "atom", space)

    def _scripted_argument(self) -> TypedItem:
        """Return what a root stands over: a group, or the next factor with its scripts."""
        if self._at >= len(self._tokens):
            return TypedItem("{}", "atom")
        if self._peek() in ("(", "{", "["):
            return self._unbraced(self._primary())
        return self._next(after_operand=False)

    @staticmethod
    def _unbraced(item: TypedItem) -> TypedItem:
        """Return a group in braces or brackets that only holds its content together."""
        for left, right in ((r"\{", r"\}"), ("(", ")")):
            if item.latex.startswith(left) and item.latex.endswith(right) and not item.group:
                return TypedItem(item.latex, "atom", item.space, item.latex[len(left) : -len(right)])
        return item

    def _pair(self, pattern: str, *, space: bool) -> TypedItem:
        self._at += 1
        parts: list[str] = []
        while True:
            items: list[TypedItem] = []
            while self._at < len(self._tokens) and self._peek() not in (",", ")"):
                items.append(self._next(after_operand=bool(items) and items[-1].kind in OPERANDS))
            parts.append(self._written(items))
            if self._at >= len(self._tokens) or self._take() == ")" or len(parts) > 2:
                break
        first, second = (*parts, "", "")[:2]
        return TypedItem(_filled(pattern, first, second), "atom", space)

    # -- scripts

    def _indexed(self, item: TypedItem) -> TypedItem:
        """Return a relation with a lower index right behind it, such as `=_A`."""
        has_index = item.kind == "relation" and self._peek() == "_" and not self._spaced()
        return self._scripted(item) if has_index else item

    def _scripted(self, base: TypedItem) -> TypedItem:
        """Return a base with all scripts, primes and factorials that follow it."""
        latex, group = base.latex, base.group
        while self._at < len(self._tokens):
            token = self._peek()
            if token == "_" and self._peek(1) in names.ACCENTS and not self._spaced(1):
                latex = names.ACCENTS[self._peek(1)].replace("%s", latex)
                self._at += 2
            elif token in ("^", "**", "_"):
                self._at += 1
                latex += f"{'_' if token == '_' else '^'}{_braced(self._script(latex, token))}"
            elif token in ("'", "′", "″", "’") and not self._spaced():
                self._at += 1
                latex += symbols().get(token, "'")
            elif token == "!" and not self._spaced() and base.kind != "big" and self._peek(1) != "=":
                self._at += 1
                latex += "!"
            elif (
                form := raised if raised(token) else lowered if lowered(token) else None
            ) and not self._spaced():
                inside = ""
                while (plain := form(self._peek())) and not self._spaced():
                    inside += plain
                    self._at += 1
                latex += f"{'^' if form is raised else '_'}{_braced(_remembered_script(inside))}"
            else:
                break
            group = ""
        return TypedItem(latex, base.kind, base.space, group)

    @_nested
    def _script(self, base: str, sign: str) -> str:
        """Return what is above or below: a group, or as little as a person means by it."""
        if self._at >= len(self._tokens):
            return ""
        token, kind = self._peek(), self._tokens[self._at].kind
        if token == "{":
            self._at += 1
            inside = self._written(self._items("}"), flat=True)
            self._at += self._peek() == "}"
            return inside
        if token == "(":
            self._at += 1
            inside = self._written(self._items(")"), flat=True)
            self._at += self._peek() == ")"
            return inside
        if token in ("-", "+", "−") and not self._spaced(1):
            self._at += 1
            return f"{'+' if token == '+' else '-'}{self._script(base, sign)}"
        if kind == "word" and self._dialect is not None:
            return self._name(space=False).latex
        if kind == "word":
            return self._script_word(base, sign)
        if token == "*":
            self._at += 1
            return "*"
        if kind == "character" and sign == "_" and (symbol := symbols().get(token)):
            self._at += 1  # the script that follows is the base's: ∫_-∞^∞
            return symbol
        if kind == "character":
            return self._character(space=False).latex
        return self._scripted(self._primary()).latex if sign != "_" else self._primary().latex

    def _script_word(self, base: str, sign: str) -> str:
        """Return the letters of a script: all of `a_ij` and `e^ix`, one of `x^ny` and `a_nb_n`."""
        word = self._take()
        if word in names.INFINITY or word == "inf":
            return r"\infty"
        if (letter := names.greek(word)) is not None:
            return letter
        if word in ("max", "min", "sup"):
            return f"\\{word}"
        is_exponent = sign != "_"
        follows = self._peek() in ("^", "_", "**", "(") and not self._spaced()
        whole = base in ("e", "2", "10") if is_exponent else len(word) <= 2 and not follows
        if len(word) == 1 or whole:
            following = self._peek() in ("^", "**") and is_exponent and not self._spaced()
            return self._scripted(TypedItem(word, "atom")).latex if following else word
        self._at -= 1
        self._tokens[self._at] = Token("word", word[1:], space=False)
        return word[0]

    # -- characters

    def _character(self, *, space: bool) -> TypedItem:
        token = self._peek()
        if token in _CLOSING:
            return self._scripted(self._primary())
        self._at += 1
        if (index := root(token)) is not None:
            return self._scripted(TypedItem(f"\\sqrt{index}{{{self._argument()}}}", "atom", space))
        if raised(token) and self._peek() == "√":
            self._at += 1
            return TypedItem(f"\\sqrt[{raised(token)}]{{{self._argument()}}}", "atom", space)
        if (parts := fraction(token)) is not None:
            return TypedItem(f"\\frac{{{parts[0]}}}{{{parts[1]}}}", "number", space)
        if raised(token) or lowered(token):
            self._at -= 1
            self._tokens[self._at] = Token("character", token, space=False)  # else nothing would take it
            return self._scripted(TypedItem("{}", "atom", space))
        if (latex := letter(token)) is not None:
            return self._scripted(TypedItem(latex, "atom", space))
        latex = symbols().get(token, token)
        if token == "Σ" and self._at < len(self._tokens) and (self._spaced() or self._peek() in ("_", "^")):
            latex = r"\sum"
        kind = self._kind(latex)
        item = TypedItem(latex, kind, space)
        return self._scripted(item) if kind in ("atom", "big") else self._indexed(item)

    @staticmethod
    def _kind(latex: str) -> Kind:
        if latex in ASCII:
            return ASCII[latex][1]
        known = SYMBOLS[latex].role if latex in SYMBOLS else ""
        if known in _RELATION_ROLES:
            return "relation"
        if known in _OPERATION_ROLES:
            return "operation"
        if known in _BIG_ROLES:
            return "big"
        if latex in (r"\forall", r"\exists", r"\neg", r"\partial", r"\nabla"):
            return "atom" if latex in (r"\partial", r"\nabla") else "text"
        return "atom"


def _matrix(opening: str, items: list[TypedItem]) -> str | None:
    """Return the matrix that rows in brackets inside of brackets make, as in `[[a,b],[c,d]]`; `None` where they do not."""
    rows = [item.latex for item in items[::2]] if opening in ("[", "(") else []
    if len(rows) < 2 or any(item.kind != "comma" for item in items[1::2]):
        return None
    if not all(row[0] == opening and row[-1] == _CLOSING[opening] for row in rows):
        return None
    cells = [_cells(row[1:-1]) for row in rows]
    if len({len(row) for row in cells}) > 1:
        return None
    name = "bmatrix" if opening == "[" else "pmatrix"
    inside = r" \\ ".join(map(" & ".join, cells))
    return rf"\begin{{{name}}}{inside}\end{{{name}}}"


def _cells(row: str) -> list[str]:
    """Return the parts of a row between the commas that are not inside of brackets.

    >>> _cells("a, f(b, c)")
    ['a', 'f(b, c)']
    """
    cells, depth, begun = [], 0, 0
    for place, sign in enumerate(row):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            cells.append(row[begun:place])
            begun = place + 1
    return [cell.strip() for cell in (*cells, row[begun:])]


def _filled(pattern: str, first: str, second: str) -> str:
    before, between, after = pattern.split("%s")
    return f"{before}{first}{between}{second}{after}"


def _braced(script: str) -> str:
    return script if len(script) == 1 or re.fullmatch(r"\\[A-Za-z]+", script) else f"{{{script}}}"
