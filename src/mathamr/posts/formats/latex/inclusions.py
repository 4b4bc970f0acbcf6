r"""What a LaTeX text inputs, and which files these are: `\input`, `\subfile`, `\import`, and macros that write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.macros import Macros, without_macros
from mathamr.posts.formats.latex.definitions import commands_in
from mathamr.posts.macrotable import MacroTable

_COMMANDS = r"""\\(?:input|include|subfile)(?:\s*+\{([^{}\n]*+)\}|(?<=input)\s++([^\s{}\\%]++))  # TeX's \input needs no braces
    |\\(?:sub)?import\*?\s*+\{([^{}\n]*+)\}\s*+\{([^{}\n]*+)\}  # a folder and a file"""
_INPUT = re.compile(_COMMANDS, re.X)
_ARGUMENTS = r"(?![A-Za-z@])\*?(?:\s*+\[[^\[\]\n]*+\])?+(?:[ \t]*+\{[^{}\n]*+\}){1,3}+"


class Inclusion(NamedTuple):
    """One input of a text: where it stands, the path it names, and the file, which may be outside the folder."""

    start: int
    end: int
    written: str
    name: str
    target: Path | None


class Inclusions:
    """Finds the inputs in the files of a folder, with the macros of the collection if they are known."""

    def __init__(self, root: Path, macros: MacroTable | None = None) -> None:
        self.root = root.resolve()
        self._macros = macros
        names = sorted(macros.importers) if macros else []
        own = f"\n|\\\\(?P<own>{'|'.join(map(re.escape, names))}){_ARGUMENTS}" if names else ""
        self._pattern = re.compile(_COMMANDS + own, re.X)

    def within(self, text: str, file: Path, main: Path, position: int = 0) -> Iterator[Inclusion]:
        """Yield the inputs of a text, which is that of a file that belongs to a document."""
        for match in self._pattern.finditer(text, position):
            names = list(self._names(match, file))
            found = ((name, self._find(name, file, main)) for name in names)
            name, target = next((each for each in found if each[1]), (names[0] if names else "", None))
            if target is not None or (match.lastgroup != "own" and "#" not in name):
                yield Inclusion(match.start(), match.end(), match.group(), name, target)

    def _names(self, match: re.Match[str], file: Path) -> Iterator[str]:
        """Yield the paths that a command may name, its macros expanded."""
        if match.lastgroup == "own":
            for inner in _INPUT.finditer(self._expanded(match.group(), file)):
                yield _name(inner)
        else:
            name = _name(match)
            yield self._expanded(name, file) if "\\" in name else name

    def _expanded(self, latex: str, file: Path) -> str:
        path = file.relative_to(self.root).as_posix() if file.is_relative_to(self.root) else file.name
        needed = self._macros.needed(path, commands_in(latex)) if self._macros else ()
        return _expanded(latex, needed)

    def _find(self, name: str, file: Path, main: Path) -> Path | None:
        """Return the file a path leads to: counted from the document's folder, or from that of the file."""
        outside: Path | None = None
        for folder in dict.fromkeys((main.parent, file.parent)):
            for candidate in (name, f"{name}.tex") if name else ():
                path = resolved(folder / candidate)
                if path is None:
                    continue
                if not path.is_relative_to(self.root):
                    outside = outside or path
                elif is_file(path):
                    return path
        return outside


@lru_cache(maxsize=10_000)
def _expanded(latex: str, definitions: tuple[str, ...]) -> str:
    try:
        return without_macros(latex, _read(definitions))
    except FormulaError:
        return latex  # its macros do not end


@lru_cache(maxsize=100)
def _read(definitions: tuple[str, ...]) -> Macros:
    return Macros.from_latex(*definitions)


def resolved(path: Path) -> Path | None:
    """Return the target of a path; `None` if it cannot be resolved (a loop of links, a NUL, a name too long)."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def is_file(path: Path) -> bool:
    """Return whether a path leads to a file."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _name(match: re.Match[str]) -> str:
    plain, bare, folder, name = match.groups()[:4]
    if name is not None:
        return f"{folder.strip()}/{name.strip()}"
    return (plain or bare or "").strip().strip('"')
