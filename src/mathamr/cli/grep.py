"""`mathamr grep`: formulas of source files that contain a formula, with file, line and column."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Annotated, Literal

import typer

from mathamr.cli.inputoptions import Exclude, NoGitignore, exclusion
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.durable import write_whole
from mathamr.core.terminal import visible
from mathamr.posts.report import INCOMPLETE, Report
from mathamr.search.grep import FormulaPattern, Found, FoundFile, grep

_PATH, _NUMBER, _MATCH, _END = "\x1b[35m", "\x1b[32m", "\x1b[1;31m", "\x1b[0m"
_LONGEST = 300
"""Characters of a line that are shown before and after what was found."""


def command(
    pattern: Annotated[
        str,
        typer.Argument(
            help=r"A formula in any notation, with ?a for any expression; a symbol; or a command such as \mathcal.",
            show_default=False,
        ),
    ],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders; by default the current folder.", show_default=False),
    ] = None,
    letters: Annotated[
        Literal["same", "any"], typer.Option(help="Whether other letters fit, too: x^2+y^2 for a^2+b^2.")
    ] = "same",
    words: Annotated[
        bool, typer.Option("--words", "-w", help="Search the text for these words, and no formulas.")
    ] = False,
    files: Annotated[
        bool, typer.Option("--files-with-matches", "-l", help="Print only the names of files.")
    ] = False,
    count: Annotated[
        bool, typer.Option("--count", "-c", help="Print only the number of matches of each file.")
    ] = False,
    context: Annotated[
        int, typer.Option("--context", "-C", help="Lines to show before and after.", min=0, max=1000)
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a match.")] = False,
    color: Annotated[
        Literal["auto", "always", "never"], typer.Option(help="When to colour what was found.")
    ] = "auto",
    rename: Annotated[
        str | None,
        typer.Option(
            metavar="A=B",
            help="Print a diff that renames a letter in formulas of the sections where the pattern is found.",
            show_default=False,
        ),
    ] = None,
    scope: Annotated[
        Literal["section", "file"], typer.Option(help="How far a letter is renamed around what was found.")
    ] = "section",
    write: Annotated[bool, typer.Option("--write", help="Write the renamed files, too.")] = False,
    exclude: Exclude = None,
    no_gitignore: NoGitignore = False,
) -> None:
    """Find formulas in files, without an index, and print file, line and column. Exits with 0 if something was found, 1 if not, 2 on an error."""
    if rename is None and write:
        raise typer.BadParameter("--write needs --rename A=B")
    if rename is not None and words:
        raise typer.BadParameter("--rename changes formulas; it takes no --words")
    inputs = paths or [Path()]
    report, found = Report(), 0
    is_coloured = color == "always" or (
        color == "auto" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    )
    form: Literal["lines", "files", "counts", "json"] = "json" if as_json else "lines"
    printer = _Printer("files" if files else "counts" if count else form, context, is_coloured)
    try:
        sought = _words(pattern) if words else FormulaPattern(pattern, any_letters=letters == "any")
        left_out = exclusion(exclude, inputs, no_gitignore=no_gitignore) or ()
        files_found = (
            file for path in inputs for file in grep(sought, path, report, left_out if path.is_dir() else ())
        )
        if rename is not None:
            found = _rename(files_found, rename, scope, write=write)
        else:
            for file in files_found:
                found += len(file.found)
                for line in printer.lines(file):
                    print(line)
                sys.stdout.flush()
    except MathAMRError as error:
        print(f"mathamr: {visible(str(error))}", file=sys.stderr)
        raise typer.Exit(2) from None
    for line in report.lines():
        if line.startswith("skipped"):
            print(f"mathamr: {visible(line)}", file=sys.stderr)
    is_incomplete = not INCOMPLETE.isdisjoint(report.skipped)
    raise typer.Exit(2 if is_incomplete else 0 if found else 1)


def _words(typed: str) -> re.Pattern[str]:
    """Return what finds words with any blanks between, in any case unless a capital is typed."""
    if not typed.strip():
        raise MathAMRError("no words to look for")
    pattern = r"\s+".join(map(re.escape, typed.split()))
    return re.compile(rf"(?<!\w){pattern}(?!\w)", 0 if any(map(str.isupper, typed)) else re.I)


def _rename(files: Iterable[FoundFile], typed: str, scope: Literal["section", "file"], *, write: bool) -> int:
    """Print the diffs of all files, write them if wanted, and return how many there are; nothing is written if one is refused."""
    from mathamr.search.renaming import Renaming

    renaming = Renaming.of(typed)
    changed: list[tuple[Path, bytes, bytes]] = []
    for file in files:
        if not file.text:
            raise MathAMRError(f"{file.path}: letters are renamed in Markdown, LaTeX and plain text only")
        starts = {each.start for each in file.found}
        try:
            renamed = renaming.rename(file.text, file.markup, scope, starts.__contains__, file.macros_of)
        except MathAMRError as error:
            raise MathAMRError(f"{file.path}, {error}; no file was changed") from error
        path = Path(file.path)
        before = path.read_bytes() if file.path != "standard input" else b""
        if write and before != file.text.encode():
            raise MathAMRError(f"{path}: not plain UTF-8, so it is not written; no file was changed")
        if renamed != file.text:
            changed.append((path, before, renamed.encode()))
            print("\n".join(_diff(file.path, file.text, renamed)))
    for path, _, after in changed if write else ():
        mode = path.stat().st_mode
        write_whole(path.resolve(), after)
        path.chmod(mode)
    return len(changed)


def _diff(path: str, before: str, after: str) -> Iterator[str]:
    """Yield the lines of a unified diff, as `patch` and `git apply` read them."""
    name = visible(path).lstrip("/")
    old, new = _diff_lines(before), _diff_lines(after)
    for place, line in enumerate(unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")):
        yield line if place < 2 else visible(line)


def _diff_lines(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines


@dataclass(frozen=True)
class _Printer:
    """Writes what was found in a file as lines of output."""

    form: Literal["lines", "files", "counts", "json"]
    context: int
    is_coloured: bool

    def lines(self, file: FoundFile) -> list[str]:
        """Return the lines for one file."""
        text, places = file.text, file.found
        path = self._coloured(file.path, _PATH)
        if self.form == "files":
            return [path]
        if self.form == "counts":
            return [f"{path}:{len(places)}"]
        if self.form == "json":
            return [json.dumps(_row(each), ensure_ascii=False) for each in places]
        lines: list[str] = []
        source, shown = text.split("\n"), -1
        for each in places:
            first, last = each.line - 1, each.line - 1 + each.text.count("\n")
            numbers = [*range(max(first - self.context, shown + 1), first)] if text else []
            if numbers and lines and numbers[0] > shown + 1:
                lines.append("--")
            lines += [f"{path}-{number + 1}-{visible(source[number])}" for number in numbers]
            column = f":{self._coloured(str(each.column), _NUMBER)}" if each.column else ""
            lines.append(
                f"{path}:{self._coloured(str(each.line), _NUMBER)}{column}:{self._shown(text, each)}"
            )
            shown = max(shown, last)
            if self.context and text:
                following = next((other.line - 1 for other in places if other.line - 1 > last), len(source))
                numbers = [*range(shown + 1, min(last + 1 + self.context, following, len(source)))]
                lines += [f"{path}-{number + 1}-{visible(source[number])}" for number in numbers]
                shown = max([shown, *numbers])
        return lines

    def _shown(self, text: str, found: Found) -> str:
        """Return the lines of what was found as one, and what stands beside it in them."""
        if not text:
            return self._coloured(" ".join(found.latex.split()), _MATCH)
        start, end = text.rfind("\n", 0, found.start) + 1, text.find("\n", found.end)
        before = text[max(start, found.start - _LONGEST) : found.start]
        after = text[found.end : min(len(text) if end < 0 else end, found.end + _LONGEST)]
        inside = self._coloured(" ".join(found.text.split()), _MATCH)
        return f"{visible(before).lstrip()}{inside}{visible(after).rstrip()}"

    def _coloured(self, text: str, colour: str) -> str:
        return f"{colour}{visible(text)}{_END}" if self.is_coloured else visible(text)


def _row(found: Found) -> dict[str, object]:
    row = asdict(found)
    del row["start"], row["end"]
    return {name: value for name, value in row.items() if value not in (None, "")}
