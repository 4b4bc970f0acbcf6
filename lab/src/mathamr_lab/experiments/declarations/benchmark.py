"""The whole system beside others (thesis, section 4.5)."""

from __future__ import annotations

from mathamr_lab.experiments.experiment import JUDGED, CitedSystem, Experiment, Published, Variant


def _answers(name: str, *figures: float) -> CitedSystem:
    return CitedSystem(name, "answers", dict(zip(JUDGED, figures, strict=False)))


def _formulas(name: str, *figures: float) -> CitedSystem:
    return CitedSystem(name, "formulas", dict(zip(JUDGED, figures, strict=False)))


EXPERIMENT = Experiment(
    name="benchmark",
    title="Benchmark",
    section="4.5",
    question="How good is the whole system, and what does it cost?",
    heads=("System",),
    tables=("4.19 and 4.21", "", "4.20 and 4.22"),
    columns=("seconds", "memory", "parameters", "index", "vectors", "rate"),
    scale="thesis-full",
    variants=(
        Variant(
            "mathamrplus",
            ("MathAMR+",),
            published=Published.of(
                (0.334, 0.108, 0.236, 0.163),
                costs={
                    "seconds": 69.2 * 60,
                    "memory": 9.75,
                    "parameters": 5_653_808,
                    "index": 2790,
                    "vectors": 21_947_328,
                    "rate": 2.66,
                },
            ),
        ),
    ),
    systems=(
        _answers("Approach0 / Struct.+ColBERT (Coco-MAE)", 0.546, 0.237, 0.360, 0.221),
        _answers("Kassaie et al. / RRF+LLM", 0.522, 0.195, 0.277),
        _answers("MSM / Ensemble RRF", 0.504, 0.157, 0.241, 0.138),
        _answers("MIRMU / MiniLM+RoBERTa", 0.498, 0.184, 0.267, 0.169),
        _answers("Satpute et al. / GPT-4+DPR", 0.486, 0.219, 0.374, 0.225),
        _answers("DPRL / QQ-QA-AMR", 0.185, 0.040, 0.091),
        _answers("MathAMR+ (thesis)", 0.334, 0.108, 0.236, 0.163),
        _formulas("L2L / All (Unweighted)", 0.849, 0.620, 0.680),
        _formulas("Amador et al. / Inner RRF", 0.773, 0.554, 0.632),
        _formulas("Approach0 / Struct.+ColBERT", 0.720, 0.568, 0.688, 0.560),
        _formulas("Amador et al. / In+Out", 0.701, 0.505, 0.597),
        _formulas("DPRL / TanCFT+MathAMR", 0.681, 0.471, 0.617),
        _formulas("MathDowers / latex_L8_a040", 0.640, 0.451, 0.549, 0.443),
        _formulas("DPRL / MathAMR, unofficial", 0.579, 0.367, 0.549),
        _formulas("DPRL / MathAMR", 0.316, 0.160, 0.253),
        _formulas("MathAMR+ (thesis)", 0.507, 0.333, 0.588, 0.503),
    ),
)
