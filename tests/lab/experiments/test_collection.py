from __future__ import annotations

from pathlib import Path

import pytest

from mathamr import sample
from mathamr.core.errors import MathAMRError
from mathamr_lab.experiments.collection import collection_of

TOPIC = '<Topic number="{0}"><Title>t</Title><Question>&lt;p&gt;why $x$?&lt;/p&gt;</Question></Topic>'


def folder_with(tmp_path: Path, **files: str) -> Path:
    (tmp_path / "Posts.xml").write_text(
        '<posts><row Id="1" PostTypeId="1" Title="q" Body="b"/><row Id="2" PostTypeId="2" ParentId="1" Body="a"/></posts>'
    )
    for name in ("topics", "qrels"):
        (tmp_path / name).mkdir(exist_ok=True)
    for name, ids in files.items():
        stem = name.replace("_", "-")
        topics = "".join(TOPIC.format(each) for each in ids.split())
        (tmp_path / "topics" / f"{stem}.xml").write_text(f"<Topics>{topics}</Topics>")
        (tmp_path / "qrels" / f"{stem}.qrels").write_text("".join(f"{each} 0 2 3\n" for each in ids.split()))
    return tmp_path


def test_the_sample_brings_its_topics_and_judgments_along() -> None:
    found = collection_of([sample.folder()])
    assert [(test.name, test.task, len(test.topics)) for test in found.tests] == [
        ("task1", "answers", 20),
        ("task2", "formulas", 20),
    ]
    assert found.paths == (sample.folder() / "Posts.xml",)


def test_years_of_a_task_make_one_set_and_topics_without_judgments_none(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, task1_2020="A.1 A.2", task1_2021="A.201")
    (folder / "topics" / "task1-2022.xml").write_text(f"<Topics>{TOPIC.format('A.301')}</Topics>")
    (test,) = collection_of([folder]).tests
    assert (test.name, [topic.id for topic in test.topics]) == ("task1", ["A.1", "A.2", "A.201"])


def test_topics_without_a_relevant_item_are_left_out_and_counted(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, task1="A.1 A.2")
    (folder / "qrels" / "task1.qrels").write_text("A.1 0 2 1\nA.2 0 2 2\n")
    (test,) = collection_of([folder]).tests
    assert ([topic.id for topic in test.topics], test.left_out) == (["A.2"], 1)


def test_sets_whose_judgments_have_one_grade_are_known_items(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, known_items="K.1", task1="A.1")
    (folder / "qrels" / "task1.qrels").write_text("A.1 0 2 3\nA.1 0 9 0\n")
    judged, known = collection_of([folder]).tests
    assert [str(measure) for measure in judged.measures] == ["nDCG'", "MAP'", "P'@10", "Bpref"]
    assert [str(measure) for measure in known.measures] == ["MRR@10", "recall@10", "recall@100"]


def test_held_out_ids_lie_beside_the_posts_or_are_given(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, task1="A.1")
    (folder / "qrels" / "task1.qrels").write_text("A.1 0 2 3\nA.1 0 9 0\n")
    (folder / "heldout-questions.txt").write_text("1\n\n17\n")
    (folder / "mine.txt").write_text("2\n")
    assert collection_of([folder]).without == {"1", "17"}
    assert collection_of([folder], without=[folder / "mine.txt"]).without == {"2"}


def test_a_question_whose_own_answers_are_asked_for_is_never_trained_on(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, known_items="1 17")
    assert collection_of([folder]).without == {"1", "17"}


def test_what_is_only_learned_from_brings_its_held_out_ids_along(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, task1="A.1")
    (folder / "qrels" / "task1.qrels").write_text("A.1 0 2 3\nA.1 0 9 0\n")
    (folder / "heldout.txt").write_text("1\n")
    more = tmp_path / "more"
    more.mkdir()
    (more / "Posts.xml").write_text("<posts/>")
    (more / "heldout-pairs.txt").write_text("more/7\n")
    found = collection_of([folder], further=[more])
    assert found.without == {"1", "more/7"}
    assert found.further == (more / "Posts.xml",)
    assert found.digest != collection_of([folder]).digest


def test_other_judgments_are_another_collection_if_only_judged_answers_are_searched(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, task1="A.1")
    first = [collection_of([folder], judged_only=judged_only).digest for judged_only in (False, True)]
    with (folder / "qrels" / "task1.qrels").open("a") as file:
        file.write("A.1 0 9 0\n")
    second = [collection_of([folder], judged_only=judged_only).digest for judged_only in (False, True)]
    assert first[0] == second[0]
    assert len({*first, *second}) == 3


def test_a_folder_without_topics_says_what_to_give(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    with pytest.raises(MathAMRError, match="give --topics and --qrels"):
        collection_of([folder])


def test_topics_and_judgments_come_in_pairs(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, task1="A.1")
    with pytest.raises(MathAMRError, match="1 files of topics and 0 of judgments"):
        collection_of([folder], [folder / "topics" / "task1.xml"])
    with pytest.raises(MathAMRError, match="nowhere: no such file"):
        collection_of([tmp_path / "nowhere"])


def test_a_topic_that_two_years_share_is_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, task1_2020="A.1", task1_2021="A.1")
    with pytest.raises(MathAMRError, match=r"'A\.1' is in another file"):
        collection_of([folder])
