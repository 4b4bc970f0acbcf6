"""`MacroTable`: the macros of a collection, and which definition of a name holds in a document.

The nearest wins: what the document says itself, what it includes, the settings of its folder and of those above, then what LaTeX
knows, then what any other file of the collection says (the nearest folder, and there the most frequent definition), and last the
packages that formulas know without a definition.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import PurePosixPath

from mathamr.formulas.latex.definitions import without_definitions
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.macros import Macros, empty_macros
from mathamr.formulas.latex.unknown import unknown_commands
from mathamr.posts.formats.latex.definitions import commands_in, macros_in
from mathamr.posts.macrosources import STYLES, MacroSource, is_setting, keeps_meaning
from mathamr.posts.post import Post
from mathamr.posts.report import Report

MOST_NEEDED = 1000
"""Definitions that a post gets; real ones need a tenth of it."""
MOST_INCLUDED = 300
"""Files whose definitions one document may include."""
_HIGHEST = 8
"""Folders above a file in which what it includes is looked for."""
_SUFFIXES = ("", ".tex", *STYLES)
_INPUTS = ("input", "include", "subfile", "import", "subimport")
_IMPORTS = re.compile(rf"\\(?:{'|'.join(_INPUTS)})\*?\s*+\{{[^{{}}#]*+#\d")
_PRETEXT = (".xml", ".ptx")

Definitions = dict[str, tuple[int, str]]
"""Definitions by name, each with its place in the order of its file."""


class MacroTable:
    r"""The definitions of a collection by file, the paths counted from its folder.

    >>> table = MacroTable({"_config.yml": {"defines": {"R": r"\def\R{\mathbb R}"}}, "b.md": {"defines": {"S": r"\def\S{s\R}"}}})
    >>> table.needed("a.md", ["R", "S", "T"]), table.needed("b.md", ["S"])
    (('\\def\\R{\\mathbb R}',), ('\\def\\R{\\mathbb R}', '\\def\\S{s\\R}'))
    """

    def __init__(self, learned: Mapping[str, MacroSource]) -> None:
        # Of equally frequent definitions that of the file nearest to the root counts, in whatever order files were read.
        learned = dict(sorted(learned.items(), key=lambda each: (each[0].count("/"), each[0])))
        self._paths = frozenset(learned)
        self._files = {
            path: {name: (place, text) for place, (name, text) in enumerate(each["defines"].items())}
            for path, each in learned.items()
            if each.get("defines")
        }
        self._includes = {path: each["includes"] for path, each in learned.items() if each.get("includes")}
        settings = (path for path in learned if is_setting(posixpath.basename(path)))
        self._settings: dict[str, list[str]] = defaultdict(list)
        for path in settings:
            self._settings[posixpath.dirname(path)].append(path)
        self._below = _by_folder(self._files)
        self._pretext = _by_folder(
            {path: each for path, each in self._files.items() if path.endswith(_PRETEXT)}
        )
        self._ranks: dict[str, list[Definitions]] = {}
        self._digests: dict[int, str] = {}

    def __bool__(self) -> bool:
        return bool(self._files)

    def definitions(self) -> Iterator[tuple[str, str]]:
        r"""Yield what calls each macro, `\R` or `begin{cases}`, with the text of its definition."""
        for found in self._files.values():
            for name, (_, text) in found.items():
                yield (name if name.startswith("begin{") else f"\\{name}"), text

    @property
    def conflicts(self) -> dict[str, int]:
        """How many definitions each name has that has several."""
        texts: dict[str, set[str]] = defaultdict(set)
        for found in self._files.values():
            for name, (_, text) in found.items():
                texts[name].add(text)
        return {name: len(each) for name, each in texts.items() if len(each) > 1}

    @cached_property
    def importers(self) -> frozenset[str]:
        r"""The macros that input the files which their arguments name: `\newcommand{\part}[1]{\input{parts/#1}}`."""
        return frozenset(
            name
            for found in self._files.values()
            for name, (_, text) in found.items()
            if _IMPORTS.search(text) and name.isalpha() and name not in _INPUTS
        )

    def complete(self, post: Post) -> Post:
        """Return a post with the definitions that its formulas need, besides those that its reader gave it."""
        if not self._files or not post.formulas:
            return post
        path = post.place.path if post.place is not None else ""
        own: Definitions = {
            name: (place, text) for place, text in enumerate(post.macros) for name in _names_of(text)
        }
        latex = "\n".join(formula.latex for formula in post.formulas)
        if "\\" not in latex:
            return post
        found = self.needed(path, commands_in(latex), own)
        macros = tuple(dict.fromkeys([*(text for text in found if text not in post.macros), *post.macros]))
        return post if macros == post.macros else replace(post, macros=macros)

    def needed(self, path: str, names: Iterable[str], own: Definitions | None = None) -> tuple[str, ...]:
        """Return the definitions that commands of a document need, with those that these need, the most general ones first."""
        ranks = [own or {}, *self._ranks_of(path)]
        folders = _folders_of(path)
        found: dict[str, tuple[int, int, str]] = {}
        waiting = list(names)
        while waiting and len(found) < MOST_NEEDED:
            name = waiting.pop()
            if name in found:
                continue
            place = next(((-rank, *table[name]) for rank, table in enumerate(ranks) if name in table), None)
            if place is None and not keeps_meaning(name):
                texts = (self._below[folder].get(name) for folder in folders if folder in self._below)
                place = next(((-len(ranks), *each) for each in texts if each), None)
            if place is not None:
                found[name] = place
                waiting += commands_in(place[2])
        return tuple(dict.fromkeys(text for _, _, text in sorted(found.values())))

    def fingerprint(self, path: str, learned: MacroSource | None) -> str:
        """Return a digest that changes where a definition does on which reading a document depends; empty if there is none.

        Of a document that was not learned it depends on all definitions.
        """
        if not self._files:
            return ""
        if learned is None or learned.get("uses") == ["*"]:
            return self._digest(self._files)
        nearer = [self._digest(table) for table in self._ranks_of(path)]
        return _digest_of([*nearer, *self.needed(path, learned.get("uses", ()))])

    def _digest(self, value: Mapping[str, object]) -> str:
        if id(value) not in self._digests:
            self._digests[id(value)] = _digest_of(value)
        return self._digests[id(value)]

    def _ranks_of(self, path: str) -> list[Definitions]:
        """Return the definitions that hold in a document, the nearest first, without those of any other file."""
        found = self._ranks.get(path)
        if found is None:
            folders = _folders_of(path)
            reached: dict[str, None] = {}
            _follow(self._targets, path, reached)
            users: dict[str, None] = {}
            _follow(self._users, path, users)
            settings = (setting for folder in folders for setting in self._settings.get(folder, ()))
            for start in (*users, *settings):
                _follow(self._targets, start, reached)
            found = [self._files[each] for each in reached if each in self._files]
            if path.endswith(_PRETEXT):
                found += (self._pretext[folder] for folder in folders if folder in self._pretext)
            self._ranks[path] = found
        return found

    @cached_property
    def _targets(self) -> dict[str, list[str]]:
        """What each file includes."""
        found: dict[str, list[str]] = {}
        for path, names in self._includes.items():
            values = {
                f"\\{name}": text.rpartition("{")[2].rstrip("} ")
                for name, (_, text) in self._files.get(path, {}).items()
                if name.endswith("path")
            }
            for name in names:
                for macro, value in values.items() if "\\" in name else ():
                    name = name.replace(macro, value)
                if target := self._file(name, path):
                    found.setdefault(path, []).append(target)
        return found

    @cached_property
    def _users(self) -> dict[str, list[str]]:
        """The files that include each file."""
        found: dict[str, list[str]] = defaultdict(list)
        for path, targets in self._targets.items():
            for target in targets:
                found[target].append(path)
        return found

    def _file(self, name: str, user: str) -> str | None:
        """Return the file that a path names, counted from the folder of the file that includes it, or from one above."""
        for folder in _folders_of(user)[:_HIGHEST]:
            for suffix in _SUFFIXES:
                found = posixpath.normpath(posixpath.join(folder, name.lstrip("/") + suffix))
                if found != user and found in self._paths:
                    return found
        return None


def count_unknown(post: Post, report: Report) -> None:
    """Report the unknown commands of a post's formulas, and the macros that expand to nothing."""
    if any("\\" in formula.latex for formula in post.formulas):
        macros, empty = _macros(post.macros)
        found = ((each.latex, unknown_commands(each.latex, macros)) for each in post.formulas)
        report.count_commands(
            "unknown", post.id, ((latex, commands) for latex, commands in found if commands)
        )
        if empty:
            lost = ((each.latex, sorted(empty.intersection(_called(each.latex)))) for each in post.formulas)
            report.count_commands(
                "empty", post.id, ((latex, commands) for latex, commands in lost if commands)
            )


def _called(latex: str) -> list[str]:
    """Return the tokens of a formula outside its definitions."""
    return [token for part in without_definitions(latex) for token in tokenize(part)[0]]


@lru_cache(maxsize=64)
def _macros(definitions: tuple[str, ...]) -> tuple[Macros, frozenset[str]]:
    """Return the macros of a post, and those of them that expand to nothing."""
    macros = Macros.from_latex(*definitions)
    return macros, empty_macros(macros)


def _by_folder(files: Mapping[str, Definitions]) -> dict[str, Definitions]:
    """Return for every folder the most frequent definition of each name below it."""
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    places: dict[str, int] = {}
    for path, found in files.items():
        for folder in _folders_of(path):
            for name, (place, text) in found.items():
                counts[folder][name][text] += 1
                places.setdefault(text, place)
    return {
        folder: {
            name: (places[text], text) for name, each in names.items() for text, _ in each.most_common(1)
        }
        for folder, names in counts.items()
    }


def _follow(links: Mapping[str, Sequence[str]], start: str, found: dict[str, None]) -> None:
    """Add a file, those that it is linked with, and those that they are linked with, the nearest first."""
    waiting = [] if start in found else [start]
    found[start] = None
    for each in waiting:
        for target in links.get(each, ()):
            if len(found) >= MOST_INCLUDED:
                return
            if target not in found:
                found[target] = None
                waiting.append(target)


def _folders_of(path: str) -> list[str]:
    """Return the folders of a file, the innermost first.

    >>> _folders_of("a/b/c.md")
    ['a/b', 'a', '']
    """
    return ["" if str(each) == "." else str(each) for each in PurePosixPath(path).parents] or [""]


@lru_cache(maxsize=20_000)
def _names_of(definition: str) -> tuple[str, ...]:
    found: dict[str, str] = {}
    macros_in(definition, found)
    return tuple(found)


def _digest_of(value: object) -> str:
    return blake2b(json.dumps(value).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
