"""Front matter: the few facts at the head of a note, in YAML's simple forms or in TOML."""

from __future__ import annotations

import re
import tomllib
from typing import NamedTuple

from mathamr.posts.report import Report

_YAML = re.compile(r"\ufeff?---[ \t\r]*\n(.*?)^(?:---|\.\.\.)[ \t\r]*(?:\n|\Z)", re.S | re.M)
_TOML = re.compile(r"\ufeff?\+\+\+[ \t\r]*\n(.*?)^\+\+\+[ \t\r]*(?:\n|\Z)", re.S | re.M)
_STARTS_YAML = re.compile(r"\s*(?:#|[\w-]+[ \t]*:(?:\s|\Z)|\Z)")
_KEY = re.compile(r"([\w-]+)[ \t]*:(?:[ \t]+(.*))?\Z")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)\Z")
_COMMENT = re.compile(r"(?:^|[ \t])#.*\Z")
_SEPARATOR = re.compile(r"[,\s]+")


class FrontMatter(NamedTuple):
    """What a note says about itself, and where its text begins."""

    title: str = ""
    tags: tuple[str, ...] = ()
    date: str | None = None
    end: int = 0

    @classmethod
    def read(cls, text: str, report: Report) -> FrontMatter:
        """The front matter of a note; lines that are not understood are reported and left out.

        >>> note = "---\\ntitle: 'On limits'\\ntags: [analysis, limits]\\ndate: 2024-05-01\\n---\\nText."
        >>> found = FrontMatter.read(note, Report())
        >>> found.title, found.tags, found.date, note[found.end :]
        ('On limits', ('analysis', 'limits'), '2024-05-01', 'Text.')
        """
        if (match := _YAML.match(text)) and _STARTS_YAML.match(match.group(1)):
            values = _yaml(match.group(1), report)
        elif match := _TOML.match(text):
            values = _toml(match.group(1), report)
        else:
            return cls()
        lowered = {key.lower(): value for key, value in values.items()}
        tags = lowered.get("tags") or lowered.get("keywords") or lowered.get("categories") or []
        date = _single(lowered.get("date") or lowered.get("created") or "")
        names = _SEPARATOR.split(tags) if isinstance(tags, str) else tags
        return cls(
            title=_single(lowered.get("title", "")),
            tags=tuple(dict.fromkeys(name.strip().lstrip("#") for name in names if name.strip("# "))),
            date=date or None,
            end=match.end(),
        )


def _single(value: str | list[str]) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _yaml(source: str, report: Report) -> dict[str, str | list[str]]:
    """`key: value`, `key: [a, b]`, and `key:` with `- item` lines; what is nested deeper says nothing to us."""
    values: dict[str, str | list[str]] = {}
    key = ""
    for line in source.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if (item := _ITEM.match(line)) and key:
            held = values[key]
            values[key] = (
                [*held, _scalar(item.group(1))] if isinstance(held, list) else [_scalar(item.group(1))]
            )
        elif entry := _KEY.match(line):
            key = entry.group(1)
            values[key] = _value((entry.group(2) or "").strip())
        elif not (key and line[0].isspace()):
            report.mend("front matter", f"a line that is no `key: value`: {line.strip()[:80]!r}")
    return values


def _value(text: str) -> str | list[str]:
    if text.startswith("[") and text.rstrip().endswith("]"):
        return [_scalar(part) for part in text.strip()[1:-1].split(",") if part.strip()]
    return "" if text in ("|", ">", "|-", ">-", "null", "~") else _scalar(text)


def _scalar(text: str) -> str:
    text = text.strip()
    for quote in "\"'":
        if len(text) > 1 and text[0] == quote and (close := text.find(quote, 1)) > 0:
            return text[1:close]
    return _COMMENT.sub("", text).strip()


def _toml(source: str, report: Report) -> dict[str, str | list[str]]:
    try:
        table = tomllib.loads(source)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        report.mend("front matter", f"not TOML: {error}")
        return {}
    taxonomies = table.get("taxonomies")
    table |= taxonomies if isinstance(taxonomies, dict) else {}
    return {
        key: [str(item) for item in value] if isinstance(value, list) else str(value)
        for key, value in table.items()
        if not isinstance(value, dict)
    }
