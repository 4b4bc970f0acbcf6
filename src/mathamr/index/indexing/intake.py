"""Reads inputs into the catalogue: finds what is new, changed, unchanged or gone since the last time.

Files that did not change are not opened. What is new is written a few seconds' work at a time: first the posts, then their words,
then the marks that say so, and last that their files were read; whatever a kill leaves out is done again.

A post belongs to the input that contained it first; a post of another input with the same id gets that input's name as a
prefix. Only posts of the inputs that are read can be deleted. What is gone from the listing is deleted; a file that is there
but can no longer be read whole keeps the posts it had, marked as such (`KeptPosts`), and holds back no other file's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal

from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.progress import Progress
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.catalogue.journal import unpacked
from mathamr.index.catalogue.readfiles import ReadUnit, hash_of, stamp_of
from mathamr.index.descriptions import Descriptions
from mathamr.index.indexing.analysis import AnalysedPost, Unusable, analyse, analyse_all
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.earlierinputs import EarlierInputs
from mathamr.index.indexing.heldback import UnreadFiles
from mathamr.index.indexing.knownfiles import ALL, KnownFiles
from mathamr.index.indexing.reading import (
    ReadFile,
    ReadingContext,
    context_of,
    learn,
    read_by_file,
    read_whole,
    reads_by_file,
)
from mathamr.index.indexing.stages import WordWriter
from mathamr.index.indexing.uniqueids import UniqueIds
from mathamr.index.manifest import InputRecord, Manifest
from mathamr.posts.description import DESCRIBED, is_described, with_description
from mathamr.posts.format import FORMATS, Collection
from mathamr.posts.identifiers import SeenIds
from mathamr.posts.inputs import STDIN, size_of
from mathamr.posts.macrosources import MacroSource
from mathamr.posts.macrotable import MacroTable
from mathamr.posts.reader import find_collections, learn_file, read_posts
from mathamr.posts.report import Report

BATCH = 4000
"""The most posts that are written together."""
TAKEN = 200
"""Posts that are looked up together."""
SECONDS = 2.0
"""Seconds between two writes."""
RACY = 2 * 10**9
"""Nanoseconds: a file that was written so shortly before it was read may have been written again since, at the same time."""
Written = Literal["new", "changed"]
RETRIED = (
    "damaged archive", "archive too dense", "unreadable", "unreadable input", "file too large", "reader failed", "too slow",
)  # fmt: skip
"""Causes in a reader's report that may be gone the next time although the file is the same."""


@dataclass(slots=True)
class IntakeCounts:
    """Counts of the posts of the inputs; `held_back` counts those that stay as they were because their file cannot be read whole."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    held_back: int = 0
    others: int = 0
    """Posts whose id belongs to another input."""
    reports: dict[str, Report] = field(default_factory=dict)
    held_files: list[str] = field(default_factory=list)
    """The files of the posts that are held back."""
    undescribed: int = 0
    """Posts that were read and have no description, in an index whose posts have some."""


def input_record(
    path: Path, format: str | None = None, beside: Iterable[Path] = (), exclude: Iterable[str] = ()
) -> InputRecord:
    """Return the record of an input under its full path, which does not depend on the working directory."""
    if path != STDIN and not path.exists():
        raise MathAMRError(f"{path}: no such file or folder")
    return InputRecord(input_name(path), format, tuple(input_name(each) for each in beside), tuple(exclude))


def input_name(path: Path) -> str:
    """Return the name under which an index knows an input: its full path."""
    return str(path) if path == STDIN else os.fsencode(path.resolve()).decode("utf-8", "replace")


class _ReadAllError(Exception):
    """Raised if what is remembered of files is not enough to decide about a post."""


def take_in(
    catalogue: Catalogue,
    path: Path,
    record: InputRecord,
    counts: IntakeCounts,
    report: Report,
    pool: BuildPool,
    progress: Progress | None = None,
    words: WordWriter | None = None,
    earlier: Sequence[InputRecord] = (),
    descriptions: Descriptions | None = None,
) -> None:
    """Bring the catalogue up to date with the input; if it is killed, part of the changes are stored.

    `words` writes the words of posts as they are stored; without it they are left for later. Files that `earlier` inputs hold
    are left to them. Posts get the descriptions that are known of their content.
    """
    written: dict[str, Written] = {}
    try:
        own = IntakeCounts()
        _Intake(
            catalogue, path, record, own, report, pool, progress, words, written, earlier, descriptions
        ).run()
    except _ReadAllError:
        with catalogue.transaction():
            catalogue.forget_units(record.path)
        own, report = IntakeCounts(), Report()
        _Intake(
            catalogue, path, record, own, report, pool, progress, words, written, earlier, descriptions
        ).run()
    counts.reports[record.path] = report
    counts.held_files += own.held_files
    for name in ("new", "changed", "unchanged", "deleted", "held_back", "others", "undescribed"):
        setattr(counts, name, getattr(counts, name) + getattr(own, name))


class _Intake:
    """One pass over an input: finds its new and changed posts, and the known ones that it no longer has."""

    def __init__(
        self,
        catalogue: Catalogue,
        path: Path,
        record: InputRecord,
        counts: IntakeCounts,
        report: Report,
        pool: BuildPool,
        progress: Progress | None,
        words: WordWriter | None,
        written: dict[str, Written],
        earlier: Sequence[InputRecord],
        descriptions: Descriptions | None,
    ) -> None:
        self._earlier, self._descriptions = earlier, descriptions
        self._written = written
        """What posts that were stored, by an earlier pass too, are to the index."""
        self._catalogue, self._source, self._record = catalogue, record.path, record
        self._counts, self._report, self._pool, self._words = counts, report, pool, words
        self._progress = progress
        # The full path, so that a post's source does not depend on the working directory.
        self._path = path if path == STDIN else path.resolve()
        self._beside = [Path(each) for each in record.beside]
        self._left = {
            owner
            for owner in catalogue.inputs()
            if owner not in ("", self._source) and not Path(owner).exists()
        }
        """Inputs that no longer exist; another input may take over their posts."""
        self._seen = bytearray()
        """One byte per post number: 1 if the post was seen, 2 if it is of a file that was not read again."""
        self._seen_ids = SeenIds()
        self._waiting: list[tuple[AnalysedPost, bool]] = []
        """Posts to store, each with whether it is new."""
        self._units: list[tuple[ReadUnit, dict[str, str], list[str]]] = []
        """Units whose posts are all stored or waiting, with the stamps of files and the ids of posts."""
        self._stamps: dict[tuple[str, str], tuple[str, bytes] | None] = {}
        """The stamps and hashes of files that were opened, by path and stamp at that time."""
        self._held = set[int]()
        """Posts that stay as they were because their file cannot be read whole."""
        self._due = time.monotonic() + SECONDS
        self._naming = UniqueIds(
            catalogue,
            self._source,
            self._is_another,
            lambda: read_posts(self._path, Report(), record.format, self._beside, record.exclude),
        )

    def run(self) -> None:
        """Read the input and bring the catalogue up to date with it."""
        known = KnownFiles(self._catalogue, self._record)
        unread = self._unread = UnreadFiles(self._path, known.units)
        report = self._report

        def format_of(file: Path) -> str | None:
            unread.listed.add(str(file))
            return known.format_of(file)

        parts = find_collections(
            self._path, report, self._record.format, self._beside, self._record.exclude, format_of
        )
        found = {file for _, collection in parts for file in collection.files}
        parts = EarlierInputs(self._path, self._earlier).leave(parts, report)
        found -= {file for _, collection in parts for file in collection.files}
        unread.listed -= set(map(str, found))  # what an earlier input holds is not of this one
        for _, collection in parts:
            unread.recognise(collection.files)
        if self._progress is not None:
            shown = self._progress
            report.on_bytes = lambda: shown.advance(0)
        living = {number for number, _ in self._catalogue.of_input(self._source)}
        units: dict[str, None] = {}
        learned = [self._learned(format, collection, known) for format, collection in parts]
        macros = _macros_of(parts, learned)
        report.conflicts.update(macros.conflicts)
        for (format, collection), own in zip(parts, learned, strict=True):
            for unit in self._part(format, replace(collection, macros=macros), own, macros, known, living):
                units[unit] = None
        self._write()
        unread.note_all(report.incomplete)
        if gone := [name for name in known.units if name not in units and not unread.is_held(name)]:
            with self._catalogue.transaction():
                self._catalogue.forget_units(self._source, gone)
        self._delete_rest()

    def _part(
        self,
        format: str,
        collection: Collection,
        learned: list[Any],
        macros: MacroTable,
        known: KnownFiles,
        living: set[int],
    ) -> Iterator[str]:
        """Take in the files of one format, with what was learned of each; yield the names of its units."""
        context = known.context(format, collection, self._path)
        if self._path == STDIN:
            self._read(
                read_whole("", ReadingContext(format, collection), collection, self._pool, self._report),
                list(map(str, collection.files)),
            )
            return
        if not reads_by_file(format, collection):
            name = f"{ALL}{format}"
            yield name
            context = _with_macros(context, macros.fingerprint("", None))
            if not self._is_kept(known, name, context, collection, living):
                found = read_whole(
                    name, ReadingContext(format, collection), collection, self._pool, self._report
                )
                self._read(
                    found,
                    list(map(str, collection.files)),
                    lambda unit: known.unit(
                        unit, format, context, dict(zip(map(str, collection.files), learned, strict=True))
                    ),
                    known,
                )
            return
        has_learner = FORMATS[format].learner is not None
        told = context_of([context, [each for each in learned if each]]) if has_learner else context
        changed: list[Path] = []
        contexts: dict[str, str] = {}
        for file, own in zip(collection.files, learned, strict=True):
            name = str(file)
            uses = None if has_learner else own
            contexts[name] = _with_macros(
                context if own is None else told, macros.fingerprint(collection.path_of(file), uses)
            )
            yield name
            if not self._is_kept(known, name, contexts[name], collection, living):
                changed.append(file)
        shared = ReadingContext(format, collection, learned if has_learner else None)
        by_name = dict(zip(map(str, collection.files), learned, strict=True))
        for found in read_by_file(shared, changed, self._pool, self._report):
            if found.name in contexts:
                self._report.count_bytes(size_of(Path(found.name)))
            self._read(
                found,
                [found.name],
                lambda unit: known.unit(unit, format, contexts[unit.name], by_name[unit.name]),
                known,
            )

    def _learned(self, format: str, collection: Collection, known: KnownFiles) -> list[Any]:
        """Return what was learned of every file, from earlier where the file is the same."""
        if not FORMATS[format].learns or STDIN in collection.files:
            return [None] * len(collection.files)
        found = known.learned(format, collection)
        missing = [file for file in collection.files if file not in found]
        found |= dict(zip(missing, learn(format, missing, self._pool), strict=True))
        return [found[file] for file in collection.files]

    def _is_kept(
        self, known: KnownFiles, name: str, context: str, collection: Collection, living: set[int]
    ) -> bool:
        """Return True if a unit need not be read; its posts count as seen."""
        unit = known.units.get(name)
        if unit is None or unit.context != context or not living.issuperset(unit.posts):
            return False
        if not all(
            known.are_same(collection.files) if path == ALL else known.is_same(path) for path in unit.files
        ):
            return False
        for number in unit.posts:
            self._see(number, 2)
        self._counts.unchanged += len(unit.posts)
        self._unread.note(map(str, collection.files) if name.startswith(ALL) else [name], unit.report)
        self._report.add(unit.report)
        if not name.startswith(ALL):
            self._report.count_bytes(size_of(Path(name)))
        if self._progress is not None:
            self._progress.advance(len(unit.posts))
        return True

    def _read(
        self,
        found: ReadFile,
        files: Sequence[str],
        unit_of: Callable[[ReadFile], ReadUnit] | None = None,
        known: KnownFiles | None = None,
    ) -> None:
        """Take the posts of a file or collection; it is remembered unless what became of them depends on other inputs.

        If a file was whole and is so no more, its posts stay as they were where that is known before they are taken; else only
        those stay that are missing.
        """
        ids: list[str] = []
        depends = False
        before = known.units.get(found.name) if known is not None else None
        held = frozenset[int]()
        earlier = found.incomplete if before is None else before.report.get("incomplete", ())
        if before is not None and isinstance(found.posts, list):
            is_broken = self._unread.note([found.name], found.report)
            held = frozenset(before.posts if is_broken and self._unread.was_whole(found.name) else ())
        for batch in batches(found.posts, TAKEN):
            posts: list[AnalysedPost] = []
            for post in batch:
                if isinstance(post, Unusable):
                    self._report.skip(post.cause, post.message)
                    depends = True
                    continue
                named = post if self._path == STDIN else self._named(post)
                depends = depends or named is not post
                if self._seen_ids.add(named.row.id):
                    posts.append(self._described(named))
                else:
                    self._report.skip("duplicate id", f"a second post with the id {named.row.id!r}")
                    depends = True
            ids += [post.row.id for post in posts]
            broken = frozenset(found.incomplete).difference(earlier)
            depends = not self._take(posts, held, broken) or depends
            if self._progress is not None:
                self._progress.advance(len(batch))
            if len(self._waiting) >= BATCH or time.monotonic() >= self._due:
                self._write()
        self._report.add(found.report)
        is_broken = self._unread.note(files, found.report)
        if (
            unit_of is not None
            and not depends
            and not (is_broken and self._is_read_again(found, before, ids))
        ):
            unit = unit_of(found)
            self._units.append((unit, {path: found.opened[path] for path in unit.files if path != ALL}, ids))

    def _is_read_again(self, found: ReadFile, before: ReadUnit | None, ids: Sequence[str]) -> bool:
        """Return True if what was read of a broken file or collection must not replace what is remembered of it."""
        if any(cause in found.report.get("skipped", {}) for cause in RETRIED):
            return True
        if before is None:
            return False
        there = {number for number, _, _ in self._catalogue.known_among(ids).values()}
        return not there.issuperset(before.posts) or not self._held.isdisjoint(before.posts)

    def _named(self, post: AnalysedPost) -> AnalysedPost:
        """Return the post with its id and its references as in the index; analysed again if another input uses them."""
        if not self._naming.is_needed((post.row.id, *post.row.mentioned)):
            return post
        before = unpacked(post.row.packed)
        named = self._naming.named(before)
        return post if named is before else analyse(named)

    def _described(self, post: AnalysedPost) -> AnalysedPost:
        """Return the post with the description that is known of its content; analysed again if there is one."""
        if self._descriptions is None or post.row.kind not in DESCRIBED:
            return post
        before = unpacked(post.row.packed)
        known = self._descriptions.of(before) if is_described(before) else None
        self._counts.undescribed += known is None and is_described(before)
        if known is None or not known.sentences:
            return post
        found = next(analyse_all([with_description(before, known)]))
        return found if isinstance(found, AnalysedPost) else post

    def _is_another(self, owner: str) -> bool:
        """Return True if that input is another existing one: not this input, not posts put one by one, not a missing input."""
        return owner not in ("", self._source) and owner not in self._left

    def _take(
        self, posts: Sequence[AnalysedPost], held: Container[int] = (), broken: Container[str] = ()
    ) -> bool:
        """Sort out which posts must be written; return False if one of them was left to another input.

        The numbers of `held` are of posts that stay as they are, and so do those of files in `broken`.
        """
        known = self._catalogue.known_among([post.row.id for post in posts])
        all_own = True
        for post in posts:
            row, found = post.row, known.get(post.row.id)
            if found is None:
                self._count("new")
                self._waiting.append((post, True))
            elif found[2] != self._source and found[2] not in self._left:
                self._counts.others += 1
                self._report.skip(
                    "id of another input",
                    f"the post {row.id!r} is in the index already, from {found[2] or 'no file'}",
                )
                all_own = False
            elif self._was_seen(found[0]) == 2:
                raise _ReadAllError  # a file that was not read again has a post of the same id
            elif found[1] == row.digest and found[2] == self._source:
                self._count(self._written.get(row.id, "unchanged"))
                self._see(found[0])
            elif found[0] in held or row.source in broken:
                self._held.add(found[0])
                self._see(found[0])
            else:
                self._count(self._written.get(row.id, "changed"))
                self._waiting.append((post, False))
        return all_own

    def _count(self, what: Literal["new", "changed", "unchanged"]) -> None:
        setattr(self._counts, what, getattr(self._counts, what) + 1)

    def _write(self) -> None:
        """Store what waits: posts, words, and last which files were read."""
        catalogue, waiting, units = self._catalogue, self._waiting, self._units
        self._waiting, self._units = [], []
        if waiting:
            posts = [post for post, _ in waiting]
            visuals = sorted({visual for post in posts for visual in post.row.visuals})
            represented = catalogue.represented_words(visuals) if self._words else {}
            with catalogue.transaction():
                numbers = catalogue.put_rows([post.row for post in posts], self._source)
            for number in numbers:
                self._see(number)
            if self._unread.knows_files:  # else no pass has to be repeated
                for post, is_new in waiting:
                    self._written.setdefault(post.row.id, "new" if is_new else "changed")
            if self._words is not None:
                new = {post.row.id for post, is_new in waiting if is_new}
                self._words.write(list(zip(numbers, posts, strict=True)), new, represented)
        if units:
            self._keep(units)
        self._due = time.monotonic() + SECONDS

    def _keep(self, units: list[tuple[ReadUnit, dict[str, str], list[str]]]) -> None:
        """Remember units, unless one of their files was written since it was opened."""
        numbers = self._catalogue.known_among([post_id for _, _, ids in units for post_id in ids])
        now: dict[str, tuple[str, bytes] | None] = {}
        for path, stamp in ((path, stamp) for _, opened, _ in units for path, stamp in opened.items()):
            if (path, stamp) not in self._stamps:
                self._stamps[path, stamp] = _stamped(path, stamp)
            now[path] = self._stamps[path, stamp]
        with self._catalogue.transaction():
            self._catalogue.keep_files(self._source, ((path, *found) for path, found in now.items() if found))
            self._catalogue.keep_units(
                self._source,
                [
                    replace(unit, posts=tuple(numbers[post_id][0] for post_id in ids))
                    for unit, opened, ids in units
                    if all(map(now.get, opened)) and all(post_id in numbers for post_id in ids)
                ],
            )

    def _delete_rest(self) -> None:
        """Delete the known posts of the input that were not seen, but those of files that were not read whole."""
        gone = [each for each in self._catalogue.of_input(self._source) if not self._was_seen(each[0])]
        owners = self._unread.owners()
        self._unread.held |= {owners[number] for number in self._held if number in owners}
        for few in batches(gone, 200):
            ids = [post_id for number, post_id in few if not self._stays(number, owners)]
            if not self._unread.are_all_whole:
                posts = self._catalogue.with_inputs(ids)
                staying = {
                    post_id for post_id in ids if post_id in posts and self._unread.holds(posts[post_id][0])
                }
                ids = [post_id for post_id in ids if post_id not in staying]
                self._held |= {number for number, post_id in few if post_id in staying}
            with self._catalogue.transaction():
                self._counts.deleted += sum(self._catalogue.delete(post_id) for post_id in ids)
        self._counts.held_back += len(self._held)
        self._counts.held_files += sorted(self._unread.held)
        with self._catalogue.transaction():
            self._catalogue.keep_posts(self._source, self._held, self._day())
            stamps = {path: stamp_of(path) for path in self._unread.held if is_text(path)}
            self._catalogue.keep_unread(self._source, stamps)

    def _stays(self, number: int, owners: Mapping[int, str]) -> bool:
        """Return True if a post that was not seen came from a file that was not read whole, and note that it stays."""
        if number not in owners:
            return False
        self._held.add(number)
        self._unread.held.add(owners[number])
        return True

    def _day(self) -> str:
        """Return the day of the last build, by which every file was read that could be."""
        before = self._catalogue.meta("manifest")
        return Manifest.from_json(before).updated[:10] if before else date.today().isoformat()

    def _see(self, number: int, how: int = 1) -> None:
        self._seen.extend(bytes(max(0, number + 1 - len(self._seen))))
        self._seen[number] = how

    def _was_seen(self, number: int) -> int:
        return self._seen[number] if number < len(self._seen) else 0


def _macros_of(parts: Sequence[tuple[str, Collection]], learned: Sequence[list[Any]]) -> MacroTable:
    """Return the macros of an input, given what was learned of the files of each format."""
    sources: dict[str, MacroSource] = {}
    for (format, collection), each in zip(parts, learned, strict=True):
        if FORMATS[format].defines_macros:
            own = zip(collection.files, each, strict=True)
            sources |= {collection.path_of(file): found for file, found in own if found}
    if parts:
        _, collection = parts[0]  # all have the same settings
        sources |= {collection.path_of(file): learn_file(file) for file in collection.settings}
    return MacroTable(sources)


def _with_macros(context: str, fingerprint: str) -> str:
    return context_of([context, fingerprint]) if fingerprint else context


def is_text(path: str) -> bool:
    """Return True if the name of a file is UTF-8, which every database takes."""
    return path.encode("utf-8", "ignore").decode() == path


def _stamped(path: str, before: str) -> tuple[str, bytes] | None:
    """Return the stamp and the hash of a file, `None` if it was written meanwhile. The stamp is "unsure" if the file is so
    new that a write may follow with the same time.

    A file whose name is not UTF-8, which no database takes, has none either: it is read each time.
    """
    digest = hash_of(path)
    if not is_text(path) or not before or stamp_of(path) != before:
        return None
    is_racy = time.time_ns() - int(before.split()[1]) < RACY
    return ("unsure" if is_racy else before), digest


def forget(catalogue: Catalogue, record: InputRecord) -> int:
    """Delete all posts of an input; return their number."""
    gone = [post_id for _, post_id in catalogue.of_input(record.path)]
    with catalogue.transaction():
        catalogue.forget_units(record.path)
        return sum(catalogue.delete(post_id) for post_id in gone)
