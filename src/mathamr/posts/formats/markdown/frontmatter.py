"""Front matter: the metadata at the head of a note, in YAML, TOML or as a title block of Pandoc."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import yaml

from mathamr.core.toml import load_toml
from mathamr.posts.report import Report

LONGEST = 1 << 16
"""Characters of front matter that are read; YAML is slow for hostile input."""
MOST_VALUES = 500
"""Values that are taken from a list, which may refer to itself."""

_YAML = re.compile(r"\ufeff?---[ \t\r]*\n(.*?)^(?:---|\.\.\.)[ \t\r]*(?:\n|\Z)", re.S | re.M)
_TOML = re.compile(r"\ufeff?\+\+\+[ \t\r]*\n(.*?)^\+\+\+[ \t\r]*(?:\n|\Z)", re.S | re.M)
_PANDOC = re.compile(r"\ufeff?%[ \t]+(\S[^\n]*)\n%([^\n]*)\n(?:%([^\n]*)\n)?[ \t\r]*(?:\n|\Z)")
_STARTS_YAML = re.compile(r"\s*(?:#|[\w-]+[ \t]*:(?:\s|\Z)|\Z|\{)")
_KEY = re.compile(r"^([\w-]+)[ \t]*:(?=\s|\Z)", re.M)
_QUOTED_LATEX = re.compile(r"^([\w-]+:[ \t]*)\"([^\"\n]*\$[^\"\n]*)\"[ \t\r]*$", re.M)
_SEPARATOR = re.compile(r"[,\s]+")
_COMMA = re.compile(r"[,;]")
_NOTHING = frozenset(["", "null", "~", "Null", "NULL"])


class FrontMatter(NamedTuple):
    """The metadata of a note, and the offset where its text begins."""

    title: str = ""
    tags: tuple[str, ...] = ()
    date: str | None = None
    aliases: tuple[str, ...] = ()
    end: int = 0

    @classmethod
    def read(cls, text: str, report: Report) -> FrontMatter:
        """Return the front matter of a note; unreadable parts are reported and left out.

        >>> note = "---\\ntitle: 'On limits'\\ntags: [analysis, limits]\\ndate: 2024-05-01\\n---\\nText."
        >>> found = FrontMatter.read(note, Report())
        >>> found.title, found.tags, found.date, note[found.end :]
        ('On limits', ('analysis', 'limits'), '2024-05-01', 'Text.')
        """
        if (match := _YAML.match(text)) and _STARTS_YAML.match(match.group(1)):
            values = _yaml(match.group(1), report)
        elif match := _TOML.match(text):
            values = _toml(match.group(1), report)
        elif match := _PANDOC.match(text):
            values = {"title": match.group(1), "date": match.group(3) or ""}
        else:
            return cls()
        lowered = {str(key).lower(): value for key, value in values.items()}
        names = chain.from_iterable(
            separator.split(tags) if isinstance(tags := lowered.get(key, ""), str) else _scalars(tags)
            for key, separator in (("tags", _SEPARATOR), ("keywords", _COMMA), ("categories", _COMMA))
        )
        aliases = [*_scalars(lowered.get("aliases", "")), *_scalars(lowered.get("alias", ""))]
        return cls(
            title=_line(lowered.get("title", "")),
            tags=tuple(dict.fromkeys(name for each in names if (name := each.strip().lstrip("#").strip()))),
            date=_line(lowered.get("date") or lowered.get("created") or "") or None,
            aliases=tuple(dict.fromkeys(" ".join(alias.split()) for alias in aliases if alias.strip())),
            end=match.end(),
        )


def _scalars(value: Any) -> Iterator[str]:
    """Yield the texts in a value and in its lists, within bounds; mappings are left out."""
    waiting, seen = [value], 0
    while waiting and seen < MOST_VALUES:
        seen += 1
        item = waiting.pop()
        if isinstance(item, str) and item not in _NOTHING:
            yield item
        elif isinstance(item, list):
            waiting.extend(reversed(item[:MOST_VALUES]))


def _line(value: Any) -> str:
    """Return a value as one line."""
    return " ".join(" ".join(_scalars(value)).split())


def _yaml(source: str, report: Report) -> dict[str, Any]:
    """Return the mapping of a YAML text, all its values texts or lists; key by key where the whole is not YAML."""
    if len(source) > LONGEST:
        report.repair(
            "front matter", f"more than {LONGEST:,} characters of front matter; only these are read"
        )
        source = source[: source.rfind("\n", 0, LONGEST) + 1]
    source = _QUOTED_LATEX.sub(_single_quoted, source)
    try:
        return _mapping(source)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        place = getattr(error, "problem_mark", None)
        where = f", line {place.line + 2}" if place else ""
        why = getattr(error, "problem", None) or type(error).__name__
        report.repair("front matter", f"not YAML ({why}{where}); read key by key")
    values: dict[str, Any] = {}
    keys = list(_KEY.finditer(source))
    for key, following in zip_longest(keys, keys[1:]):
        part = source[key.start() : following.start() if following else len(source)]
        values |= _one_key(key.group(1), part[key.end() - key.start() :])
    return values


def _single_quoted(match: re.Match[str]) -> str:
    """Return a double-quoted YAML text in single quotes, so that `"$\\alpha$"` keeps its backslash and is not read as the bell."""
    inside = match.group(2)
    return match.group() if "\\\\" in inside else match.group(1) + "'" + inside.replace("'", "''") + "'"


def _one_key(key: str, source: str) -> dict[str, Any]:
    """Return the value of a key: as YAML, else as a list with irregular indentation, else as the rest of its line."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    listed = "\n".join(lines) if all(line.startswith("- ") for line in lines) else None
    for candidate in (source, listed):
        try:
            if candidate is not None:
                return _mapping(f"{key}:\n{candidate}" if candidate is listed else f"{key}:{candidate}")
        except (yaml.YAMLError, RecursionError, ValueError):
            continue
    raw = lines[0] if lines else ""
    return {key: raw[1:-1] if len(raw) > 1 and raw[0] == raw[-1] in "\"'" else raw}


def _mapping(source: str) -> dict[str, Any]:
    """Load YAML with `BaseLoader`, which makes every scalar a string and constructs no objects."""
    loaded = yaml.load(source, Loader=yaml.BaseLoader)
    return loaded if isinstance(loaded, dict) else {}


def _toml(source: str, report: Report) -> dict[str, Any]:
    """Return the values of a TOML text as texts or lists; none if it is not TOML, too long or too deep."""
    try:
        if len(source) > LONGEST:
            raise ValueError(f"more than {LONGEST:,} characters")
        table = load_toml(source, str)
        taxonomies = table.get("taxonomies")
        table |= taxonomies if isinstance(taxonomies, dict) else {}
        return {
            key: [item if isinstance(item, list) else str(item) for item in value]
            if isinstance(value, list)
            else str(value)  # a ValueError for a number of more than 4,300 digits
            for key, value in table.items()
            if not isinstance(value, dict)
        }
    except ValueError as error:
        report.repair("front matter", f"not TOML: {error}")
        return {}
