"""The experiments of MathAMR (Mansouri, Oard and Zanibbi 2022) and of MaRF (Wang, Zheng and Kani)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mathamr_lab.experiments.experiment import ASSESSED, TrialExperiment, TrialRow, TrialTable
from mathamr_lab.experiments.ntcir12 import MEASURES as NTCIR_MEASURES

_AT = ("nDCG'@5", "nDCG'@10", "P'@5", "P'@10")
_JUDGED = ("nDCG'", "MAP'", "P'@10", "Bpref")
_KNOWN = ("MRR@10", "recall@10", "recall@100")
_PUBLISHED = ("nDCG'", "MAP'", "P'@10")

_CONTEXTS = {
    "amr-opt": ("AMR with OPT text (MathAMR)", (0.58, 0.56, 0.51, 0.47)),
    "amr-latex": ("AMR with LaTeX", (0.38, 0.39, 0.35, 0.34)),
    "text-opt": ("raw text with OPT text", (0.54, 0.51, 0.48, 0.43)),
    "text-latex": ("raw text with LaTeX", (0.43, 0.42, 0.40, 0.37)),
    "opt": ("OPT text alone", (0.35, 0.32, 0.30, 0.24)),
}


def _context(name: str) -> TrialRow:
    title, figures = _CONTEXTS[name]
    # The paper reads 256 tokens of raw text with OPTs, and 128 of the others.
    longer = ("model.length=254", "contrast.length=256", "ranking.length=256") if name == "text-opt" else ()
    return TrialRow(title, name, (f"model.context={name}", *longer), dict(zip(_AT, figures, strict=True)))


CONTEXTS = TrialExperiment(
    name="mathamr-contexts",
    paper="mansouri2022contextualized",
    differs="the built-in AMR parser instead of amrlib's; the text encoder of mathamr-3 unless model.base says otherwise",
    title="Contexts of a formula",
    question="Which representation of a formula's sentence finds formulas best?",
    kind="contexts",
    source=(
        "Table 1; every topic by a model that was trained on other topics: those of ARQMath-1, as in the paper, unless"
        " --set contexts.topics says otherwise; only judged formulas are ranked, as in the paper"
    ),
    tables=(
        TrialTable(
            title="Judged formulas",
            test="task2",
            rows=tuple(map(_context, _CONTEXTS)),
            measures=(*_AT, "MAP'", "Bpref"),
            source="Table 1 (ARQMath-2, 58 topics)",
            searched=ASSESSED,
        ),
    ),
)

RERANK = TrialExperiment(
    name="mathamr-rerank",
    paper="mansouri2022contextualized",
    differs="our baselines are reranked where no --run names a participant's; the built-in AMR parser",
    title="Runs of other systems, reranked by MathAMR",
    question="Does MathAMR order what other systems found better, and does a fusion of both?",
    kind="contexts",
    reranking=(_context("amr-opt"), _context("amr-latex")),
    source=(
        "Table 2; ARQMath-2, nDCG'@10 of the original run, reranked, and of both by score-weighted RRF (Table 2):"
        " Approach0 .59 .57 .63, DPRL .60 .59 .62, MathDowsers .54 .55 .58, XY-PHOC .51 .54 .55, NLP_NITS .26 .33 .46,"
        " TU_DBS .25 .28 .41; P'@10: Approach0 .49 .48 .54, DPRL .54 .51 .52, MathDowsers .45 .44 .48, XY-PHOC .43 .45 .45,"
        " NLP_NITS .20 .26 .40, TU_DBS .22 .23 .35; nDCG'@1000 of DPRL .57, fused .76. Every topic is reranked by a model that"
        " was trained on other topics"
    ),
    tables=(),
)


_TESTS = (
    ("Answers", "task1", _JUDGED),
    ("Formulas", "task2", _JUDGED),
    ("Known items", "known-items", _KNOWN),
)
Published = Mapping[str, tuple[float, ...]]
"""The paper's figures of a row by test set."""


def _tables(rows: Sequence[tuple[TrialRow, Published]], sources: Mapping[str, str]) -> tuple[TrialTable, ...]:
    """Make a table of the same rows for each test set."""
    return tuple(
        TrialTable(
            title=title,
            test=test,
            rows=tuple(
                replace(row, published=dict(zip(_PUBLISHED, figures.get(test, ()), strict=False)))
                for row, figures in rows
            ),
            measures=measures,
            source=sources.get(test, ""),
        )
        for title, test, measures in _TESTS
    )


def _trained(scoring: str, formulas: int) -> tuple[str, ...]:
    return f"model.scoring={scoring}", f"model.formulas={formulas}"


_CONTEXT = TrialRow("context encoder", "context", _trained("passage", 6))
_FORMULA = TrialRow("formula encoder", "formula", _trained("passage", 6))
_MARF = TrialRow("MaRF", "marf", _trained("passage", 6))

BENCHMARK = TrialExperiment(
    name="marf-benchmark",
    paper="wang-marf",
    differs="the text encoder of mathamr-3 instead of BERT unless model.base says otherwise",
    title="MaRF and its parts",
    question="Is the fusion better than the context encoder and the formula encoder alone?",
    kind="marf",
    source=(
        "Tables 1, 2 and 6; ARQMath-3, over BERT, among 2.4 million answers and 4 million formulas; formulas by passage, several of them, as the"
        " captions say"
    ),
    tables=(
        *_tables(
            (
                (_CONTEXT, {"task1": (0.436, 0.182, 0.262), "task2": (0.644, 0.493, 0.615)}),
                (_FORMULA, {"task1": (0.392, 0.151, 0.253), "task2": (0.591, 0.442, 0.607)}),
                (_MARF, {"task1": (0.535, 0.221, 0.352), "task2": (0.732, 0.526, 0.627)}),
            ),
            {"task1": "Table 1", "task2": "Table 2"},
        ),
        TrialTable(
            title="NTCIR-12",
            test="ntcir12",
            rows=tuple(
                replace(row, published=dict(zip(NTCIR_MEASURES, figures, strict=True)))
                for row, figures in ((_CONTEXT, (0.546, 0.613)), (_MARF, (0.584, 0.651)))
            ),
            measures=NTCIR_MEASURES,
            source="Table 6",
        ),
    ),
)


def _scored(scoring: str, formulas: int, *figures: float) -> tuple[TrialRow, Published]:
    name = f"{scoring} level, {'several formulas' if formulas > 1 else 'longest formula'}"
    return TrialRow(name, "marf", _trained(scoring, formulas)), {"task1": figures}


SCORING = TrialExperiment(
    name="marf-scoring",
    paper="wang-marf",
    differs="the text encoder of mathamr-3 instead of BERT unless model.base says otherwise",
    title="Scoring of formulas, and how many of them",
    source="Table 5",
    question="Do formulas learn better token by token, and does fusing several of them help?",
    kind="marf",
    tables=_tables(
        (
            _scored("passage", 1, 0.473, 0.172, 0.284),
            _scored("passage", 6, 0.498, 0.195, 0.297),
            _scored("token", 1, 0.492, 0.191, 0.304),
            _scored("token", 6, 0.526, 0.218, 0.347),
        ),
        {"task1": "Table 5"},
    ),
)

_LEAST = (0.0, 0.5, 0.6, 0.7)
DOMINANCE = TrialExperiment(
    name="marf-math-dominance",
    paper="wang-marf",
    differs="the text encoder of mathamr-3 instead of BERT unless model.base says otherwise",
    title="Questions and answers that are mostly mathematics",
    question="Does the fusion hold where there is little text?",
    kind="marf",
    source=(
        "Tables 3 and 4; ARQMath-3, queries above 0, 50, 60 and 70 % (nDCG'): BERT .416 .414 .382 .332, MaRF over BERT .494 .500 .492"
        " .489 (Table 3); recall of answers above the same shares: BERT .603 .577 .572 .522, MaRF over BERT .681 .675 .674 .690"
        " (Table 4, which does not say at which depth: ours is that of Task 1's runs, 1,000)"
    ),
    tables=tuple(
        TrialTable(
            title=f"{title}, by the share of mathematics in the {'answer' if answers else 'question'}",
            test=test,
            rows=(_CONTEXT, _MARF),
            measures=measures,
            source=source,
            least=_LEAST,
            answers=answers,
        )
        for title, test, measures, source, answers in (
            ("Answers", "task1", _JUDGED, "Table 3", False),
            ("Answers", "task1", ("recall@1000",), "Table 4", True),
            ("Known items", "known-items", _KNOWN, "", False),
            ("Known items", "known-items", ("recall@10", "recall@100"), "", True),
        )
    ),
)
