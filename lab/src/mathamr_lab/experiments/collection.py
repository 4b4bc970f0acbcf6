"""`TestCollection`: the posts that an experiment searches, and its sets of judged topics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures.measure import Measure
from mathamr.evaluation.qrels import Qrels, read_qrels
from mathamr.evaluation.runs import DEPTH
from mathamr.evaluation.topics import Topic, read_topics
from mathamr.posts.inputs import walk
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.ranking import Task
from mathamr_lab.training.export import ids_in

_YEAR = re.compile(r"[-_]?(19|20)\d\d$")


@dataclass(frozen=True)
class TestSet:
    """Topics with judgments, of one task; several years of a task make one set.

    Topics without a relevant item are left out, as ARQMath did: `left_out` counts them.
    """

    __test__ = False  # no test of pytest's

    name: str
    files: tuple[tuple[Path, Path], ...]
    topics: tuple[Topic, ...]
    qrels: Qrels
    left_out: int

    @cached_property
    def task(self) -> Task:
        """Formulas if the topics name some, otherwise posts."""
        return "formulas" if any(topic.formula_id for topic in self.topics) else "answers"

    @cached_property
    def is_known_items(self) -> bool:
        """True if a topic's own answers are the relevant ones: then only whether they are found counts, not a grade."""
        return all(len(set(grades.values())) == 1 for grades in self.qrels.grades.values())

    @property
    def measures(self) -> list[Measure]:
        """The measures of this set; the first one chooses the best seed."""
        from mathamr.evaluation.measures import measures

        return measures(["known-items"] if self.is_known_items else ["nDCG'", "MAP'", "P'@10", "Bpref"])

    @property
    def depth(self) -> int:
        """The number of results of a topic that can count: no measure goes deeper."""
        return max(measure.cutoff or DEPTH for measure in self.measures)

    def posts(self) -> Iterator[tuple[str, Post]]:
        """Yield (id in the store of topics, post) of every topic."""
        for topic in self.topics:
            yield self.key(topic), topic.post

    def key(self, topic: Topic) -> str:
        """Return a topic's id among the topics of all sets."""
        return f"{self.name}/{topic.id}"

    @cached_property
    def digest(self) -> str:
        """A hash of topics and judgments."""
        return _digest(path.read_bytes() for pair in self.files for path in pair)


@dataclass(frozen=True)
class TestCollection:
    """Posts to search, test sets, further posts to learn from, and ids of posts whose pairs are never trained on."""

    __test__ = False  # no test of pytest's

    paths: tuple[Path, ...]
    tests: tuple[TestSet, ...]
    without: frozenset[str] = frozenset()
    further: tuple[Path, ...] = ()
    judged_only: bool = False
    """True if only judged answers are searched, as the thesis does with 33,771 of 1.4 million."""
    beside: tuple[Path, ...] = ()
    """Tables of formulas, MathML and links that lie in other folders than the posts."""

    @cached_property
    def judged(self) -> frozenset[str]:
        """The answers that are judged for a topic."""
        tests = (test for test in self.tests if test.task == "answers")
        return frozenset(item for test in tests for grades in test.qrels.grades.values() for item in grades)

    @cached_property
    def searched(self) -> str:
        """Which answers are searched, with a hash of their ids; empty for all of them."""
        if not self.judged_only:
            return ""
        return (
            f" judged only {_digest(item.encode('utf-8', 'surrogatepass') for item in sorted(self.judged))}"
        )

    def searches(self, post: Post) -> bool:
        """Return True if a post can be found."""
        return not self.judged_only or post.role != "answer" or post.id in self.judged

    def posts(self, report: Report | None = None) -> Iterator[Post]:
        """Return all posts that are searched, one at a time."""
        return _read(self.paths, report, self.beside)

    def further_posts(self, report: Report | None = None) -> Iterator[Post]:
        """Return the posts that are only learned from, one at a time."""
        return _read(self.further, report)

    def topic_posts(self) -> Iterator[Post]:
        """Yield the posts of the topics of all test sets, named by their keys."""
        for test in self.tests:
            yield from (replace(post, id=key) for key, post in test.posts())

    @cached_property
    def digest(self) -> str:
        """A hash of the names, sizes and times of the files, so that a large dump need not be read, and of what is searched."""
        found = _digest(
            f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}".encode()
            for path in (*self.paths, *self.further, *self.beside)
            for file in (walk(path, Report()) if path.is_dir() else [path])
        )
        return found + self.searched


def collection_of(
    paths: Sequence[Path],
    topics: Sequence[Path] = (),
    qrels: Sequence[Path] = (),
    without: Sequence[Path] = (),
    further: Sequence[Path] = (),
    beside: Sequence[Path] = (),
    *,
    judged_only: bool = False,
) -> TestCollection:
    """Return the collection of some paths, with `further` posts to learn from.

    Without `topics` and `qrels`, the folders ``topics`` and ``qrels`` beside the posts are searched: files of the
    same name belong together. Without `without`, files ``heldout*.txt`` beside posts, searched or only learned from,
    name those that are not trained on; the questions of known items are never trained on.
    """
    for path in (*paths, *further, *beside, *topics, *qrels):
        if not path.exists():
            raise MathAMRError(f"{path}: no such file or folder")
    if len(topics) != len(qrels):
        raise MathAMRError(f"{len(topics)} files of topics and {len(qrels)} of judgments: give one for each")
    folder = _folder(paths[0])
    chosen = list(zip(topics, qrels, strict=True)) or _beside(folder)
    if not chosen:
        raise MathAMRError(
            f"{folder} has no topics/NAME.xml with qrels/NAME.qrels beside it; give --topics and --qrels"
        )
    posts = tuple(paths) if topics else tuple(_posts_of(path) for path in paths)
    folders = dict.fromkeys(map(_folder, (paths[0], *further)))
    unwanted = list(without) or [file for each in folders for file in sorted(each.glob("heldout*.txt"))]
    tests = tuple(_sets(chosen))
    asked = {topic.id for test in tests if test.is_known_items for topic in test.topics}
    return TestCollection(
        posts,
        tests,
        frozenset(post_id for file in unwanted for post_id in ids_in(file)) | asked,
        tuple(map(_posts_of, further)),
        judged_only,
        tuple(beside),
    )


def sets_by_task(collection: TestCollection) -> dict[str, list[TestSet]]:
    """Return the test sets by the names that experiments with MathAMR and MaRF use."""
    found: dict[str, list[TestSet]] = {"task1": [], "known-items": [], "task2": []}
    for test in collection.tests:
        name = "task2" if test.task == "formulas" else "known-items" if test.is_known_items else "task1"
        found[name].append(test)
    return {name: tests for name, tests in found.items() if tests}


def judgments(tests: Iterable[TestSet]) -> Qrels:
    """Merge the judgments of several test sets."""
    return Qrels({topic: grades for test in tests for topic, grades in test.qrels.grades.items()})


def _read(paths: Iterable[Path], report: Report | None, beside: Sequence[Path] = ()) -> Iterator[Post]:
    for path in paths:
        yield from read_posts(path, report if report is not None else Report(), beside=beside)


def _folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _posts_of(path: Path) -> Path:
    """Return the file of posts in a folder of ARQMath's format, whose topics are not searched; any other path as it is."""
    found = sorted(path.glob("Posts*.xml")) if path.is_dir() else []
    return found[0] if found else path


def _beside(folder: Path) -> list[tuple[Path, Path]]:
    return [
        (topics, qrels)
        for topics in sorted((folder / "topics").glob("*.xml"))
        if (qrels := folder / "qrels" / f"{topics.stem}.qrels").is_file()
    ]


def _sets(files: Iterable[tuple[Path, Path]]) -> Iterator[TestSet]:
    groups: dict[str, list[tuple[Path, Path]]] = {}
    for topics, qrels in files:
        groups.setdefault(_YEAR.sub("", topics.stem), []).append((topics, qrels))
    # Judged answers come first: their tables are the thesis's.
    yield from sorted((_set(name, group) for name, group in groups.items()), key=_order)


def _order(each: TestSet) -> tuple[bool, bool, str]:
    return each.task == "formulas", each.is_known_items, each.name


def _set(name: str, files: Sequence[tuple[Path, Path]]) -> TestSet:
    topics: dict[str, Topic] = {}
    grades: dict[str, dict[str, int]] = {}
    left_out = 0
    for topics_path, qrels_path in files:
        every = read_qrels(qrels_path)
        judged = every.with_relevant()
        left_out += len(every.topics) - len(judged.topics)
        for topic in read_topics(topics_path):
            if topic.id not in judged.grades:
                continue
            if topic.id in topics:
                raise MathAMRError(f"{topics_path}: the topic {topic.id!r} is in another file of {name}, too")
            topics[topic.id] = topic
            grades[topic.id] = dict(judged.grades[topic.id])
    if not topics:
        raise MathAMRError(f"{name}: no topic of {files[0][0]} has a relevant item in {files[0][1]}")
    return TestSet(name, tuple(files), tuple(topics.values()), Qrels(grades), left_out)


def _digest(parts: Iterable[bytes]) -> str:
    check = blake2b(digest_size=16)
    for part in parts:
        check.update(len(part).to_bytes(8, "little") + part)
    return check.hexdigest()
