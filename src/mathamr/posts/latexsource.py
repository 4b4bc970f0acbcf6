"""LaTeX documents in several files: `\\input` followed inside one folder, and the macros a document defines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mathamr.errors import MathAMRError
from mathamr.posts.files import STDIN, read_text
from mathamr.posts.report import Report

SUFFIXES = (".tex", ".latex", ".ltx")

_INPUT = re.compile(
    r"\\(?:input|include|subfile)\s*(?:\{([^{}\n]*)\}|(?<=input)\s([^\s{}\\%]+))"
    r"|\\(?:sub)?import\*?\s*\{([^{}\n]*)\}\s*\{([^{}\n]*)\}"
)
_PACKAGE = re.compile(r"\\(?:usepackage|RequirePackage)\s*(?:\[[^\[\]]*\])?\s*\{([^{}]*)\}")
_VERBATIM = re.compile(r"\\(begin|end)\s*\{(?:verbatim|Verbatim|lstlisting|minted|comment)\*?\}")
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator|newmathoperator)\*?"
    r"\s*(?:\{\s*\\([A-Za-z@]+|.)\s*\}|\\([A-Za-z@]+|.))((?:\s*\[[^\[\]]*\]){0,2})\s*(?=\{)"
    r"|\\(?:[gex]?def)\s*\\([A-Za-z@]+|.)((?:#\d|\[|\])*)(?=\{)"
)
_BRACE = re.compile(r"\\.|[{}]", re.S)
_COMMAND = re.compile(r"\\([A-Za-z@]+|.)", re.S)
LONGEST_MACRO = 4000
MOST_MACROS = 5000


@dataclass
class Source:
    """The text of one document with its inputs in their places; comments are blanked out."""

    file: Path
    text: str = ""
    macros: dict[str, str] = field(default_factory=dict)

    def macros_for(self, text: str) -> tuple[str, ...]:
        """The definitions that a text needs, those that they need themselves included, in order."""
        wanted: set[str] = set()
        open_names = _names(text)
        while open_names:
            new = {name for name in open_names if name in self.macros} - wanted
            wanted |= new
            open_names = set().union(*(_names(self.macros[name]) for name in new)) if new else set()
        return tuple(definition for name, definition in self.macros.items() if name in wanted)


class Sources:
    """Follows the inputs of the LaTeX files of one folder; nothing outside the folder is opened."""

    def __init__(self, root: Path, files: tuple[Path, ...]) -> None:
        self._root = root.resolve()
        self._files = files

    def read(self, report: Report) -> Iterator[Source]:
        """The documents: files that no other file inputs, with what they input.

        Files that only input each other in a ring are read from the first of them.
        """
        used = self._inputs()
        taken: set[Path] = set()
        mains = [file for file in self._files if file not in used]
        for file in [*mains, *(file for file in self._files if file in used)]:
            if file.resolve() in taken:
                continue
            source = Source(file)
            source.text = "".join(self._flat(file, file, source, taken, report))
            report.at(str(file))
            yield source

    def _inputs(self) -> set[Path]:
        """The files that another file inputs and that are no documents of their own."""
        names = {file.resolve(): file for file in self._files if file != STDIN}
        used: set[Path] = set()
        for file in names.values():
            text = without_comments(read_text(file, Report()) or "")
            for match in _INPUT.finditer(text):
                target = self._find(match, file, file)
                if target in names and names[target] != file:
                    used.add(names[target])
        return {file for file in used if "\\documentclass" not in (read_text(file, Report()) or "")}

    def _flat(
        self, file: Path, main: Path, source: Source, taken: set[Path], report: Report
    ) -> Iterator[str]:
        """The text of a file and its inputs, without recursion: a stack of files half read."""
        stack: list[tuple[Path, str, int]] = []
        text = self._open(file, source, taken, report)
        current: tuple[Path, str, int] | None = (file, text, 0) if text is not None else None
        while current is not None:
            path, text, position = current
            match = _INPUT.search(text, position)
            if match is None:
                yield text[position:]
                current = stack.pop() if stack else None
                continue
            yield text[position : match.start()]
            report.at(str(path))
            target = self._target(match, path, main, taken, report)
            content = self._open(target, source, taken, report) if target is not None else None
            current = (path, text, match.end())
            if target is not None and content is not None:
                stack.append(current)
                current = (target, content, 0)

    def _open(self, file: Path, source: Source, taken: set[Path], report: Report) -> str | None:
        taken.add(file.resolve())
        report.at(str(file))
        try:
            text = read_text(file, report)
        except MathAMRError as error:
            report.skip("unreadable input", str(error))
            return None
        if text is None:
            return None
        text = without_comments(text)
        self._collect(text, file, source, report)
        return text

    def _collect(self, text: str, file: Path, source: Source, report: Report) -> None:
        """The macros of a file and of the style files of the folder that it uses."""
        for match in _PACKAGE.finditer(text):
            for name in match.group(1).split(","):
                style = (file.parent / f"{name.strip()}.sty").resolve()
                if name.strip() and style.is_relative_to(self._root) and style.is_file():
                    definitions(without_comments(read_text(style, report) or ""), source.macros)
        definitions(text, source.macros)

    def _target(
        self, match: re.Match[str], file: Path, main: Path, taken: set[Path], report: Report
    ) -> Path | None:
        target = self._find(match, file, main)
        name = _name(match)
        if target is None:
            report.miss("input without a file", f"no file for {match.group()[:100]!r} in the folder")
        elif not target.is_relative_to(self._root):
            report.skip(
                "input outside the folder", f"{match.group()[:100]!r} leads out of the folder; not read"
            )
        elif target in taken:
            report.mend("repeated input", f"{name[:100]!r} was read before; not read again")
        else:
            return target
        return None

    def _find(self, match: re.Match[str], file: Path, main: Path) -> Path | None:
        """The file an input names: counted from the document's folder, or from that of the file."""
        name = _name(match)
        if not name or "\0" in name:
            return None
        outside: Path | None = None
        for folder in dict.fromkeys((main.parent, file.parent)):
            for candidate in (name, f"{name}.tex"):
                try:
                    path = (folder / candidate).resolve()
                except (OSError, RuntimeError, ValueError):
                    continue
                if not path.is_relative_to(self._root):
                    outside = outside or path
                elif path.is_file():
                    return path
        return outside


def _name(match: re.Match[str]) -> str:
    plain, bare, folder, name = match.groups()
    if name is not None:
        return f"{folder.strip()}/{name.strip()}"
    return (plain or bare or "").strip().strip('"')


def without_comments(text: str) -> str:
    """The text with its comments and what stands in `comment` environments blanked out.

    Line ends stay, and so does verbatim text, in which `%` is no comment.
    """
    if "%" not in text and "{comment}" not in text:
        return text
    kept: list[str] = []
    position, verbatim = 0, False
    for match in _VERBATIM.finditer(text):
        part = text[position : match.start()]
        if match.group(1) == "end" and verbatim:
            kept.append("" if "comment" in match.group() else part)
        else:
            kept.append(_strip(part))
        verbatim = match.group(1) == "begin"
        kept.append("" if "comment" in match.group() else match.group())
        position = match.end()
    kept.append(_strip(text[position:]))
    return "".join(kept)


def _strip(text: str) -> str:
    if "%" not in text:
        return text
    lines = []
    for line in text.split("\n"):
        place = line.find("%")
        while place > 0 and (place - len(line[:place].rstrip("\\"))) % 2:
            place = line.find("%", place + 1)
        lines.append(line if place < 0 else line[:place] + ("%" if line[:place].strip() else ""))
    return "\n".join(lines)


def definitions(text: str, macros: dict[str, str]) -> None:
    """Add the macros that a text defines: name to the whole definition, the last one of a name counting.

    >>> found: dict[str, str] = {}
    >>> definitions(r"\\newcommand{\\R}{\\mathbb{R}} \\def\\half#1{\\frac{#1}{2}}", found)
    >>> list(found.items())
    [('R', '\\\\newcommand{\\\\R}{\\\\mathbb{R}}'), ('half', '\\\\def\\\\half#1{\\\\frac{#1}{2}}')]
    """
    for match in _DEFINITION.finditer(text):
        end = _group_end(text, match.end())
        name = next(filter(None, (match.group(1), match.group(2), match.group(4))), None)
        if name and end is not None and (name in macros or len(macros) < MOST_MACROS):
            macros[name] = " ".join(text[match.start() : end].split())


def _group_end(text: str, start: int) -> int | None:
    depth = 0
    for match in _BRACE.finditer(text, start, start + LONGEST_MACRO):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if not depth:
            return match.end()
    return None


def _names(text: str) -> set[str]:
    return set(_COMMAND.findall(text))
