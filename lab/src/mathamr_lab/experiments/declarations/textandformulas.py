"""The experiments of MathAMR (Mansouri, Oard and Zanibbi 2022) and of MaRF (Wang, Zheng and Kani)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mathamr_lab.experiments.experiment import ASSESSED, TrialExperiment, TrialRow, TrialTable
from mathamr_lab.experiments.ntcir12 import MEASURES as NTCIR_MEASURES

_AT = ("nDCG'@5", "nDCG'@10", "P'@5", "P'@10")
_JUDGED = ("nDCG'", "MAP'", "P'@10", "Bpref")
_KNOWN = ("MRR@10", "recall@10", "recall@100")
_SEED = ("nDCG'", "MAP'", "P'@10")

_CONTEXTS = {
    "amr-opt": ("AMR with OPT text (MathAMR)", (0.58, 0.56, 0.51, 0.47)),
    "amr-latex": ("AMR with LaTeX", (0.38, 0.39, 0.35, 0.34)),
    "text-opt": ("raw text with OPT text", (0.54, 0.51, 0.48, 0.43)),
    "text-latex": ("raw text with LaTeX", (0.43, 0.42, 0.40, 0.37)),
    "opt": ("OPT text alone", (0.35, 0.32, 0.30, 0.24)),
}


CONTEXTS = TrialExperiment(
    name="mathamr-contexts",
    title="Contexts of a formula",
    question="Which representation of a formula's sentence finds formulas best?",
    trial="contexts",
    note=(
        "Every topic by a model that was trained on other topics: those of ARQMath-1, as in the paper, unless"
        " --set contexts.topics says otherwise. Only judged formulas are ranked, as in the paper."
    ),
    tables=(
        TrialTable(
            title="Judged formulas",
            test="task2",
            rows=tuple(
                TrialRow(name, f"seed-{{seed}}/{context}", dict(zip(_AT, figures, strict=True)))
                for context, (name, figures) in _CONTEXTS.items()
            ),
            measures=(*_AT, "MAP'", "Bpref"),
            source="Table 1 (ARQMath-2, 58 topics)",
            searched=ASSESSED,
            strata=True,
        ),
    ),
)

RERANK = TrialExperiment(
    name="mathamr-rerank",
    title="Runs of other systems, reranked by MathAMR",
    question="Does MathAMR order what other systems found better, and does a fusion of both?",
    trial="contexts",
    runs=True,
    note=(
        "The paper, ARQMath-2, nDCG'@10 of the original run, reranked, and of both by score-weighted RRF (Table 2):"
        " Approach0 .59 .57 .63, DPRL .60 .59 .62, MathDowsers .54 .55 .58, XY-PHOC .51 .54 .55, NLP_NITS .26 .33 .46,"
        " TU_DBS .25 .28 .41; P'@10: Approach0 .49 .48 .54, DPRL .54 .51 .52, MathDowsers .45 .44 .48, XY-PHOC .43 .45 .45,"
        " NLP_NITS .20 .26 .40, TU_DBS .22 .23 .35; nDCG'@1000 of DPRL .57, fused .76. Every topic is reranked by a model that"
        " was trained on other topics."
    ),
    tables=(),
)


_TESTS = (
    ("Answers", "task1", _JUDGED),
    ("Formulas", "task2", _JUDGED),
    ("Known items", "known-items", _KNOWN),
)
_Part = tuple[str, str, Mapping[str, tuple[float, ...]]]
"""A row of MaRF's tables: its name, the folder of its scores, and the paper's figures by test set."""


def _rows(parts: Sequence[_Part], test: str) -> tuple[TrialRow, ...]:
    return tuple(
        TrialRow(name, f"seed-{{seed}}/{folder}", dict(zip(_SEED, figures.get(test, ()), strict=False)))
        for name, folder, figures in parts
    )


def _tables(
    parts: Sequence[_Part], sources: Mapping[str, str] | None = None, suffix: str = ""
) -> tuple[TrialTable, ...]:
    """Make a table of the same rows for each test set."""
    return tuple(
        TrialTable(
            title=f"{title}{suffix}",
            test=test,
            rows=_rows(parts, test),
            measures=measures,
            source=(sources or {}).get(test, ""),
        )
        for title, test, measures in _TESTS
    )


_CONTEXT: _Part = (
    "context encoder",
    "context",
    {"task1": (0.436, 0.182, 0.262), "task2": (0.644, 0.493, 0.615)},
)
_FORMULA: _Part = (
    "formula encoder",
    "formula-passage-several",
    {"task1": (0.392, 0.151, 0.253), "task2": (0.591, 0.442, 0.607)},
)
_MARF: _Part = (
    "MaRF",
    "marf-passage-several",
    {"task1": (0.535, 0.221, 0.352), "task2": (0.732, 0.526, 0.627)},
)

BENCHMARK = TrialExperiment(
    name="marf-benchmark",
    title="MaRF and its parts",
    question="Is the fusion better than the context encoder and the formula encoder alone?",
    trial="marf",
    note=(
        "Formulas by passage, several of them, as the captions say. The paper's figures are those of ARQMath-3, among 2.4 million"
        " answers and 4 million formulas."
    ),
    tables=(
        *_tables((_CONTEXT, _FORMULA, _MARF), {"task1": "Table 1", "task2": "Table 2"}),
        TrialTable(
            title="NTCIR-12",
            test="ntcir12",
            rows=tuple(
                TrialRow(name, f"seed-{{seed}}/{folder}", dict(zip(NTCIR_MEASURES, figures, strict=True)))
                for (name, folder, _), figures in ((_CONTEXT, (0.546, 0.613)), (_MARF, (0.584, 0.651)))
            ),
            measures=NTCIR_MEASURES,
            source="Table 6",
        ),
    ),
)

_COMPARED: tuple[_Part, ...] = (("context encoder", "context", {}), ("MaRF", "marf-passage-several", {}))

SCORING = TrialExperiment(
    name="marf-scoring",
    title="Scoring of formulas, and how many of them",
    question="Do formulas learn better token by token, and does fusing several of them help?",
    trial="marf",
    tables=_tables(
        (
            ("passage level, longest formula", "marf-passage-longest", {"task1": (0.473, 0.172, 0.284)}),
            ("passage level, several formulas", "marf-passage-several", {"task1": (0.498, 0.195, 0.297)}),
            ("token level, longest formula", "marf-token-longest", {"task1": (0.492, 0.191, 0.304)}),
            ("token level, several formulas", "marf-token-several", {"task1": (0.526, 0.218, 0.347)}),
        ),
        {"task1": "Table 5"},
    ),
)

_LEAST = (0.0, 0.5, 0.6, 0.7)
DOMINANCE = TrialExperiment(
    name="marf-math-dominance",
    title="Questions and answers that are mostly mathematics",
    question="Does the fusion hold where there is little text?",
    trial="marf",
    note=(
        "The paper, ARQMath-3, queries above 0, 50, 60 and 70 % (nDCG'): BERT .416 .414 .382 .332, MaRF over BERT .494 .500 .492"
        " .489 (Table 3); recall of answers above the same shares: BERT .603 .577 .572 .522, MaRF over BERT .681 .675 .674 .690"
        " (Table 4, which does not say at which depth: ours is that of Task 1's runs, 1,000)."
    ),
    tables=tuple(
        TrialTable(
            title=f"{title}, by the share of mathematics in the {'answer' if answers else 'question'}",
            test=test,
            rows=_rows(_COMPARED, test),
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

_QWEN = {
    ("task1", "context"): (0.583, 0.261, 0.405),
    ("task1", "marf-passage-several"): (0.622, 0.294, 0.433),
}
"""The paper's figures over Qwen3 (Table 1; it has no others), by test set and row."""


def with_figures_of(experiment: TrialExperiment, changes: Sequence[str]) -> TrialExperiment:
    """Return an experiment with the paper's figures of the base that changes name: those of Qwen3 are other than BERT's."""
    bases = [change for change in changes if change.startswith("marf.base=")]
    if not bases or "qwen" not in bases[-1].lower():
        return experiment
    tables = []
    for table in experiment.tables:
        figures = [_QWEN.get((table.test, row.part), ()) for row in table.rows]
        rows = tuple(
            replace(row, published=dict(zip(_SEED, own, strict=False)))
            for row, own in zip(table.rows, figures, strict=True)
        )
        tables.append(replace(table, rows=rows, source=table.source if any(figures) else ""))
    return replace(experiment, tables=tuple(tables))
