"""BibTeX: each entry of a bibliography is a post, to which citations of its key lead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from mathamr.posts.bounds import FREELY, NAMES, cut_title
from mathamr.posts.format import Collection
from mathamr.posts.inputs import STDIN, display_path
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Place, Post
from mathamr.posts.report import Report

LONGEST_VALUE = 100_000
"""Characters of a field after abbreviations are expanded."""
_ENTRY = re.compile(
    r"""(?:^[ \t]*@[ \t]*+
          |(?<![\w\\.@])@(?=[A-Za-z]{1,30}+[{(][ \t]*+[^\s,{}()"=#]{1,200}+,)  # further on in a line: one with its key
        )([A-Za-z]++)[ \t\r\n]*+[{(]""",
    re.MULTILINE | re.VERBOSE,
)
_KEY = re.compile(r"\s*([^\s,{}()\"=#]{1,200})\s*(?:,|[})]|\Z)")
_FIELD = re.compile(r"[\s,]*([A-Za-z][\w:+.-]{0,60})\s*=\s*")
_MARK = re.compile(r'\\.|[{}"]', re.DOTALL)
_BARE = re.compile(r'[^\s,#{}"()]{1,200}')
_JOIN = re.compile(r"\s*#\s*")
_ENDS_COMMAND = re.compile(r"\\(?:[A-Za-z]+|[^A-Za-z])\Z")
_MONTHS = {
    name: name.capitalize()
    for name in ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
}
_NOT_ENTRIES = frozenset({"comment", "preamble", "string"})
_PLACES = (
    "journal", "journaltitle", "booktitle", "series", "publisher", "school", "institution", "howpublished",
)  # fmt: skip
_TEXT_FIELDS = ("abstract", "annote", "annotation", "note")


def read_bibtex(collection: Collection, report: Report) -> Iterator[Post]:
    """Read bibliographies: the title of an entry, then who wrote it and where, its abstract and notes.

    Its key is its label: `\\cite{key}` of LaTeX and `@key` of Pandoc lead to it. Of entries that are the same in several files
    the first is read.
    """
    first = _first_files(collection)
    for file, path, source in collection.texts(report):
        yield from _posts(source, file, path, report, first)


def _first_files(collection: Collection) -> dict[str, Path]:
    """Return for the text of every entry the first file that has it."""
    files = tuple(sorted({*collection.known, *collection.files} - {STDIN}))
    first: dict[str, Path] = {}
    for file, _, source in replace(collection, files=files).texts(Report()) if len(files) > 1 else ():
        for entry in _ENTRY.split(source)[2::2]:
            first.setdefault(_one_line(entry), file)
    return first


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _posts(source: str, file: Path, name: str, report: Report, first: Mapping[str, Path]) -> Iterator[Post]:
    words = _Abbreviations(len(source), report)
    starts = list(_ENTRY.finditer(source))
    ends = [start.start() for start in starts[1:]] + [len(source)] * bool(starts)
    if starts and starts[-1][0].endswith("{") and _closed(source, starts[-1].end() - 1) is None:
        report.at(display_path(file), source.count("\n", 0, starts[-1].start(1)) + 1)
        report.skip("truncated entry", "the last entry has no end: the file may be cut off")
    line = done = 0
    for start, end in zip(starts, ends, strict=True):
        line += source.count("\n", done, start.start(1))
        done = start.start(1)
        kind, text = start[1].lower(), source[start.end() : end]
        report.at(display_path(file), line + 1)
        if kind == "string":
            words.update((field.lower(), value) for field, value in _fields(text, 0, words, report))
        if kind in _NOT_ENTRIES:
            continue
        key = _KEY.match(text)
        if key is None:
            report.skip("no id", f"the entry @{start[1]} has no key")
            continue
        holder = first.get(_one_line(text), file)
        if holder != file:
            report.skip(
                "same entry in another file", f"the entry {key[1]!r} is also in {display_path(holder)}"
            )
            continue
        fields = dict(_fields(text, key.end(), words, report))
        yield _post(f"{name}#{key[1]}", key[1], fields, file, Place(name, line + 1, key[1]), report)


class _Abbreviations(dict[str, str]):
    """What `@string` defines; what is written for abbreviations has a length in proportion to that of the file."""

    def __init__(self, size: int, report: Report) -> None:
        super().__init__(_MONTHS)
        self._left, self._report = FREELY + NAMES * size, report

    def written(self, name: str) -> str:
        """Return what an abbreviation stands for; the abbreviation itself where it has none, or none more may be written."""
        found = self.get(name.lower(), name)
        self._left -= len(found) - len(name)
        if self._left < 0 and found != name:
            self._report.skip(
                "repeated names",
                f"abbreviations are written as they are, as they are too long: {name[:60]!r}",
            )
            return name
        return found


def _post(own: str, key: str, fields: Mapping[str, str], file: Path, place: Place, report: Report) -> Post:
    title = _strip_braces(" ".join(fields[name] for name in ("title", "subtitle") if fields.get(name)))
    where = ", ".join(
        _strip_braces(fields[name]) for name in (*_PLACES, "volume", "year", "date") if fields.get(name)
    )
    facts = ". ".join(part for part in (_authors(fields), where) if part)
    texts = [fields[name] for name in _TEXT_FIELDS if fields.get(name)]
    body = "\n\n".join([*([f"{facts}."] if facts else []), *texts])
    year = re.search(r"\d{4}", fields.get("year") or fields.get("date") or "")
    title = cut_title(title or key, report)
    return Post(
        id=own,
        kind="reference",
        body=body,
        title=title,
        markup="latex",
        tags=tuple(dict.fromkeys(filter(None, map(str.strip, re.split("[,;]", fields.get("keywords", ""))))))[
            :50
        ],
        date=year[0] if year else None,
        source=display_path(file),
        formulas=formulas_of(own, title, body, "latex", report.note),
        place=place,
    )


def _authors(fields: Mapping[str, str]) -> str:
    """Return the authors or editors, first names first.

    >>> _authors({"author": "Zippel, Richard and {Bourbaki Group} and others"})
    'Richard Zippel and Bourbaki Group and others'
    """
    names = re.split(r"(?<!\s)\s+and\s+", fields.get("author") or fields.get("editor") or "")
    turned = (
        " ".join(reversed(name.split(", ", 1))) if name.count(", ") == 1 and "{" not in name else name
        for name in names
    )
    return _strip_braces(" and ".join(turned))


def _strip_braces(value: str) -> str:
    r"""Return a value without the braces that only keep its capitals; those of formulas, accents and commands stay.

    >>> _strip_braces(r"{The {H\"{o}lder} bound} for $x^{2}$ in {\TeX} {and $y$ {More}}")
    'The {H\\"{o}lder} bound for $x^{2}$ in {\\TeX} and $y$ More'
    """
    dropped: set[int] = set()
    groups: list[tuple[int, bool]] = []
    in_formula, before = False, ""
    for place, letter in enumerate(value):
        is_escaped = before == "\\"
        before = "" if is_escaped else letter
        if letter == "$" and not is_escaped:
            in_formula = not in_formula
        elif in_formula:
            continue
        elif letter == "\\" or is_escaped:
            groups[-1:] = [(start, True) for start, _ in groups[-1:]]
        elif letter == "{":
            groups.append(
                (place, place > 0 and _ENDS_COMMAND.search(value, max(0, place - 40), place) is not None)
            )
        elif letter == "}" and groups:
            start, is_needed = groups.pop()
            if not is_needed:
                dropped |= {start, place}
    return "".join(letter for place, letter in enumerate(value) if place not in dropped).strip()


def _fields(text: str, at: int, words: _Abbreviations, report: Report) -> Iterator[tuple[str, str]]:
    """Yield the fields of an entry, names in lower case; of a damaged one those before the damage."""
    while (field := _FIELD.match(text, at)) is not None:
        value, at = _value(text, field.end(), words, report)
        yield field[1].lower(), " ".join(value.split())


def _value(text: str, at: int, words: _Abbreviations, report: Report) -> tuple[str, int]:
    """Return a value, its parts joined, and the offset where it ends."""
    parts: list[str] = []
    length = counted = 0
    while at < len(text):
        if text[at] in '{"':
            end = _closed(text, at)
            if end is None:
                report.repair("unclosed block", "a field of the entry is never closed")
                end = len(text)
                parts.append(text[at + 1 :])
            else:
                parts.append(text[at + 1 : end - 1])
            at = end
        elif (bare := _BARE.match(text, at)) is not None:
            parts.append(words.written(bare[0]))
            at = bare.end()
        length += sum(map(len, parts[counted:]))
        counted = len(parts)
        joined = _JOIN.match(text, at)
        if joined is None or length > LONGEST_VALUE:
            break
        at = joined.end()
    return "".join(parts)[:LONGEST_VALUE], at


def _closed(text: str, at: int) -> int | None:
    """Return the offset after the group that begins at `at`; `None` if it is never closed."""
    depth, quoted = 0, text[at] == '"'
    for mark in _MARK.finditer(text, at + 1):
        if mark[0] == "{":
            depth += 1
        elif mark[0] == "}":
            depth -= 1
            if depth < 0 and not quoted:
                return mark.end()
        elif mark[0] == '"' and quoted and depth <= 0:
            return mark.end()
    return None
