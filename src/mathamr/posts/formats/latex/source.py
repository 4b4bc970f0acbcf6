"""LaTeX documents in several files: follows `\\input` inside one folder and maps offsets back to file and line."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import itemgetter
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.posts.formats.latex.definitions import (
    TheoremStyle,
    definitions_for,
    expand_aliases,
    macros_in,
    theorems_in,
)
from mathamr.posts.formats.latex.inclusions import Inclusion, Inclusions, is_file, resolved
from mathamr.posts.formats.latex.numbering import COUNTED, CounterSettings, theorems_written
from mathamr.posts.inputs import STDIN, read_text
from mathamr.posts.macrotable import MacroTable
from mathamr.posts.report import Report

STYLES = (".sty", ".cls")
MOST_STYLES = 200
"""Style files of the folder that one document may use."""

_PACKAGE = re.compile(
    r"""\\(?:usepackage|RequirePackage|documentclass|LoadClass)\s*+
    (?:\[[^\[\]]{0,2000}+\])?+\s*+\{([^{}]*+)\}  # options and names""",
    re.X,
)
_VERBATIM = re.compile(r"\\(begin|end)\s*+\{(?:verbatim|Verbatim|lstlisting|minted|comment)\*?\}")
_DEFINES = re.compile(
    r"\\(?:(?:re)?newcommand|[gex]?def|newtheorem|usepackage|DeclareMathOperator|let)(?![A-Za-z])"
)
_TELLS = re.compile(
    r"^[ \t]*+\\(?:(?:part|chapter|section|subsection)\*?\s*[\[{]|begin\s*\{document\})", re.M
)
_COUNTS = re.compile(
    r"\\(?:part|chapter|(?:sub)*section|newtheorem|caption|(?:set|addto|(?:ref)?step)counter)(?![A-Za-z])|\\begin\s*\{([A-Za-z]+)\}"
)
_PART = re.compile(r"\\documentclass\s*+(?:\[[^\[\]]*+\])?\s*+\{\s*+(?:subfiles|standalone)\s*+\}")
_OWN_HEADING = re.compile(
    r"""^[ \t]*+\\(?P<prefix>[A-Za-z]{1,12}?)(?P<level>(?:sub)*section|chapter|part)
    (?:(?:\{[a-z0-9-]{1,12}+\}){1,3}+(?=\{[A-Z]))?+  # keys of which the author makes a label
    (?=[ \t]*+(?:\[[^\[\]\n]{0,200}+\])?+\{[^{}\n]*+(?:\{[^{}\n]*+\}[^{}\n]*+){0,4}+\}[ \t]*+%?$)  # a title, alone on its line""",
    re.M | re.X,
)
_HEADING = re.compile(r"\\((?:(?:sub)*section|chapter)\*?)(?![A-Za-z])")
_NO_HEADINGS = frozenset(["sub", "subsub", "no", "phantom", "add", "set", "reset", "the", "ref", "in", "to"])
"""What stands before `section` in commands that set no heading of their own."""
_PERCENT = re.compile(r"\\.|%")


@dataclass
class Source:
    """The text of one document with its inputs in their places; comments are blanked out."""

    file: Path
    text: str = ""
    macros: dict[str, str] = field(default_factory=dict)
    theorems: dict[str, TheoremStyle] = field(default_factory=dict)
    counters: CounterSettings = field(default_factory=CounterSettings)
    stretches: list[tuple[int, Path, int]] = field(default_factory=list)
    """Where each stretch of the text begins, its file, and its first line there."""

    @property
    def auxiliary_files(self) -> Iterator[Path]:
        """The `.aux` files that LaTeX left beside the files of the document, that of the document last."""
        for file in reversed(dict.fromkeys(path for _, path, _ in self.stretches)):
            if file != STDIN and is_file(written := file.with_suffix(".aux")):
                yield written

    def macros_for(self, text: str) -> tuple[str, ...]:
        """Return the definitions that a text needs, those that they need themselves included, in order."""
        return definitions_for(text, self.macros)

    def place(self, offset: int) -> tuple[Path, int]:
        """Return the file and the line, from 1, that a character of the text was read from."""
        begin, file, line = self.stretches[bisect_right(self.stretches, offset, key=itemgetter(0)) - 1]
        return file, line + bisect_left(self._newlines, offset) - bisect_left(self._newlines, begin)

    @cached_property
    def _newlines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]


class Sources:
    """Follows the inputs of the LaTeX files of one folder; nothing outside the folder is opened."""

    def __init__(self, root: Path, files: tuple[Path, ...], macros: MacroTable | None = None) -> None:
        self._inclusions = Inclusions(root, macros)
        self._root = self._inclusions.root
        self._files = files
        self._tells = lru_cache(maxsize=10_000)(self._read_tells)
        self._counted = lru_cache(maxsize=10_000)(self._read_counted)

    def read(self, report: Report) -> Iterator[Source]:
        """Yield the documents: files that no other file inputs, with what they input, those in the highest folders first.

        Files that only input each other in a ring are read from the first of them.
        """
        used = self._inputs()
        taken: set[Path] = set()
        mains = sorted((file for file in self._files if file not in used), key=lambda file: len(file.parts))
        for file in [*mains, *(file for file in self._files if file in used)]:
            if file.resolve() in taken:
                continue
            source = Source(file)
            self._fill(source, taken, report)
            report.at(str(file))
            yield source

    def _inputs(self) -> set[Path]:
        """Return the files that another file inputs and that are not documents themselves."""
        names = {file.resolve(): file for file in self._files if file != STDIN}
        used: set[Path] = set()
        documents: set[Path] = set()
        for file in names.values():
            text = strip_comments(_text(file, Report()) or "")
            if "\\documentclass" in text and not _PART.search(text):
                documents.add(file)
            for found in self._inclusions.within(text, file, file):
                if found.target in names and names[found.target] != file:
                    used.add(names[found.target])
        return used - documents

    def _fill(self, source: Source, taken: set[Path], report: Report) -> None:
        """Read a document and its inputs, without recursion: a stack of files half read."""
        kept: list[str] = []
        length = 0
        stack: list[tuple[Path, str, int]] = []
        styles: set[Path] = set()
        text = self._open(source.file, source, taken, styles, report)
        current: tuple[Path, str, int] | None = (source.file, text, 0) if text is not None else None
        line = 1
        lines: list[int] = []
        own = {source.file.resolve()}
        begun = False
        is_whole = "\\begin{document}" in (text or "")
        while current is not None:
            path, text, position = current
            found = next(self._inclusions.within(text, path, source.file, position), None)
            stretch = text[position : found.start if found else len(text)]
            source.stretches.append((length, path, line))
            kept.append(stretch)
            length += len(stretch)
            begun = begun or "\\begin{document}" in stretch
            line += stretch.count("\n")
            if found is None:
                current = stack.pop() if stack else None
                line = lines.pop() if lines else line
                continue
            report.at(str(path))
            line += found.written.count("\n")
            known = own if not begun and self._is_preamble(found, is_whole=is_whole) else taken
            target = self._target(found, known, report)
            content = self._open(target, source, taken, styles, report) if target is not None else None
            if target is None and found.target and found.target not in own and self._is_inside(found):
                self._learn_from(found.target, source, own)
            own |= {target} if target is not None else set()
            if content is None and begun and self._may_count(found, source):
                source.counters.missing.append(length)
            current = (path, text, found.end)
            if target is not None and content is not None:
                stack.append(current)
                lines.append(line)
                content, begin = _inner(content)
                current, line = (target, content, begin), 1 + content.count("\n", 0, begin)
        source.text = "".join(kept)
        source.counters.macros = source.macros
        source.counters.is_part |= not begun or _PART.search(source.text) is not None
        theorems_in(theorems_written([*source.counters.styles, source.text], source.macros), source.theorems)
        source.stretches = source.stretches or [(0, source.file, 1)]

    def _open(
        self, file: Path, source: Source, taken: set[Path], styles: set[Path], report: Report
    ) -> str | None:
        taken.add(file.resolve())
        report.at(str(file))
        text = _text(file, report)
        if text is None:
            return None
        text = strip_comments(text)
        for style in self._styles(text, file, source.file, styles, report):
            _learn(style, source)
            source.counters.styles.append(style)
        _learn(text, source)
        return self._with_headings(expand_aliases(text, source.macros), source)

    def _with_headings(self, text: str, source: Source) -> str:
        """Return the text with LaTeX's own headings for those of the author, such as `\\olsection{Sets}`.

        Where it is not known what the author's command does, the heading counts nothing and no number is sure.
        """

        def heading(match: re.Match[str]) -> str:
            name = match["prefix"] + match["level"]
            if match["prefix"] in _NO_HEADINGS:
                return match.group()
            written = _HEADING.search(source.macros.get(name, "").partition(name)[2])
            source.counters.is_part = source.counters.is_part or written is None
            return f"\\{written[1] if written else match['level'] + '*'}"

        return _OWN_HEADING.sub(heading, text)

    def _styles(self, text: str, file: Path, main: Path, read: set[Path], report: Report) -> list[str]:
        """Return the style files of the folder that a text uses, and those that they use; each is read once.

        They come in the order in which LaTeX would reach their ends, so that what a style defines counts over
        what it was built on.
        """
        found: list[str] = []
        waiting = [(file, text, iter(_PACKAGE.findall(text)))]
        while waiting:
            user, content, packages = waiting[-1]
            names = next(packages, None)
            if names is None:
                waiting.pop()
                if waiting:
                    found.append(content)
                continue
            for name in names.split(","):
                style = self._style(name.strip(), user, main)
                if style is None or style in read:
                    continue
                if len(read) >= MOST_STYLES:
                    report.skip(
                        "too many styles", f"more than {MOST_STYLES} style files; {name!r} is not read"
                    )
                    continue
                read.add(style)
                used = strip_comments(_text(style, report) or "")
                waiting.append((style, used, iter(_PACKAGE.findall(used))))
        return found

    def _style(self, name: str, user: Path, main: Path) -> Path | None:
        for folder in dict.fromkeys((main.parent, user.parent)):
            for suffix in STYLES if name else ():
                path = resolved(folder / f"{name}{suffix}")
                if path is not None and path.is_relative_to(self._root) and is_file(path):
                    return path
        return None

    def _is_inside(self, found: Inclusion) -> bool:
        """Return whether an input is a file of the folder."""
        return found.target is not None and found.target.is_relative_to(self._root)

    def _is_preamble(self, found: Inclusion, *, is_whole: bool) -> bool:
        """Return whether an input before the text of a document says nothing itself, so that other documents may read it, too."""
        if found.target is None or not self._is_inside(found):
            return False
        begins, only_defines = self._tells(found.target)
        return not begins if is_whole else only_defines

    def _read_tells(self, file: Path) -> tuple[bool, bool]:
        """Return whether the text of a document begins in a file, and whether the file defines something and says nothing."""
        text = strip_comments(_text(file, Report()) or "")
        return "\\begin{document}" in text, bool(_DEFINES.search(text)) and not _TELLS.search(text)

    def _learn_from(self, file: Path, source: Source, own: set[Path]) -> None:
        """Take the definitions of a file whose text another document has, and of what that file inputs."""
        waiting = [file]
        while waiting:
            path = waiting.pop()
            own.add(path)
            text = strip_comments(_text(path, Report()) or "")
            _learn(text, source)
            waiting += (
                found.target
                for found in self._inclusions.within(text, path, source.file)
                if found.target is not None and found.target not in own and self._is_inside(found)
            )

    def _may_count(self, found: Inclusion, source: Source) -> bool:
        """Return whether numbers may depend on an input that is not read here: on a document, not on a picture or a table."""
        if found.target is None or not self._is_inside(found):
            return Path(found.name).suffix in ("", ".tex")
        counted = self._counted(found.target)
        return any(not name or name in source.theorems or name in COUNTED for name in counted)

    def _read_counted(self, file: Path) -> frozenset[str]:
        """Return the environments that may count in a file; an empty name stands for a command that always does."""
        return frozenset(
            each[1] or "" for each in _COUNTS.finditer(strip_comments(_text(file, Report()) or ""))
        )

    def _target(self, found: Inclusion, taken: set[Path], report: Report) -> Path | None:
        if found.target is None:
            report.miss("input without a file", f"no file for {found.written[:100]!r} in the folder")
        elif not self._is_inside(found):
            report.skip(
                "input outside the folder", f"{found.written[:100]!r} leads out of the folder; not read"
            )
        elif found.target in taken:
            report.repair("repeated input", f"{found.name[:100]!r} was already read; it is skipped")
        else:
            return found.target
        return None


def _learn(text: str, source: Source) -> None:
    macros_in(text, source.macros)
    theorems_in(text, source.theorems)


def _inner(text: str) -> tuple[str, int]:
    """Return a file that a document inputs, and where what it says begins: that of `subfiles` has a preamble."""
    start = text.find("\\begin{document}")
    if start < 0 or not _PART.search(text, 0, start):
        return text, 0
    end = text.find("\\end{document}", start)
    return text[: end if end >= 0 else len(text)], start + len("\\begin{document}")


def _text(file: Path, report: Report) -> str | None:
    try:
        text = read_text(file, report)
        report.took(text or "", 0)
        return text
    except (MathAMRError, OSError) as error:
        report.skip("unreadable input", str(error))
        return None


def strip_comments(text: str) -> str:
    """Return the text with its comments and what is in `comment` environments blanked out.

    Every line end stays, and so does verbatim text, in which `%` is no comment.
    """
    if "%" not in text and "{comment}" not in text:
        return text
    kept: list[str] = []
    position, verbatim = 0, False
    for match in _VERBATIM.finditer(text):
        part = text[position : match.start()]
        is_comment = "comment" in match.group()
        if match.group(1) == "end" and verbatim:
            kept.append("%\n" * part.count("\n") if is_comment else part)
        else:
            kept.append(_strip(part))
        verbatim = match.group(1) == "begin"
        kept.append("" if is_comment else match.group())
        position = match.end()
    kept.append(_strip(text[position:]))
    return "".join(kept)


def _strip(text: str) -> str:
    """Return each line up to the first `%` that begins a comment."""
    if "%" not in text:
        return text
    lines = []
    for line in text.split("\n"):
        percent = next((match for match in _PERCENT.finditer(line) if match.group() == "%"), None)
        lines.append(line if percent is None else line[: percent.end()])
    return "\n".join(lines)
