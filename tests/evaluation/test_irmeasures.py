"""ir_measures beside ours: the same files, the same names, the same values."""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import pytest

from mathamr.evaluation.measures import measure
from mathamr.evaluation.qrels import Qrels, read_qrels, write_qrels
from mathamr.evaluation.runs import Run, read_run, write_run
from mathamr.evaluation.scores import evaluate

ir_measures = pytest.importorskip("ir_measures", reason="needs ir_measures")

THEIRS = [
    "nDCG(judged_only=True)@1000",
    "AP(rel=2,judged_only=True)@1000",
    "P(rel=2,judged_only=True)@10",
    "Bpref(rel=2)",
    "RR(rel=2)@10",
    "R(rel=2)@100",
    "Judged@10",
]


@pytest.fixture(scope="module")
def judged() -> tuple[Qrels, Run]:
    """Random judgments of fifty topics, and a run that finds some of them among unjudged items."""
    generator = random.Random(43)
    grades, scores = {}, {}
    for topic in map("A.{}".format, range(50)):
        items = [f"d{number}" for number in range(generator.randint(5, 30))]
        grades[topic] = {item: generator.choice((0, 0, 1, 2, 3)) for item in items}
        found = generator.sample([*items, *(f"u{number}" for number in range(30))], 25)
        scores[topic] = list(zip(found, map(float, generator.sample(range(100), 25)), strict=True))
    return Qrels(grades), Run.of("random", scores)


@pytest.mark.parametrize("name", THEIRS)
def test_measures_agree_under_their_names(name: str, judged: tuple[Qrels, Run]) -> None:
    qrels, run = judged
    theirs = ir_measures.parse_measure(name)
    try:
        expected = {
            value.query_id: value.value
            for value in ir_measures.iter_calc([theirs], qrels.grades, run.to_scores())
        }
    except ValueError:
        if find_spec("pytrec_eval"):
            raise
        pytest.skip("trec_eval has no package for this processor")
    ours = evaluate(run, qrels, [measure(name)])
    (values,) = ours.values.values()
    assert len(expected) == len(values) == 50
    assert dict(values) == pytest.approx(expected)


def test_they_read_the_files_that_we_write(judged: tuple[Qrels, Run], tmp_path: Path) -> None:
    qrels, run = judged
    write_qrels(qrels, tmp_path / "x.qrels")
    write_run(run, tmp_path / "x.run")
    grades = ir_measures.read_trec_qrels(str(tmp_path / "x.qrels"))
    assert {(row.query_id, row.doc_id, row.relevance) for row in grades} == {
        (topic, item, grade) for topic, own in qrels.grades.items() for item, grade in own.items()
    }
    hits = list(ir_measures.read_trec_run(str(tmp_path / "x.run")))
    assert {(row.query_id, row.doc_id, row.score) for row in hits} == {
        (topic, item, score) for topic, own in run.to_scores().items() for item, score in own.items()
    }
    assert (read_qrels(tmp_path / "x.qrels"), read_run(tmp_path / "x.run", "random")) == (qrels, run)
