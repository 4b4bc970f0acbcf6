"""Reads the files of an input that have changed and analyses their posts, in this process or in a pool by the same code.

A task is a few files of a format whose files can be read one by one, or a few posts of any other input, which this process reads
because its files belong together or are large.
"""

from __future__ import annotations

import json
import pickle
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any

from mathamr.core.batches import portions
from mathamr.core.workers import Lost, answer_each
from mathamr.index.catalogue.readfiles import stamp_of
from mathamr.index.indexing.analysis import AnalysedPost, Unusable, analyse_all
from mathamr.index.indexing.buildpool import FEW, BuildPool
from mathamr.index.lexical.terms import terms_fingerprint
from mathamr.posts.budget import OverBudgetError, within_budget
from mathamr.posts.format import FORMATS, Collection, Format
from mathamr.posts.inputs import STDIN, display_path, each_observed, observing, read_text, size_of
from mathamr.posts.macrosources import learning_fingerprint
from mathamr.posts.post import Post
from mathamr.posts.reader import learn_file, read_collection
from mathamr.posts.report import Report

LARGEST_TASK = 256 << 10
"""Bytes of files that one task reads: about a second's work."""
MOST_FILES = 48
LARGEST_FILE = 4 << 20
"""A larger file is read by this process, post by post, so that memory stays bounded."""
POSTS = 48
"""Posts that one task analyses."""
FEW_BYTES = 400 << 10
"""Up to this many bytes are read in this process: starting workers would take longer."""
MOST_CONSULTED = 200
"""If reading some files opened more others than this, it counts as having opened all of them."""


@dataclass(slots=True)
class ReadFile:
    """The posts of one file, or of a collection that is read as a whole, and what was reported and opened.

    `report` and `opened` are complete once all posts were taken. `opened` are the files on which the posts depend, each
    with its stamp when it was opened.
    """

    name: str
    posts: Iterable[AnalysedPost | Unusable] = ()
    report: dict[str, Any] = field(default_factory=dict)
    opened: dict[str, str] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)
    """The files of a collection that could not be read whole, as far as it was read."""


@dataclass(frozen=True, slots=True)
class FileTask:
    """A file to read; `place` is a file with what all tasks of the collection share."""

    place: str
    file: Path


@dataclass(frozen=True, slots=True)
class ReadingContext:
    """What all tasks of one collection need: its format, all of its files, and what was learned of them."""

    format: str
    collection: Collection
    learned: Any = None


class ReadingWork:
    """The task of a worker: it reads files, or analyses posts that another process read."""

    @property
    def identity(self) -> str:
        """The fingerprint of the rules for terms, which must be the same on all workers."""
        return terms_fingerprint()

    def __call__(self, request: list[FileTask] | list[Post] | tuple[str, list[Path]]) -> list[Any]:
        """Return what each file gave, each analysed post, or what was learned of each file."""
        if isinstance(request, tuple):
            return learn_files(*request)
        if isinstance(request[0], FileTask):
            return read_files(_shared(request[0].place), tuple(task.file for task in request))
        return list(analyse_all(request))


@lru_cache(maxsize=2)
def _shared(place: str) -> ReadingContext:
    found: ReadingContext = pickle.loads(Path(place).read_bytes())
    return found


def read_files(shared: ReadingContext, files: tuple[Path, ...]) -> list[ReadFile]:
    """Read some files of a collection one after the other; each result lists what had to be opened for any of them."""
    collection = replace(
        shared.collection, files=files, known=shared.collection.known or shared.collection.files
    )
    collection.__dict__["paths"] = shared.collection.paths  # counted once for all tasks
    opened, stamps = Counter[str](), dict[str, str]()
    posts = {display_path(file): list[AnalysedPost | Unusable]() for file in files}
    report = _ReportByFile(posts)

    def observe(path: Path) -> None:
        stamps.setdefault(str(path), stamp_of(path))
        opened[str(path)] += 1

    with observing(observe):
        for post in read_collection(shared.format, collection, report, shared.learned):
            posts[report.current].extend(analyse_all([post]))
    report.finish()
    own = set(map(str, files))
    consulted = {path: stamps[path] for path, count in opened.items() if path not in own or count > 1}
    return [
        ReadFile(
            str(file),
            posts[name],
            report.rows[name],
            {str(file): stamps.get(str(file), ""), **consulted},
        )
        for file, name in zip(files, posts, strict=True)
    ]


class _ReportByFile(Report):
    """A report that keeps what is reported about each of some files apart."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {name: {} for name in names}
        self.current = next(iter(self.rows))

    def at(self, file: str, row: int | None = None) -> None:
        """Say where the reader is; another file begins a new report."""
        if file != self.current and file in self.rows:
            self.finish()
            self.current = file
        super().at(file, row)

    def finish(self) -> None:
        """Set aside what was reported about the current file."""
        whole = Report()
        whole.add(self.rows[self.current])
        whole.add(self.to_row())
        self.rows[self.current] = whole.to_row()
        self.clear()


def learn_files(format: str, files: Sequence[Path]) -> list[Any]:
    """Return what the reader of a format learns of each file, or without a learner what the file tells of macros."""
    if FORMATS[format].learner is None:
        mark = learning_fingerprint()
        return [{**learn_file(file, uses=FORMATS[format].by_file), "by": mark} for file in files]
    texts = (read_text(file, Report()) for file in files)
    return [None if text is None else _learn(FORMATS[format], text) for text in texts]


def _learn(format: Format, text: str) -> Any:
    """Return what is learned of a file; nothing of one that takes too long, whose reading then ends likewise and is counted."""
    try:
        return within_budget(lambda: format.learn(text), format.seconds * (1 + len(text) / 1e6))
    except OverBudgetError:
        return None


def learn(format: str, files: Sequence[Path], pool: BuildPool) -> list[Any]:
    """Return what is learned of each file of a format (`learn_files`), in the pool if there are many."""
    tasks = ((format, few) for few in portions(files, MOST_FILES, size_of, LARGEST_TASK))
    found: list[Any] = []
    for request, answer in pool.map(tasks, inline=_is_little(files)):
        found += learn_files(*request) if isinstance(answer, Lost) else answer
    return found


def reads_by_file(format: str, collection: Collection) -> bool:
    """Return True if the files of a collection are read one by one."""
    return FORMATS[format].by_file and STDIN not in collection.files


def read_by_file(
    shared: ReadingContext, files: Sequence[Path], pool: BuildPool, report: Report
) -> Iterator[ReadFile]:
    """Read files of a collection, several at a time in the pool; the results have the order of the files.

    A file over which a worker is lost is reported and left out.
    """
    small: list[Path] = []
    with tempfile.TemporaryDirectory(prefix="mathamr-") as folder:
        place = Path(folder, "shared")
        is_inline = pool.is_alone or _is_little(files)
        if not is_inline:
            place.write_bytes(pickle.dumps(shared))

        def flush() -> Iterator[ReadFile]:
            few = portions(small, MOST_FILES, size_of, LARGEST_TASK)
            if is_inline:
                for files in few:
                    yield from read_files(shared, tuple(files))
            else:
                tasks = ([FileTask(str(place), file) for file in files] for files in few)
                for task, found in answer_each(pool.map, tasks):
                    if isinstance(found, Lost):
                        report.at(str(task.file))
                        why = f"this document ends its reader ({found.message}); please report it"
                        report.skip("reader failed", why)
                    else:
                        yield found
            small.clear()

        for file in files:
            if size_of(file) <= LARGEST_FILE:
                small.append(file)
                continue
            yield from flush()
            yield read_whole(str(file), shared, replace(shared.collection, files=(file,)), pool, report)
        yield from flush()


def read_whole(
    name: str, shared: ReadingContext, collection: Collection, pool: BuildPool, report: Report
) -> ReadFile:
    """Read a collection in this process, as a stream; its posts are analysed in the pool."""
    own, given = Report(), ReadFile(name)
    given.incomplete = own.incomplete
    own.bytes_total = report.bytes_total

    def read() -> Iterator[Post]:
        before = 0
        posts = read_collection(shared.format, collection, own, shared.learned)
        for post in each_observed(posts, lambda path: given.opened.setdefault(str(path), stamp_of(path))):
            yield post
            report.bytes_total = own.bytes_total
            report.count_bytes(own.bytes_read - before)
            before = own.bytes_read

    def posts() -> Iterator[AnalysedPost | Unusable]:
        yield from analysed(read(), pool)
        given.report = own.to_row()

    given.posts = posts()
    return given


def analysed(posts: Iterable[Post], pool: BuildPool) -> Iterator[AnalysedPost | Unusable]:
    """Analyse posts in the pool, in order; a post over which a worker is lost is replaced by the reason."""
    stream = iter(posts)
    first = list(islice(stream, FEW + 1))
    if pool.is_alone or len(first) <= FEW:
        yield from analyse_all(chain(first, stream))
        return
    few = portions(chain(first, stream), POSTS, lambda post: len(post.body), LARGEST_TASK)
    for post, found in answer_each(pool.map, few):
        if isinstance(found, Lost):
            yield Unusable("cannot be analysed", f"the post {post.id[:100]!r} is left out: {found.message}")
        else:
            yield found


def _is_little(files: Iterable[Path]) -> bool:
    return all(total <= FEW_BYTES for total in accumulate(map(size_of, files)))


def context_of(values: Iterable[Any]) -> str:
    """Return a digest of JSON values on which the reading of a unit depends."""
    return blake2b(json.dumps(list(values)).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
