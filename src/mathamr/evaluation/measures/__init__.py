"""The measures by name: `measure("P'@10")`; each measure is a module."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mathamr.core.errors import MathAMRError
from mathamr.core.registry import Registry
from mathamr.evaluation.measures.measure import Measure
from mathamr.evaluation.qrels import FULL, PARTIAL

MEASURES: Registry[type[Measure]] = Registry(
    "measure",
    {
        "nDCG": "mathamr.evaluation.measures.ndcg:NDCG",
        "MAP": "mathamr.evaluation.measures.averageprecision:AveragePrecision",
        "P": "mathamr.evaluation.measures.precision:Precision",
        "Bpref": "mathamr.evaluation.measures.bpref:Bpref",
        "recall": "mathamr.evaluation.measures.recall:Recall",
        "MRR": "mathamr.evaluation.measures.reciprocalrank:ReciprocalRank",
        "judged": "mathamr.evaluation.measures.judged:Judged",
    },
    group="mathamr.measures",
)

SUITES = {
    "arqmath": ("nDCG'", "MAP'", "P'@10", "Bpref", "judged@10"),
    "known-items": ("MRR@10", "recall@10", "recall@100"),
    "ntcir12": (
        f"Bpref(rel={PARTIAL})",
        f"Bpref(rel={FULL})",
        f"P(rel={PARTIAL})@10",
        f"P(rel={FULL})@10",
    ),
}
"""Named sets of measures that are reported together."""

_NAME = re.compile(
    r"""([A-Za-z]+)(['′’]?)                       # name, and a prime for judged items alone
        (?:\(\s*                                   # options, as ir_measures writes them
            (?:rel=([0-9]{1,6}))? \s*,?\s* (judged_only=True|judged_only=False)?
            \s*,?\s* (?:rel=([0-9]{1,6}))? \s*\))?
        (?:@([0-9]{1,6}))?                         # cutoff""",
    re.VERBOSE,
)
_FORM = "expected a name like nDCG', P'@10, recall@100 or Bpref(rel=1)"
_THEIRS = {"ap": "MAP", "rr": "MRR", "r": "recall"}
"""Names of ir_measures for measures of ours."""


def measure(name: str, relevant: int | None = None) -> Measure:
    """Return the measure of a name such as `nDCG'`, `P'@10` or `Bpref(rel=1)`; `relevant` is the default for `rel`.

    Names of ir_measures are understood too.

    >>> str(measure("nDCG(judged_only=True)@1000")), str(measure("AP(rel=2,judged_only=True)"))
    ("nDCG'@1000", "MAP'")
    >>> str(measure("ndcg'")), str(measure("P(rel=3)@5"))
    ("nDCG'", 'P(rel=3)@5')
    >>> measure("accuracy")
    Traceback (most recent call last):
    mathamr.core.errors.UnknownNameError: unknown measure 'accuracy'; known: nDCG, MAP, P, Bpref, recall, MRR, judged
    """
    match = _NAME.fullmatch(name.strip())
    if match is None:
        raise MathAMRError(f"measure {name!r}: {_FORM}; known: {', '.join(MEASURES)}")
    word, mark, before, judged, after, cutoff = match.groups()
    prime, rel = mark or judged == "judged_only=True", before or after
    known = {each.lower(): each for each in MEASURES} | _THEIRS
    found = MEASURES[known.get(word.lower(), word)]
    threshold = None if rel is None else int(rel)
    if threshold is None and found.binary:
        threshold = relevant
    return found.made(prime=bool(prime), relevant=threshold, cutoff=None if cutoff is None else int(cutoff))


def measures(names: Iterable[str], relevant: int | None = None) -> list[Measure]:
    """Return the measures of some names, which may include suites (`arqmath`, `known-items`, `ntcir12`), each once.

    >>> [str(each) for each in measures(["known-items", "MRR@10"])]
    ['MRR@10', 'recall@10', 'recall@100']
    """
    found = {str(each): each for name in names for each in _suite(name, relevant)}
    return list(found.values())


def _suite(name: str, relevant: int | None) -> list[Measure]:
    return [measure(each, relevant) for each in SUITES.get(name.strip().lower(), (name,))]
