"""`check_index`: checks that the parts of an index are complete and consistent, and recomputes those that are not.

Graphs, vectors and lexical entries are derived from the catalogue and can always be recomputed. A damaged catalogue cannot.
"""

from __future__ import annotations

from pathlib import Path

from mathamr.amr.parser import check_recorded, vouch_for_parser
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.plainfiles import check_plain
from mathamr.core.storage.writerlock import WriterLock
from mathamr.index.admin.inspection import CheckReport, Repair, inspect
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.indexing.builder import BuildOptions
from mathamr.index.indexing.buildlog import BuildLog
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.outdated import reset_outdated
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.manifest import MANIFEST, Manifest, OutdatedFormatError
from mathamr.index.storage import IndexStorage


def check_index(
    folder: Path,
    options: BuildOptions | None = None,
    *,
    repair: bool = True,
) -> CheckReport:
    """Inspect every part of an index; with `repair`, recompute what can be recomputed and report what is lost.

    Of the options only the AMR parser (if it is not ours), the folder of the model (if it moved), the device, the number
    of workers and whether progress is shown are used. Without `repair` nothing is changed; with it, nothing is
    changed before everything that the repair needs is available. No input is read: a manifest may come from somebody else.
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
        catalogue = _catalogue(folder, manifest, report, repair=repair)
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


def _catalogue(folder: Path, manifest: Manifest, report: CheckReport, *, repair: bool) -> Catalogue | None:
    """Return the catalogue, or None if it is damaged; then the report says what to build the index from again."""
    try:
        catalogue = Catalogue(folder / CATALOGUE, read_only=not repair)
        words = catalogue.verify()
        if not words:
            return catalogue
        catalogue.close()
    except MathAMRError as error:
        words = [str(error)]
    report.add(CATALOGUE, f"cannot be read: {'; '.join(words)}", "lost")
    for record in manifest.inputs:
        report.add(CATALOGUE, f"restore a backup, or build a new index of {record.path}", "lost")
    if unfiled := manifest.counts.get("unfiled", 0):
        report.add(CATALOGUE, f"{unfiled:,} posts came from no file: only a backup has them", "lost")
    return None


def _repair(archive: IndexWriter, repairs: list[Repair], report: CheckReport, options: BuildOptions) -> None:
    """Recompute what is missing or damaged, and remove what is superfluous."""
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
    report.outdated = left.outdated
