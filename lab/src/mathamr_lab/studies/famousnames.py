r"""Famous names, typed: is a post with the formula of the name, whose text does not say the name, among the first?

    python -m mathamr_lab.studies.famousnames mini.index book.index
    python -m mathamr_lab.studies.famousnames --kept mini.index book.index

The names and their formulas, `famousnames.tsv`, were written without a look at the table of the box; formulas are found in the posts by regular
expressions, not by the search. Without `--kept` one half of the names is asked, from whose misses one may learn; the other half only measures.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from unittest.mock import patch
from zlib import crc32

from mathamr.index.lexical.terms import formulas_in, latex_tokens, post_text, stems, words
from mathamr.posts.post import Post
from mathamr.search.namedformulas import GENERAL
from mathamr.search.namequery import has_phrase
from mathamr.search.searcher import Index

COUNT = 120
_SIGNS = {
    "'": (r"^\prime", r"\prime"),
    "|": (r"\lvert", r"\rvert", r"\vert", r"\mid"),
    r"\|": (r"\lVert", r"\rVert", r"\Vert"),
    "=": (r"\coloneqq", ":="),
    "...": (r"\ldots", r"\cdots"),
}
_PARTS = {
    "<L>": r"(?:[a-zA-Z]|\\(?:alpha|beta|gamma|theta|lambda|mu|sigma|tau|varphi|phi|xi|epsilon))",
    "<D>": r"(?:\\mathrm|\\text|\\rm)?d",
}


@dataclass(frozen=True, slots=True)
class FamousName:
    """The names of one thing, the one that is typed first, and patterns for its formulas."""

    names: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]

    @property
    def is_kept(self) -> bool:
        """True for the half that nothing is chosen by."""
        return crc32(self.names[0].encode()) % 2 == 1


def famous_names() -> list[FamousName]:
    """Return the names, drawn by their checksums."""
    text = (resources.files("mathamr_lab.studies") / "famousnames.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    found = [
        FamousName(tuple(names.split("; ")), tuple(map(_pattern, patterns))) for names, *patterns in rows
    ]
    return sorted(found, key=lambda each: crc32(f"drawn:{each.names[0]}".encode()))


def _pattern(written: str) -> re.Pattern[str]:
    for name, part in _PARTS.items():
        written = written.replace(name, part)
    return re.compile(written)


def _condensed(latex: str) -> str:
    """Return a formula as patterns read it: without braces and spaces, and with one sign for what is written in several ways.

    >>> _condensed(r"\\lvert f^{\\prime}(x) \\rvert"), _condensed(r"\\frac{1}{n^{2}}")
    ("|f'(x)|", '\\\\frac1n^2')
    """
    written = "".join(latex_tokens(latex))
    for sign, ways in _SIGNS.items():
        for way in ways:
            written = written.replace(way, sign)
    return written


def nameless_holders(posts: Iterable[Post], names: list[FamousName]) -> dict[str, set[str]]:
    """Return for every name the posts that have its formula and do not say any of its names."""
    known = {each.names[0]: [_telling(name) for name in each.names] for each in names}
    found: dict[str, set[str]] = {each.names[0]: set() for each in names}
    for post in posts:
        formulas = "\n".join({_condensed(formula.latex) for formula in formulas_in(post)})
        held = [each.names[0] for each in names if any(pattern.search(formulas) for pattern in each.patterns)]
        if held:
            said = stems(words(f"{post.title}\n{post_text(post)}\n{' '.join(post.tags)}"))
            for name in held:
                if not any(has_phrase(said, own) for own in known[name]):
                    found[name].add(post.id)
    return {name: ids for name, ids in found.items() if ids}


def _telling(name: str) -> list[str]:
    """Return the stems of a name without a last word such as "theorem"."""
    own = words(name)
    return stems(own[:-1] if len(own) > 1 and own[-1] in GENERAL else own)


def main() -> None:
    """Print for every index how often such a post is first, among the first three and ten, without the table and with it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("indexes", nargs="+")
    parser.add_argument("--kept", action="store_true", help="ask the half that nothing was chosen by")
    parser.add_argument("--missed", action="store_true", help="print the names that are not in the first ten")
    asked = parser.parse_args()
    opened = [Index.open(each) for each in asked.indexes]
    holders = [nameless_holders(index.archive.catalogue.every_post(), famous_names()) for index in opened]
    drawn = [each for each in famous_names() if any(each.names[0] in own for own in holders)][:COUNT]
    half = [each for each in drawn if each.is_kept == asked.kept]
    print(f"{len(half)} of {len(drawn)} names")
    places: dict[str, list[int]] = {"without the table": [], "with it": []}
    for index, own in zip(opened, holders, strict=True):
        here: dict[str, list[int]] = {how: [] for how in places}
        for each in half:
            name = each.names[0]
            if name not in own:
                continue
            with patch("mathamr.search.postranker.named_by", return_value=None):
                here["without the table"].append(_place(index, name, own[name]))
            here["with it"].append(_place(index, name, own[name]))
            if asked.missed and here["with it"][-1] > 10:
                print(f"  {name}: {len(own[name])} posts, as {sorted(own[name])[:3]}")
        for how, found in here.items():
            print(f"{index.archive.folder.name}, {how}: {_shares(found)}")
            places[how] += found
        index.close()
    for how, found in places.items():
        print(f"all, {how}: {_shares(found)}")


def _place(index: Index, typed: str, right: set[str]) -> int:
    """Return the place of the first right post among ten; 11 if it is not there."""
    ids = [hit.id for hit in index.search(typed)]
    return next((place for place, found in enumerate(ids, 1) if found in right), 11)


def _shares(places: list[int]) -> str:
    counts = ", ".join(f"{sum(place <= most for place in places)} in {most}" for most in (1, 3, 10))
    return f"of {len(places)} {counts}"


if __name__ == "__main__":
    main()
