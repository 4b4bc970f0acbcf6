"""`check_index`: checks that the parts of an index are complete and consistent, and recomputes those that are not.

The catalogue matters most: graphs, vectors and lexical entries are derived from it and can always be recomputed. A damaged
catalogue is repaired from the files that its posts came from, as far as these still exist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from mathamr.amr.parser import check_recorded, vouch_for_parser
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import SqliteConnection, connect, foreign_parts
from mathamr.core.storage.durable import check_room
from mathamr.core.storage.plainfiles import check_plain
from mathamr.core.storage.writerlock import WriterLock
from mathamr.index.admin.inspection import CheckReport, Repair, inspect
from mathamr.index.catalogue.catalogue import CATALOGUE, SCHEMA, Catalogue, digest_of
from mathamr.index.catalogue.journal import unpacked
from mathamr.index.indexing.analysis import Unusable
from mathamr.index.indexing.builder import BuildOptions
from mathamr.index.indexing.buildlog import BuildLog
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.intake import IntakeCounts, input_record, take_in
from mathamr.index.indexing.outdated import reset_outdated
from mathamr.index.indexing.reading import analysed
from mathamr.index.indexing.writer import OWN_INPUT, IndexWriter
from mathamr.index.manifest import MANIFEST, Manifest, OutdatedFormatError
from mathamr.index.storage import IndexStorage, size_on_disk
from mathamr.posts.post import Post
from mathamr.posts.report import Report

BATCH = 200
ASIDE = ".damaged"
"""The suffix of a damaged catalogue that was set aside."""


def check_index(
    folder: Path,
    options: BuildOptions | None = None,
    *,
    repair: bool = True,
    inputs: Collection[Path] = (),
) -> CheckReport:
    """Inspects every part of an index; with `repair` recomputes what it can, and reports what is lost.

    Of the options only the AMR parser (if it is not ours), the folder of the model (if it moved), the device, the number
    of workers and whether progress is shown are used. Without `repair` nothing is changed; with it, nothing is
    changed before everything that the repair needs is available. A damaged catalogue is filled again from those of its
    inputs that are named in `inputs`: a manifest may come from somebody else, so no other path in it is read.
    """
    options = options or BuildOptions()
    folder = folder.expanduser()
    report = CheckReport(folder)
    if options.parser:
        vouch_for_parser(options.parser, options.parser_model)
    check_plain(folder)
    if not any((folder / name).exists() for name in (MANIFEST, CATALOGUE)):
        Manifest.read(folder)
    lock = WriterLock(folder, "mathamr index --check") if repair else None
    try:
        manifest = _manifest(folder, report)
        if manifest.parser is not None:
            check_recorded(manifest.parser.name, manifest.parser.model, folder)
        named = frozenset(input_record(path).path for path in inputs)
        catalogue = _catalogue(folder, manifest, report, options, named if repair else None)
        if catalogue is None:
            return report
        found = (
            IndexStorage(folder, manifest, catalogue, device=options.device, model=options.model)
            if lock is None
            else IndexWriter(folder, manifest, catalogue, lock, device=options.device, model=options.model)
        )
        with found as archive:
            repairs = inspect(archive, report)
            if isinstance(archive, IndexWriter) and report.problems:
                _repair(archive, repairs, report, options)
            report.posts, report.formulas = len(catalogue), catalogue.count_formulas()
    finally:
        if lock is not None:
            lock.release()
    return report


def _manifest(folder: Path, report: CheckReport) -> Manifest:
    """Return the manifest, or the copy of it in the catalogue."""
    try:
        return Manifest.read(folder)
    except OutdatedFormatError:
        raise
    except MathAMRError as error:
        with Catalogue(folder / CATALOGUE, read_only=True) as catalogue:
            copy = catalogue.meta("manifest")
        if copy is None:
            raise
        report.add(MANIFEST, f"cannot be read: {error}")
        return Manifest.from_json(copy)


def _catalogue(
    folder: Path,
    manifest: Manifest,
    report: CheckReport,
    options: BuildOptions,
    inputs: Collection[str] | None,
) -> Catalogue | None:
    """Return the catalogue; a damaged one is set aside and filled again, unless `inputs` is `None`: then nothing is changed."""
    path = folder / CATALOGUE
    try:
        catalogue = Catalogue(path, read_only=inputs is None)
        words = catalogue.verify()
        if not words:
            return catalogue
        catalogue.close()
    except MathAMRError as error:
        words = [str(error)]
    report.add(CATALOGUE, f"cannot be read: {'; '.join(words)}")
    if inputs is None:
        return None
    check_room(folder, 2 * size_on_disk(path))
    aside = folder / f"{CATALOGUE}{ASIDE}"
    for ending in ("", "-wal", "-shm"):
        if (folder / f"{CATALOGUE}{ending}").exists():
            (folder / f"{CATALOGUE}{ending}").replace(folder / f"{aside.name}{ending}")
    catalogue = Catalogue(path, create=True)
    saved = _save(catalogue, aside, options)
    report.add(CATALOGUE, f"{saved.total():,} posts were read from what is left of it")
    _read_again(catalogue, manifest, report, options, saved, inputs)
    left = manifest.counts.get("unfiled", 0) - saved[OWN_INPUT]
    if left > 0:
        report.add(CATALOGUE, f"{left:,} posts that came from no file", "lost")
    return catalogue


def _save(catalogue: Catalogue, aside: Path, options: BuildOptions) -> Counter[str]:
    """Copy the intact posts of a damaged catalogue; return their number by input."""
    saved: Counter[str] = Counter()
    with BuildPool(options.workers) as pool:
        for batch in batches(salvage(aside), BATCH):
            found = analysed((post for post, _ in batch), pool)
            with catalogue.transaction():
                for (_, source), post in zip(batch, found, strict=True):
                    if not isinstance(post, Unusable):
                        catalogue.put_rows([post.row], source)
                        saved[source] += 1
    return saved


def _read_again(
    catalogue: Catalogue,
    manifest: Manifest,
    report: CheckReport,
    options: BuildOptions,
    saved: Counter[str],
    inputs: Collection[str],
) -> None:
    """Fill a new catalogue from those inputs of the old one that the user named; reports what cannot be read again."""
    log, pool = BuildLog(show=options.show_progress), BuildPool(options.workers)
    for record in manifest.inputs:
        path = Path(record.path)
        is_there = path.is_file() or path.is_dir()
        if record.path not in inputs or not is_there:
            rest = f" but for {saved[record.path]:,} that were read" if saved[record.path] else ""
            why = (
                f"name it to read it again: mathamr index {record.path} --check --out {report.folder}"
                if is_there
                else "that input is not there any more"
            )
            report.add(CATALOGUE, f"the posts of {record.path}{rest}: {why}", "lost")
            continue
        read = Report()
        with pool, log.stage("read", share=read.share) as progress:
            take_in(catalogue, path, record, IntakeCounts(), read, pool, progress)


def _repair(archive: IndexWriter, repairs: list[Repair], report: CheckReport, options: BuildOptions) -> None:
    """Recomputes what is missing or damaged, and removes what is superfluous."""
    try:  # before anything is deleted
        _ = archive.system, archive.work if archive.has_graphs else None
    except MathAMRError as error:
        raise MathAMRError(f"{error}; until then nothing of the index is changed") from error
    for repair in repairs:
        repair(archive)
    reset_outdated(archive)
    with BuildPool(options.workers) as pool:
        archive.update_parts(pool=pool, log=BuildLog(show=options.show_progress))
    archive.update_manifest()
    for problem in report.problems:
        if problem.outcome == "found":
            problem.outcome = "mended"
    left = CheckReport(archive.folder)
    inspect(archive, left)
    report.problems += left.problems


AT_A_TIME = 1024
_ROWS = "SELECT id, input, digest, post, deleted FROM posts NOT INDEXED WHERE number BETWEEN ? AND ?"


def salvage(path: Path) -> Iterator[tuple[Post, str]]:
    """(post, input) of every intact post of a catalogue."""
    try:
        connection = connect(path, read_only=True)
    except MathAMRError:
        return
    # Bytes that are not UTF-8 must not hide a row that is otherwise intact.
    connection.text_factory = lambda content: content.decode("utf-8", "replace")
    try:
        foreign = foreign_parts(connection, SCHEMA)
        if "posts" in foreign:
            return  # a column that is computed may cost anything
        for start in range(1, _highest(connection, foreign) + 1, AT_A_TIME):
            for row in _between(connection, start, start + AT_A_TIME - 1):
                found = _intact(*row)
                if found is not None:
                    yield found
    finally:
        connection.close()


def _highest(connection: SqliteConnection, foreign: Sequence[str]) -> int:
    """Return the highest number that a post may have, from the tables that can still be read."""
    highest = 0
    for table, sql in (
        ("posts", "SELECT max(number) FROM posts"),
        ("sqlite_sequence", "SELECT seq FROM sqlite_sequence WHERE name = 'posts'"),
        ("formulas", "SELECT max(post) FROM formulas"),
        ("tags", "SELECT max(post) FROM tags"),
    ):
        if table in foreign:
            continue
        try:
            found = connection.execute(sql).fetchone()
        except MathAMRError:
            continue
        if found and isinstance(found[0], int) and 0 < found[0] < 1 << 40:
            highest = max(highest, found[0])
    return highest


def _between(connection: SqliteConnection, first: int, last: int) -> Iterator[Any]:
    waiting = [(first, last)]
    while waiting:
        low, high = waiting.pop()
        try:
            yield from connection.execute(_ROWS, (low, high)).fetchall()
        except MathAMRError:
            if low < high:
                middle = (low + high) // 2
                waiting += [(middle + 1, high), (low, middle)]


def _intact(post_id: Any, source: Any, digest: Any, blob: Any, deleted: Any) -> tuple[Post, str] | None:
    try:
        post = unpacked(blob)
    except MathAMRError:
        return None
    is_whole = not deleted and post.id == post_id and digest_of(post) == digest
    return (post, str(source)) if is_whole else None
