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
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain, islice
from pathlib import Path
from typing import Any

from mathamr.core.version import __version__
from mathamr.core.workers import Lost
from mathamr.index.catalogue.readfiles import stamp_of
from mathamr.index.indexing.analysis import AnalysedPost, Unusable, analyse_all
from mathamr.index.indexing.buildpool import FEW, BuildPool
from mathamr.index.lexical.terms import terms_fingerprint
from mathamr.posts.format import FORMATS, Collection
from mathamr.posts.inputs import STDIN, display_path, observing, read_text
from mathamr.posts.post import Post
from mathamr.posts.reader import read_collection
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
    """What one file, or a collection of files that is read as a whole, gave.

    `report` and `opened` are complete once all posts were taken. `opened` are the files on which the posts depend, each
    with its stamp when it was opened.
    """

    name: str
    posts: Iterable[AnalysedPost | Unusable] = ()
    report: dict[str, Any] = field(default_factory=dict)
    opened: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileTask:
    """Some files to read; `place` is a file with what all tasks of the collection share."""

    place: str
    files: tuple[str, ...]


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

    def __call__(self, request: FileTask | list[Post] | tuple[str, list[str]]) -> list[Any]:
        """Return what the files gave, the analysed posts, or what was learned of files."""
        if isinstance(request, FileTask):
            return read_files(_shared(request.place), tuple(map(Path, request.files)))
        if isinstance(request, tuple):
            return learn_files(*request)
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


def learn_files(format: str, files: Sequence[str]) -> list[Any]:
    """Return what the reader of a format learns of each file."""
    texts = (read_text(Path(file), Report()) for file in files)
    return [None if text is None else FORMATS[format].learn(text) for text in texts]


def learn(format: str, files: Sequence[Path], pool: BuildPool) -> list[Any]:
    """Return what the reader of a format learns of each file, in the pool if there are many."""
    if FORMATS[format].learner is None:
        return [None] * len(files)
    tasks = [(format, list(map(str, few))) for few in _tasks(files)]
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
            tasks = [FileTask(str(place), tuple(map(str, few))) for few in _tasks(small)]
            if is_inline:
                for task in tasks:
                    yield from read_files(shared, tuple(map(Path, task.files)))
            else:
                for task, answer in pool.map(iter(tasks)):
                    yield from _one_by_one(task, answer, pool, report)
            small.clear()

        for file in files:
            if not file.exists() or file.stat().st_size <= LARGEST_FILE:
                small.append(file)
                continue
            yield from flush()
            yield read_whole(str(file), shared, replace(shared.collection, files=(file,)), pool, report)
        yield from flush()


def _one_by_one(task: FileTask, answer: Any, pool: BuildPool, report: Report) -> Iterator[ReadFile]:
    """Yield the results of a task; if a worker was lost over it, those of its files one at a time."""
    if not isinstance(answer, Lost):
        yield from answer
        return
    for file in task.files:
        ((_, alone),) = pool.map([replace(task, files=(file,))]) if len(task.files) > 1 else [(task, answer)]
        if isinstance(alone, Lost):
            report.at(file)
            report.skip("reader failed", f"this document ends its reader ({alone.message}); please report it")
        else:
            yield from alone


def read_whole(
    name: str, shared: ReadingContext, collection: Collection, pool: BuildPool, report: Report
) -> ReadFile:
    """Read a collection in this process, as a stream; its posts are analysed in the pool."""
    own, given = Report(), ReadFile(name)
    own.bytes_total = report.bytes_total

    def read() -> Iterator[Post]:
        before = 0
        with observing(lambda path: given.opened.setdefault(str(path), stamp_of(path))):
            for post in read_collection(shared.format, collection, own, shared.learned):
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
    for request, answer in pool.map(_portions(chain(first, stream))):
        if not isinstance(answer, Lost):
            yield from answer
            continue
        for post in request:
            ((_, alone),) = pool.map([[post]])
            if isinstance(alone, Lost):
                yield Unusable(
                    "cannot be analysed", f"the post {post.id[:100]!r} is left out: {alone.message}"
                )
            else:
                yield from alone


def _portions(posts: Iterable[Post]) -> Iterator[list[Post]]:
    portion: list[Post] = []
    letters = 0
    for post in posts:
        portion.append(post)
        letters += len(post.body)
        if len(portion) >= POSTS or letters >= LARGEST_TASK:
            yield portion
            portion, letters = [], 0
    if portion:
        yield portion


def _tasks(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Group of files of about equal work."""
    few: list[Path] = []
    size = 0
    for file in files:
        with suppress(OSError):  # the reader reports it
            size += file.stat().st_size
        few.append(file)
        if len(few) >= MOST_FILES or size >= LARGEST_TASK:
            yield few
            few, size = [], 0
    if few:
        yield few


def _is_little(files: Iterable[Path]) -> bool:
    size = 0
    for file in files:
        with suppress(OSError):
            size += file.stat().st_size
        if size > FEW_BYTES:
            return False
    return True


@lru_cache(maxsize=1)
def reading_version() -> str:
    """Return a digest of the code that reads posts: files are read again when it changes."""
    digest = blake2b(__version__.encode(), digest_size=12)
    for content in _sources(resources.files("mathamr.posts")):
        digest.update(content)
    return digest.hexdigest()


def _sources(folder: Traversable) -> Iterator[bytes]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry)
        elif entry.name.endswith(".py"):
            yield entry.name.encode() + entry.read_bytes()


def context_of(values: Iterable[Any]) -> str:
    """Return a digest of JSON values on which the reading of a unit depends."""
    return blake2b(json.dumps(list(values)).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
