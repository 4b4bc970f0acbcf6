"""Test collections iterate as those of ir_datasets do."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.adapters.irdatasets import Dataset, GenericDoc, GenericQuery, TrecQrel

POSTS = """<posts>
<row Id="1" PostTypeId="1" Title="On $x$" Body="&lt;p&gt;Is &lt;b&gt;it&lt;/b&gt; so?&lt;/p&gt;"/>
<row Id="2" PostTypeId="2" ParentId="1" Body="&lt;p&gt;Yes.&lt;/p&gt;"/>
</posts>"""
TOPICS = """<Topics><Topic number="A.1"><Title>On sums</Title><Question>&lt;p&gt;Why?&lt;/p&gt;</Question></Topic></Topics>"""


@pytest.fixture
def collection(tmp_path: Path) -> Dataset:
    for name, text in (("Posts.xml", POSTS), ("topics.xml", TOPICS), ("qrels", "A.1 0 2 3\nA.1 0 1 0\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Dataset(tmp_path / "Posts.xml", tmp_path / "topics.xml", tmp_path / "qrels")


def test_documents_queries_and_judgments_have_the_names_of_ir_datasets(collection: Dataset) -> None:
    assert list(collection.docs_iter()) == [
        GenericDoc("1", "On $x$\n\nIs it so?", "question"),
        GenericDoc("2", "Yes.", "answer"),
    ]
    assert list(collection.queries_iter()) == [GenericQuery("A.1", "On sums\n\nWhy?")]
    assert list(collection.qrels_iter()) == [TrecQrel("A.1", "2", 3), TrecQrel("A.1", "1", 0)]


def test_ir_measures_takes_the_judgments_as_they_are(collection: Dataset) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    run = {"A.1": {"1": 2.0, "2": 1.0}}
    assert ir_measures.calc_aggregate([ir_measures.RR @ 10], list(collection.qrels_iter()), run) == {
        ir_measures.RR @ 10: 0.5
    }
