"""Is SSEmb worth having beside another way to rank?"""

from __future__ import annotations

from mathamr_lab.experiments.formulaexperiment import LEXICAL, FormulaExperiment, FormulaVariant

_PAPER = ("ssemb", "paper", ("structure.kind=both",), "structure")
_TAUGHT = ("ssemb", "box", (), "structure")
_BOX = ("ssemb", "", (), "structure")
_OTHERS = ("BM25, layout tuples", "BM25, operator tuples", "shared parts", LEXICAL, "alignment")


def _fused(name: str, *others: str) -> tuple[FormulaVariant, ...]:
    return (
        FormulaVariant(f"{name} + SSEmb", *_PAPER, others=others),
        FormulaVariant(f"{name} + taught", *_TAUGHT, others=others),
        FormulaVariant(f"{name} + in the box", *_BOX, others=others),
    )


EXPERIMENT = FormulaExperiment(
    name="ssemb-fusion",
    title="SSEmb fused with other ways to rank",
    source="SSEmb, Table 3 (ARQMath-3): Tangent-S .5765 alone, .7011 by RRF; Approach0 .7511, .7837 (nDCG'@10)",
    question="Does reciprocal rank fusion with SSEmb improve what others rank?",
    baseline="BM25, operator tuples",
    beside=LEXICAL,
    measures=("nDCG'@10", "P'@10", "nDCG'", "MAP'", "Bpref"),
    scale=("structure.formulas=100000", "structure.epochs=12"),
    variants=(
        FormulaVariant("SSEmb", *_PAPER),
        FormulaVariant("taught", *_TAUGHT),
        FormulaVariant("in the box", *_BOX),
        *(row for other in _OTHERS for row in (FormulaVariant(other, ranking=other), *_fused(other, other))),
        *_fused("lexical, alignment", LEXICAL, "alignment"),
    ),
)
