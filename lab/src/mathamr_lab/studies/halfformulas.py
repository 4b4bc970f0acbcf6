r"""Half formulas: sums, products, integrals and limits typed whole, and without bounds, differentials and arrows.

    python -m mathamr_lab.studies.halfformulas mini.index 300

Every formula occurs in one entry alone, which it asks for; it is typed in ASCII, alone and with one or two words of the entry.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from random import Random

from mathamr.evaluation.knownitems import content_words, unique_formulas
from mathamr.formulas.openform import omits
from mathamr.formulas.trees import trees_of
from mathamr.index.lexical.terms import READING
from mathamr.posts.post import Formula
from mathamr.search.searcher import Index
from mathamr_lab.studies.typedqueries import typed_in_ascii

SEED = 66
DEPTH = 10
_SCRIPT = r"\s*[_^]\s*(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[a-zA-Z]+|[^\s\\{}])"
_BOUNDS = re.compile(
    rf"(\\(?:sum|prod|int|lim|sup|inf|limsup|liminf|max|min))(?:\s*\\limits)?(?:{_SCRIPT}){{1,2}}"
)
_DIFFERENTIAL = re.compile(
    r"(?:\\[,;! ]|~|\s)*(?:\\(?:mathrm|operatorname|text)\s*\{d\}|\\mathrm\s+d|(?<![a-zA-Z\\])d)\s*[a-zA-Z](?![a-zA-Z])"
)


def half_of(latex: str) -> str:
    r"""Return a formula without bounds, differentials and arrows.

    >>> half_of(r"\int_0^1 f(x)\,dx + \sum_{n=1}^\infty a_n"), half_of(r"\lim_{n\to\infty} a_n")
    ('\\int f(x) + \\sum a_n', '\\lim a_n')
    """
    half = _BOUNDS.sub(r"\1 ", latex)
    half = _DIFFERENTIAL.sub("", half) if r"\int" in half else half
    return " ".join(half.split())


def draw(index: Index, count: int) -> list[tuple[str, str, str, list[str]]]:
    """Return entry, whole formula and half formula in ASCII, and two words of the entry, for formulas drawn by a seed."""
    entries = list(unique_formulas(index.archive.catalogue.every_post()))
    found = []
    for place in Random(SEED).sample(range(len(entries)), len(entries)):
        post, formula = entries[place]
        half = half_of(formula.latex)
        (opt, _), _ = trees_of(Formula("", half), post.macros, READING)
        written, halved = typed_in_ascii(formula.latex), typed_in_ascii(half)
        known = content_words(post)
        if half == " ".join(formula.latex.split()) or opt is None or not omits(opt) or len(known) < 2:
            continue
        if written and halved:
            found.append((post.id, written, halved, [known[0], known[-1]]))
        if len(found) == count:
            break
    return found


def main() -> None:
    """Print MRR@10 of the formulas typed whole and half, alone and with words."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("count", type=int, nargs="?", default=300)
    parser.add_argument("--missed", action="store_true", help="print the half formulas that are not first")
    asked = parser.parse_args()
    ranks: dict[tuple[str, str], list[float]] = defaultdict(list)
    with Index.open(asked.index) as index:
        for entry, whole, half, known in draw(index, asked.count):
            for typed, formula in (("whole", whole), ("half", half)):
                for count, form in enumerate(("alone", "one word", "two words")):
                    query = " ".join([*known[:count], formula])
                    ids = [hit.id for hit in index.search(query, k=DEPTH)]
                    ranks[form, typed].append(1 / (1 + ids.index(entry)) if entry in ids else 0.0)
                    if asked.missed and typed == "half" and not count and ids[:1] != [entry]:
                        print(f"  {half!r} of {entry}: {ranks[form, typed][-1]:.2f}")
    for form in ("alone", "one word", "two words"):
        whole_mean, half_mean = (sum(found := ranks[form, each]) / len(found) for each in ("whole", "half"))
        print(f"{form}: whole {whole_mean:.3f}, half {half_mean:.3f} ({len(found)} formulas)")


if __name__ == "__main__":
    main()
