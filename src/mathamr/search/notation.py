"""The notation of a collection: where each symbol is introduced and as what, where it is used, and what was never introduced.

Sentences say it ("let $G$ be a group", "we write $|G|$ for the order of $G$"). Patterns find what is said in a usual way, and the
roles of the meaning graph what is said in another.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from mathamr.amr.batch import parse_each
from mathamr.amr.graph import Amr
from mathamr.amr.parser import load_parser
from mathamr.core.cancellation import check_cancelled
from mathamr.formulas.formula import Formula
from mathamr.formulas.trees import trees_of
from mathamr.posts.formats.latex.definitions import commands_in
from mathamr.posts.passage import Sentence
from mathamr.posts.post import Post
from mathamr.posts.postcontent import parse_post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.introductions import (
    HAS_VERB,
    LONGEST_SENTENCE,
    Introduction,
    head_noun,
    introductions_of,
    plain,
)

MOST_INTRODUCTIONS = 100
"""Introductions of a symbol that are kept; further ones are counted."""
MOST_SYMBOLS = 20_000
"""Symbols of a collection that are listed."""
_PARSED_TOGETHER = 64

_DEFINED = re.compile(r"\\([A-Za-z@]+)")
_GREEK = "αβγδεϵζηθϑικλμνξοπϖρϱσςτυφϕχψω"
Kind = Literal["letter", "operator", "macro", "notation"]


@dataclass
class NotationEntry:
    """A symbol of a collection with its introductions, the number of formulas that use it, and the posts that do first."""

    symbol: str
    latex: str
    kind: Kind
    introductions: list[Introduction] = field(default_factory=list)
    introduced: int = 0
    uses: int = 0
    posts: list[str] = field(default_factory=list)

    @property
    def meanings(self) -> list[str]:
        """What the symbol is said to be, different nouns only, the most frequent first."""
        heads: dict[str, Counter[str]] = {}
        for each in self.introductions:
            heads.setdefault(head_noun(each.said), Counter())[each.said] += 1
        ranked = sorted(heads.values(), key=lambda counts: -counts.total())
        return [counts.most_common(1)[0][0] for counts in ranked]

    def use(self, posts: Sequence[str], count: int) -> None:
        """Count formulas of posts that use the symbol."""
        self.uses += count
        new = posts[1:] if self.posts[-1:] == posts[:1] else posts
        self.posts += new[: MOST_INTRODUCTIONS - len(self.posts)]

    def introduce(self, introductions: Sequence[Introduction], count: int) -> None:
        """Add introductions of the symbol, of which there are `count`; the first one says how it is written."""
        if not self.introduced and introductions:
            self.latex = introductions[0].latex
        self.introduced += count
        self.introductions += introductions[: MOST_INTRODUCTIONS - len(self.introductions)]

    def to_dict(self) -> dict[str, Any]:
        """Convert to an object for JSON."""
        rows = [
            {name: value for name, value in asdict(each).items() if name != "symbol"}
            for each in self.introductions
        ]
        return {
            "symbol": self.symbol, "latex": self.latex, "kind": self.kind, "meanings": self.meanings, "uses": self.uses,
            "posts": self.posts, "introduced": self.introduced, "introductions": rows,
        }  # fmt: skip


def notation(
    source: Path | str | Iterable[Post], *, parser: str | None = "builtin", exclude: Sequence[str] = ()
) -> list[NotationEntry]:
    r"""Return the symbols of posts, or of the posts of a file or folder, sorted as in a book.

    Without a `parser` (None), introductions are found by patterns alone.

    >>> post = Post("a", "note", r"Let $G$ be a finite group. We write $|G|$ for its order, and $\mu(G)$.", markup="markdown")
    >>> [(entry.symbol, entry.meanings, entry.uses) for entry in notation([post], parser=None)]
    [('G', ['a finite group'], 3), ('μ', [], 1), ('|G|', ['its order'], 1)]
    """
    posts = read_posts(source, Report(), exclude=exclude) if isinstance(source, (str, Path)) else source
    return Notation.of(posts, parser).entries()


def introductions(posts: Iterable[Post], parser: str | None = "builtin") -> Iterator[Introduction]:
    """Yield the introductions of symbols in posts, in order; without a parser by patterns alone."""
    return _introductions_in(_read(posts, Notation()), parser)


_Read = tuple[Post, Sentence, dict[str, Formula]]


def _read(posts: Iterable[Post], collected: Notation) -> Iterator[_Read]:
    """Yield the sentences that may introduce something, and count the symbols of all formulas."""
    for post in posts:
        check_cancelled()
        content = parse_post(post)
        for formula in content.formulas:
            collected.use(formula, post)
        is_print = post.source.lower().endswith(
            ".pdf"
        )  # its formulas are characters, and what looks like one is none
        by_id = {formula.id: formula for formula in content.formulas}
        for sentence in content.passage.sentences:
            found = {
                place.name: by_id[place.formula] for place in sentence.placeholders if place.formula in by_id
            }
            if found and len(sentence.text) <= LONGEST_SENTENCE and sentence.kind == "prose" and not is_print:
                yield post, sentence, found


def _introductions_in(read: Iterable[_Read], parser: str | None) -> Iterator[Introduction]:
    loaded = load_parser(parser) if parser else None
    waiting = iter(read)
    while chunk := list(islice(waiting, _PARSED_TOGETHER)):
        check_cancelled()
        graphs: list[Amr | None] = [None] * len(chunk)
        if loaded is not None:
            parsed = [place for place, (_, each, _) in enumerate(chunk) if HAS_VERB.search(each.text)]
            found = parse_each(loaded, [chunk[each][1].text for each in parsed])
            for place, parse in zip(parsed, found, strict=True):
                graphs[place] = parse if isinstance(parse, Amr) else None
        for (post, sentence, formulas), graph in zip(chunk, graphs, strict=True):
            yield from introductions_of(post, sentence, formulas, graph)


def symbols_in(formula: Formula, macros: tuple[str, ...] = ()) -> dict[str, Kind]:
    r"""Return the letters and names of operators of a formula, in its order.

    >>> symbols_in(Formula("", r"\operatorname{rk} A = \mu"))
    {'rk': 'operator', 'A': 'letter', 'μ': 'letter'}
    """
    tree = trees_of(formula, macros)[0][0]
    return {
        plain(each): "operator" if each[0] == "F" or len(each) > 3 else "letter"
        for each in (tree.labels if tree is not None else ())
        if each[:2] in ("V!", "F!")
        and plain(each).isalpha()
        and (each[0] == "V" or len(each) == 3 or each[2:] in formula.latex)
    }


class Notation:
    """The symbols of the formulas of posts, with their introductions; those of further posts can be added."""

    def __init__(self) -> None:
        self._entries: dict[str, NotationEntry] = {}
        self._whole: Counter[str] = Counter()

    @classmethod
    def of(cls, posts: Iterable[Post], parser: str | None) -> Notation:
        """Return the notation of posts; without a parser, introductions are found by patterns alone."""
        notation = cls()
        for each in _introductions_in(_read(posts, notation), parser):
            if (entry := notation._entry(each.symbol, each.latex, "notation")) is not None:
                entry.introduce([each], 1)
        return notation

    def add(self, other: Notation) -> None:
        """Add the notation of other posts, which come after those of this one."""
        for each in other._entries.values():
            if (entry := self._entry(each.symbol, each.latex, each.kind)) is not None:
                entry.use(each.posts, each.uses)
                entry.introduce(each.introductions, each.introduced)
        if len(self._whole) < MOST_SYMBOLS:
            self._whole += other._whole

    def use(self, formula: Formula, post: Post) -> None:
        """Count the letters, operators and macros of a formula."""
        used = symbols_in(formula, post.macros)
        if "\\" in formula.latex and post.macros:
            own = {name for text in post.macros for name in _DEFINED.findall(text)}
            used |= {f"\\{name}": "macro" for name in commands_in(formula.latex) & own}
        for symbol, kind in used.items():
            if (entry := self._entry(symbol, symbol, kind)) is not None:
                entry.use([post.id], 1)
        if len(self._whole) < MOST_SYMBOLS:
            self._whole["".join(formula.latex.split())] += 1

    def entries(self) -> list[NotationEntry]:
        """Return the symbols sorted as in a book: Latin letters, Greek letters, then names and other notation."""
        counted = (
            replace(each, uses=each.uses or self._whole.get(each.symbol, 0) or each.introduced)
            for each in self._entries.values()
        )
        return sorted(counted, key=_book_order)

    def _entry(self, symbol: str, latex: str, kind: Kind) -> NotationEntry | None:
        if symbol not in self._entries and len(self._entries) >= MOST_SYMBOLS:
            return None
        return self._entries.setdefault(symbol, NotationEntry(symbol, latex, kind))


def _book_order(entry: NotationEntry) -> tuple[int, str, str]:
    base = unicodedata.normalize("NFKD", entry.symbol[:1])[:1]
    if entry.kind in ("letter", "notation") and base.isascii() and base.isalpha():
        return 0, base.lower(), entry.symbol
    if base.lower() in _GREEK:
        return 1, f"{_GREEK.index(base.lower()):02}", entry.symbol
    return (
        (2, entry.symbol.lower(), entry.symbol)
        if entry.kind in ("operator", "macro")
        else (3, entry.symbol, entry.symbol)
    )


def glossary(entries: Iterable[NotationEntry]) -> str:
    """Return the introduced symbols as entries of the LaTeX package nomencl, which `\\printnomenclature` prints."""
    lines = [
        r"% In the preamble: \usepackage{nomencl} \makenomenclature; then \printnomenclature where the list belongs."
    ]
    for number, each in enumerate(each for each in entries if each.introductions):
        lines.append(rf"\nomenclature[{number:05}]{{${each.latex}$}}{{{'; '.join(each.meanings[:3])}}}")
    return "\n".join(lines)
