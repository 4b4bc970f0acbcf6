"""The bed of typed formulas: 300 queries as people type them, each with the LaTeX of the formulas that it means.

A line is a query, a tab, and its formulas: ` ;; ` separates formulas, ` || ` alternatives. A formula is read right if its
operator tree equals that of one alternative. `python -m tests.search.typed` prints how many are read right; the held-back third was
not looked at while the reader was written.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from mathamr.core.errors import MathAMRError
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse
from mathamr.search.query import Query
from mathamr.systems.ranking import Task


class TypedQuery(NamedTuple):
    """A query of the bed and, for each of its formulas in order, the LaTeX that it may mean."""

    text: str
    meant: tuple[tuple[str, ...], ...]

    @property
    def is_held_back(self) -> bool:
        """True for about a third of the bed."""
        return crc32(self.text.encode()) % 3 == 0

    @property
    def has_words(self) -> bool:
        """True if the query is more than one formula."""
        return len(self.meant) != 1 or len(self.text) > 3 * len(self.meant[0][0])


def bed(name: str = "bed") -> list[TypedQuery]:
    """All queries of a file in order; those of `greek` have names of Greek letters beside letters, and words that are none."""
    found = []
    for line in Path(__file__).with_name(f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        text, meant = line.split("\t")
        formulas = tuple(
            tuple(way.strip() for way in each.split(" || ")) for each in meant.split(";;") if each.strip()
        )
        found.append(TypedQuery(text, formulas))
    return found


def operators(latex: str) -> str:
    """The operator tree of a formula as text; the LaTeX itself where it cannot be parsed."""
    try:
        opt = parse(latex, wildcards=True).opt
    except MathAMRError:
        return latex
    return to_string(opt) if opt is not None else latex


def formulas_read(text: str, task: Task = "answers") -> list[str]:
    """The LaTeX of the formulas that a query is read as."""
    try:
        return [formula.latex.replace("\\qvar{", "{?") for formula in Query.of_text(text, task).formulas]
    except MathAMRError:
        return []


def is_read_right(query: TypedQuery, task: Task = "answers") -> bool:
    """True if all formulas of a query are read as one of the ways in which they may be meant."""
    read = formulas_read(query.text, task)
    return len(read) == len(query.meant) and all(
        operators(latex) in map(operators, ways) for latex, ways in zip(read, query.meant, strict=True)
    )
