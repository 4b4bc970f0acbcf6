from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.graphs.flatgraph import VIRTUAL_EDGES, FlatGraph, NodePart
from mathamr.graphs.virtual import flatten
from mathamr.graphs.vocabulary import SPECIAL, RelationVocabulary, Vocabulary, VocabularyCounts, normalise
from tests.graphs.small import small_graph


def counts_of(labels: dict[str, int], part: NodePart = NodePart.OPT) -> VocabularyCounts:
    counts = VocabularyCounts()
    flat = FlatGraph()
    for label, count in labels.items():
        for _ in range(count):
            flat.add(label, part)
    counts.count(flat)
    return counts


def test_rare_numbers_share_a_label_by_their_kind() -> None:
    vocabulary = Vocabulary.build(counts_of({"N!2": 5, "N!17": 4, "N!3.5": 1, "N!1/3": 4, "V!x": 1}))
    label = {
        n: vocabulary.labels[vocabulary.number(n, NodePart.OPT)]
        for n in ("N!2", "N!17", "N!3.5", "N!1/3", "V!x")
    }
    assert label == {
        "N!2": "N!2",
        "N!17": "[UNKNUM_INT]",
        "N!3.5": "[UNKNUM_DEC]",
        "N!1/3": "[UNKNUM_RAT]",
        "V!x": "V!x",
    }
    assert vocabulary.number("N!99", NodePart.OPT) == vocabulary.number("98", NodePart.CONSTANT)
    assert vocabulary.number("V!y", NodePart.OPT) == 0


def test_truncation_keeps_the_most_frequent_and_tells_the_coverage() -> None:
    counts = counts_of({"V!a": 60, "V!b": 30, "V!c": 10})
    vocabulary = Vocabulary.build(counts, size=len(SPECIAL) + 2)
    assert vocabulary.labels == (*SPECIAL, "V!a", "V!b")
    assert vocabulary.coverage == pytest.approx(0.9)


def test_labels_are_normalised_as_the_thesis_says() -> None:
    assert normalise("V!𝑥", NodePart.OPT) == normalise("V!x", NodePart.SLT) == "V!x"
    assert (
        normalise("https://example.org/a", NodePart.CONSTANT)
        == normalise("www.example.org", NodePart.CONCEPT)
        == "[URL]"
    )
    assert normalise("matrices", NodePart.CONCEPT) == normalise("matrice", NodePart.CONCEPT)
    assert normalise("integrate-01", NodePart.CONCEPT) == "integrate-01"
    assert normalise("O!cases", NodePart.OPT) == "O!cases"


def test_counts_of_parts_add_up_and_leave_out_virtual_nodes() -> None:
    flat = flatten(small_graph())
    once, twice = VocabularyCounts(), VocabularyCounts()
    once.count(flat)
    twice.add(once)
    twice.add(once)
    assert {label: 2 * count for label, count in once.labels.items()} == twice.labels
    assert not set(once.labels) & set(SPECIAL[-3:])
    assert not set(once.relations) & set(VIRTUAL_EDGES)
    assert once.relations[":op0"] == 3


def test_every_relation_has_an_inverse_of_its_own() -> None:
    counts = VocabularyCounts()
    counts.count(flatten(small_graph()))
    relations = RelationVocabulary.build(counts)
    number = relations.number(":opt")
    assert relations.name(number) == ":opt"
    assert relations.name(number + 1) == ":opt*"
    assert len({relations.name(n) for n in range(len(relations))}) == len(relations)
    assert relations.name(relations.number(":never-seen")) == ":UNK"


LABEL_LISTS = st.lists(st.text(min_size=1, max_size=10), unique=True, max_size=10)


@given(labels=LABEL_LISTS)
def test_files_read_back_whatever_the_labels_hold(
    labels: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("vocabulary") / "labels.txt"
    encodable = [label for label in labels if label.isprintable() or "\n" in label or "\\" in label]
    encodable = [e for e in encodable if e not in SPECIAL and e.encode("utf-8", "ignore").decode() == e]
    vocabulary = Vocabulary((*SPECIAL, *encodable))
    vocabulary.save(path)
    assert Vocabulary.load(path) == vocabulary


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text("the\nof\nand\n")
    with pytest.raises(MathAMRError, match="start with"):
        Vocabulary.load(path)
    with pytest.raises(MathAMRError, match="start with"):
        RelationVocabulary.load(path)
    with pytest.raises(MathAMRError, match="cannot read"):
        Vocabulary.load(tmp_path / "missing.txt")


def test_sentences_of_a_very_long_post_share_one_relation() -> None:
    flat = FlatGraph()
    root = flat.add("multi-sentence", NodePart.CONCEPT)
    flat.edges = [(root, f":snt{n}", flat.add("x", NodePart.CONCEPT)) for n in range(1, 101)]
    counts = VocabularyCounts()
    counts.count(flat)
    relations = RelationVocabulary.build(counts)
    assert len(counts.raw_relations) == 100
    assert len(relations) == 2 * (1 + len(VIRTUAL_EDGES) + 33)
    assert relations.number(":snt40") == relations.number(":snt5000") != relations.number(":snt32")
