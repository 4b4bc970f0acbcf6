"""Topics in other letters, and the table that compares runs of both forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.evaluation.topics import read_topics
from mathamr_lab.studies import letters

TOPICS = """<?xml version="1.0"?>
<Topics>
  <Topic number="A.1"><Title>Is $x+y=z$?</Title><Question>Let x be $x&lt;y$ and $\\sin z$.</Question></Topic>
  <Topic number="A.2"><Title></Title><Question>No formula at all.</Question></Topic>
</Topics>
"""


def test_written_topics_differ_in_their_variables_alone(tmp_path: Path) -> None:
    source, out = tmp_path / "topics.xml", tmp_path / "renamed.xml"
    source.write_text(TOPICS, encoding="utf-8")
    assert letters.write_renamed(source, out) == 1
    asked, other = (read_topics(path) for path in (source, out))
    assert [topic.id for topic in other] == ["A.1", "A.2"]
    assert other[1].post.body == asked[1].post.body
    assert other[0].post.body.startswith("Let x be $")
    names = letters.letters_for(asked[0].post, letters.SALT)
    assert [each.latex for each in other[0].post.formulas] == [
        names(each.latex) for each in asked[0].post.formulas
    ]
    assert letters.write_renamed(source, tmp_path / "again.xml") == 1
    assert (tmp_path / "again.xml").read_bytes() == out.read_bytes()


def test_runs_of_both_forms_are_compared_question_by_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "arqmath-mini" / "qrels").mkdir(parents=True)
    (tmp_path / letters.QRELS["arqmath"]).write_text("A.1 0 7 3\nA.2 0 8 3\n")
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "arqmath.asked.mine.run").write_text("A.1 Q0 7 1 2.0 x\nA.2 Q0 8 1 2.0 x\n")
    (runs / "arqmath.renamed.mine.run").write_text("A.1 Q0 9 1 2.0 x\nA.1 Q0 7 2 1.0 x\nA.2 Q0 8 1 2.0 x\n")
    monkeypatch.setattr(letters, "data_folder", lambda: tmp_path)
    monkeypatch.setenv("MATHAMR_RUNS", str(runs))
    letters.run()
    assert "arqmath, mine" in (shown := capsys.readouterr().out)
    assert "1.000" in shown
    assert "0.750" in shown
    assert "-0.250" in shown
