"""The minimal graph of a sentence that no parser could read: its formulas and content words."""

from __future__ import annotations

import re

from mathamr.amr.graph import Amr, Names
from mathamr.amr.placeholder import PLACEHOLDER

EMPTY = "amr-empty"
"""The concept of a sentence without content words."""

MAX_WORDS = 100
_WORD = re.compile(rf"{PLACEHOLDER.pattern}|[^\W_]+(?:[-'’][^\W_]+)*")
_STOP_WORDS = frozenset(
    """a an and are as at be been being but by can could did do does for from had has have he her his how i if in
    into is it its just may me might must my no not of on or our own she should so some such than that the their
    them then there these they this those to too under until up us very was we were what when where which while
    who whom why will with would you your""".split()  # noqa: SIM905 - a list of 80 quoted words reads worse
)


def minimal_graph(sentence: str) -> Amr:
    """Return a graph with the formulas and content words of `sentence` under one `and`; never fails.

    >>> print(minimal_graph("Is FORMULA_0 a prime number?").to_penman())
    (a / and
        :op1 (f / FORMULA_0)
        :op2 (p / prime)
        :op3 (n / number))
    """
    concepts = _concepts(sentence) or [EMPTY]
    names = Names()
    if len(concepts) == 1:
        return Amr(names.fresh(concepts[0]), ((Names().fresh(concepts[0]), concepts[0]),))
    top = names.fresh("and")
    nodes = [(names.fresh(concept), concept) for concept in concepts]
    edges = tuple((top, f":op{number}", variable) for number, (variable, _) in enumerate(nodes, start=1))
    return Amr(top, ((top, "and"), *nodes), edges)


def _concepts(sentence: str) -> list[str]:
    """Return every formula and the first content words, each once."""
    words = 0
    concepts: dict[str, None] = {}
    for match in _WORD.finditer(sentence):
        word = match.group()
        if not PLACEHOLDER.fullmatch(word):
            word = word.lower()
            if word in _STOP_WORDS or word in concepts or words == MAX_WORDS:
                continue
            words += 1
        concepts[word] = None
    return list(concepts)
