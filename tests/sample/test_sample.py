"""The sample corpus that is shipped: complete, consistent, and what its sources say."""

from __future__ import annotations

import html
import importlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mathamr.sample import folder
from tests.conftest import ROOT

SPAN = re.compile(r'<span class="math-container" id="([^"]+)">(\$\$?)(.*?)\2</span>', re.DOTALL)


@pytest.fixture(scope="module")
def posts() -> dict[str, dict[str, str]]:
    return {row.attrib["Id"]: row.attrib for row in ElementTree.parse(folder() / "Posts.xml").getroot()}


@pytest.fixture(scope="module")
def formulas() -> list[dict[str, str]]:
    return rows(folder() / "formulas.tsv")


def rows(path: Path) -> list[dict[str, str]]:
    header, *lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [dict(zip(header, line, strict=True)) for line in lines]


def topics(task: int) -> dict[str, dict[str, str]]:
    root = ElementTree.parse(folder() / "topics" / f"task{task}.xml").getroot()
    return {topic.attrib["number"]: {child.tag: child.text or "" for child in topic} for topic in root}


def qrels(task: int) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder() / "qrels" / f"task{task}.qrels").read_text(encoding="utf-8").splitlines():
        topic, zero, judged_id, grade = line.split(" ")
        assert zero == "0"
        assert judged_id not in judged[topic]
        judged[topic][judged_id] = int(grade)
    return judged


def spans(text: str) -> list[tuple[str, str]]:
    return [(formula_id, html.unescape(latex)) for formula_id, _, latex in SPAN.findall(text)]


def test_compiled_files_are_what_the_sources_compile_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    compiled = importlib.import_module("build_sample").compile_sample(ROOT / "sample" / "areas")
    shipped = {
        path.relative_to(folder()).as_posix(): path.read_text(encoding="utf-8")
        for path in folder().rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    stale = sorted(
        name for name in compiled.keys() | shipped.keys() if compiled.get(name) != shipped.get(name)
    )
    assert not stale, "run python scripts/build_sample.py"


def test_there_are_a_hundred_questions_and_a_hundred_and_fifty_answers(
    posts: dict[str, dict[str, str]],
) -> None:
    kinds = [post["PostTypeId"] for post in posts.values()]
    assert set(kinds) == {"1", "2"}
    assert kinds.count("1") >= 100
    assert kinds.count("2") >= 150


def test_answers_and_accepted_answers_belong_to_their_questions(posts: dict[str, dict[str, str]]) -> None:
    for post_id, post in posts.items():
        if post["PostTypeId"] == "2":
            assert posts[post["ParentId"]]["PostTypeId"] == "1"
        elif accepted := post.get("AcceptedAnswerId"):
            assert posts[accepted]["ParentId"] == post_id


def test_questions_have_title_and_tags_and_every_post_has_score_and_date(
    posts: dict[str, dict[str, str]],
) -> None:
    for post in posts.values():
        assert re.fullmatch(r"-?\d+", post["Score"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT00:00:00\.000", post["CreationDate"])
        if post["PostTypeId"] == "1":
            assert post["Title"]
            assert re.fullmatch(r"(<[a-z0-9-]+>)+", post["Tags"])


def test_bodies_are_balanced_html(posts: dict[str, dict[str, str]]) -> None:
    for post in posts.values():
        root = ElementTree.fromstring(f"<div>{post['Body']}</div>")
        assert {child.tag for child in root} <= {"p", "ul", "ol", "blockquote", "pre", "table"}


def test_no_markdown_is_left_in_the_text(posts: dict[str, dict[str, str]]) -> None:
    for post_id, post in posts.items():
        prose = re.sub(r"<span.*?</span>|<code>.*?</code>", "", post["Body"], flags=re.DOTALL)
        assert not re.search(r"\*\S|\S\*|`|\$|\]\(|^[|>-]", html.unescape(prose), re.MULTILINE), post_id


def test_the_formula_table_lists_the_formulas_of_the_posts_in_their_order(
    posts: dict[str, dict[str, str]], formulas: list[dict[str, str]]
) -> None:
    written = []
    for post_id, post in posts.items():
        thread, kind = post.get("ParentId", post_id), "question" if post["PostTypeId"] == "1" else "answer"
        for place, text in (("title", post.get("Title", "")), (kind, post["Body"])):
            written += [(fid, post_id, thread, place, latex) for fid, latex in spans(text)]
    listed = [(r["id"], r["post_id"], r["thread_id"], r["type"], r["formula"]) for r in formulas]
    assert listed == written
    assert len({row["id"] for row in formulas}) == len(formulas)
    assert all(row["formula"].strip() for row in formulas)


def test_equal_latex_has_one_visual_id(formulas: list[dict[str, str]]) -> None:
    by_latex = defaultdict(set)
    for row in formulas:
        by_latex[row["formula"]].add(row["visual_id"])
    assert all(len(ids) == 1 for ids in by_latex.values())
    assert len(set.union(*by_latex.values())) < len(by_latex)


def test_links_lead_from_question_to_question(posts: dict[str, dict[str, str]]) -> None:
    links = rows(folder() / "PostLinks.tsv")
    for link in links:
        assert posts[link["post_id"]]["PostTypeId"] == posts[link["related_post_id"]]["PostTypeId"] == "1"
        assert link["post_id"] != link["related_post_id"]
    assert {link["link_type"] for link in links} == {"1", "3"}


@pytest.mark.parametrize("task", [1, 2])
def test_twenty_topics_a_task_each_with_relevant_and_other_judgments(task: int) -> None:
    assert len(topics(task)) == 20
    assert set(qrels(task)) == set(topics(task))
    for topic, grades in qrels(task).items():
        assert any(grade >= 2 for grade in grades.values()), topic
        assert any(grade <= 1 for grade in grades.values()), topic
        assert set(grades.values()) <= {0, 1, 2, 3}


def test_judgments_of_task_1_name_answers_and_those_of_task_2_visual_ids(
    posts: dict[str, dict[str, str]], formulas: list[dict[str, str]]
) -> None:
    answers = {post_id for post_id, post in posts.items() if post["PostTypeId"] == "2"}
    assert {judged for grades in qrels(1).values() for judged in grades} <= answers
    visual_ids = {row["visual_id"] for row in formulas}
    assert {judged for grades in qrels(2).values() for judged in grades} <= visual_ids


def test_a_topic_of_task_2_marks_one_of_its_own_formulas() -> None:
    for topic in topics(2).values():
        assert dict(spans(topic["Title"] + topic["Question"]))[topic["Formula_Id"]] == topic["Latex"]


def test_topics_are_no_questions_of_the_corpus(posts: dict[str, dict[str, str]]) -> None:
    def plain(text: str) -> str:
        return re.sub(r' id="[^"]*"', "", text)

    corpus = {plain(post[part]) for post in posts.values() for part in ("Title", "Body") if part in post}
    for topic in (*topics(1).values(), *topics(2).values()):
        assert plain(topic["Title"]) not in corpus
        assert plain(topic["Question"]) not in corpus


def best_ranks(posts: dict[str, dict[str, str]], terms: Callable[[str], set[str]]) -> dict[str, int]:
    """For each topic of task 1, the rank of the first relevant answer by the summed weight of shared terms."""
    answers = {post_id: terms(post["Body"]) for post_id, post in posts.items() if post["PostTypeId"] == "2"}
    frequency = Counter(term for found in answers.values() for term in found)
    ranks = {}
    for number, topic in topics(1).items():
        query = terms(topic["Title"] + " " + topic["Question"])
        scores = {
            post_id: sum(math.log(len(answers) / frequency[term]) for term in sorted(query & found))
            / len(found) ** 0.5
            for post_id, found in answers.items()
        }
        relevant = [scores[post_id] for post_id, grade in qrels(1)[number].items() if grade >= 2]
        ranks[number] = 1 + sum(score > max(relevant) for score in scores.values())
    return ranks


def words(text: str) -> set[str]:
    prose = re.sub(r"<.*?>", " ", SPAN.sub(" ", text), flags=re.DOTALL)
    return set(re.findall(r"[a-z]{3,}", prose.lower())) | {""}


def symbols(text: str) -> set[str]:
    found = {""}
    for _, latex in spans(text):
        tokens = re.findall(r"\\[A-Za-z]+|\S", latex)
        found |= {"".join(tokens[i : i + n]) for n in (1, 2, 3) for i in range(len(tokens) - n + 1)}
    return found


def test_some_topics_need_the_words_and_some_need_the_formulas(posts: dict[str, dict[str, str]]) -> None:
    by_words, by_formulas = best_ranks(posts, words), best_ranks(posts, symbols)
    need_formulas = [topic for topic in by_words if by_words[topic] > 4 and by_formulas[topic] <= 3]
    need_words = [topic for topic in by_words if by_formulas[topic] > 4 and by_words[topic] <= 3]
    assert len(need_formulas) >= 2
    assert len(need_words) >= 2
