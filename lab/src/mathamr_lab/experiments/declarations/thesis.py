"""The experiments of the thesis (chapter 4), with the figures that it printed."""

from __future__ import annotations

from mathamr.graphs.configuration import GraphConfiguration
from mathamr_lab.experiments.experiment import (
    FULL,
    JUDGED,
    SINGLE,
    GraphExperiment,
    Published,
    Strategy,
    Variant,
)

# fmt: off
FORMULA_REPRESENTATIONS = GraphExperiment(
    name="formula-representations",
    title="Formula representations",
    section="4.3.1",
    question="Do operator trees and layout trees of formulas each add something to retrieval?",
    tables=("4.6", "4.7", "4.8"),
    variants=(
        Variant("both", "Both (OPT+SLT)", baseline="absent",
            published=Published.of((0.497, 0.150, 0.217, 0.228), JUDGED, ((0.494, 0.002), (0.147, 0.004), (0.211, 0.010), (0.224, 0.004)), {"seconds": 472.5, "memory": 52.3, "index": 145.6})),
        Variant("opt", "OPT-only", GraphConfiguration("opt"), baseline="absent",
            published=Published.of((0.496, 0.143, 0.199, 0.222), JUDGED, ((0.486, 0.007), (0.141, 0.004), (0.198, 0.010), (0.217, 0.008)), {"seconds": 362.4, "memory": 41.3, "index": 145.6})),
        Variant("slt", "SLT-only", GraphConfiguration("slt"), baseline="absent",
            published=Published.of((0.495, 0.147, 0.196, 0.213), JUDGED, ((0.488, 0.006), (0.141, 0.005), (0.197, 0.010), (0.217, 0.005)), {"seconds": 340.9, "memory": 36.3, "index": 145.6})),
        Variant("absent", "None, placeholders dropped", GraphConfiguration("absent"),
            published=Published.of((0.404, 0.106, 0.167, 0.183), (), ((0.392, 0.009), (0.098, 0.005), (0.155, 0.011), (0.177, 0.006)), {"seconds": 262.1, "memory": 24.5, "index": 58.3})),
        Variant("none", "None, placeholders kept", GraphConfiguration("none")),
    ),
)

_MAXSIM_LOSS = ("beta=1.0",)
"""No loss of the document vector, also at a scale with one."""

VIRTUAL_NODES = GraphExperiment(
    name="virtual-nodes",
    title="Virtual node structure",
    section="4.3.2",
    question="Is the hierarchy of formula, sentence and document nodes better than simpler ways to sum up a post?",
    tables=("4.9", "", ""),
    variants=(
        Variant("hierarchy", "Full hierarchy, MaxSim", changes=_MAXSIM_LOSS, published=Published.of((0.461, 0.145, 0.221, 0.235))),
        Variant("none", "No VNs, MaxSim", GraphConfiguration(structure="none"), _MAXSIM_LOSS, baseline="hierarchy",
            published=Published.of((0.368, 0.109, 0.183, 0.228), ("nDCG'", "MAP'"))),
        Variant("global", "Global VN, MaxSim", GraphConfiguration(structure="global"), _MAXSIM_LOSS, baseline="hierarchy",
            published=Published.of((0.459, 0.129, 0.199, 0.217))),
        Variant("global-single", "Global VN, Single-vector", GraphConfiguration(structure="global"), ("beta=0.0",), SINGLE, baseline="hierarchy",
            published=Published.of((0.486, 0.134, 0.182, 0.229))),
    ),
)

CONNECTIVITY = GraphExperiment(
    name="connectivity",
    title="Virtual node connectivity",
    section="4.3.3",
    question="Do auxiliary edges between the virtual nodes of sentences and formulas help, or do they blur them?",
    tables=("4.10", "4.11", "4.12"),
    variants=(
        Variant("none", "None",
            published=Published.of((0.431, 0.131, 0.212, 0.229), (), ((0.421, 0.008), (0.125, 0.004), (0.205, 0.014), (0.216, 0.008)), {"seconds": 628.3, "memory": 5.752})),
        Variant("sequential", "Sequential", GraphConfiguration(auxiliary="sequential"), baseline="none",
            published=Published.of((0.423, 0.121, 0.194, 0.218), (), ((0.409, 0.011), (0.118, 0.004), (0.187, 0.009), (0.204, 0.008)), {"seconds": 646.0, "memory": 5.848})),
        Variant("circular", "Circular", GraphConfiguration(auxiliary="circular"), baseline="none",
            published=Published.of((0.422, 0.125, 0.205, 0.213), (), ((0.409, 0.008), (0.119, 0.004), (0.188, 0.011), (0.205, 0.006)), {"seconds": 650.0, "memory": 5.852})),
        Variant("full", "Fully connected", GraphConfiguration(auxiliary="full"), baseline="none",
            published=Published.of((0.420, 0.118, 0.181, 0.214), (), ((0.417, 0.004), (0.119, 0.004), (0.190, 0.013), (0.215, 0.002)), {"seconds": 870.4, "memory": 7.368})),
    ),
)

INITIALISATION = GraphExperiment(
    name="initialisation",
    title="Virtual node initialisation",
    section="4.3.4",
    question="Does it matter with which vector a virtual node starts?",
    tables=("", "4.13", "4.14"),
    variants=(
        Variant("zero", "Zero, None", changes=("virtual_start=zero",),
            published=Published.of(spread=((0.467, 0.003), (0.134, 0.005), (0.199, 0.005), (0.217, 0.005)), costs={"seconds": 455.184, "parameters": 7.917e6})),
        Variant("zero-embedding", "Zero, Embedding", changes=("virtual_start=zero-embedding",), baseline="zero",
            published=Published.of(spread=((0.483, 0.004), (0.145, 0.003), (0.206, 0.008), (0.215, 0.006)), costs={"seconds": 455.343, "parameters": 7.917e6})),
        Variant("random-embedding", "Random, Embedding", changes=("virtual_start=random-embedding",), baseline="zero",
            published=Published.of(spread=((0.476, 0.007), (0.139, 0.006), (0.200, 0.008), (0.217, 0.005)), costs={"seconds": 456.293, "parameters": 7.917e6})),
        Variant("mean", "Mean-pooled, None", changes=("virtual_start=mean",), baseline="zero",
            published=Published.of(spread=((0.470, 0.008), (0.134, 0.005), (0.201, 0.010), (0.215, 0.006)), costs={"seconds": 460.883, "parameters": 7.917e6})),
        Variant("mean-projection", "Mean-pooled, Projection", changes=("virtual_start=mean-projection",), baseline="zero",
            published=Published.of(spread=((0.477, 0.010), (0.138, 0.006), (0.204, 0.002), (0.219, 0.002)), costs={"seconds": 459.146, "parameters": 7.921e6})),
        Variant("mean-typed-projection", "Mean-pooled, Typed proj.", changes=("virtual_start=mean-typed-projection",), baseline="zero",
            published=Published.of(spread=((0.477, 0.005), (0.137, 0.003), (0.204, 0.007), (0.213, 0.007)), costs={"seconds": 468.075, "parameters": 7.929e6})),
    ),
)

LARGE, SMALL = 0.148, 0.03
"""The thesis's pools of 5,000 and 1,000, as shares of its 33,771 posts."""

_MAXSIM_NAME, _LARGE_NAME, _SMALL_NAME, _SINGLE_NAME = (
    "ColBERT MaxSim",
    "Doc-VN + MaxSim (k = 15 %; thesis: 5,000)",
    "Doc-VN + MaxSim (k = 3 %; thesis: 1,000)",
    "Single-vector",
)
_LARGE_SPREAD = ((0.428, 0.024), (0.124, 0.009), (0.191, 0.017), (0.218, 0.004))
_SMALL_SPREAD = ((0.318, 0.025), (0.090, 0.009), (0.181, 0.012), (0.222, 0.009))
_SINGLE_SPREAD = ((0.299, 0.022), (0.075, 0.008), (0.134, 0.013), (0.165, 0.012))

RETRIEVAL_STRATEGIES = GraphExperiment(
    name="retrieval-strategies",
    title="Retrieval strategies",
    section="4.4.1",
    question="How much quality do faster ways of ranking cost, and how much an approximate index?",
    tables=("4.15", "4.16", "4.16"),
    columns=("rate", "index", "vectors"),
    formulas=False,
    variants=(
        Variant("maxsim-exact", f"{_MAXSIM_NAME}, exact", baseline="maxsim-hnsw",
            published=Published.of(spread=((0.452, 0.013), (0.132, 0.007), (0.194, 0.012), (0.221, 0.005)), costs={"rate": 62.9})),
        Variant("maxsim-hnsw", f"{_MAXSIM_NAME}, HNSW", strategy=Strategy("maxsim", exact=False),
            published=Published.of((0.454, 0.136, 0.209, 0.221), (), ((0.440, 0.014), (0.127, 0.007), (0.195, 0.013), (0.218, 0.005)), {"rate": 87.2})),
        Variant("rerank-large-exact", f"{_LARGE_NAME}, exact", strategy=Strategy("rerank", pool=LARGE), baseline="maxsim-hnsw",
            published=Published.of(spread=_LARGE_SPREAD, costs={"rate": 85.7})),
        Variant("rerank-large-hnsw", f"{_LARGE_NAME}, HNSW", strategy=Strategy("rerank", exact=False, pool=LARGE), baseline="maxsim-hnsw",
            published=Published.of((0.451, 0.133, 0.203, 0.220), (), _LARGE_SPREAD, {"rate": 83.4})),
        Variant("rerank-small-exact", f"{_SMALL_NAME}, exact", strategy=Strategy("rerank", pool=SMALL), baseline="maxsim-hnsw",
            published=Published.of(spread=_SMALL_SPREAD, costs={"rate": 112.0})),
        Variant("rerank-small-hnsw", f"{_SMALL_NAME}, HNSW", strategy=Strategy("rerank", exact=False, pool=SMALL), baseline="maxsim-hnsw",
            published=Published.of((0.352, 0.103, 0.191, 0.230), ("nDCG'", "MAP'"), _SMALL_SPREAD, {"rate": 114.9})),
        Variant("single-exact", f"{_SINGLE_NAME}, exact", strategy=Strategy("single"), baseline="maxsim-hnsw",
            published=Published.of(spread=_SINGLE_SPREAD, costs={"rate": 131.5})),
        Variant("single-hnsw", f"{_SINGLE_NAME}, HNSW", strategy=Strategy("single", exact=False), baseline="maxsim-hnsw",
            published=Published.of((0.330, 0.083, 0.142, 0.180), JUDGED, _SINGLE_SPREAD, {"rate": 131.7})),
    ),
)
# fmt: on

# Section 4.4.2: all of them search approximately.
_STRATEGIES = (
    ("maxsim", "ColBERT MaxSim", Strategy("maxsim", exact=False)),
    ("rerank", "Doc-VN + MaxSim", Strategy("rerank", exact=False, pool=SMALL)),
    ("single", "Single-vector", Strategy("single", exact=False)),
)
# beta -> (nDCG', P'@10, significant measures) of each strategy: Table 4.17.
_THESIS = {
    1.0: ((0.454, 0.209, ()), (0.352, 0.191, ()), (0.330, 0.142, ())),
    0.7: ((0.454, 0.210, ()), (0.412, 0.210, ("nDCG'",)), (0.396, 0.165, ("nDCG'",))),
    0.5: ((0.452, 0.200, ()), (0.421, 0.194, ("nDCG'",)), (0.405, 0.167, ("nDCG'",))),
    0.3: ((0.454, 0.210, ()), (0.432, 0.204, ("nDCG'",)), (0.411, 0.165, ("nDCG'",))),
    0.0: ((0.365, 0.200, ("nDCG'",)), (0.437, 0.196, ("nDCG'",)), (0.425, 0.176, ("nDCG'", "P'@10"))),
}

DOCUMENT_LOSS = GraphExperiment(
    name="document-loss",
    title="Auxiliary document-level loss",
    section="4.4.2",
    question="Does training the document vector directly close the gap of the faster ways of ranking?",
    tables=("4.17", "", ""),
    columns=("seconds", "memory", "rate"),
    formulas=False,
    measures=("nDCG'", "P'@10"),
    variants=tuple(
        Variant(
            f"beta-{beta:g}-{name}",
            f"β = {beta:g}, {label}",
            changes=(f"beta={beta}",),
            strategy=strategy,
            baseline=None if beta == 1 else f"beta-1-{name}",
            published=Published({"nDCG'": figures[0], "P'@10": figures[1]}, figures[2]),
        )
        for beta, row in _THESIS.items()
        for (name, label, strategy), figures in zip(_STRATEGIES, row, strict=True)
    ),
)


BENCHMARK = GraphExperiment(
    name="benchmark",
    title="Benchmark",
    section="4.5",
    question="How good is the whole system, and what do its searches cost?",
    tables=("4.19", "", "4.20 and 4.22"),
    formula_table="4.21",
    columns=("seconds", "memory", "parameters", "index", "vectors", "rate", "formulas", "formula rate"),
    scale="thesis-full",
    searched=FULL,
    trained=FULL,
    variants=(
        Variant(
            "mathamrplus",
            "MathAMR+",
            published=Published.of(
                (0.334, 0.108, 0.236, 0.163),
                formulas=(0.507, 0.333, 0.588, 0.503),
                costs={
                    "seconds": 69.2 * 60,
                    "memory": 9.75,
                    "parameters": 5_653_808,
                    "index": 2790,
                    "vectors": 21_947_328,
                    "rate": 2.66,
                    "formulas": 21_515_119,
                    "formula rate": 2.19,
                },
            ),
        ),
    ),
)

LINEARISED = GraphExperiment(
    name="linearised-graphs",
    title="Graphs and their linearised strings",
    section="4.5",
    question="Does a network over graphs find more than a sentence encoder that reads the same graphs as strings?",
    differs=(
        "the built-in AMR parser; strings by Sentence-BERT's ranking loss from the text encoder of mathamr-3, answers by their own"
        " string, where DPRL's QQ-QA-AMR looks for similar questions first"
    ),
    tables=("4.19", "", ""),
    columns=("seconds", "memory", "index", "rate"),
    formulas=False,
    scale="thesis-full",
    searched=FULL,
    trained=FULL,
    variants=(
        Variant("graphs", "MathAMR+, graphs", published=Published.of((0.334, 0.108, 0.236, 0.163))),
        Variant(
            "lines",
            "Sentence-BERT, strings (QQ-QA-AMR)",
            strategy=SINGLE,
            baseline="graphs",
            reads="lines",
            published=Published.of((0.185, 0.040, 0.091)),
        ),
        Variant("graphs-untrained", "MathAMR+, untrained", baseline="graphs", is_untrained=True),
        Variant(
            "lines-untrained",
            "Sentence-BERT, strings, untrained",
            strategy=SINGLE,
            baseline="lines",
            reads="lines",
            is_untrained=True,
        ),
        Variant("graphs-boxed", "mathamr-plus of the box", model="mathamr-plus"),
        Variant(
            "graphs-coreference",
            "mathamr-plus of the box, coreference",
            baseline="graphs-boxed",
            model="mathamr-plus",
            coreference=True,
        ),
        Variant(
            "lines-boxed",
            "mathamr of the box, strings",
            strategy=SINGLE,
            baseline="graphs-boxed",
            reads="lines",
            model="mathamr",
        ),
        Variant(
            "lines-paper",
            "mathamr-paper of the box, strings",
            strategy=SINGLE,
            baseline="graphs-boxed",
            reads="lines",
            model="mathamr-paper",
        ),
    ),
)
