r"""Find formulas in source files without an index: `FormulaPattern` says what fits, `grep` streams where it stands.

A file is parsed only if it has the letters and names that the pattern needs, in any spelling: `\alpha`, `α`, or a macro for it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.formulas.containment import Subformula
from mathamr.formulas.formula import Formula
from mathamr.formulas.latex.symbols import NEGATIONS, OPERATOR_ROLES, SYMBOLS, UPRIGHT_GREEK
from mathamr.formulas.tree import Opt
from mathamr.formulas.trees import trees_of
from mathamr.formulas.typed.sentences import latex_of
from mathamr.posts.budget import OverBudgetError, within_budget
from mathamr.posts.decoding import decode
from mathamr.posts.format import FORMATS, Collection
from mathamr.posts.formats.latex.definitions import commands_in
from mathamr.posts.inputs import STDIN, display_path, read_bytes
from mathamr.posts.macrotable import MacroTable
from mathamr.posts.markup import pieces
from mathamr.posts.markup.piece import Piece, PieceRun
from mathamr.posts.reader import find_collections, macros_of, read_collection
from mathamr.posts.report import Report
from mathamr.search.query import Query
from mathamr.search.wildcards import fit, has_wildcards

AS_WRITTEN = ("markdown", "latex", "text")
"""Formats whose files are searched as they are written, so that every formula has its line and column."""
_COMMAND = re.compile(r"\\[A-Za-z@]+")
_SINGLE = OPERATOR_ROLES | {"RELOP", "ARROW", "METARELOP"}
"""Roles of symbols that trees have only where the symbol is written, under one of its names."""


@dataclass(frozen=True)
class Found:
    """A place that fits: [start, end) of the text of a file, `line` and `column` from 1.

    Where a format hides the places of its formulas, `text` is empty, the line is that of the post, and there is no column.
    """

    path: str
    line: int
    column: int | None
    latex: str
    text: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class FoundFile:
    """A file with its places that fit. Of a file that hides the places of its formulas, `text` and `markup` are empty."""

    path: str
    found: list[Found]
    text: str = ""
    markup: str = ""
    macros_of: Callable[[str], tuple[str, ...]] = lambda _: ()
    """Returns the definitions that a formula of the file needs."""


class FormulaPattern:
    r"""A formula, a symbol or a command that formulas are searched for.

    A formula fits inside of others, up to its notation; `?a` stands for any expression, and with `any_letters` so does another
    choice of letters. A command also finds what is written with exactly this command.

    >>> pattern = FormulaPattern("?a^2 + ?b^2")
    >>> [pattern.fits(latex) for latex in ("c = (x+1)^2 + y^{2}", "x^3 + y^2", r"r^2\text{ + }s^2")]
    [True, False, False]
    >>> FormulaPattern("α").fits(r"\sin\alpha"), FormulaPattern(r"\operatorname").fits(r"\operatorname{rk} A")
    (True, True)
    """

    def __init__(self, typed: str, *, any_letters: bool = False) -> None:
        typed = typed.strip()
        self.command = typed if _COMMAND.fullmatch(typed) else ""
        self._called = re.compile(rf"{re.escape(typed)}(?![A-Za-z@])")
        self._any_letters = any_letters
        self.tree: Opt | None = None
        if not self.command or typed in SYMBOLS or typed in UPRIGHT_GREEK:
            self._latex = typed.strip("$") if "$" in typed else latex_of(typed)
            query = Query.of_formula(self._latex)
            self.tree = query.trees[query.target()[0].id][0]
        if self.tree is None and not self.command:
            raise MathAMRError(f"{typed!r} has no formula to look for; type a formula, a symbol or a command")
        if any_letters and has_wildcards(self.tree):
            raise MathAMRError(
                "a wildcard stands for any letter already; leave out --letters any, or write letters"
            )
        self._part = Subformula(self.tree) if self.tree is not None else None

    @cached_property
    def needs(self) -> tuple[frozenset[str], ...]:
        """Spellings of which a text must have one from each set, or it has no formula that fits."""
        if self.tree is None:
            return (frozenset([self.command]),)
        if len(self.tree) == 1 and self.tree.labels[0][:2] in ("O!", "U!"):
            symbol = SYMBOLS.get(self._latex.strip())
            return (_spellings(self._latex.strip()),) if symbol and symbol.role in _SINGLE else ()
        names = {
            label[2:]
            for label in self.tree.labels
            if label[:2] in ("V!", "F!") and (not self._any_letters or (label[0] == "F" and len(label) > 3))
        }
        written = frozenset([self.command] if self.command else [])
        return tuple(_spellings(name) | written for name in sorted(names))

    def may_fit(self, text: str, needs: Iterable[frozenset[str]] | None = None) -> bool:
        """Return False if a text lacks what every formula that fits has."""
        wanted = self.needs if needs is None else needs
        plain = ""
        for spellings in wanted:
            if any(each in text for each in spellings):
                continue
            if text.isascii():
                return False
            plain = plain or unicodedata.normalize("NFKD", text)
            if not any(each in plain for each in spellings):
                return False
        return True

    def fits(self, latex: str, macros: tuple[str, ...] = ()) -> bool:
        """Return True if a formula contains the pattern."""
        return self._fits(Formula("", latex), macros)

    def _fits(self, formula: Formula, macros: tuple[str, ...]) -> bool:
        if self.command and self._called.search(formula.latex):
            return True
        if formula.latex and not self.may_fit("\n".join((formula.latex, *macros))):
            return False
        tree = trees_of(formula, macros)[0][0]
        return tree is not None and self.fits_tree(tree)

    def fits_tree(self, tree: Opt) -> bool:
        """Return True if an operator tree contains the pattern; a command without a meaning of its own has none."""
        if self.tree is None or self._part is None:
            return False
        if has_wildcards(self.tree):
            return fit(self.tree, tree) is not None
        if len(self.tree) == 1 and not self._any_letters:
            return self.tree.labels[0] in tree.labels
        found = self._part.inside(tree)
        return found == "same letters" or (self._any_letters and found is not None)


def _spellings(name: str) -> frozenset[str]:
    """Return all ways to write a letter, a symbol or the name of an operator: itself, and the commands that stand for it."""
    plain = unicodedata.normalize("NFKD", name)
    if len(plain) == 1 and plain.isascii():
        return frozenset([plain])
    symbol = SYMBOLS.get(name)
    texts = {name, plain, symbol.text if symbol else name}
    meaning = symbol.meaning if symbol else name
    found = {
        command
        for command, each in SYMBOLS.items()
        if each.text in texts or (meaning and each.meaning == meaning)
    }
    found |= {command for command, text in UPRIGHT_GREEK.items() if text in texts}
    return frozenset({*found, *texts, *(["\\not"] if texts & set(NEGATIONS.values()) else [])})


def grep(
    pattern: FormulaPattern | re.Pattern[str], path: Path, report: Report, exclude: Sequence[str] = ()
) -> Iterator[FoundFile]:
    """Yield every file of an input that has something that fits; a regular expression is sought in words."""
    parts = find_collections(path, report, exclude=exclude)
    table = macros_of(parts) if isinstance(pattern, FormulaPattern) else MacroTable({})
    needs = _with_macros(pattern.needs, table) if isinstance(pattern, FormulaPattern) else ()
    for name, collection in parts:
        whole = replace(collection, macros=table, known=collection.known or collection.files)
        for file in collection.files if FORMATS[name].by_file or name in AS_WRITTEN else (None,):
            report.at(display_path(file or path))
            seconds = FORMATS[name].seconds * (
                1 + (file.stat().st_size >> 20 if file and file != STDIN else 0)
            )
            search = _FileSearch(pattern, needs, name, whole, report)
            try:
                if file is None:
                    yield from _by_file(search.posts(collection.files))
                elif found := within_budget(partial(search.file, file), seconds):
                    yield found
            except OverBudgetError:
                report.skip("too slow", f"searching it took more than {seconds:g} s of a processor")


def _with_macros(needs: tuple[frozenset[str], ...], table: MacroTable) -> tuple[frozenset[str], ...]:
    """Add to each set of spellings the macros that stand for one of them."""
    found = []
    for spellings in needs:
        known, grows = set(spellings), True
        while grows:
            more = {name for name, text in table.definitions() if any(each in text for each in known)} - known
            known, grows = known | more, bool(more)
        found.append(frozenset(known))
    return tuple(found)


@dataclass
class _FileSearch:
    """The search in one file."""

    pattern: FormulaPattern | re.Pattern[str]
    needs: tuple[frozenset[str], ...]
    format: str
    collection: Collection
    report: Report

    def file(self, file: Path) -> FoundFile | None:
        """Return a file with the places that fit; None if there are none."""
        if self.format not in AS_WRITTEN:
            return next(_by_file(self.posts((file,))), None)
        data = read_bytes(file, self.report)
        if data is None:
            return None
        text = decode(data, self.report)
        if isinstance(self.pattern, FormulaPattern) and not self.pattern.may_fit(text, self.needs):
            return None
        lines = [0, *(match.end() for match in re.finditer("\n", text))]
        found = []
        macros_of = partial(self._macros_of, self.collection.path_of(file))
        for latex, start, end in self._places(text, macros_of):
            line = bisect_right(lines, start)
            found.append(
                Found(
                    display_path(file), line, start - lines[line - 1] + 1, latex, text[start:end], start, end
                )
            )
        return FoundFile(display_path(file), found, text, self.format, macros_of) if found else None

    def _macros_of(self, path: str, latex: str) -> tuple[str, ...]:
        table = self.collection.macros
        return table.needed(path, commands_in(latex)) if table and "\\" in latex else ()

    def _places(
        self, text: str, macros_of: Callable[[str], tuple[str, ...]]
    ) -> Iterator[tuple[str, int, int]]:
        read = pieces(text, self.format)
        if isinstance(self.pattern, re.Pattern):
            yield from _in_words(self.pattern, read, text)
            return
        for piece in read:
            if piece.kind != "formula" or not self.pattern.may_fit(piece.text, self.needs):
                continue
            if self.pattern.fits(piece.text, macros_of(piece.text)):
                yield piece.text, piece.start, piece.end

    def posts(self, files: tuple[Path, ...]) -> Iterator[Found]:
        """Yield what fits in the posts of files whose formulas have no places."""
        for post in read_collection(self.format, replace(self.collection, files=files), self.report):
            where, line = post.source or self.report.file, post.place.line if post.place else 1
            if isinstance(self.pattern, FormulaPattern):
                for formula in post.formulas:
                    if self.pattern._fits(formula, post.macros):
                        yield Found(where, line, None, formula.latex or "(MathML)")
                continue
            for words, _, _ in _in_words(self.pattern, pieces(post.body, post.markup), post.body):
                yield Found(where, line, None, words)


def _by_file(found: Iterator[Found]) -> Iterator[FoundFile]:
    """Group what was found in posts by its files."""
    kept: list[Found] = []
    for each in found:
        if kept and each.path != kept[0].path:
            yield FoundFile(kept[0].path, kept)
            kept = []
        kept.append(each)
    if kept:
        yield FoundFile(kept[0].path, kept)


def _in_words(pattern: re.Pattern[str], read: Iterable[Piece], text: str) -> Iterator[tuple[str, int, int]]:
    """Yield where the words of a text fit, across emphasis and links, but not across formulas."""
    run = PieceRun()
    for piece in read:
        if piece.kind == "text":
            run.add(piece.text, piece.start, piece.end)
        elif piece.kind in ("formula", "code", "break"):
            run.add("\0", piece.start, piece.end)
    for match in pattern.finditer(run.text()):
        start, end = run.origin(*match.span())
        yield " ".join(text[start:end].split()), start, end
