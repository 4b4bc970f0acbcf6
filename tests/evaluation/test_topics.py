from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr import sample
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.columnfile import FormatError
from mathamr.evaluation.topics import read_topics
from mathamr.posts.passage import passage
from tests.cases import cases

TASK_1 = """<?xml version="1.0" ?>
<Topics>
  <!-- of our own -->
  <Topic number="A.1">
    <Title>Is &lt;span class="math-container" id="q_1"&gt;$x^2$&lt;/span&gt; convex?</Title>
    <Question>&lt;p&gt;Let &lt;span class="math-container" id="q_2"&gt;$x&gt;0$&lt;/span&gt;. Why?&lt;/p&gt;</Question>
    <Tags>calculus,convex-analysis</Tags>
  </Topic>
  <Topic number="A.2"><Title></Title><Question>&lt;p&gt;Nothing.&lt;/p&gt;</Question></Topic>
</Topics>
"""
TASK_2 = """<Topics>
  <Topic number="B.1">
    <Formula_Id>q_2</Formula_Id>
    <Latex>a&lt;b</Latex>
    <Title>Order</Title>
    <Question>&lt;p&gt;If &lt;span class="math-container" id="q_2"&gt;$a&amp;lt;b$&lt;/span&gt;?&lt;/p&gt;</Question>
    <Tags>order</Tags>
  </Topic>
</Topics>"""


def written(folder: Path, text: str) -> Path:
    path = folder / "topics.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_topic_of_task_1_is_a_question_post_whose_passage_can_be_made(tmp_path: Path) -> None:
    first, second = read_topics(written(tmp_path, TASK_1))
    assert (first.id, first.post.id, first.post.kind, first.formula_id) == ("A.1", "A.1", "question", None)
    assert first.post.tags == ("calculus", "convex-analysis")
    assert [(formula.id, formula.latex) for formula in first.post.formulas] == [
        ("q_1", "x^2"),
        ("q_2", "x>0"),
    ]
    assert passage(first.post).text == "Is FORMULA_0 convex?\nLet FORMULA_1.\nWhy?"
    assert (second.post.title, second.post.tags, second.formula) == ("", (), None)


@pytest.mark.parametrize("text", [TASK_2, TASK_2.replace("$a&amp;lt;b$", "$$a")])
def test_a_topic_of_task_2_names_a_formula_of_its_post_also_if_markup_cut_it_off(
    tmp_path: Path, text: str
) -> None:
    (topic,) = read_topics(written(tmp_path, text))
    assert topic.formula_id == "q_2"
    assert topic.formula is not None
    assert topic.formula.latex == "a<b"


def test_topics_without_html_are_read_as_what_they_visual_like(tmp_path: Path) -> None:
    text = (
        "<Topics><Topic number='K.1'><Question>See \\ref{a}. Let $A$ be a ring.</Question></Topic></Topics>"
    )
    (topic,) = read_topics(written(tmp_path, text))
    assert topic.post.markup == "latex"
    assert [formula.latex for formula in topic.post.formulas] == ["A"]


@cases(
    ("text", "line", "message"),
    [
        ("<Topics>\n<Topic number='A.1'>\n<Question>x</Topic>\n</Topics>", 3, "not well-formed XML"),
        ("", 1, "not well-formed XML"),
        ("no XML at all", 1, "not well-formed XML"),
        ("<topics/>", 1, "the root is <topics>; expected <Topics><Topic number="),
        ("<Topics>\n</Topics>", 1, "no topics; expected"),
        ("<Topics>\n<Query/>\n</Topics>", 2, 'expected <Topic number="…">, found <Query>'),
        ("<Topics>\n<Topic>\n<Question>x</Question></Topic></Topics>", 2, "expected <Topic number="),
        (
            "<Topics>\n\n<Topic number='A.1'><Title>x</Title></Topic></Topics>",
            3,
            "the topic 'A.1' has no <Question>",
        ),
        (TASK_1.replace("A.2", "A.1"), 9, "the topic 'A.1' appears twice"),
        (
            TASK_2.replace("<Formula_Id>q_2", "<Formula_Id>q_9"),
            2,
            "asks for the formula 'q_9', which its post does not",
        ),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FormatError) as error:
        read_topics(path)
    assert str(error.value).startswith(f"{path}, line {line}: ")
    assert message in str(error.value)


def test_entities_of_a_document_type_are_never_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    for declaration in (f'<!ENTITY e0 "boom">{bomb}', f'<!ENTITY e11 SYSTEM "file://{secret}">'):
        text = f'<!DOCTYPE Topics [{declaration}]><Topics><Topic number="A.1"><Question>&e11;</Question></Topic></Topics>'
        with pytest.raises(MathAMRError, match=r"document type|not well-formed"):
            read_topics(written(tmp_path, text))


def test_a_missing_file_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError) as error:
        read_topics(tmp_path / "nowhere.xml")
    assert str(error.value).count("nowhere.xml") == 1


@given(st.binary(max_size=200))
def test_any_bytes_give_topics_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("topics") / "t.xml"
    for content in (data, b"<Topics><Topic number='A'><Question>" + data + b"</Question></Topic></Topics>"):
        path.write_bytes(content)
        with suppress(FormatError):
            assert len(read_topics(path)) == 1


def test_the_samples_topics_are_read_and_their_formulas_found() -> None:
    folder = sample.folder() / "topics"
    answers, formulas = read_topics(folder / "task1.xml"), read_topics(folder / "task2.xml")
    assert all(topic.formula is None for topic in answers)
    assert all(topic.formula is not None and topic.formula.latex for topic in formulas)


def test_the_topics_of_all_years_and_both_tasks_are_read(data: Path) -> None:
    folder = data / "arqmath-mini" / "topics"
    counts = {}
    for path in sorted(folder.glob("task*.xml")):
        topics = read_topics(path)
        counts[path.stem] = len(topics)
        assert all((topic.formula is not None) == path.stem.startswith("task2") for topic in topics)
        assert all(not topic.formula.latex.startswith("$") for topic in topics if topic.formula)
    assert counts == {
        "task1-2020": 98,
        "task1-2021": 100,
        "task1-2022": 100,
        "task2-2020": 85,
        "task2-2021": 100,
        "task2-2022": 100,
    }


def test_known_items_are_topics_too(data: Path) -> None:
    assert len(read_topics(data / "arqmath-mini" / "topics" / "known-items.xml")) == 704
    assert len(read_topics(data / "pairs" / "known-items.xml")) == 1283
