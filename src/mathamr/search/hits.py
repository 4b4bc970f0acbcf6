"""`Hits`: the results of a search, with everything that a page or a program shows of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, get_args

from mathamr.core.frames import data_frame
from mathamr.posts.post import Place
from mathamr.posts.postkind import kind_named
from mathamr.search.filtercounts import FilterCounts
from mathamr.search.formulagrade import (
    COMPLETED,
    CONTAINED,
    CONTAINED_RENAMED,
    FITTING,
    FITTING_INSIDE,
    IDENTICAL,
    RENAMED,
)
from mathamr.search.fragment import Fragment, Line, plain
from mathamr.search.query import Query
from mathamr.search.receipt import Receipt
from mathamr.search.results import GRADE
from mathamr.systems.ranking import Task

if TYPE_CHECKING:
    from pandas import DataFrame

Match = Literal["strong", "weak", "similar"]
Found = Literal["strong", "weak", "similar", "nothing"]
MATCHES: tuple[Match, ...] = get_args(Match)


SIMILAR_ONLY = "Similar only:"
NEAREST = "The nearest, perhaps not what you asked:"
NOTHING_MATCHES = "Nothing here seems to be what was asked. Similar only:"


REASONS = {
    IDENTICAL: "has the formula",
    FITTING: "has a formula that fits the wildcards",
    COMPLETED: "has the formula with bounds",
    RENAMED: "has the formula in other letters",
    FITTING_INSIDE: "has a formula with a part that fits the wildcards",
    CONTAINED: "has a formula that contains it",
    CONTAINED_RENAMED: "has a formula that contains it in other letters",
}
"""Reasons for a hit, by the least grade of its formulas."""
FORMULAS = {
    IDENTICAL: "the same formula",
    COMPLETED: "the same formula with bounds",
    RENAMED: "the same formula in other letters",
    CONTAINED: "contains the formula",
    CONTAINED_RENAMED: "contains the formula in other letters",
}
"""The same of a formula that was found."""
SIMILAR_FORMULA = "a similar formula"
PARTS = {
    "lexical": "words",
    "formula": "similar formulas",
    "maxsim": "meaning",
    "parent": "its question",
    "member": "what belongs to it",
}
"""How a reason names each component of a ranking."""
LISTED_BY = "conditions"
"""The name under which evidence says that a post fulfils the conditions that were all of the query."""
HOLDS = "named"
"""The name under which evidence lists what the formulas of a post are to those of the name that was typed."""
LISTED = {
    "tag": "has this tag",
    "indexed": "has this index entry",
    "question tag": "its question has this tag",
}
"""By what its author, or that of its question, listed a post under the name that was asked for."""
NAMED = 0.35
"""The share of the greatest bonus from which a post's title has the whole name that was asked for."""


def absence(words: Sequence[str], *, is_stale: bool = False) -> str:
    """Return the sentence that says which words of a query the collection lacks, or lacked when it was indexed.

    >>> absence(["Cantelli"]), absence(["foo", "bar", "baz"])
    ('The collection does not mention “Cantelli”.', 'The collection does not mention “foo”, “bar” or “baz”.')
    >>> absence(["Cantelli"], is_stale=True)
    'The collection did not mention “Cantelli” when it was indexed.'
    """
    quoted = [f"“{word}”" for word in words]
    listed = " or ".join((", ".join(quoted[:-1]), quoted[-1])) if len(quoted) > 1 else quoted[0]
    if is_stale:
        return f"The collection did not mention {listed} when it was indexed."
    return f"The collection does not mention {listed}."


def caution_of(day: str) -> str:
    """Say that a hit shows an older version, as its file was on a day (as 2026-03-03).

    >>> caution_of("2026-03-03")
    'as of 3 March 2026; the file can no longer be read'
    """
    when = date.fromisoformat(day)
    return f"as of {when.day} {when:%B %Y}; the file can no longer be read"


def reason_of(evidence: Mapping[str, float], *, of_formula: bool = False) -> str:
    """Say by what a post was found, or a formula.

    >>> reason_of({"name": 0.6}), reason_of({"grade": 0.9, "maxsim": 0.3}), reason_of({"lexical": 0.2, "maxsim": 0.6})
    ('has this name', 'has the formula in other letters', 'by words and meaning')
    >>> reason_of({"grade": 1.0}, of_formula=True), reason_of({"lexical": 0.2}, of_formula=True)
    ('the same formula', 'a similar formula')
    """
    if of_formula:
        if evidence.get("pattern"):
            return "fits the wildcards"
        return next(
            (said for least, said in FORMULAS.items() if evidence.get(GRADE, 0.0) >= least), SIMILAR_FORMULA
        )
    if evidence.get("label"):
        return "has this label"
    if evidence.get("name", 0.0) >= NAMED:
        return "has this name"
    if listed := next((reason for key, reason in LISTED.items() if evidence.get(key)), ""):
        return listed
    if evidence.get(LISTED_BY):
        return "fulfils the conditions"
    if evidence.get(HOLDS):
        return "has a formula of this name"
    grade = evidence.get(GRADE, 0.0)
    for least, reason in REASONS.items():
        if grade >= least:
            return reason
    parts = [name for key, name in PARTS.items() if evidence.get(key)]
    listed = ", ".join([*parts[:-2], " and ".join(parts[-2:])])
    return f"by {listed}" if parts else ""


@dataclass(frozen=True, slots=True)
class FormulaHit:
    """A found formula at its best occurrence; `places` counts the indexed formulas of its visual class."""

    id: str
    latex: str
    visual: str
    visual_id: str | None = None
    display: bool = False
    places: int = 1
    exact: bool = False
    """True if it has the query's visual class, or fits the wildcards of the query."""
    own_id: str = ""
    """Its id within its post, as in fragments."""
    matched: tuple[tuple[int, int], ...] = ()
    """The offsets [start, end) of the matched parts in its LaTeX."""
    matched_nodes: tuple[int, ...] = ()
    """The matched nodes of its layout tree."""
    taken_nodes: tuple[int, ...] = ()
    """The nodes of its layout tree for which wildcards of the query stand."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


_SECTIONS = frozenset(["section", "note", "page", "article"])


@dataclass(frozen=True, slots=True, repr=False)
class Hit:
    """A post that was found, or the post in which a formula was found.

    `evidence` has the score of every component that found it. An answer has the title of its question. Title and snippet
    print as text and can be drawn fragment by fragment.
    """

    id: str
    rank: int
    score: float
    kind: str
    title: tuple[Fragment, ...] = Line()
    snippet: tuple[Fragment, ...] = Line()
    tags: tuple[str, ...] = ()
    parent: str | None = None
    date: str | None = None
    votes: int | None = None
    source: str = ""
    formula: FormulaHit | None = None
    evidence: Mapping[str, float] = field(default_factory=dict)
    place: Place | None = None
    share: float = 1.0
    """The score as a share of the best one, since scores are comparable only within one search by one strategy.

    A promoted hit (by its name, label or identity, as `evidence` shows) has its share, and its score, from before the promotion.
    """
    match: Match = "weak"
    """What the hit is to the query: most likely what was asked, perhaps, or only something similar."""
    others: tuple[Hit, ...] = ()
    """Of a grouped search: further hits in the same document, or for the same question."""
    macros: tuple[str, ...] = ()
    """The definitions of LaTeX with which the formulas of the title and the snippet are read."""
    as_of: str | None = None
    """The day (as 2026-03-03) of the version that is shown, if its file can no longer be read whole."""

    is_deleted: bool = False
    """True if its file has been deleted since it was indexed."""
    collection: str = ""
    """The name of the collection that it is of, where several were searched."""

    @property
    def caution(self) -> str:
        """What to know before relying on the hit; empty if its file is as it was read."""
        if self.is_deleted:
            return "its file was deleted after it was indexed"
        return caution_of(self.as_of) if self.as_of else ""

    @property
    def reason(self) -> str:
        """Why the hit was found, in a few words, by the strongest of its evidence."""
        if self.formula is not None and self.formula.exact and not self.evidence.get("pattern"):
            return FORMULAS[IDENTICAL]
        return reason_of(self.evidence, of_formula=self.formula is not None)

    @property
    def own_title(self) -> Line:
        """The title without the headings above it: `Rank` of `Algebra: Matrices: Rank`."""
        return Line(self._parted_title[1])

    @property
    def headings(self) -> Line:
        """The headings above the place of the hit, which its title begins with: the book and the chapter."""
        return Line(self._parted_title[0])

    @property
    def _parted_title(self) -> tuple[tuple[Fragment, ...], tuple[Fragment, ...]]:
        """The title in two: the headings above, and its own words; a statement that is called `Lemma 2: Rank` stays whole."""
        first = plain(self.title).partition(": ")[0].partition(" (")[0]
        is_called = kind_named(first.rstrip("0123456789. ")) is not None and self.kind not in _SECTIONS
        if "#" not in (self.parent or self.id) or self.place is None or is_called:
            return (), self.title
        for number in range(len(self.title) - 1, -1, -1):
            fragment = self.title[number]
            before, colon, after = fragment.text.rpartition(": ")
            if fragment.kind != "text" or not colon:
                continue
            above = (*self.title[:number], replace(fragment, text=before))
            own = (replace(fragment, text=after), *self.title[number + 1 :])
            return above, tuple(each for each in own if each.text)
        return (), self.title

    @property
    def location(self) -> str:
        """Path and line of the post in its input as `path:line`, of a notebook its cell; empty if unknown."""
        return str(self.place) if self.place else ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", Line(self.title))
        object.__setattr__(self, "snippet", Line(self.snippet))

    def __repr__(self) -> str:
        text = plain(self.title) or plain(self.snippet)
        return f"Hit({self.rank}, {self.id!r}, {self.score:.4f}, {text[:80]!r})"

    def __str__(self) -> str:
        return f"{self.rank:>3}. {self.id}  {self.score:.4f}  {plain(self.title) or plain(self.snippet)}"

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values; title and snippet as text and as fragments."""
        return {
            "rank": self.rank,
            "id": self.id,
            "score": round(self.score, 6),
            "share": round(self.share, 4),
            "match": self.match,
            "reason": self.reason,
            "kind": self.kind,
            "title": plain(self.title),
            "title_fragments": [fragment.to_json() for fragment in self.title],
            "snippet": plain(self.snippet),
            "snippet_fragments": [fragment.to_json() for fragment in self.snippet],
            "tags": list(self.tags),
            "parent": self.parent,
            "date": self.date,
            "votes": self.votes,
            "as_of": self.as_of,
            "is_deleted": self.is_deleted,
            "source": self.source,
            "place": self.place.to_dict() if self.place else None,
            "formula": self.formula.to_json() if self.formula else None,
            "evidence": {name: round(score, 6) for name, score in self.evidence.items()},
            **({"collection": self.collection} if self.collection else {}),
            **({"others": [hit.to_json() for hit in self.others]} if self.others else {}),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Hits:
    """The hits of one search, best first.

    `seconds` has the time of each stage that took part (parse, load, amr, encode, align, search, rank, snippet), `notes` are messages for the user,
    and `more` is True if further hits follow. For a grouped search, the hits are the first ones of their groups.
    """

    query: Query
    task: Task
    strategy: str
    hits: tuple[Hit, ...]
    offset: int = 0
    more: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    """Words of a short query that no post of the index has, as they were typed."""
    counts: FilterCounts | None = None
    """What filters would keep of the best results, if it was asked for."""
    found: Found = "nothing"
    """The best match among the first results of the search, whichever of them are here.

    `similar`: the nearest are perhaps not what was asked; `nothing`: surely they are not, or there are none.
    """
    checked: Receipt | None = None
    """What the search looked through."""
    collections: Mapping[str, Found] = field(default_factory=dict)
    """The best match in each collection, where several were searched."""

    @property
    def similar_from(self) -> int:
        """The index from which on all hits are only similar; `len(hits)` if the last one is not."""
        last = max((place for place, hit in enumerate(self.hits) if hit.match != "similar"), default=-1)
        return last + 1

    @property
    def heading(self) -> str:
        """What stands above hits that are all only similar, as surely as it is known; empty for any others."""
        if not self.hits or self.offset or self.similar_from:
            return ""
        return NOTHING_MATCHES if self.found == "nothing" else NEAREST

    @property
    def absence(self) -> str:
        """The sentence that says which words the collection lacks; empty if it lacks none."""
        is_stale = self.checked is not None and bool(self.checked.changes)
        return absence(self.absent, is_stale=is_stale) if self.absent else ""

    def __repr__(self) -> str:
        asked, more = shortened_text(self.query.text), " and more" if self.more else ""
        return f"Hits({asked!r}, {len(self)} {self.task}{more}, found={self.found!r})"

    def __str__(self) -> str:
        """Return a line for each hit, below what is known of all."""
        lines = [line for line in (self.absence, self.heading) if line]
        return "\n".join([*lines, *map(str, self)]) or "Nothing found."

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]

    def to_dataframe(self) -> DataFrame:
        """Return the hits as a table of pandas."""
        columns = ("rank", "id", "score", "match", "reason", "kind", "title", "snippet", "location")
        return data_frame(({name: _cell(getattr(hit, name)) for name in columns} for hit in self), columns)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "query": self.query.text,
            "task": self.task,
            "strategy": self.strategy,
            "offset": self.offset,
            "more": self.more,
            "found": self.found,
            "absent": list(self.absent),
            "checked": self.checked.to_json() if self.checked else None,
            **({"collections": dict(self.collections)} if self.collections else {}),
            "notes": list(self.notes),
            "seconds": {stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
            "hits": [hit.to_json() for hit in self.hits],
        }


def shortened_text(text: str, most: int = 60) -> str:
    """Return a text in one line of at most so many characters.

    >>> shortened_text("Why is\\n it so?"), shortened_text("x" * 9, 4)
    ('Why is it so?', 'xxx…')
    """
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _cell(value: object) -> object:
    return str(value) if isinstance(value, Line) else value
