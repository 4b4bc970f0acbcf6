"""Papers of arXiv: a source named by its number has number, title, authors and year, of which a citation is made.

They become tags (`arxiv:2101.00123v2`, `paper:…`, `author:…`) and the date of every post of the paper. They are read from
`arxiv-metadata.jsonl` beside the sources, whose rows are those of arXiv's own snapshot (`id`, `title`, `authors`), or from `\\title` and
`\\author` of the source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mathamr.posts.inputs import open_observed

METADATA = "arxiv-metadata.jsonl"
LONGEST_ROW = 100_000
MOST_AUTHORS = 30
LONGEST_NAME = 100

_NUMBER = re.compile(
    r"""(?:^|/)(?:arxiv[-:_]?)?
    (?P<number>(?P<year>\d\d)(?P<month>0[1-9]|1[0-2])\.\d{4,5}      # 2101.00123
    |(?:(?:math|math-ph|physics|hep-(?:th|ph|ex|lat)|gr-qc|quant-ph|cond-mat|astro-ph|nlin|cs|q-bio|q-alg|alg-geom|dg-ga|funct-an)
        (?:\.[A-Z]{2})?[/_-]?(?P<y>\d\d)(?P<m>0[1-9]|1[0-2])\d{3}))  # math0309136, hep-th/9901001
    (?P<version>v\d+)?(?=\.(?:tar|tgz|gz|tex)|/|$)""",
    re.X | re.I,
)
_FIELD = re.compile(
    r"\\(title|author)\s*+(?:\[[^\[\]]{0,1000}+\])?+\s*+\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\}){0,5000}+)\}"
)
_ASIDE = re.compile(
    r"""\\(?:thanks|footnote|inst|orcid\w*|email|address|affiliation|textsuperscript)\s*+(?:\[[^\[\]]*+\])?+\{(?:[^{}]|\{[^{}]*+\})*+\}
    |\$[^$]*+\$ | \\[a-zA-Z]++\*? | [{}~]""",
    re.X,
)
_AND = re.compile(r",\s*and\b|\band\b|,|;")


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper of arXiv; what is not known is empty."""

    number: str
    version: str
    year: str
    month: str
    title: str = ""
    authors: tuple[str, ...] = ()

    @property
    def tags(self) -> tuple[str, ...]:
        """Number, title and authors as tags."""
        title = (f"paper:{self.title}",) if self.title else ()
        return (f"arxiv:{self.number}{self.version}", *title, *(f"author:{name}" for name in self.authors))

    @property
    def date(self) -> str:
        """Year and month of the number."""
        return f"{self.year}-{self.month}"


def paper_of(path: str, source: str, known: Mapping[str, Mapping[str, str]]) -> Paper | None:
    r"""Return the paper that a path names by its number; `known` are rows of metadata by number, `source` is its LaTeX.

    >>> paper = paper_of("2101.00123v2/main.tex", r"\title{On \emph{sums}} \author{A. Weil\thanks{Paris}\\ ENS \and J. Tate}", {})
    >>> paper.tags, paper.date
    (('arxiv:2101.00123v2', 'paper:On sums', 'author:A. Weil', 'author:J. Tate'), '2021-01')
    >>> paper_of("chapter1/2101.tex", "", {}) is None
    True
    """
    found = _NUMBER.search(path)
    if found is None:
        return None
    number = found["number"].replace("_", "/")
    row = known.get(number, {})
    fields: dict[str, list[str]] = {"title": [], "author": []}
    for name, value in _FIELD.findall(source[:LONGEST_ROW]):
        fields[name].append(value)
    titles = [row["title"]] if row.get("title") else fields["title"]
    authors = [row["authors"]] if row.get("authors") else fields["author"]
    years = int(found["year"] or found["y"])
    return Paper(
        number,
        found["version"] or "",
        str(1900 + years if years > 90 else 2000 + years),
        found["month"] or found["m"],
        _plain(titles[0])[: 3 * LONGEST_NAME] if titles else "",
        tuple(dict.fromkeys(_names(authors)))[:MOST_AUTHORS],
    )


def read_metadata(folder: Path, paths: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the rows of `arxiv-metadata.jsonl` in a folder that belong to the numbers in some paths."""
    file = folder / METADATA
    if not file.is_file():
        return {}
    wanted = {match["number"].replace("_", "/") for path in paths if (match := _NUMBER.search(path))}
    found: dict[str, dict[str, str]] = {}
    with open_observed(file) as lines:
        while wanted - found.keys() and (line := lines.readline(LONGEST_ROW)):
            try:
                row = json.loads(line)
                number = str(row["id"])
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # a row that is damaged or too long says nothing
            if number in wanted:
                found[number] = {name: str(row.get(name) or "") for name in ("title", "authors")}
    return found


def _names(values: Iterable[str]) -> Iterator[str]:
    """Yield the names in fields of authors, without affiliations and footnotes."""
    for value in values:
        for group in re.split(r"\\(?:and|AND)\b", value):
            for name in _AND.split(_ASIDE.sub(" ", group.partition("\\\\")[0])):
                if cleaned := " ".join(name.split())[:LONGEST_NAME]:
                    yield cleaned


def _plain(text: str) -> str:
    """Return text without commands and braces; formulas stay."""
    return (
        " ".join(re.sub(r"\\(?:[a-zA-Z]+\*?|\\)|(?<!\$)[{}]", " ", text).split())
        if "$" not in text
        else " ".join(text.split())
    )
