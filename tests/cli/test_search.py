"""`mathamr search`, `explain` and `run` as other programs call them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from mathamr.evaluation.runs import read_run
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.sample import folder
from mathamr.systems.system import SYSTEMS
from tests.cli import test_cli
from tests.cli.conftest import Command
from tests.index.small import note, write_posts
from tests.systems.tiny import TINY, NodeSystem

QUERY = "Why does $\\sum \\frac{1}{n^2}$ converge?"


def test_a_process_of_its_own_answers_alike(sample_index: Path) -> None:
    ran = test_cli.started("search", str(sample_index), QUERY, "-k", "3", "--json", "--strategy", "lexical")
    assert ran.returncode == 0, ran.stderr
    assert len(json.loads(ran.stdout)["hits"]) == 3
    wrong = test_cli.started("search", str(sample_index), " ")
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("mathamr: the query is empty")


def test_search_prints_json_for_programs(mathamr: Command, sample_index: Path) -> None:
    ran = mathamr("search", sample_index, QUERY, "-k", "3", "--json", "--kind", "answer")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["query"] == QUERY
    assert found["task"] == "answers"
    assert found["strategy"] == "hybrid"
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3]
    assert found["more"]
    for hit in found["hits"]:
        assert hit["kind"] == "answer"
        assert hit["title"]
        assert hit["snippet"]
        assert hit["parent"]
        assert hit["snippet"] == " ".join(
            "".join(
                f"${' '.join(each['text'].split())}$" if each["kind"] == "formula" else each["text"]
                for each in hit["snippet_fragments"]
            ).split()
        )


def test_an_index_of_formulas_alone_is_searched_for_formulas(
    mathamr: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SYSTEMS._built_in, NodeSystem.kind, TINY[NodeSystem.kind])
    NodeSystem().save(tmp_path / "model")
    source = write_posts(tmp_path / "posts.jsonl", [note("sums", "The sum $a^2+b^2=c^2$ is known.")])
    build_index([source], tmp_path / "index", BuildOptions(model=tmp_path / "model", device="cpu"))
    ran = mathamr("search", tmp_path / "index", "where is $a^2+b^2$?", "--json")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["task"] == "formulas"
    assert found["hits"][0]["formula"]["latex"] == "a^2+b^2=c^2"
    wrong = mathamr("search", tmp_path / "index", "where is $a^2+b^2$?", "--task", "answers")
    assert wrong.returncode == 1
    assert "it searches for formulas" in wrong.stderr
    heatmap = tmp_path / "why.png"
    formula, query = found["hits"][0]["formula"]["id"], "where is $a^2+b^2$?"
    for identifier, said in ((formula, "--svg FILE"), ("sums", "explain one of its formulas")):
        refused = mathamr("explain", tmp_path / "index", query, identifier, "--png", heatmap)
        assert refused.returncode == 1
        assert said in " ".join(refused.stderr.split())
        assert not heatmap.exists()


def test_search_prints_text_for_people(mathamr: Command, sample_index: Path) -> None:
    ran = mathamr("search", sample_index, "\\frac{1}{n^2}", "--task", "formulas", "--strategy", "lexical")
    assert ran.returncode == 0, ran.stderr
    assert "10 hits; there are more" in " ".join(ran.stdout.split())
    assert max(map(len, ran.stdout.splitlines())) > 80, "nothing is wrapped in a pipe"
    assert re.search(r"\$  id \d+", ran.stdout), "the id of a formula says that it is one"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((" ",), 1, "the query is empty; type words"),
        ((QUERY, "--strategy", "magic"), 1, "unknown strategy 'magic'; known: hybrid"),
        ((QUERY, "--task", "proofs"), 1, "unknown task 'proofs'; known: answers, formulas"),
        ((QUERY, "--mark", "5", "--task", "formulas"), 1, "there is no formula 5"),
        ((QUERY, "--kind", "answers"), 1, "unknown kind of post"),
        ((QUERY, "--after", "soon"), 1, "is not a date"),
        ((QUERY, "-k", "0"), 2, "-k"),
        ((), 2, "QUERY"),
    ],
)
def test_search_says_what_is_wrong(
    mathamr: Command, sample_index: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    ran = mathamr("search", sample_index, *arguments)
    assert ran.returncode == code
    assert message in " ".join(ran.stderr.split())
    assert not ran.stdout
    assert "Traceback" not in ran.stderr


def test_a_folder_that_is_no_index_is_reported(mathamr: Command, tmp_path: Path) -> None:
    ran = mathamr("search", tmp_path, QUERY)
    assert ran.returncode == 1
    assert f"{tmp_path} is not an index: it has no manifest.json" in ran.stderr
    assert f"mathamr index {tmp_path}" in ran.stderr
    assert not ran.stdout


def test_explain_prints_a_table_json_and_a_heatmap(
    mathamr: Command, sample_index: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "why.svg"
    ran = mathamr("explain", sample_index, QUERY, "104", "--svg", picture, "--json")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["post"] == "104"
    assert len(found["similarities"]) == len(found["query_parts"]) == 3
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert str(picture) in ran.stderr
    hits = json.loads(mathamr("search", sample_index, QUERY, "-k", "100", "--json").stdout)["hits"]
    hit = next(each for each in hits if each["id"] == "104")
    assert (found["placed"]["place"], found["placed"]["evidence"]) == (hit["rank"], hit["evidence"])
    table = mathamr("explain", sample_index, QUERY, "104")
    assert "the mean of the best similarities" in table.stdout
    assert "the whole question" in table.stdout
    assert f"place {hit['rank']} by hybrid: lexical" in table.stdout
    unknown = mathamr("explain", sample_index, QUERY, "no-such-post")
    assert unknown.returncode == 1
    assert "no post or formula 'no-such-post'" in unknown.stderr


@pytest.fixture(scope="module")
def topics(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The first five topics of each task of the sample, as files."""
    made = tmp_path_factory.mktemp("topics")
    for task in ("task1", "task2"):
        tree = etree.parse(str(folder() / "topics" / f"{task}.xml"))
        for topic in list(tree.getroot())[5:]:
            tree.getroot().remove(topic)
        tree.write(str(made / f"{task}.xml"))
    return lambda task: str(made / f"{task}.xml")


def test_a_run_of_answers_has_answers_only_and_is_the_same_again(
    mathamr: Command, sample_index: Path, tmp_path: Path, topics: Callable[[str], str]
) -> None:
    arguments = ("run", sample_index, "--task", "answers", "--topics", topics("task1"), "--out")
    first = mathamr(*arguments, tmp_path / "one.run")
    assert first.returncode == 0, first.stderr
    assert not first.stdout
    assert "5 topics" in first.stderr
    again = mathamr(*arguments, "-")
    assert again.stdout == (tmp_path / "one.run").read_text(encoding="utf-8")
    run = read_run(tmp_path / "one.run")
    with Catalogue(sample_index / CATALOGUE, read_only=True) as catalogue:
        answers = {post.id for post in catalogue.every_post() if post.kind == "answer"}
    assert len(run.rankings) == 5
    assert all(set(run.ids(topic)) == answers for topic in run.rankings)


def test_a_run_of_formulas_names_visuals_or_in_arqmaths_columns_formulas(
    mathamr: Command, sample_index: Path, tmp_path: Path, topics: Callable[[str], str]
) -> None:
    arguments = (
        "run",
        sample_index,
        "--task",
        "formulas",
        "--topics",
        topics("task2"),
        "--depth",
        "50",
        "--out",
    )
    ran = mathamr(*arguments, tmp_path / "looks.run")
    assert ran.returncode == 0, ran.stderr
    run = read_run(tmp_path / "looks.run")
    with Catalogue(sample_index / CATALOGUE, read_only=True) as catalogue:
        known = {
            formula.visual_id
            for post in catalogue.every_post()
            for formula in post.formulas
            if formula.visual_id
        }
        for topic in run.rankings:
            assert len(run.ids(topic)) == 50
            assert set(run.ids(topic)) <= known
        lines = mathamr(*arguments, "-", "--arqmath").stdout.splitlines()
        for line in lines[:200]:
            _, formula, post, rank, score, name = line.split("\t")
            assert catalogue.formula(formula).post == post
            assert int(rank) >= 1
            assert float(score) > 0
            assert name == "aligned"


def test_topics_of_the_other_task_are_refused(
    mathamr: Command, sample_index: Path, tmp_path: Path, topics: Callable[[str], str]
) -> None:
    ran = mathamr(
        "run", sample_index, "--task", "formulas", "--topics", topics("task1"), "--out", tmp_path / "x"
    )
    assert ran.returncode == 1
    assert "names no formula" in ran.stderr
    assert not (tmp_path / "x").exists()


def test_the_results_of_another_run_are_ranked_again(
    mathamr: Command, sample_index: Path, tmp_path: Path, topics: Callable[[str], str]
) -> None:
    arguments = ("run", sample_index, "--task", "answers", "--topics", topics("task1"), "--out", "-")
    first, wanted = tmp_path / "first.run", tmp_path / "wanted.run"
    first.write_text(mathamr(*arguments, "--strategy", "lexical").stdout, encoding="utf-8")
    wanted.write_text(mathamr(*arguments, "--strategy", "maxsim").stdout, encoding="utf-8")
    again = mathamr(*arguments, "--strategy", "maxsim", "--rerank", str(first))
    assert again.returncode == 0, again.stderr
    (tmp_path / "again.run").write_text(again.stdout, encoding="utf-8")
    found, expected = read_run(tmp_path / "again.run"), read_run(wanted)
    lexical = read_run(first)
    assert found.rankings.keys() == lexical.rankings.keys()
    assert [found.ids(topic) for topic in found.rankings] != [lexical.ids(topic) for topic in found.rankings]
    scores = {topic: dict(hits) for topic, hits in expected.rankings.items()}
    for topic in found.rankings:
        ids = found.ids(topic)
        assert set(ids) == set(lexical.ids(topic))
        assert [scores[topic][each] for each in ids] == sorted(
            (scores[topic][each] for each in ids), reverse=True
        )
    assert again.stdout.split()[5] == "maxsim(first)"
    short = mathamr(*arguments, "--rerank", str(first), "--pool", "7", "--depth", "9", "--arqmath")
    assert len(short.stdout.splitlines()) == 9 * len(found.rankings)
    (tmp_path / "short.run").write_text(short.stdout, encoding="utf-8")
    for topic, hits in read_run(tmp_path / "short.run").rankings.items():
        assert {hit.id for hit in hits[:7]} == set(lexical.ids(topic, 7))
        assert [hit.id for hit in hits[7:]] == lexical.ids(topic, 9)[7:]


def test_a_run_that_cannot_be_reranked_is_reported(
    mathamr: Command, sample_index: Path, tmp_path: Path, topics: Callable[[str], str]
) -> None:
    first = tmp_path / "first.run"
    arguments = ("run", sample_index, "--topics", topics("task1"), "--out", "-", "--rerank", str(first))
    first.write_text("T.1 Q0 104 1 2 x\n", encoding="utf-8")
    assert "run 'first' has none of the topics" in mathamr(*arguments, "--task", "answers").stderr
    first.write_text("A.1 Q0 q_9 1 2 x\nA.1 Q0 q_8 2 1 x\n", encoding="utf-8")
    assert "none of its 2 results is in the index" in mathamr(*arguments, "--task", "answers").stderr
    of_formulas = mathamr(*arguments, "--task", "formulas")
    assert of_formulas.returncode == 1
    assert "names no formula" in of_formulas.stderr
    first.write_text("A.1 Q0 gone 1 3 x\nA.1 Q0 104 2 2 x\nT.1 Q0 104 1 2 x\n", encoding="utf-8")
    partly = mathamr(*arguments, "--task", "answers", "--strategy", "lexical")
    assert [line.split()[2] for line in partly.stdout.splitlines()] == ["104", "gone"]
    assert "first: 1 of 2 results are not in the index; they come after the others" in partly.stderr
    assert "first: lacks 4 of 5 topics" in partly.stderr
    assert "first: 1 of its topics are not in the topic file and were left out (T.1)" in partly.stderr
