"""The page of a comparison: self-contained, well-formed, and hostile names stay text."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import html

from mathamr import sample
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.comparison import compare
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.report.page import page, write_page
from mathamr.evaluation.runevaluation import EvaluationInputs, RunEvaluation, evaluate_runs
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.topics import read_topics
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

FOLDER = sample.folder()


@pytest.fixture(scope="module")
def formulas_page() -> str:
    sources = EvaluationInputs(
        FOLDER / "qrels" / "task2.qrels",
        ("latex-ngrams",),
        "random",
        FOLDER / "topics" / "task2.xml",
        FOLDER / "Posts.xml",
    )
    assessment = evaluate_runs(sources, measures(["arqmath"]), has_floors=True)
    return page(assessment, read_posts(FOLDER / "Posts.xml", Report()))


def test_the_page_needs_nothing_from_elsewhere(formulas_page: str) -> None:
    root = html.document_fromstring(formulas_page)
    assert not root.xpath("//script | //link | //img | //iframe")
    assert all(link.get("href").startswith("#") for link in root.iter("a"))
    assert "default-src 'none'" in root.xpath("//meta[@http-equiv]/@content")[0]


def test_every_link_of_a_bar_leads_to_a_topic_on_the_page(formulas_page: str) -> None:
    root = html.document_fromstring(formulas_page)
    places = set(root.xpath("//article/@id"))
    links = {link.get("href")[1:] for link in root.iter("a")}
    assert links
    assert links == places


def test_the_page_shows_figures_floors_topics_and_hits(formulas_page: str) -> None:
    root = html.document_fromstring(formulas_page)
    table = root.xpath("//table")[0].text_content()
    assert "latex-ngrams" in table
    assert "random order of the judged items" in table
    cases = root.xpath("//article")
    assert cases
    for each in cases:
        assert len(each.xpath(".//*[contains(@class, ' query')]//*[local-name()='math']")) == 1
        assert len(each.xpath(".//section")) == 2
        assert each.xpath(".//section//*[local-name()='math']")


def test_a_run_alone_shows_its_lowest_topics_with_posts() -> None:
    qrels = Qrels({"A.1": {"1001": 3}, "A.2": {"1002": 2}})
    run = Run.of("mine", {"A.1": [("1001", 2.0)], "A.2": [("1001", 1.0)]})
    topics = {topic.id: topic for topic in read_topics(FOLDER / "topics" / "task1.xml")}
    assessment = RunEvaluation(compare([evaluate(run, qrels, measures(["MRR"]))]), (run,), qrels, topics)
    written = page(assessment, read_posts(FOLDER / "Posts.xml", Report()))
    root = html.document_fromstring(written)
    assert [each.xpath(".//h3")[0].text for each in root.xpath("//article")] == ["A.2", "A.1"]
    assert len(root.xpath("//article//section//div[@class='text short']")) == 2


def test_hostile_names_and_missing_texts_stay_text() -> None:
    evil = "<script>alert(1)</script>'\"&"
    qrels = Qrels({evil: {evil: 3, "x": 0}, "T": {"x": 2}})
    runs = [Run(evil, Run.of("a", {"T": [("x", 1.0)]}).rankings), Run.of("b", {"T": [("y", 1.0)]})]
    comparison = compare([evaluate(run, qrels, measures(["nDCG'", "P@1"])) for run in runs], "b")
    root = html.document_fromstring(page(RunEvaluation(comparison, tuple(runs), qrels, {})))
    assert not root.xpath("//script")
    assert evil in root.text_content()


def test_a_page_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    qrels = Qrels({"T": {"x": 2}})
    run = Run.of("mine", {"T": [("x", 1.0)]})
    assessment = RunEvaluation(compare([evaluate(run, qrels, measures(["MRR"]))]), (run,), qrels, {})
    with pytest.raises(MathAMRError, match="cannot be written"):
        write_page(assessment, tmp_path / "no" / "folder.html")
    assert write_page(assessment, tmp_path / "page.html") == []
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_hits_that_the_posts_lack_and_rows_that_were_skipped_are_said(tmp_path: Path) -> None:
    posts = tmp_path / "Posts.xml"
    posts.write_text(
        '<posts>\n<row Id="1" PostTypeId="2" ParentId="9" Body="found"/>\n<row Id="2" PostTypeId="5" Body="x"/>\n</posts>',
        encoding="utf-8",
    )
    qrels = Qrels({"T": {"1": 2}})
    run = Run.of("mine", {"T": [("1", 2.0), ("77", 1.0)]})
    assessment = RunEvaluation(compare([evaluate(run, qrels, measures(["MRR"]))]), (run,), qrels, {})
    (remark,) = write_page(assessment, tmp_path / "page.html", posts)
    assert remark.startswith("posts: skipped 1: post type 5 (tag wiki)")
    hits = html.document_fromstring((tmp_path / "page.html").read_bytes()).xpath("//section/div")
    assert "found" in hits[0].text_content()
    assert hits[1].text_content().endswith("not among the posts that were given")
