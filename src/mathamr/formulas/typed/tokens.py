"""Tokens of typed formulas, and dialects: the same grammar with other spellings."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mathamr.formulas.typed import names
from mathamr.formulas.typed.fractions import Kind

ASCII: dict[str, tuple[str, Kind]] = {
    "<=>": (r"\Leftrightarrow", "relation"), "<->": (r"\leftrightarrow", "relation"), "<==>": (r"\Leftrightarrow", "relation"),
    "|->": (r"\mapsto", "relation"), "-->": (r"\to", "relation"), "==>": (r"\Rightarrow", "relation"),
    "->": (r"\to", "relation"), "=>": (r"\Rightarrow", "relation"), "<-": (r"\leftarrow", "relation"),
    "<=": (r"\le", "relation"), ">=": (r"\ge", "relation"), "=<": (r"\le", "relation"), "!=": (r"\ne", "relation"),
    "=/=": (r"\ne", "relation"), "/=": (r"\ne", "relation"), "~=": (r"\cong", "relation"), "~~": (r"\approx", "relation"),
    "==": ("=", "relation"), ":=": (":=", "relation"), "<<": (r"\ll", "relation"), ">>": (r"\gg", "relation"),
    "+-": (r"\pm", "operation"), "+/-": (r"\pm", "operation"), "-+": (r"\mp", "operation"), "...": (r"\ldots", "atom"),
    "~": (r"\sim", "relation"), "=": ("=", "relation"), "<": ("<", "relation"), ">": (">", "relation"), ":": (":", "relation"),
    "+": ("+", "operation"), "-": ("-", "operation"), "*": (r"\cdot", "operation"), "\\": (r"\setminus", "operation"),
    ",": (",", "comma"), ";": (";", "comma"), "/": ("/", "slash"), "&&": (r"\land", "operation"), "%": (r"\%", "atom"),
    "#": (r"\#", "atom"), "&": (r"\&", "operation"),
}  # fmt: skip


def _token_pattern(words: str, signs: Collection[str]) -> re.Pattern[str]:
    """Return the pattern of one token: those of all dialects differ in their words and signs."""
    return re.compile(
        rf"""(?P<space>\s*)(?:
        (?P<number>\d+(?:\.\d+)?)
        | (?P<command>\\(?:[A-Za-z]+|[^\sA-Za-z]))
        | (?P<word>{words})
        | (?P<sign>{"|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))})
        | (?P<character>\S)
        )""",
        re.VERBOSE,
    )


@dataclass(frozen=True)
class Dialect:
    """A notation whose every text is a formula: a slash and a script take one factor, a word is a name or single letters."""

    spellings: Mapping[str, str]
    """What the dialect writes, as this reader knows it: a character, a word or a command."""
    wrapped: Mapping[str, str]
    """Names with one argument, in addition to those that everybody types, and their LaTeX."""
    pairs: Mapping[str, str]
    """Names with two arguments, one behind the other."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of a token; a name is found inside a word: `sinx` is two tokens."""
        known = {*self.spellings, *self.wrapped, *self.pairs, *_SIGNS, *names.NAMES}
        words = sorted((word for word in known if word[0].isalpha()), key=len, reverse=True)
        signs = [sign for sign in known if not sign[0].isalpha()]
        return _token_pattern("|".join([_QUOTED, *map(re.escape, words), "[A-Za-z]"]), signs)


_QUOTED = r'"[^"]*"|(?:text|mbox)(?:\([^()]*\)|\{[^{}]*\})'
"""Words in a formula of a dialect."""
_SIGNS = (*ASCII, "**", "||", *"()[]{}|^_'!?.")
_TOKEN = _token_pattern("[A-Za-z]+", _SIGNS)


class Token(NamedTuple):
    """A number, command, word, sign or other character, and whether a space precedes it."""

    kind: str
    text: str
    space: bool


def split_tokens(text: str, dialect: Dialect | None) -> list[Token]:
    """Return the tokens of a text, those of a dialect in the spelling of the grammar."""
    found = [
        Token(match.lastgroup or "", match.group(match.lastgroup or 0), bool(match["space"]))
        for match in (dialect.pattern if dialect else _TOKEN).finditer(text)
    ]
    if dialect is None:
        return found
    return [_respelled(token, dialect) for token in found if dialect.spellings.get(token.text) != ""]


def _respelled(token: Token, dialect: Dialect) -> Token:
    """Return a token of a dialect in the spelling of this reader."""
    spelling = dialect.spellings.get(token.text)
    if spelling is None:
        return token
    kind = (
        "word" if spelling.isascii() and spelling.isalpha() else "sign" if spelling in ASCII else "character"
    )
    return Token("command" if spelling[0] == "\\" else kind, spelling, token.space)
