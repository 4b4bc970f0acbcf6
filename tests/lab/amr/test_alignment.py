"""Word alignment of gold graphs, the examples made from them, and formulas for sentences that have none."""

from __future__ import annotations

from random import Random

import penman
import pytest
from penman.models.amr import model

from mathamr.amr.builtin.frames import load_frames
from mathamr.amr.builtin.lexicon import INSIDE, NAME, NONE
from mathamr_lab.amr.alignment import (
    AlignedGraph,
    Aligner,
    numbered,
    translation_table,
    tree_distances,
)
from mathamr_lab.amr.augmentation import with_formulas
from mathamr_lab.amr.examples import SAME, NameKinds, build
from mathamr_lab.amr.patterns import PATTERNS, pattern_graphs
from mathamr_lab.amr.syntax import Analysed, Analyser


@pytest.fixture(scope="module")
def analyser() -> Analyser:
    return Analyser()


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner(load_frames(), {})


def aligned(analyser: Analyser, aligner: Aligner, text: str, graph: str) -> tuple[Analysed, AlignedGraph]:
    sentence = next(analyser.analyse([text]))
    made = numbered(penman.decode(graph, model=model))
    aligner.align(sentence, made)
    return sentence, made


def words(sentence: Analysed, graph: AlignedGraph) -> dict[str, str]:
    return {c: sentence.words[t] if t >= 0 else "" for c, t in zip(graph.concepts, graph.tokens, strict=True)}


def test_spelling_aligns_verbs_negation_and_derived_nouns(analyser: Analyser, aligner: Aligner) -> None:
    sentence, graph = aligned(
        analyser, aligner, "The teacher did not see the boys.",
        "(s / see-01 :polarity - :ARG0 (p / person :ARG0-of (t / teach-01)) :ARG1 (b / boy))",
    )  # fmt: skip
    found = words(sentence, graph)
    assert found == {
        "see-01": "see", "-": "not", "person": "teacher", "teach-01": "teacher", "boy": "boys"
    }  # fmt: skip


def test_a_name_takes_its_words_and_its_type_with_them(analyser: Analyser, aligner: Aligner) -> None:
    sentence, graph = aligned(
        analyser, aligner, "We met Carl Gauss yesterday.",
        '(m / meet-02 :ARG0 (w / we) :ARG1 (p / person :name (n / name :op1 "Carl" :op2 "Gauss")) :time (y / yesterday))',
    )  # fmt: skip
    (example,), _ = build([(sentence, graph)], aligner, {'[["*","person"],[[1,":name",0]]]', '[["*"],[]]'})
    assert example.cores[2:4] == [NAME, INSIDE]
    assert [node.text for node in example.nodes if node.text] == [("Carl", "Gauss")]


def test_a_name_that_is_said_again_has_its_nodes_again(analyser: Analyser, aligner: Aligner) -> None:
    pair = aligned(
        analyser, aligner, "Gauss taught people who loved Gauss.",
        '(t / teach-01 :ARG0 (p / person :name (n / name :op1 "Gauss")) :ARG2 (q / people :ARG0-of (l / love-01 :ARG1 p)))',
    )  # fmt: skip
    (example,), _ = build([pair], aligner, {'[["*","person"],[[1,":name",0]]]', '[["*"],[]]'})
    assert [token for token, core in enumerate(example.cores) if core == NAME] == [0, 5]
    again = [n for n, node in enumerate(example.nodes) if node.concept == "person"]
    assert len(again) == 2
    assert example.edges[again[1], again[0]] == SAME
    kinds = NameKinds([example])
    assert kinds.table()["Gauss"] == "person"
    assert set(kinds.cores(example, leave_out=False).values()) == {NAME + "person"}
    assert set(kinds.cores(example, leave_out=True).values()) == {NAME}
    assert kinds.table()["Gauss"] == "person"


def test_a_pronoun_that_repeats_a_node_is_a_mention(analyser: Analyser, aligner: Aligner) -> None:
    sentence, graph = aligned(
        analyser, aligner, "The fox lost its tail.",
        "(l / lose-02 :ARG0 (f / fox) :ARG1 (t / tail :part-of f))",
    )  # fmt: skip
    assert [(sentence.words[token], graph.concepts[node]) for token, node in graph.mentions] == [
        ("its", "fox")
    ]
    (example,), _ = build([(sentence, graph)], aligner, {'[["*"],[]]'})
    assert SAME in example.edges.values()


def test_expectation_maximisation_finds_what_spelling_cannot(analyser: Analyser) -> None:
    texts = [
        "Nevertheless he sleeps.",
        "Nevertheless she runs.",
        "He runs.",
        "She sleeps.",
        "Nevertheless it falls.",
    ]
    graphs = [
        "(h / have-concession-91 :ARG1 (s / sleep-01 :ARG0 (e / he)))",
        "(h / have-concession-91 :ARG1 (s / run-02 :ARG0 (e / she)))",
        "(s / run-02 :ARG0 (e / he))",
        "(s / sleep-01 :ARG0 (e / she))",
        "(h / have-concession-91 :ARG1 (s / fall-01 :ARG1 (e / it)))",
    ]
    pairs = [
        (sentence, numbered(penman.decode(graph, model=model)))
        for sentence, graph in zip(analyser.analyse(texts), graphs, strict=True)
    ]
    table = translation_table(pairs)
    best = max(table, key=lambda key: table[key] if key[1] == "have-concession-91" else 0)
    assert best[0] in ("nevertheless", "<null>", ".")
    assert table["nevertheless", "have-concession-91"] > table.get(("nevertheless", "run-02"), 0)


def test_a_rare_template_is_cut_to_a_known_one(analyser: Analyser, aligner: Aligner) -> None:
    pair = aligned(
        analyser, aligner, "Teachers sleep.", "(s / sleep-01 :ARG0 (p / person :ARG0-of (t / teach-01)))"
    )
    (example,), _ = build([pair], aligner, {'[["*"],[]]'})
    assert [node.concept for node in example.nodes] == ["teach-01", "sleep-01"]
    assert NONE in example.cores


def test_formulas_replace_names_and_nouns_in_text_and_graph(analyser: Analyser, aligner: Aligner) -> None:
    sentence, graph = aligned(
        analyser, aligner, "The fox sees a hen.", "(s / see-01 :ARG0 (f / fox) :ARG1 (h / hen))"
    )
    made = [with_formulas(sentence, graph, Random(seed)) for seed in range(8)]
    both = [m for m in made if m and m[0] == "FORMULA_0 sees FORMULA_1 ."]
    assert both
    assert both[0][1].concepts == ["see-01", "FORMULA_0", "FORMULA_1"]
    assert None in made or any(m and "fox" in m[0] for m in made)


def test_every_pattern_fills_into_a_graph_with_all_of_its_formulas() -> None:
    filled = pattern_graphs(seed=3, fillings=1)
    assert len(filled) == len(PATTERNS)
    for gold in filled:
        concepts = [str(c) for _, _, c in gold.graph.instances()]
        formulas = [word for word in gold.text.split() if word.startswith("FORMULA_")]
        assert sorted(c for c in concepts if c.startswith("FORMULA_")) == sorted(formulas), gold.text
        assert not any(len(c) == 2 and c[0] in "FNA" and c[1].isdigit() for c in concepts), gold.text


def test_tree_distances_are_steps_along_the_dependencies() -> None:
    sentence = Analysed(
        "old fox sleeps well", ["old", "fox", "sleeps", "well"], [(0, 3), (4, 7), (8, 14), (15, 19)], [True] * 4,
        ["JJ", "NN", "VBZ", "RB"], ["old", "fox", "sleep", "well"], deps=["amod", "nsubj", "ROOT", "ROOT"], heads=[1, 2, 2, 3],
    )  # fmt: skip
    table = tree_distances(sentence)
    assert table[0] == [0, 1, 2, 6]
    assert [row[0] for row in table] == table[0]
