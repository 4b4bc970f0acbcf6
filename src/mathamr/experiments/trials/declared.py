"""The trials' experiments as data: tables of rows, each row the scores that a trial wrote, with the paper's beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mathamr.registry import Registry

TrialName = Literal["contexts", "marf"]
Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A row: its name, and the file of its scores below the trial's folder, `{seed}` standing for each seed."""

    name: str
    scores: str
    published: Figures = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTable:
    """Rows that are compared on one test set; the first row is what the others are tested against.

    `least` are shares of mathematics: for each of them the topics above it are a table's row of their own. With
    `answers` it is the shares of the answers that count, and `recall` of them is measured.
    """

    title: str
    test: str
    rows: tuple[TrialRow, ...]
    measures: tuple[str, ...]
    source: str = ""
    least: tuple[float, ...] = ()
    answers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialExperiment:
    """A question, and the tables that answer it."""

    name: str
    title: str
    question: str
    trial: TrialName
    tables: tuple[TrialTable, ...]
    note: str = ""


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


def _contexts(base: str, seeds: str) -> tuple[TrialRow, ...]:
    return tuple(
        TrialRow(
            name, f"{base}/{seeds}/{context}", dict(zip(_AT, figures, strict=True)) if "{" in seeds else {}
        )
        for context, (name, figures) in _CONTEXTS.items()
    )


CONTEXTS = TrialExperiment(
    name="mathamr-contexts",
    title="Contexts of a formula",
    question="Which representation of a formula's sentence finds formulas best?",
    trial="contexts",
    note="Only judged formulas are ranked, as in the paper; every topic by a model that was trained on other topics.",
    tables=tuple(
        TrialTable(
            title=f"{told}, {trained}",
            test="task2",
            rows=_contexts(base, seeds),
            measures=(*_AT, "MAP'", "Bpref"),
            source="Table 1" if "{" in seeds else "",
        )
        for base, told in (("box", "the box's text encoder"), ("minilm", "all-MiniLM-L6-v2"))
        for seeds, trained in (("seed-{seed}", "trained"), ("untrained", "as it is"))
    ),
)

RERANK = TrialExperiment(
    name="mathamr-rerank",
    title="Runs of other systems, reranked by MathAMR",
    question="Does MathAMR order what other systems found better, and does a fusion of both?",
    trial="contexts",
    note=(
        "The paper, ARQMath-2, nDCG'@10 of the original run, reranked, and of both by score-weighted RRF (Table 2):"
        " Approach0 .59 .57 .63, DPRL .60 .59 .62, MathDowsers .54 .55 .58, XY-PHOC .51 .54 .55, NLP_NITS .26 .33 .46,"
        " TU_DBS .25 .28 .41. Every topic is reranked by a model that was trained on other topics."
    ),
    tables=(),
)


def _row(name: str, folder: str, figures: tuple[float, ...] = ()) -> TrialRow:
    return TrialRow(name, f"seed-{{seed}}/{folder}", dict(zip(_SEED, figures, strict=False)))


_CONTEXT, _FORMULA, _MARF = "context", "formula-token-several", "marf-token-several"
BENCHMARK = TrialExperiment(
    name="marf-benchmark",
    title="MaRF and its parts",
    question="Is the fusion better than the context encoder and the formula encoder alone?",
    trial="marf",
    note="The paper's figures are those of ARQMath-3, among 2.4 million answers and 4 million formulas.",
    tables=(
        TrialTable(
            title="Answers",
            test="task1",
            rows=(
                _row("context encoder", _CONTEXT, (0.436, 0.182, 0.262)),
                _row("formula encoder", _FORMULA, (0.392, 0.151, 0.253)),
                _row("MaRF", _MARF, (0.535, 0.221, 0.352)),
            ),
            measures=_JUDGED,
            source="Table 1",
        ),
        TrialTable(
            title="Formulas",
            test="task2",
            rows=(
                _row("context encoder", _CONTEXT, (0.644, 0.493, 0.615)),
                _row("formula encoder", _FORMULA, (0.591, 0.442, 0.607)),
                _row("MaRF", _MARF, (0.732, 0.526, 0.627)),
            ),
            measures=_JUDGED,
            source="Table 2",
        ),
        TrialTable(
            title="Known items",
            test="known-items",
            rows=(
                _row("context encoder", _CONTEXT),
                _row("formula encoder", _FORMULA),
                _row("MaRF", _MARF),
            ),
            measures=_KNOWN,
        ),
    ),
)

_SCORINGS = (
    ("passage level, longest formula", "passage-longest", (0.473, 0.172, 0.284)),
    ("passage level, several formulas", "passage-several", (0.498, 0.195, 0.297)),
    ("token level, longest formula", "token-longest", (0.492, 0.191, 0.304)),
    ("token level, several formulas", "token-several", (0.526, 0.218, 0.347)),
)
SCORING = TrialExperiment(
    name="marf-scoring",
    title="Scoring of formulas, and how many of them",
    question="Do formulas learn better token by token, and does fusing several of them help?",
    trial="marf",
    tables=tuple(
        TrialTable(
            title=title,
            test=test,
            rows=tuple(
                _row(name, f"marf-{folder}", figures if test == "task1" else ())
                for name, folder, figures in _SCORINGS
            ),
            measures=measures,
            source="Table 5" if test == "task1" else "",
        )
        for title, test, measures in (
            ("Answers", "task1", _JUDGED),
            ("Formulas", "task2", _JUDGED),
            ("Known items", "known-items", _KNOWN),
        )
    ),
)

_LEAST = (0.0, 0.5, 0.6, 0.7)
DOMINANCE = TrialExperiment(
    name="marf-math-dominance",
    title="Questions and answers that are mostly mathematics",
    question="Does the fusion hold where there is little text?",
    trial="marf",
    note=(
        "The paper, ARQMath-3, queries above 0, 50, 60 and 70 % (nDCG'): BERT .416 .414 .382 .332, MaRF .494 .500 .492"
        " .489 (Table 3); recall of answers: BERT .603 .577 .572 .522, MaRF .681 .675 .674 .690 (Table 4)."
    ),
    tables=(
        TrialTable(
            title="Answers, by the share of mathematics in the question",
            test="task1",
            rows=(_row("context encoder", _CONTEXT), _row("MaRF", _MARF)),
            measures=_JUDGED,
            source="Table 3",
            least=_LEAST,
        ),
        TrialTable(
            title="Known items, by the share of mathematics in the question",
            test="known-items",
            rows=(_row("context encoder", _CONTEXT), _row("MaRF", _MARF)),
            measures=_KNOWN,
            least=_LEAST,
        ),
        TrialTable(
            title="Known items, by the share of mathematics in the answer",
            test="known-items",
            rows=(_row("context encoder", _CONTEXT), _row("MaRF", _MARF)),
            measures=("recall@10", "recall@100"),
            source="Table 4",
            least=_LEAST,
            answers=True,
        ),
    ),
)

TRIALS: Registry[TrialExperiment] = Registry(
    "experiment",
    {
        "mathamr-contexts": f"{__name__}:CONTEXTS",
        "mathamr-rerank": f"{__name__}:RERANK",
        "marf-benchmark": f"{__name__}:BENCHMARK",
        "marf-scoring": f"{__name__}:SCORING",
        "marf-math-dominance": f"{__name__}:DOMINANCE",
    },
)
