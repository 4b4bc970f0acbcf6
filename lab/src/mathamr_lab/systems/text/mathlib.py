"""Declarations of Lean's Mathlib as training data: what a docstring says, and the name and statement that it describes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAPS = ("100.yaml", "1000.yaml", "overview.yaml", "undergrad.yaml")
"""The community's maps from names of theorems to declarations: for validation; what they name is not trained on."""
LONGEST = 1200

_PART = re.compile(
    r"/--(?P<doc>.*?)-/"
    r"|/-.*?-/"
    r"|^(?P<scope>namespace|section|end|mutual)\b[ \t]*(?P<scoped>[^\s]*)"
    r"|^[ \t]*(?:@\[[^\]]*\]\s*|(?:private|protected|noncomputable|public|partial|unsafe|nonrec|scoped|local|meta|@\[expose\])\s+)*"
    r"(?P<word>theorem|lemma|def|abbrev|structure|class|inductive|instance|axiom|opaque|irreducible_def)\s+"
    r"(?:inductive\s+)?(?P<name>[^\s:({\[⦃]+)(?P<statement>.*?)(?=:=|\n\s*\n|\bwhere\b|^\s*\||/--|\Z)",
    re.S | re.M,
)
_SPLIT = re.compile(r"[._]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """A declaration: full name, word that declares it, statement without its name, and docstring, which may be empty."""

    name: str
    word: str
    statement: str
    documentation: str

    @property
    def words(self) -> str:
        """The name as words."""
        return name_words(self.name)


def name_words(name: str) -> str:
    """Returns a name as words.

    >>> name_words("Metric.isCompact_iff_finite_subcover")
    'metric is compact iff finite subcover'
    """
    return " ".join(part.lower() for part in _SPLIT.split(name) if part)


def declarations(folder: Path) -> Iterator[LibraryEntry]:
    """Reads the declarations of all Lean files of a folder, in order of their paths."""
    for path in sorted(folder.rglob("*.lean")):
        yield from _declared(path.read_text(encoding="utf-8"))


def _declared(source: str) -> Iterator[LibraryEntry]:
    scopes: list[tuple[str, str]] = []
    documentation = ""
    for match in _PART.finditer(source):
        if match["doc"] is not None:
            documentation = " ".join(match["doc"].split())
        elif match["scope"] == "end":
            if scopes:
                scopes.pop()
        elif match["scope"]:
            scopes.append((match["scope"], match["scoped"] if match["scope"] == "namespace" else ""))
        elif match["name"]:
            own = match["name"]
            name = (
                own.removeprefix("_root_.")
                if own.startswith("_root_.")
                else ".".join([*(name for _, name in scopes if name), own])
            )
            statement = " ".join(match["statement"].split())[:LONGEST]
            yield LibraryEntry(name, match["word"], statement, documentation)
            documentation = ""


def mapped_names(folder: Path) -> dict[str, set[str]]:
    """Returns for each declaration that the four maps name the titles under which they name it."""
    found: dict[str, set[str]] = {}
    for name in MAPS[:2]:
        title = ""
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            key, _, value = line.strip().lstrip("- ").partition(":")
            value = value.strip().strip("'\"")
            if key.strip() == "title":
                title = value
            elif key.strip() == "decl" and value:
                found.setdefault(value, set()).add(title)
            elif title and not value and line.startswith("  - "):
                found.setdefault(line.strip(" -'\""), set()).add(title)
    for name in MAPS[2:]:
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            match = re.match(r"\s+['\"]?(?P<title>[^:'\"]+)['\"]?:\s*'(?P<decl>[\w.'₀-₉]+)'\s*$", line)
            if match:
                found.setdefault(match["decl"], set()).add(match["title"].strip())
    return found
