"""What does each way of ranking cost, and what is it worth? (thesis, section 4.4.1)"""

from __future__ import annotations

from mathamr_lab.experiments.experiment import JUDGED, Experiment, Published, Strategy, Variant

LARGE, SMALL = 0.148, 0.03
"""The thesis's pools of 5,000 and 1,000, as shares of its 33,771 posts."""

_MAXSIM, _LARGE, _SMALL, _SINGLE = (
    "ColBERT MaxSim",
    "Doc-VN + MaxSim (k = 15 %; thesis: 5,000)",
    "Doc-VN + MaxSim (k = 3 %; thesis: 1,000)",
    "Single-vector",
)
_LARGE_SPREAD = ((0.428, 0.024), (0.124, 0.009), (0.191, 0.017), (0.218, 0.004))
_SMALL_SPREAD = ((0.318, 0.025), (0.090, 0.009), (0.181, 0.012), (0.222, 0.009))
_SINGLE_SPREAD = ((0.299, 0.022), (0.075, 0.008), (0.134, 0.013), (0.165, 0.012))

EXPERIMENT = Experiment(
    name="retrieval-strategies",
    title="Retrieval strategies",
    section="4.4.1",
    question="How much quality do faster ways of ranking cost, and how much an approximate index?",
    heads=("Retrieval strategy", "Search"),
    tables=("4.15", "4.16", "4.16"),
    columns=("rate", "index", "vectors"),
    formulas=False,
    variants=(
        Variant(
            "maxsim-exact",
            (_MAXSIM, "exact"),
            baseline="maxsim-hnsw",
            published=Published.of(
                spread=((0.452, 0.013), (0.132, 0.007), (0.194, 0.012), (0.221, 0.005)), costs={"rate": 62.9}
            ),
        ),
        Variant(
            "maxsim-hnsw",
            (_MAXSIM, "HNSW"),
            strategy=Strategy("maxsim", exact=False),
            published=Published.of(
                (0.454, 0.136, 0.209, 0.221),
                (),
                ((0.440, 0.014), (0.127, 0.007), (0.195, 0.013), (0.218, 0.005)),
                {"rate": 87.2},
            ),
        ),
        Variant(
            "rerank-large-exact",
            (_LARGE, "exact"),
            strategy=Strategy("rerank", pool=LARGE),
            baseline="maxsim-hnsw",
            published=Published.of(spread=_LARGE_SPREAD, costs={"rate": 85.7}),
        ),
        Variant(
            "rerank-large-hnsw",
            (_LARGE, "HNSW"),
            strategy=Strategy("rerank", exact=False, pool=LARGE),
            baseline="maxsim-hnsw",
            published=Published.of((0.451, 0.133, 0.203, 0.220), (), _LARGE_SPREAD, {"rate": 83.4}),
        ),
        Variant(
            "rerank-small-exact",
            (_SMALL, "exact"),
            strategy=Strategy("rerank", pool=SMALL),
            baseline="maxsim-hnsw",
            published=Published.of(spread=_SMALL_SPREAD, costs={"rate": 112.0}),
        ),
        Variant(
            "rerank-small-hnsw",
            (_SMALL, "HNSW"),
            strategy=Strategy("rerank", exact=False, pool=SMALL),
            baseline="maxsim-hnsw",
            published=Published.of(
                (0.352, 0.103, 0.191, 0.230), ("nDCG'", "MAP'"), _SMALL_SPREAD, {"rate": 114.9}
            ),
        ),
        Variant(
            "single-exact",
            (_SINGLE, "exact"),
            strategy=Strategy("single"),
            baseline="maxsim-hnsw",
            published=Published.of(spread=_SINGLE_SPREAD, costs={"rate": 131.5}),
        ),
        Variant(
            "single-hnsw",
            (_SINGLE, "HNSW"),
            strategy=Strategy("single", exact=False),
            baseline="maxsim-hnsw",
            published=Published.of((0.330, 0.083, 0.142, 0.180), JUDGED, _SINGLE_SPREAD, {"rate": 131.7}),
        ),
    ),
)
