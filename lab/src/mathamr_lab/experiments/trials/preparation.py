"""Prepares the input of trials from a test collection: contexts of judged formulas, and posts as MaRF reads them.

The files hold text, so that any base can read them; posts are read one at a time.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from mathamr.amr.parser import load_parser
from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels, write_qrels
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Formula, Post
from mathamr.systems.marf.latextokens import latex_tokens
from mathamr_lab.experiments import ntcir12
from mathamr_lab.experiments.collection import TestCollection, TestSet
from mathamr_lab.experiments.formulaplaces import (
    PLACES_A_VISUAL,
    collection_places,
    topic_places,
    write_places,
)
from mathamr_lab.experiments.trials.trialtables import SHARES, STRATA, STRATA_NAMES
from mathamr_lab.systems.marf.texts import MarfText, MarfTexts, MarfWriter, commands_in, write_commands
from mathamr_lab.training.export import listed

VOTES = 5
"""An answer with more votes than this is positive, accepted or not (MaRF, section 3.4)."""
_WORD = re.compile(r"\w+|[^\w\s]")


def sets_by_task(collection: TestCollection) -> dict[str, list[TestSet]]:
    """Return the test sets by the names that trials use."""
    found: dict[str, list[TestSet]] = {"task1": [], "known-items": [], "task2": []}
    for test in collection.tests:
        name = "task2" if test.task == "formulas" else "known-items" if test.is_known_items else "task1"
        found[name].append(test)
    return {name: tests for name, tests in found.items() if tests}


def judged(tests: Iterable[TestSet]) -> Qrels:
    """Merge the judgments of several test sets."""
    return Qrels({topic: grades for test in tests for topic, grades in test.qrels.grades.items()})


def prepare_contexts(
    collection: TestCollection,
    folder: Path,
    parser: str,
    model: str | None,
    say: Callable[[str], None],
    further: Iterable[str] = (),
) -> None:
    """Write the contexts of all query formulas, and of judged visual classes and those that are `further` named."""
    tests = sets_by_task(collection).get("task2")
    if tests is None:
        raise MathAMRError(
            "comparing MathAMR's contexts needs topics of formulas with judgments; the collection has none"
        )
    qrels = judged(tests)
    write_complexity(tests, folder / STRATA)
    (folder / "qrels").mkdir(exist_ok=True)
    write_qrels(qrels, folder / "qrels" / "task2.qrels")
    reader = load_parser(parser, model)
    topics = [topic for test in tests for topic in test.topics]
    count = write_places(topic_places(topics, reader), folder / "topic-places.jsonl.gz")
    say(f"contexts of {count:,} query formulas")
    places = collection_places(collection.posts(), qrels, reader, further)
    count = write_places(places, folder / "places.jsonl.gz")
    if not count:
        raise MathAMRError(
            "no judged formula is in the posts; topics, judgments (by visual id) and posts must be of one collection"
        )
    say(f"contexts of {count:,} places of formulas")


def prepare_marf(
    collection: TestCollection, folder: Path, say: Callable[[str], None], ntcir: Path | None = None
) -> None:
    """Write the posts and pairs to learn from, the searched entries, the topics, and the shares of mathematics.

    `ntcir` is a folder of NTCIR-12, whose formulas are searched, too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    by_task = sets_by_task(collection)
    commands: Counter[str] = Counter()
    shares: dict[str, dict[str, float]] = {"answers": {}}
    learned = _Learned(collection.without)
    # Every occurrence is read with its post, so only judged visual classes are: the others would not be measured.
    wanted = {
        visual: PLACES_A_VISUAL
        for grades in judged(by_task.get("task2", [])).grades.values()
        for visual in grades
    }
    with (
        MarfWriter(folder / "posts.jsonl") as posts,
        MarfWriter(folder / "answers.jsonl") as answers,
        MarfWriter(folder / "formulas.jsonl") as formulas,
    ):
        for post in collection.posts():
            text = MarfText.of(post.id, post)
            if post.role == "answer":
                shares["answers"][post.id] = round(math_share(post), 4)
                answers.add(text)
            if learned.wants(post):
                commands.update(commands_in(post.formulas))
                learned.add(post, posts.add(text))
            for formula in post.formulas:
                if formula.visual_id and wanted.get(formula.visual_id, 0):
                    wanted[formula.visual_id] -= 1
                    formulas.add(MarfText.of(formula.visual_id, post, formula))
        for post in filter(learned.wants, collection.further_posts()):
            commands.update(commands_in(post.formulas))
            learned.add(post, posts.add(MarfText.of(post.id, post)))
    pairs, known = learned.pairs()
    if not len(pairs):
        raise MathAMRError(
            "the posts have no question with an answer that is accepted or has more than five votes; name more with --train"
        )
    np.save(folder / "pairs.npy", pairs, allow_pickle=False)
    write_commands(folder, commands)
    say(f"{len(pairs):,} pairs of {posts.count:,} posts to learn from, of {known:,} with an answer")
    if not answers.count:
        raise MathAMRError("the collection has no answers to search")
    if "task2" in by_task:
        if not formulas.count:
            raise MathAMRError("no formula of the posts has a judged visual id, by which Task 2 is judged")
        say(f"{formulas.count:,} occurrences of judged formulas")
    (folder / "qrels").mkdir(exist_ok=True)
    for name, tests in by_task.items():
        topics = [topic for test in tests for topic in test.topics]
        write_qrels(judged(tests), folder / "qrels" / f"{name}.qrels")
        if name == "task2":
            asked = (MarfText.of(each.id, each.post, each.formula or Formula(each.id, "")) for each in topics)
            MarfTexts.write(folder / f"topics-{name}.jsonl", asked)
        else:
            MarfTexts.write(
                folder / f"topics-{name}.jsonl", (MarfText.of(each.id, each.post) for each in topics)
            )
            shares[name] = {topic.id: round(math_share(topic.post), 4) for topic in topics}
    (folder / SHARES).write_text(json.dumps(shares) + "\n", encoding="utf-8")
    if ntcir is not None:
        count = MarfTexts.write(folder / "ntcir12.jsonl", _alone(ntcir12.formulas(ntcir)))
        concrete = dict(ntcir12.concrete_topics(ntcir))
        MarfTexts.write(folder / "topics-ntcir12.jsonl", _alone(concrete.items()))
        # Judgments of other topics would count as topics for which nothing was found.
        grades = {name: own for name, own in ntcir12.judgments(ntcir).grades.items() if name in concrete}
        write_qrels(Qrels(grades), folder / "qrels" / "ntcir12.qrels")
        say(f"{count:,} formulas of NTCIR-12")


class _Learned:
    """The lines of posts that are learned from, and which answers count as positive (MaRF, section 3.4)."""

    def __init__(self, without: frozenset[str]) -> None:
        self._without = without
        self._line: dict[str, int] = {}
        self._answers: list[tuple[str, int, bool | None]] = []
        self._accepted: dict[str, str] = {}

    def wants(self, post: Post) -> bool:
        """Return whether a post may be learned from."""
        return not listed(post.id, self._without) and not listed(post.parent or "", self._without)

    def add(self, post: Post, line: int) -> None:
        """Count a post that was written to a line."""
        self._line[post.id] = line
        if post.accepted_answer:
            self._accepted[post.id] = post.accepted_answer
        if post.parent:
            votes = None if post.score is None else post.score > VOTES
            self._answers.append((post.parent, line, votes))

    def pairs(self) -> tuple[AnyArray, int]:
        """Return the lines of questions and positive answers, and how many answers have a question."""
        accepted = {self._line.get(answer, -1) for answer in self._accepted.values()}
        known = [each for each in self._answers if each[0] in self._line]
        found = [
            (self._line[question], answer)
            for question, answer, votes in known
            # Where neither votes nor an accepted answer are known, every answer counts.
            if answer in accepted or votes or (votes is None and question not in self._accepted)
        ]
        return np.array(found, np.int64).reshape(-1, 2), len(known)


def _alone(formulas: Iterable[tuple[str, str]]) -> Iterator[MarfText]:
    return (MarfText.of_formula(name, Formula(name, latex)) for name, latex in formulas)


def math_share(post: Post) -> float:
    """Return the share of mathematics in a post: formula tokens among all its tokens (Wang, Zheng and Kani, section 4.3).

    A post without tokens has 0.

    >>> from mathamr.posts.post import Formula
    >>> math_share(Post("7", "answer", "We have $a+b$", markup="text", formulas=(Formula("7:0", "a+b"),)))
    0.6
    """
    formulas = sum(len(latex_tokens(formula.latex)) for formula in post.formulas)
    words = sum(
        len(_WORD.findall(PLACEHOLDER.sub(" ", sentence.text))) for sentence in passage(post).sentences
    )
    return formulas / (formulas + words) if formulas else 0.0


def write_complexity(tests: Iterable[TestSet], path: Path) -> None:
    """Write the complexity of topics, if `complexity*.tsv` beside them (a topic, a tab, high, medium or low) says it."""
    files = {
        file for test in tests for topics, _ in test.files for file in topics.parent.glob("complexity*.tsv")
    }
    found: dict[str, str] = {}
    for file in sorted(files):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            row = line.split("\t")
            if len(row) != 2 or row[1].lower() not in STRATA_NAMES:
                raise MathAMRError(
                    f"{file}, line {number}: expected a topic, a tab, and {', '.join(STRATA_NAMES)}; got {line!r}"
                )
            found[row[0]] = row[1].lower()
    if found:
        path.write_text(json.dumps(found) + "\n", encoding="utf-8")
