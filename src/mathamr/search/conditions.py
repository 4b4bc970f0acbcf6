"""`Conditions`: what a typed query demands besides its words: `"exact phrase"`, `-word`, `title:`, `tag:`, `kind:` and `in:`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mathamr.core.listing import names
from mathamr.formulas.typed.names import is_name
from mathamr.formulas.typed.sentences import formula_spans
from mathamr.index.lexical.terms import IDEOGRAPHS, words
from mathamr.posts.markup import marked_pieces
from mathamr.posts.postkind import KINDS

FIELDS = ("title", "tag", "kind", "in")
MOST = 20
"""The greatest number of conditions of one query; more of them are read as text."""

Words = tuple[str, ...]
"""Words side by side, as the lexical index spells them."""

_OPERATOR = re.compile(
    r"""
    (?<![^\s(])                                  # where a word begins
    (?P<minus>-?)
    (?:(?P<field>[A-Za-z]{2,}):)?
    (?:["“](?P<phrase>[^"“”]*)["”](?!\w)|(?P<word>[^\s"“”()]+))?
    """,
    re.X,
)
_EXCLUDED = rf"[^\W\d_]{{3,}}(?:['’-]?[^\W_]+)*|[{IDEOGRAPHS}]+"
"""A word that may be excluded; few queries have one, and compiling this takes longer than reading them."""
_OPERATION = re.compile(r"\s*[=<>+*/^_]")
_OPENING_QUOTE = re.compile(r'(?<![^\s(])["“](?=\w)')
_LABELS = names(
    "label thm theorem lem lemma prop cor def defn definition eq eqn equation fig tab sec subsec section ch chap chapter app rem"
    " ex exm exa example exercise alg ass conj item part step claim fact note axiom proof http https mailto doi arxiv"
)
"""Beginnings of labels and addresses, which are searched as they are."""


@dataclass(frozen=True, slots=True)
class Demand:
    """Properties of an entry: words side by side in its text or title, words in its title, tags, kinds, folders."""

    phrases: tuple[Words, ...] = ()
    titles: tuple[Words, ...] = ()
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Demand()


@dataclass(frozen=True, slots=True)
class Conditions:
    """What every hit has, and what no hit has; `notes` say what was not understood.

    An entry has all required phrases, title words and tags, and one of the kinds and folders. What is excluded is
    excluded by each part of it.
    """

    required: Demand = field(default_factory=Demand)
    excluded: Demand = field(default_factory=Demand)
    notes: tuple[str, ...] = ()

    @property
    def looks_at_posts(self) -> bool:
        """True if posts have to be read; other conditions are those of a `Filter`."""
        return bool(self.required.phrases or self.required.titles or self.excluded)


def read_conditions(text: str, longest: int) -> tuple[str, Conditions]:
    """Return a typed text without its operators, and the conditions that they state.

    A text of more than `longest` words is a question in which people quote; nothing in it is a condition.

    >>> text, read = read_conditions('"uniform space" -metric tag:topology completion', 20)
    >>> text.split(), read.required.phrases, read.excluded.phrases, read.required.tags
    (['uniform', 'space', 'completion'], (('uniform', 'space'),), (('metric',),), ('topology',))
    >>> read_conditions("non-empty x - y and -1", 20) == ("non-empty x - y and -1", Conditions())
    True
    """
    if not re.search(r'["“:-]', text):
        return text, Conditions()
    reader = _Reader(text)
    written = reader.read()
    if not reader.found and not reader.notes:
        return text, Conditions()
    if len(words(text)) > longest:
        note = "this is a whole question, so quotation marks, -words and fields in it are read as text"
        return text, Conditions(notes=(note,) if reader.found else ())
    required, excluded = (_demand(reader.found, minus=minus) for minus in (False, True))
    return re.sub(r"[ \t]{2,}", " ", written).strip(), Conditions(
        required, excluded, tuple(dict.fromkeys(reader.notes))
    )


def _demand(found: Sequence[tuple[bool, str, str | Words]], *, minus: bool) -> Demand:
    def of(name: str) -> Iterator[str | Words]:
        return (value for is_excluded, kind, value in found if is_excluded == minus and kind == name)

    def texts(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value for value in of(name) if isinstance(value, str)))

    def phrases(name: str) -> tuple[Words, ...]:
        return tuple(dict.fromkeys(value for value in of(name) if not isinstance(value, str) and value))

    return Demand(phrases("phrase"), phrases("title"), texts("tag"), texts("kind"), texts("in"))


class _Reader:
    """Reads the operators of one text from the left; formulas are left alone."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.found: list[tuple[bool, str, str | Words]] = []
        self.notes: list[str] = []

    def read(self) -> str:
        """Return the text that is left to be searched."""
        written: list[str] = []
        done = 0
        for match in _OPERATOR.finditer(self._text):
            has_operator = match["minus"] or match["field"] or match["phrase"] is not None
            if match.start() < done or not has_operator or self._is_formula(match.start()):
                continue
            kept = self._operator(match) if len(self.found) < MOST else None
            if kept is not None:
                written += [self._text[done : match.start()], kept]
                done = match.end()
        rest = self._text[done:]
        if _OPENING_QUOTE.search("".join(written) + rest):
            self.notes.append("a quotation mark is not closed, so it is read as text")
        return "".join([*written, rest])

    @cached_property
    def _formulas(self) -> Sequence[tuple[int, int]]:
        """Where formulas begin and end; few texts have an operator, so that most are not searched for them."""
        pieces = marked_pieces(self._text, "text")
        marked = [(piece.start, piece.end) for piece in pieces if piece.kind == "formula"]
        return marked or formula_spans(self._text)

    def _is_formula(self, place: int) -> bool:
        return any(start <= place < end for start, end in self._formulas)

    def _operator(self, match: re.Match[str]) -> str | None:
        """Note one condition and return the text that stays in its place; `None` if there is none."""
        minus, name = bool(match["minus"]), (match["field"] or "").lower()
        value = match["phrase"] if match["phrase"] is not None else match["word"]
        if name:
            return self._field(match, name, value, minus=minus)
        if match["phrase"] is not None:
            return self._phrase(match, minus=minus)
        bare = (value or "").rstrip(".,;:?!")
        if not minus or not re.fullmatch(_EXCLUDED, bare) or is_name(bare):
            return None
        if _OPERATION.match(self._text, match.end()):
            return None
        self.found.append((True, "phrase", tuple(words(bare))))
        return ""

    def _field(self, match: re.Match[str], name: str, value: str | None, *, minus: bool) -> str | None:
        shown = f"{match['minus']}{name}:"
        if name not in FIELDS:
            is_label = minus or not value or name in _LABELS or value.startswith("/") or self._is_alone
            if not is_label and value and value[:1].isalpha():
                self.notes.append(
                    f"{shown!r} is not a field ({', '.join(f'{each}:' for each in FIELDS)} are), so"
                    f" {match.group()!r} is searched as words"
                )
            return None
        if not value or not value.strip():
            self.notes.append(f"{shown!r} needs its value right behind the colon; it is searched as a word")
            return None
        value = value.strip()
        if name == "kind" and value not in KINDS:
            self.notes.append(
                f"{value!r} is not a kind of entry ({', '.join(KINDS)}), so {shown!r} is a word"
            )
            return None
        if name != "title":
            self.found.append((minus, name, value))
            return ""
        self.found.append((minus, name, tuple(words(value))))
        return "" if minus else value

    @property
    def _is_alone(self) -> bool:
        return len(self._text.split()) == 1

    def _phrase(self, match: re.Match[str], *, minus: bool) -> str:
        """Note a phrase; a formula in it stays a formula, and the words on its sides are phrases of their own."""
        start, end = match.span("phrase")
        done = start
        inside = [each for each in self._formulas if start <= each[0] < end]
        for first, last in [*inside, (end, end)]:
            if found := tuple(words(self._text[done:first])):
                self.found.append((minus, "phrase", found))
            done = last
        if inside:
            self.notes.append("a formula in quotation marks is searched as a formula, not letter by letter")
        return "" if minus else match["phrase"]
