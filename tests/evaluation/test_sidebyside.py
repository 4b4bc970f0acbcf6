"""The first results of runs beside each other, printed and as a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import html

from mathamr.core.errors import UnknownNameError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.runevaluation import EvaluationInputs, RunEvaluation, evaluate_runs
from mathamr.evaluation.sidebyside import SideBySide
from mathamr.posts.post import Formula, Post

TOPICS = """<Topics><Topic number="{number}">{formula}<Title>What is &lt;span class="math-container" id="q_1"&gt;x^2&lt;/span&gt;?</Title>
<Question>&lt;p&gt;Why?&lt;/p&gt;</Question><Tags>a</Tags></Topic></Topics>"""
POSTS = (
    Post(
        "7", "answer", "Since $x^2>0$ <b>.", markup="text", formulas=(Formula("8", "x^2>0", visual_id="70"),)
    ),
    Post("8", "answer", "No.", markup="text", formulas=(Formula("7", r"\frac{a}{b}", visual_id="80"),)),
    Post("9", "answer", "Never read.", markup="text"),
)


def evaluation(folder: Path, number: str, judged: str, *runs: str, formula: str = "") -> RunEvaluation:
    (folder / "judged").write_text(judged, encoding="utf-8")
    (folder / "topics.xml").write_text(TOPICS.format(number=number, formula=formula), encoding="utf-8")
    for place, text in enumerate(runs):
        (folder / f"run{place}.run").write_text(text, encoding="utf-8")
    paths = tuple(str(folder / f"run{place}.run") for place in range(len(runs)))
    inputs = EvaluationInputs(folder / "judged", paths, topics=folder / "topics.xml")
    return evaluate_runs(inputs, measures(["MRR"]))


@pytest.fixture
def answers(tmp_path: Path) -> RunEvaluation:
    many = "".join(f"A.1 Q0 {n} {n} {-n} x\n" for n in range(8, 30))
    return evaluation(tmp_path, "A.1", "A.1 0 7 3\nA.1 0 8 0\n", "A.1 Q0 7 1 2 x\nA.1 Q0 9 2 1 x\n", many)


def test_ten_results_of_every_run_stand_with_their_grades(answers: RunEvaluation) -> None:
    found = SideBySide(answers, ["A.1"], POSTS)
    lines = found.to_text().splitlines()
    assert lines[1:5] == [
        "A.1: What is $x^2$? Why?",
        "  run0: MRR 1.000",
        "     1  3  7  Since $x^2>0$ <b>.",
        "     2  –  9  Never read.",
    ]
    assert lines[5] == "  run1: MRR 0.000"
    assert lines[6] == "     1  0  8  No."
    assert len(lines) == 16
    assert found.to_json()["A.1"]["run0"] == [{"id": "7", "grade": 3}, {"id": "9", "grade": None}]


def test_the_page_draws_formulas_and_keeps_text_as_text(answers: RunEvaluation) -> None:
    page = html.fromstring(SideBySide(answers, ["A.1"], POSTS).to_html())
    assert [each.text for each in page.iter("h2")] == ["run0: MRR 1.000", "run1: MRR 0.000"]
    first = page.find_class("hit")[0]
    assert first.get("class") == "hit grade-3"
    assert first.find("small").text == "1 · grade 3 · 7"
    assert "".join(first.find("div").itertext()).count("<b>") == 1
    assert first.find(".//math") is not None
    assert page.find_class("query")[0].find(".//msup") is not None
    assert [len(each) - 1 for each in page.find_class("runs")[0]] == [2, 10]


def test_ids_of_formulas_are_not_taken_for_ids_of_posts(tmp_path: Path) -> None:
    formula = "<Formula_Id>q_1</Formula_Id><Latex>x^2</Latex>"
    runs = "B.1 Q0 70 1 2 x\nB.1 Q0 80 2 1 x\nB.1 Q0 7 3 0 x\n"
    found = SideBySide(evaluation(tmp_path, "B.1", "B.1 0 80 2\n", runs, formula=formula), ["B.1"], POSTS)
    assert found.to_text().splitlines()[1:] == [
        "B.1: $x^2$",
        "  run0: MRR 0.500",
        "     1  –  70  $x^2>0$",
        r"     2  2  80  $\frac{a}{b}$",
        r"     3  –  7  $\frac{a}{b}$",
    ]
    page = html.fromstring(found.to_html())
    assert len(page.find_class("hit")[1].findall(".//mfrac")) == 1


def test_without_posts_there_are_ids_and_grades(answers: RunEvaluation) -> None:
    assert "     1  3  7\n" in SideBySide(answers, ["A.1", "A.1"]).to_text()
    with pytest.raises(UnknownNameError, match="unknown judged topic"):
        SideBySide(answers, ["A.9"])
