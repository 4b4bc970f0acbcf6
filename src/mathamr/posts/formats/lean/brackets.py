"""Brackets of Lean: where a signature ends, and the binders in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

OPENING, CLOSING = "([{⟨⦃", ")]}⟩⦄"
_BRACKET = re.compile(r"[(\[{⟨⦃)\]}⟩⦄]")
_SIGN = re.compile(
    r"""[(\[{⟨⦃]|[)\]}⟩⦄]|:=|:(?![:)])
    |\n[ \t]*\|(?=[^\n]*=>)  # the first case of a definition by cases
    |(?<![\w.])(?:where|let|have|letI|haveI|deriving|extends|decreasing_by|termination_by)(?![\w'!?])""",
    re.X,
)
_IDENTIFIER = re.compile(r"[^\W\d][\w'!?]*")


@dataclass(frozen=True, slots=True)
class Signature:
    """[start, end) of what a declaration says before `:=`, `where` or its first pattern; its type begins after `colon`."""

    start: int
    colon: int | None
    end: int
    ending: str


def signature(code: str, start: int, limit: int) -> Signature:
    """Return the signature that begins at `start`, after the name."""
    depth, colon, lets = 0, None, 0
    for match in _SIGN.finditer(code, start, limit):
        sign = match.group()
        if sign in OPENING:
            depth += 1
        elif sign in CLOSING:
            depth = max(0, depth - 1)
        elif depth:
            continue
        elif sign == ":":
            colon = match.end() if colon is None else colon
        elif sign in ("let", "have", "letI", "haveI"):
            lets += 1
        elif sign == ":=" and lets:
            lets -= 1
        elif sign == "extends":
            colon = match.start() if colon is None else colon
        else:
            return Signature(start, colon, match.start(), sign.strip())
    return Signature(start, colon, limit, "")


def closing(code: str, start: int, limit: int) -> int | None:
    """Return the offset after the bracket that closes the one at `start`; `None` if none does before `limit`."""
    depth = 0
    for match in _BRACKET.finditer(code, start, limit):
        depth += 1 if match.group() in OPENING else -1
        if depth <= 0:
            return match.end()
    return None


@dataclass(frozen=True)
class Binder:
    """`(x y : T)`, `{x : T}`, `[Group G]`: the bracket, the names, the type."""

    bracket: str
    names: tuple[str, ...]
    type: str

    @cached_property
    def text(self) -> str:
        """The binder as Lean writes it."""
        names = " ".join(self.names)
        inner = f"{names} : {self.type}" if names and self.type else names or self.type
        return f"{self.bracket}{inner}{CLOSING[OPENING.index(self.bracket)]}"


def binders(code: str, start: int, limit: int) -> Iterator[Binder]:
    """Yield the binders in [start, limit) of a source without comments.

    >>> source = "{α : Type*} [Group α] (a b : α)"
    >>> [binder.text for binder in binders(source, 0, len(source))]
    ['{α : Type*}', '[Group α]', '(a b : α)']
    """
    while match := _BRACKET.search(code, start, limit):
        start = match.end()
        if match.group() not in OPENING:
            continue
        end = closing(code, match.start(), limit)
        if end is None:
            return
        inner = " ".join(code[match.end() : end - 1].split())
        names, separator, type = _split_type(inner)
        if separator:
            yield Binder(match.group(), tuple(names.split()), type.partition(":=")[0].strip())
        elif match.group() == "[":
            yield Binder("[", (), inner)
        else:
            yield Binder(match.group(), tuple(_IDENTIFIER.findall(inner)), "")
        start = end


def _split_type(inner: str) -> tuple[str, str, str]:
    """Return a binder's names and type, cut at the first colon that stands in no bracket."""
    depth = 0
    for match in re.finditer(r"[(\[{⟨⦃)\]}⟩⦄:]", inner):
        if match.group() != ":":
            depth += 1 if match.group() in OPENING else -1
        elif not depth and inner[match.end() : match.end() + 1] != "=":
            return inner[: match.start()].strip(), ":", inner[match.end() :].strip()
    return inner, "", ""


def identifiers(text: str) -> set[str]:
    """Return the identifiers of a text, those with dots in their parts."""
    return set(_IDENTIFIER.findall(text))
