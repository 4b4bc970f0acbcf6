"""The beds of the laboratory on small collections: who is relevant, what is hidden, and how rankings are measured."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from mathamr.posts.post import Post
from mathamr_lab.studies.beds import Bed, beds, by_words, chapters_of, premises, ranked

PAIRS = [
    ("algebra:lemma-one", "Let $A$ be a ring.", "Trivial."),
    ("algebra:lemma-two", "Let $B$ be flat, see Lemma \\ref{lemma-one}.", "By Lemma \\ref{lemma-one}."),
    (
        "topology:lemma-open",
        "Let $U$ be open.",
        "See Algebra, Lemma \\ref{algebra-lemma-two} and \\ref{lemma-shut}.",
    ),
    (
        "topology:lemma-shut",
        "Let $Z$ be closed.",
        "See Lemma \\ref{lemma-open}, Algebra, Lemma \\ref{algebra-lemma-one}.",
    ),
    (
        "varieties:lemma-point",
        "Let $x$ be a point.",
        "See Topology, Lemmas \\ref{topology-lemma-open}, \\ref{topology-lemma-shut}.",
    ),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "pairs").mkdir()
    with gzip.open(tmp_path / "pairs" / "pairs.jsonl.gz", "wt", encoding="utf-8") as file:
        for name, question, answer in PAIRS:
            identifier = f"stacks-project:{name.partition(':')[2]}"
            row = {"id": identifier, "source": "stacks-project", "licence": "GFDL", "question": question}
            file.write(json.dumps({**row, "answer": answer}) + "\n")
    (tmp_path / "planetmath").mkdir()
    with gzip.open(tmp_path / "planetmath" / "entries.jsonl.gz", "wt", encoding="utf-8") as file:
        for place in range(40):
            row = {"id": f"e{place}", "title": f"entry {place}", "synonyms": [], "defines": [f"word {place}"]}
            related = [f"e{(place + 1) % 40}", "unknown"]
            file.write(json.dumps({**row, "related": related, "text": f"A text about {place}."}) + "\n")
    return tmp_path


def test_the_chapters_of_statements_follow_from_the_references_of_others() -> None:
    labels = [name.partition(":")[2] for name, *_ in PAIRS]
    cited = [
        [],
        [("", "lemma-one")],
        [("algebra", "lemma-two"), ("", "lemma-shut")],
        [("algebra", "lemma-one")],
        [("topology", "lemma-open"), ("topology", "lemma-shut")],
    ]
    assert chapters_of(labels, cited) == ["algebra", "algebra", "topology", "topology", "topology"]
    assert chapters_of(["lemma-a"], [[]]) == [""]


def test_premises_are_the_statements_that_a_proof_cites_and_labels_are_hidden(
    data: Path,
) -> None:
    bed = premises(data / "pairs" / "pairs.jsonl.gz", one_in=1)
    cited = {
        question.rpartition("-")[2].removesuffix("/question"): {
            each.rpartition("-")[2].removesuffix("/question") for each in found
        }
        for question, found in bed.grades.items()
    }
    assert cited == {
        "two": {"one"},
        "open": {"two", "shut"},
        "shut": {"open", "one"},
        "point": {"open", "shut"},
    }
    assert len(bed.documents) == len(PAIRS)
    assert not any("lemma-" in post.body for post in bed.documents)


def test_names_and_related_entries_are_asked_only_of_entries_that_nothing_is_trained_on(data: Path) -> None:
    names, related = beds(data)["names"](), beds(data)["related"]()
    held = {question.id.partition("#")[0] for question in names.questions}
    assert 0 < len(held) < 40
    assert {post.id for post in related.questions} == held
    assert len(names.questions) == 2 * len(held)
    for question, found in related.grades.items():
        assert list(found) == [f"e{(int(question[1:]) + 1) % 40}"]


def bed_of_letters() -> Bed:
    documents = tuple(Post(name, "note", f"about {name * 3}") for name in "abc")
    return Bed(
        "letters", documents, documents[:2], {"a": {"b": 3}, "b": {"c": 3}}, clusters={"a": "x", "b": "x"}
    )


def test_a_question_is_not_ranked_among_its_own_documents() -> None:
    bed = bed_of_letters()
    vectors = [np.eye(3, dtype=np.float32)[[place]] for place in range(3)]
    vectors[1] = np.array([[0.8, 0.6, 0.0]], np.float32)
    found = ranked(bed, vectors[:2], vectors)
    for rankings in found.values():
        assert [name for name, _ in rankings["a"]] == ["b", "c"]
        assert rankings["a"][0][1] == pytest.approx(0.8)
    values = bed.values(found["one vector"])
    assert values == {"a": 1.0, "b": 0.5}
    assert bed.interval(values) == (0.75, 0.75)
    assert "b" not in dict(by_words(bed).get("b", []))
