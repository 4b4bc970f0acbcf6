"""Mathlib as training data: declarations as the product reads them, the names that are held back, and a bed of several ways to ask."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from mathamr.posts.formats.declaration.namewords import name_words
from mathamr.posts.formats.declaration.pieces import statement_text
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.library import code_of, documentation_of

MAPS = ("100", "1000", "overview", "undergrad")
"""The community's maps from names of theorems and topics to declarations: for validation; what they name is not trained on."""
HELD = 3_000
"""About how many documented declarations are held out to ask for them in several ways, by the hash of their names."""
_DOCUMENTED = 72_000
LEAST, MOST = 25, 400
"""The least and greatest length of a query, in characters."""
_SPACE = re.compile(r"\s+")
_CONTEXT = re.compile(r"\A(?:(?:variable|--)[^\n]*\n)*")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z$`])")
_LETTER = re.compile(r"(?<![\w.'\\→])(?<!\.\{)[a-zA-Zα-κμ-ω](?=[₀-₉']*(?![\w']))")
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "αβγδεζηθικμνξπρστυφχψω")


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """A declaration: its full name, and what an index reads of it."""

    name: str
    word: str
    """The word that declares it."""
    statement: str
    """What an encoder reads of the code: without its name, and with the variables of its section behind it."""
    claim: str
    """The code before `:=`, without its name and without the variables of its section."""
    documentation: str
    latex: str
    """The statement as LaTeX; empty if it could not be read."""
    names: frozenset[str]
    """The last parts of its name, of its other names, and of the name of what it was made from."""

    @property
    def words(self) -> str:
        """The name as words."""
        return name_words(self.name)

    @property
    def document(self) -> str:
        """What an index reads, without the documentation."""
        return f"{self.words}. {self.statement}"

    @property
    def is_held(self) -> bool:
        """True if it belongs to the bed of several ways to ask, and is not trained on."""
        return bool(self.documentation) and is_held_name(self.name)


def is_held_name(name: str) -> bool:
    """Return True if a documented declaration of that name belongs to the bed of several ways to ask."""
    return zlib.crc32(f"bed:{name}".encode()) / 2**32 < HELD / _DOCUMENTED


def declarations(folder: Path) -> Iterator[LibraryEntry]:
    """Read the declarations of all Lean files of a folder."""
    posts = read_posts(folder, Report(), "lean")
    return (library_entry(post) for post in posts if post.markup == "declaration")


def library_entry(post: Post) -> LibraryEntry:
    """Return the entry of a declaration's post."""
    code = code_of(post)
    origin = [link.label for link in post.links[:1] if {"generated", "alias"} & set(post.tags)]
    return LibraryEntry(
        name=post.title,
        word=post.tags[0],
        statement=statement_text(code),
        claim=statement_text(_CONTEXT.sub("", code).partition(" :=")[0]),
        documentation=_SPACE.sub(" ", documentation_of(post)).strip(),
        latex=post.formulas[-1].latex if post.formulas and post.formulas[-1].display else "",
        names=frozenset(name.rpartition(".")[2] for name in (post.title, *post.aliases, *origin)),
    )


def ways_to_ask(entry: LibraryEntry) -> Iterator[tuple[str, str]]:
    """Yield queries for an entry, each with its style: the first sentence of its documentation in words, its statement in LaTeX,
    and in Lean with other letters and without its name."""
    said = _SENTENCE.split(entry.documentation.replace("`", ""))[0]
    if len(said) >= LEAST:
        yield "words", said[:MOST]
    if LEAST <= len(entry.latex) <= MOST:
        yield "latex", f"${entry.latex}$"
    claimed = entry.claim
    if entry.word in ("theorem", "lemma") and LEAST <= len(claimed) <= MOST:
        yield "lean", in_other_letters(claimed, entry.name)


def in_other_letters(code: str, key: str) -> str:
    """Return code with other letters for variables of one letter; the key chooses them.

    >>> in_other_letters("(a b : ℕ) : a + b = b + a", "add_comm")
    '(e f : ℕ) : e + f = f + e'
    """
    shift = 1 + zlib.crc32(key.encode()) % 13
    new = {
        old: alphabet[(place + shift) % len(alphabet)]
        for alphabet in _ALPHABETS
        for place, old in enumerate(alphabet)
    }
    return _LETTER.sub(lambda match: new[match[0]], code)


def queries(folder: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield what the maps name: the map, the title, and the declarations for it; entries that lie elsewhere are left out."""
    for name in MAPS:
        rows = yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8")) or {}
        found = (_entries if name in MAPS[:2] else _topics)(rows)
        yield from ((name, title, names) for title, names in found)


def mapped(folder: Path) -> frozenset[str]:
    """Return the last parts of all names in the maps."""
    return frozenset(name.rpartition(".")[2] for *_, names in queries(folder) for name in names)


def trained_on(entries: Iterable[LibraryEntry], held_back: frozenset[str]) -> Iterator[LibraryEntry]:
    """Yield the entries that may be trained on, each name once: neither named in the maps nor held out."""
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen or entry.names & held_back or entry.is_held:
            continue
        seen.add(entry.name)
        yield entry


def _entries(rows: Mapping[str, Mapping[str, object]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for row in rows.values():
        named = row.get("decls") or [row.get("decl")]
        found = tuple(str(name) for name in named if name) if isinstance(named, list) else ()
        if found:
            yield str(row["title"]), found


def _topics(rows: Mapping[str, object]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for title, value in rows.items():
        if isinstance(value, dict):
            yield from _topics(value)
        elif value and "/" not in str(value):
            yield title, (str(value),)
