from __future__ import annotations

import json

from mathamr.posts.post import Post
from mathamr.posts.report import Report


def test_counts_are_complete_and_examples_a_bounded_sample():
    report = Report()
    for row in range(1, 101):
        report.at("a.xml", row)
        report.skip("no id", f"message {row}")
    report.repair("control character", "x" * 10_000)
    assert report.skipped["no id"] == 100
    assert [problem.row for problem in report.examples["no id"]] == [1, 2, 3, 4, 5]
    assert len(report.examples["control character"][0].message) == Report.MESSAGE_LENGTH
    row = json.loads(json.dumps(report.to_dict()))
    assert (row["skipped"], row["mended"], row["missing"]) == (100, 1, 0)
    assert row["skipped_by_cause"] == {"no id": 100}
    assert row["examples"][0] == {"cause": "no id", "file": "a.xml", "row": 1, "message": "message 1"}


def test_any_number_of_causes_is_counted_in_bounded_memory():
    report = Report()
    for n in range(10 * Report.MOST_CAUSES):
        report.skip(f"cause {n}", "x")
    assert report.skipped.total() == 10 * Report.MOST_CAUSES
    assert len(report.skipped) == Report.MOST_CAUSES + 1
    assert len(report.examples) == Report.MOST_CAUSES + 1


def test_words_that_are_in_no_post_are_counted_through_rows_once():
    whole = Report()
    for name, words in (("a.typ", "Let every sequence converge"), ("b.typ", "Nothing here")):
        report = Report()
        report.at(name)
        report.took(words)
        report.account.gave(Post(name, "note", "Let every sequence"))
        row = json.loads(json.dumps(report.to_row()))
        assert row == json.loads(json.dumps(report.to_row()))
        whole.add(row)
    assert (whole.words_read, whole.words_left_out) == (6, 3)
    again = Report()
    again.add(whole.to_row())
    assert (again.to_dict()["words_read"], again.to_dict()["words_left_out"]) == (6, 3)
