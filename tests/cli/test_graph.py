from __future__ import annotations

import json
from pathlib import Path

import penman
import pytest
from lxml import etree

from mathamr.graphs import notation
from mathamr.graphs.store import GraphStore
from mathamr.sample import folder
from tests.cli.conftest import Command

SAMPLE = folder() / "Posts.xml"


def test_prints_penman_that_reads_back(mathamr: Command) -> None:
    result = mathamr("graph", SAMPLE, "--limit", "3")
    assert result.returncode == 0, result.stderr
    texts = result.stdout.strip().split("\n\n")
    graphs = [notation.read(text) for text in texts]
    assert [graph.post_id for graph in graphs] == ["101", "102", "103"]
    assert all(formula.opt and formula.slt for graph in graphs for formula in graph.formulas)
    assert all(penman.decode(text).triples for text in texts)


def test_a_text_that_was_typed_is_a_post_and_a_file_that_is_missing_is_not(mathamr: Command) -> None:
    result = mathamr("graph", "Every group of order $p^2$ is abelian.")
    assert result.returncode == 0, result.stderr
    graph = notation.read(result.stdout.strip())
    assert len(graph.formulas) == 1
    assert "abelian" in result.stdout
    assert mathamr("graph", "missing.md").stderr == "mathamr: missing.md: no such file or folder\n"
    assert mathamr("graph", "a text", "--pairs").returncode == 2


def test_builds_a_store_and_its_statistics(mathamr: Command, tmp_path: Path) -> None:
    result = mathamr("graph", SAMPLE, "--limit", "5", "--out", tmp_path, "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["posts"], found["failed"], found["reading"]["skipped"]) == (5, 0, 0)
    with GraphStore(tmp_path) as store:
        assert store.count_tensors("both-hierarchy-none") == 5
    other = mathamr(
        "graph", SAMPLE, "--limit", "5", "--out", tmp_path, "--mode", "opt", "--structure", "global"
    )
    assert "posts without a graph" in other.stdout
    with GraphStore(tmp_path) as store:
        assert store.count_tensors("opt-global-none") == 5


def test_draws_one_post(mathamr: Command, tmp_path: Path) -> None:
    picture = tmp_path / "post.svg"
    assert mathamr("graph", SAMPLE, "--post", "103", "--svg", picture).returncode == 0
    assert "post 103" in etree.parse(str(picture)).findtext("{http://www.w3.org/2000/svg}title")


def test_a_picture_has_the_virtual_nodes_that_were_asked_for(mathamr: Command, tmp_path: Path) -> None:
    picture = tmp_path / "post.svg"
    mathamr("graph", SAMPLE, "--post", "103", "--svg", picture, "--structure", "none")
    assert "VIRTUAL_DOCUMENT" not in picture.read_text(encoding="utf-8")


def test_pairs_are_labelled_graphs_that_penman_reads(mathamr: Command, tmp_path: Path) -> None:
    posts = [
        {"id": "q", "kind": "question", "body": "Is $x^2$ even?", "accepted_answer": "b", "markup": "text"},
        {"id": "a", "kind": "answer", "body": "No.", "parent": "q", "markup": "text"},
        {"id": "b", "kind": "answer", "body": "If $x$ is even.", "parent": "q", "markup": "text"},
        {"id": "lone", "kind": "question", "body": "Why?", "markup": "text"},
        {"id": "lost", "kind": "answer", "body": "So.", "parent": "gone", "markup": "text"},
    ]
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(json.dumps(post) + "\n" for post in posts), encoding="utf-8")
    result = mathamr("graph", path, "--pairs")
    assert result.returncode == 0, result.stderr
    graphs = {json.loads(each.metadata["id"]): each for each in penman.loads(result.stdout)}
    assert list(graphs) == ["q", "a", "b"]
    assert json.loads(graphs["q"].metadata["answers"]) == ["a", "b"]
    labels = {
        name: [json.loads(graphs[name].metadata[key]) for key in ("question", "accepted")] for name in "ab"
    }
    assert labels == {"a": ["q", False], "b": ["q", True]}
    assert ("f", ":opt", "o0_0") in graphs["b"].triples
    assert notation.read(result.stdout.strip().split("\n\n")[2]).post_id == "b"
    for options in (("--linear",), ("--out", tmp_path / "store")):
        assert mathamr("graph", path, "--pairs", *options).returncode == 2


def test_coreference_joins_words_and_links_symbols(mathamr: Command, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Alice bought a book. She read it. Let $x$ be odd. Then $x^2$ is odd.", encoding="utf-8")
    plain, joined = (mathamr("graph", note, *options).stdout for options in ((), ("--coreference",)))
    assert "(i / it)" in plain
    assert ":coref" not in plain
    assert "(i / it)" not in joined
    graph = notation.read(joined.strip())
    concepts = graph.amr.concepts()
    assert {(concepts[a], concepts[b]) for a, role, b in graph.amr.edges if role.startswith(":ARG")} >= {
        (verb, noun) for verb in ("buy-01", "read-01") for noun in ("alice", "book")
    }
    assert [concepts[first] for _, _, first in graph.links] == ["FORMULA_0"]
    refused = mathamr("graph", note, "--coreference", "--out", tmp_path / "store")
    assert (refused.returncode, "leave --coreference out" in refused.stderr.replace("\n", " ")) == (2, True)


def test_linear_prints_one_line_a_post(mathamr: Command) -> None:
    lines = mathamr("graph", SAMPLE, "--limit", "2", "--linear").stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["101", "102"]
    assert all(len(line.split("\t")[1].split()) > 10 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--post", "no-such-post"], 1, "no post with the id no-such-post"),
        (["--mode", "latex"], 1, "known: both, opt, slt, none"),
        (["--json"], 2, "--out"),
        (["--svg", "a.svg", "--linear"], 2, "exclude each other"),
        (["--fold"], 2, "give --svg"),
        (["--svg", "a.svg", "--fold", "--mode", "opt"], 2, "leave --mode"),
        (["--parser", "magic", "--limit", "1"], 1, "known: builtin, amrlib"),
        (["--limit", "1", "--svg", "/no/such/folder/a.svg"], 1, "cannot write the picture"),
    ],
)
def test_wrong_requests_say_what_to_do(
    mathamr: Command, arguments: list[str], code: int, message: str
) -> None:
    result = mathamr("graph", SAMPLE, *arguments)
    assert result.returncode == code
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert result.stdout == ""
