"""The experiments of systems that read formulas alone: formula graphs (Amador and Zanibbi) and SSEmb."""

from __future__ import annotations

from itertools import combinations

from mathamr_lab.experiments.experiment import FormulaExperiment, FormulaVariant

LEXICAL = "lexical"
"""The row of our own search by words and parts of trees."""
BASELINES = (
    FormulaVariant("BM25, LaTeX n-grams", ranking="BM25, LaTeX n-grams"),
    FormulaVariant("BM25, layout tuples", ranking="BM25, layout tuples"),
    FormulaVariant("BM25, operator tuples", ranking="BM25, operator tuples"),
    FormulaVariant(LEXICAL, ranking="lexical"),
    FormulaVariant("Tangent-S, layout trees", known={"pool of ARQMath-1": {"nDCG'": 0.810}}),
    FormulaVariant("Tangent-S, operator trees", known={"pool of ARQMath-1": {"nDCG'": 0.799}}),
    FormulaVariant("alignment of trees", ranking="alignment"),
)
"""Rankings without a network, which every table shows; of Tangent-S only the mean of its stored orders is known."""

_PAIRING_MEASURES = ("nDCG'", "MAP'", "P'@10", "Bpref(rel=1)", "Bpref(rel=3)")
"""Three of ARQMath-3, then partial and full relevance of NTCIR-12."""


def _pairing(name: str, pairing: str, ranking: str, *published: float) -> FormulaVariant:
    figures = dict(zip(_PAIRING_MEASURES, published, strict=True))
    return FormulaVariant(name, "formula-graph", "paper", (f"nodes.pairing={pairing}",), ranking, figures)


def _untrained(system: str, ranking: str, config: str = "paper") -> FormulaVariant:
    """Return the row of the same network with random weights."""
    name = "untrained" if config == "paper" else f"untrained {config}"
    return FormulaVariant(f"{name}, {ranking}", system, config, (), ranking, is_untrained=True)


def _trainings(system: str, *rankings: str) -> tuple[FormulaVariant, ...]:
    """Return the rows of three ways to train, each beside its random weights."""
    ways = {"contrast": "paper", "near": "near", "taught": "box"}
    return tuple(
        row
        for name, config in ways.items()
        for ranking in rankings
        for row in (
            FormulaVariant(f"{name}, {ranking}", system, config, (), ranking),
            _untrained(system, ranking, config),
        )
    )


_ALL = "inner+outer"
PAIRINGS = FormulaExperiment(
    name="formula-graph-pairings",
    title="Pairings of formula graphs, and fusions of both views",
    paper="amador2025formula",
    differs="50,000 formulas for 16 epochs instead of 9.3 million; Approach0 and Tangent-S are not run",
    source="Tables 2 and 5 (ARQMath-3, 76 topics, 9.3 million formulas; NTCIR-12, 20 topics)",
    question="Do layout and operators help each other in training, and how should their scores be fused?",
    baselines=("SLG", "OPG", LEXICAL),
    scale=("nodes.formulas=50000", "nodes.epochs=16", "nodes.largest=150"),
    variants=(
        _pairing("SLG", "slg", "layout", 0.649, 0.446, 0.547, 0.611, 0.534),
        _pairing("OPG", "opg", "operators", 0.682, 0.476, 0.587, 0.642, 0.547),
        _pairing("SLG+OPG MAX", "slg+opg", "max", 0.690, 0.498, 0.591, 0.647, 0.572),
        _pairing("Inner MAX", "inner", "max", 0.694, 0.497, 0.600, 0.646, 0.555),
        _pairing("Outer MAX", "outer", "max", 0.693, 0.496, 0.599, 0.602, 0.562),
        _pairing("Inner+Outer MAX", _ALL, "max", 0.701, 0.505, 0.597, 0.636, 0.535),
        _pairing("Inner+Outer AVG", _ALL, "mean", 0.684, 0.486, 0.581, 0.639, 0.526),
        _pairing("Inner+Outer F1", _ALL, "f1", 0.670, 0.475, 0.576, 0.635, 0.532),
        _pairing("Inner+Outer RRF", _ALL, "rrf", 0.678, 0.485, 0.599, 0.623, 0.523),
        *(_untrained("formula-graph", each) for each in ("layout", "operators", "max", "mean", "f1", "rrf")),
        *BASELINES,
    ),
)

FORMULA_GRAPH_TRAINING = FormulaExperiment(
    name="formula-graph-training",
    title="What formula graphs are trained for",
    differs="not in the paper: other losses for its networks",
    question="Does training help when the loss asks for what a search compares: near formulas by MaxSim, or a teacher's orders?",
    baselines=("untrained, max", "untrained, mean"),
    scale=("nodes.formulas=193000", "nodes.epochs=2", "nodes.largest=150"),
    variants=_trainings("formula-graph", "max", "mean"),
)

_SSEMB_MEASURES = ("nDCG'@10", "P'@5", "P'@10")


def _augmented(name: str, kind: str, ranking: str, *published: float) -> FormulaVariant:
    figures = dict(zip(_SSEMB_MEASURES, published, strict=True))
    return FormulaVariant(name, "ssemb", "paper", (f"structure.kind={kind}",), ranking, figures)


SSEMB_ABLATION = FormulaExperiment(
    name="ssemb-ablation",
    title="Augmentations and context of SSEmb",
    paper="li-ssemb",
    differs="100,000 formulas for 80 epochs instead of 20 million for 25",
    source="Table 2 (ARQMath-3, 76 topics, 28 million formulas)",
    question="Which augmentation of operator graphs is best, and does the text around a formula help?",
    baselines=("StructEmb-attr", LEXICAL),
    measures=("nDCG'@10", "P'@5", "P'@10", "nDCG'", "MAP'", "Bpref"),
    scale=("structure.formulas=100000", "structure.epochs=80"),
    variants=(
        _augmented("SSEmb", "both", "paper", 0.7343, 0.7632, 0.6803),
        _augmented("StructEmb", "both", "structure", 0.6762, 0.6974, 0.6211),
        _augmented("StructEmb-subs", "substitution", "structure", 0.6744, 0.6974, 0.6013),
        _augmented("StructEmb-attr_node_edge", "attribute-node-edge", "structure", 0.6298, 0.6421, 0.5658),
        _augmented("StructEmb-attr", "attribute", "structure", 0.5898, 0.6329, 0.5068),
        _untrained("ssemb", "structure"),
        *BASELINES,
    ),
)

SSEMB_TRAINING = FormulaExperiment(
    name="ssemb-training",
    title="What SSEmb is trained for",
    differs="not in the paper: other losses for its network",
    question="Does training help when the loss asks for what a search compares: near formulas by cosine, or a teacher's orders?",
    baselines=("untrained, structure",),
    scale=("structure.formulas=100000", "structure.learning_rate=1e-3", "structure.minimum_rate=1e-5"),
    variants=_trainings("ssemb", "structure"),
)

_PAPER = ("ssemb", "paper", ("structure.kind=both",), "paper")
_OTHERS = ("BM25, layout tuples", "BM25, operator tuples", "shared parts", LEXICAL, "alignment")


def _fused(name: str, *others: str) -> FormulaVariant:
    return FormulaVariant(f"{name} + SSEmb", *_PAPER, others=others)


_TEAMS = {
    "approach0": (0.7511, 0.6882, 0.7837, 0.7158),
    "dprl": (0.6868, 0.6105, 0.7197, 0.6434),
    "mathdow": (0.6081, 0.5487, 0.6983, 0.6434),
    "tangents": (0.5765, 0.5105, 0.7011, 0.6434),
    "xyphoc": (0.6382, 0.5632, 0.7008, 0.6500),
    "junits": (0.1648, 0.1250, 0.4369, 0.3711),
}
"""SSEmb's Table 3: nDCG'@10 and P'@10 of the best run of a team, and of it with SSEmb, by how names of runs begin."""


_PAIRED = {frozenset({"approach0", "dprl"}): {"nDCG'@10": 0.7459}}
"""The paper's figures of two teams without SSEmb."""


def _team(name: str) -> str:
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    return next((team for team in _TEAMS if plain.startswith(team)), "")


def _with_runs(names: tuple[str, ...]) -> tuple[FormulaVariant, ...]:
    """Return the rows of runs of other systems: each alone and fused with SSEmb, then every two of them fused."""
    measures, rows = ("nDCG'@10", "P'@10"), []
    for name in names:
        known = _TEAMS.get(_team(name), ())
        alone, both = (dict(zip(measures, known[start : start + 2], strict=False)) for start in (0, 2))
        rows.append(FormulaVariant(name, ranking=name, published=alone))
        rows.append(FormulaVariant(f"{name} + SSEmb", *_PAPER, both, others=(name,)))
    for one, other in combinations(names, 2):
        figures = _PAIRED.get(frozenset({_team(one), _team(other)}), {})
        rows.append(FormulaVariant(f"{one} + {other}", published=figures, others=(one, other)))
    return tuple(rows)


SSEMB_FUSION = FormulaExperiment(
    name="ssemb-fusion",
    title="SSEmb fused with other ways to rank",
    paper="li-ssemb",
    differs="100,000 formulas for 80 epochs instead of 20 million for 25; our rankings where no --run names a participant's",
    source="Table 3 (ARQMath-3, runs of participants; name them with --run)",
    of_runs=_with_runs,
    question="Does reciprocal rank fusion with SSEmb improve what others rank?",
    baselines=("BM25, operator tuples", LEXICAL),
    measures=("nDCG'@10", "P'@10", "nDCG'", "MAP'", "Bpref"),
    scale=("structure.formulas=100000", "structure.epochs=80"),
    variants=(
        FormulaVariant("SSEmb", *_PAPER),
        *(row for other in _OTHERS for row in (FormulaVariant(other, ranking=other), _fused(other, other))),
        _fused("lexical, alignment", LEXICAL, "alignment"),
    ),
)
