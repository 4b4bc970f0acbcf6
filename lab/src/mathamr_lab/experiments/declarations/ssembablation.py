"""What do SSEmb's augmentations bring, and what the text around a formula?"""

from __future__ import annotations

from mathamr_lab.experiments.formulaexperiment import BASELINES, LEXICAL, FormulaExperiment, FormulaVariant

_MEASURES = ("nDCG'@10", "P'@5", "P'@10")


def _row(name: str, kind: str, share: float, *published: float) -> FormulaVariant:
    figures = dict(zip(_MEASURES, published, strict=True))
    return FormulaVariant(
        name, "ssemb", "paper", (f"structure.kind={kind}",), "structure", figures, share=share
    )


def _ours(name: str, config: str, share: float = 1.0) -> FormulaVariant:
    return FormulaVariant(name, "ssemb", config, ranking="structure", share=share)


EXPERIMENT = FormulaExperiment(
    name="ssemb-ablation",
    title="Augmentations and context of SSEmb",
    source="SSEmb, Table 2 (ARQMath-3, 76 topics, 28 million formulas)",
    question="Which augmentation of operator graphs is best, and does the text around a formula help?",
    baseline="StructEmb-attr",
    beside=LEXICAL,
    measures=("nDCG'@10", "P'@5", "P'@10", "nDCG'", "MAP'", "Bpref"),
    scale=("structure.formulas=100000", "structure.epochs=12"),
    variants=(
        _row("SSEmb", "both", 0.5, 0.7343, 0.7632, 0.6803),
        _row("StructEmb", "both", 1.0, 0.6762, 0.6974, 0.6211),
        _row("StructEmb-subs", "substitution", 1.0, 0.6744, 0.6974, 0.6013),
        _row("StructEmb-attr_node_edge", "attribute-node-edge", 1.0, 0.6298, 0.6421, 0.5658),
        _row("StructEmb-attr", "attribute", 1.0, 0.5898, 0.6329, 0.5068),
        _ours("taught", "box"),
        _ours("taught, with text", "box", 0.5),
        _ours("in the box", ""),
        _ours("in the box, with text", "", 0.5),
        _ours("in the box, with text, λ = 0.6", "", 0.6),
        *BASELINES,
    ),
)
