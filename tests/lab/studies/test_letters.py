"""Topics in other letters."""

from __future__ import annotations

from pathlib import Path

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
