"""Is SSEmb worth having beside another way to rank?"""

from __future__ import annotations

from mathamr.experiments.formulaexperiment import OTHERS, FormulaExperiment, FormulaVariant

_PAPER = ("ssemb", "paper", ("structure.kind=both",))
_BOX = ("ssemb", "box", ())

EXPERIMENT = FormulaExperiment(
    name="ssemb-fusion",
    title="SSEmb fused with other ways to rank",
    source="SSEmb, Table 3 (ARQMath-3): Tangent-S .5765 alone, .7011 by RRF; Approach0 .7511, .7837 (nDCG'@10)",
    question="Does reciprocal rank fusion with SSEmb improve what others rank?",
    baseline="shared parts",
    measures=("nDCG'@10", "P'@10", "nDCG'", "MAP'", "Bpref"),
    scale=("structure.formulas=100000", "structure.epochs=12"),
    variants=(
        FormulaVariant("SSEmb", *_PAPER, ranking="structure"),
        FormulaVariant("taught", *_BOX, ranking="structure"),
        *(
            row
            for other in OTHERS
            for row in (
                FormulaVariant(other, ranking=other),
                FormulaVariant(f"{other} + SSEmb", *_PAPER, ranking=f"structure, {other}, rrf"),
                FormulaVariant(f"{other} + taught", *_BOX, ranking=f"structure, {other}, rrf"),
            )
        ),
        FormulaVariant("all + taught", *_BOX, ranking=f"structure, {', '.join(OTHERS)}, rrf"),
    ),
)
