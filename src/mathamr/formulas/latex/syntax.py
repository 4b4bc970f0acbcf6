"""The syntax of LaTeX formulas: rows of symbols and pieces, which trees and drawings are both made of.

A row lists the numbers of tokens that are symbols, and a `Construct` for everything else: a group, a script, a command with its
arguments. A `CommandSyntax` says once how a command is read; `nodes` and `display` say what each kind of piece becomes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Construct:
    """A part of a row that is more than a symbol: its kind, the token where it begins, its arguments, and details."""

    __slots__ = ("arguments", "data", "kind", "place", "silent")

    def __init__(
        self,
        kind: str,
        place: int,
        arguments: tuple[Any, ...] = (),
        data: Any = None,
        *,
        silent: bool = False,
    ) -> None:
        self.kind, self.place, self.arguments, self.data, self.silent = kind, place, arguments, data, silent

    def __repr__(self) -> str:
        return f"Construct({self.kind!r}, {self.place}, {self.arguments!r}, {self.data!r})"


Row = list[int | Construct]


class CommandSyntax(NamedTuple):
    """How a command is read: the kind of its piece, its arguments, details, and (`silent`) whether scripts cannot attach to it.

    The arguments are letters: `m` a formula in braces or the next piece, `M` the same as a script, `o` a formula in brackets,
    `r` text as it is written, `b` such text in brackets, `B` any number of those (the first counts), `s` a star, `t` words,
    `l` a length without braces, `d` a delimiter, `D` one of a chosen size, `u` and `v` a formula up to `\\of` and `\\over`,
    `x` words on a page and a formula in a tree, `L` the lines of a table in braces, `k` what
    stands before a brace. Without its table a command leaves no piece.
    """

    kind: str
    arguments: str = ""
    data: Any = None
    silent: bool = False


class Expansion(NamedTuple):
    """A command that stands for LaTeX, in which `#1` to `#9` are its arguments.

    These are letters again: `m` an argument, `q` one in braces if there is one, `o` one in brackets if there is one, `s` a star,
    which is not numbered. `latex` is told which of them are there, and whether it is drawn.
    """

    arguments: str
    latex: Callable[[Sequence[bool], bool], str]


class Delimiter(NamedTuple):
    """A delimiter as it is written, and its token."""

    token: str
    place: int


@dataclass(slots=True)
class CellLine:
    """A line of a table: its cells, the rules above it (command and columns), and the options after it."""

    cells: list[Row] = field(default_factory=list)
    rules: list[tuple[str, str]] = field(default_factory=list)
    options: str = ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in one font, and the colour that they are drawn in (model and name)."""

    text: str
    font: Any
    colour: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Inset:
    """Mathematics among words: a formula between dollars, or a command."""

    row: Row
    font: Any = None
    """The font at the start of a formula between dollars."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Space among words, by its length."""

    length: str
