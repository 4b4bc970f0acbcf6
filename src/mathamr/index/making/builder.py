"""`build_index`: from files of posts to an index directory, or from an index to one that follows its files again."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from mathamr.amr.parser import PARSERS, recorded_parser, vouch_for_parser
from mathamr.errors import MathAMRError
from mathamr.index.archive import GRAPHS, LEXICAL, VECTORS, check_model, check_parser
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.engines.engine import DEFAULT
from mathamr.index.making.crew import Crew
from mathamr.index.making.intake import IntakeCounts, forget, input_record, take_in
from mathamr.index.making.inventory import size_on_disk, take_stock
from mathamr.index.making.parts import prepare_parts
from mathamr.index.making.stages import Account
from mathamr.index.making.writer import ArchiveWriter
from mathamr.index.manifest import (
    MANIFEST,
    EngineRecord,
    InputRecord,
    Manifest,
    ModelRecord,
    ParserRecord,
)
from mathamr.index.storage.lock import LOCK, WriterLock
from mathamr.index.storage.plainfiles import check_plain, sweep
from mathamr.posts.report import Report
from mathamr.systems.mathamrplus.postencoder import PostEncoder, load_post_encoder
from mathamr.systems.modelfolder import model_folder

MANY = 1000
"""After so many new points the engine is prepared for search at the end of a build."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How an index is built; what is `None` stays as it is in an index that exists.

    `rebuild` lets another model, engine or AMR parser take over an index: what depends on it is made anew.
    """

    model: Path | None = None
    engine: str | None = None
    engine_options: Mapping[str, Any] | None = None
    parser: str | None = None
    parser_model: str | None = None
    format: str | None = None
    beside: tuple[Path, ...] = ()
    workers: int = 1
    device: str = "auto"
    rebuild: bool = False
    show_progress: bool = False


@dataclass(slots=True)
class BuildSummary:
    """What a build did, for people and machines."""

    folder: Path
    manifest: Manifest
    intake: IntakeCounts
    account: Account
    seconds: float
    sizes: dict[str, int] = field(default_factory=dict)
    memory: int = 0

    @property
    def posts_per_second(self) -> float:
        """New and changed posts a second, over all stages."""
        return (self.intake.new + self.intake.changed) / max(self.seconds, 1e-9)

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        intake = self.intake
        return {
            "index": str(self.folder),
            "model": asdict(self.manifest.model),
            "engine": asdict(self.manifest.engine),
            "counts": self.manifest.counts,
            "posts": {
                name: getattr(intake, name)
                for name in ("new", "changed", "unchanged", "deleted", "held_back", "others")
            },
            "seconds": round(self.seconds, 3),
            "seconds_by_stage": {stage: round(value, 3) for stage, value in self.account.seconds.items()},
            "posts_by_stage": dict(self.account.posts),
            "posts_per_second": round(self.posts_per_second, 2),
            "peak_memory_bytes": self.memory,
            "bytes": self.sizes,
            "fallbacks": dict(self.account.fallbacks.most_common()),
            "reading": {path: report.to_dict() for path, report in intake.reports.items()},
        }


def build_index(
    paths: Sequence[Path], out: Path, options: BuildOptions | None = None, *, without: Sequence[Path] = ()
) -> BuildSummary:
    """Builds the index of all posts in these files and folders, or brings an existing one up to date with them.

    Killed at any moment, the same call finishes it. Posts of other inputs stay as they are; those of `without` go.
    Without any path, what was left undone is finished.
    """
    options = options or BuildOptions()
    started = time.perf_counter()
    inputs = [(path, input_record(path, options.format, options.beside)) for path in paths]
    out = out.expanduser()
    account, counts = Account(show=options.show_progress), IntakeCounts()
    with _opened(out, options, bool(inputs)) as archive, Crew(options.workers) as crew:
        for path, record in inputs:
            report = Report()
            with account.stage("read", share=report.share) as progress:
                take_in(archive.catalogue, path, record, counts, report, crew, progress)
        for path in without:
            counts.deleted += forget(archive.catalogue, _remembered(path, archive.manifest))
        archive.settle(crew=crew, account=account)
        if account.posts["vectors"] >= MANY:
            with account.stage("optimize", "collections"):
                archive.engine.optimize()
                archive.engine.flush()
        _remember(archive, [record for _, record in inputs])
        sizes = {name: size_on_disk(archive.folder / name) for name in (CATALOGUE, GRAPHS, VECTORS, LEXICAL)}
        return BuildSummary(
            out, archive.manifest, counts, account, time.perf_counter() - started, sizes, peak_memory()
        )


def _opened(out: Path, options: BuildOptions, has_inputs: bool) -> ArchiveWriter:
    """The index in the folder, open for writing, with the model, engine and parser that the options ask for."""
    if not (out / MANIFEST).exists():
        if not has_inputs:
            raise MathAMRError(f"{out} is no index; give the posts to index: mathamr index PATH --out {out}")
        _check_free(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MathAMRError(f"cannot make the index directory {out}: {error.strerror}") from error
    check_plain(out)
    lock = WriterLock(out, "mathamr index")
    try:
        sweep(out)
        before = Manifest.read(out) if (out / MANIFEST).exists() else None
        model = options.model or (Path(before.model.folder) if before and before.model.folder else None)
        encoder = load_post_encoder(model_folder(model), options.device)
        manifest = _wanted(before, encoder, model, options)
        if before is not None and not options.rebuild:
            check_model(before, encoder, out)
            check_parser(before, manifest.parser.fingerprint, out)
            _check_engine(before, manifest, out)
        catalogue = Catalogue(out / CATALOGUE, create=True)
    except BaseException:
        lock.release()
        raise
    archive = ArchiveWriter(out, manifest, catalogue, lock, device=options.device, model=model)
    try:
        if before is None or manifest != before:
            archive.manifest = manifest.write(out)
        archive.use_encoder(encoder)
        prepare_parts(archive)
    except BaseException:
        archive.close()
        raise
    return archive


def _wanted(
    before: Manifest | None, encoder: PostEncoder, model: Path | None, options: BuildOptions
) -> Manifest:
    """The manifest as the options want it, not finished if anything has to be made anew."""
    recorded = before.parser if before else None
    parser_name = options.parser or (recorded.name if recorded else "builtin")
    parser_model = options.parser_model or (recorded.model if recorded and not options.parser else None)
    if options.parser or (options.parser_model and parser_name in PARSERS):
        vouch_for_parser(parser_name, parser_model)
    fingerprint = recorded_parser(parser_name, parser_model, "the index").fingerprint
    parser = ParserRecord(parser_name, fingerprint, parser_model)
    folder = None if model is None else str(model.expanduser().resolve())
    record = ModelRecord(encoder.name, encoder.fingerprint, encoder.size, folder)
    engine = before.engine if before else EngineRecord(DEFAULT)
    if options.engine is not None and options.engine != engine.name:
        engine = EngineRecord(options.engine)
    if options.engine_options is not None:
        engine = replace(engine, options=dict(options.engine_options))
    if before is None:
        return Manifest(record, encoder.graphs, parser, engine)
    same = (
        record.fingerprint == before.model.fingerprint
        and parser.fingerprint == before.parser.fingerprint
        and engine == before.engine
    )
    return replace(
        before,
        model=record,
        graphs=encoder.graphs,
        parser=parser,
        engine=engine,
        finished=before.finished and same,
    )


def _check_engine(before: Manifest, wanted: Manifest, out: Path) -> None:
    if wanted.engine != before.engine:
        raise MathAMRError(
            f"the index {out} keeps its vectors in the engine {before.engine.name!r} {before.engine.options or ''}, not in"
            f" {wanted.engine.name!r} {wanted.engine.options or ''}; leave --engine out, or move it with --rebuild"
        )


def _check_free(out: Path) -> None:
    """Refuses a folder with anything in it that is not the start of an index."""
    own = (LOCK, CATALOGUE, GRAPHS, VECTORS, LEXICAL, MANIFEST)
    if out.exists() and not out.is_dir():
        raise MathAMRError(f"{out} is a file; name a folder for the index")
    try:
        names = sorted(entry.name for entry in out.iterdir()) if out.exists() else []
    except OSError as error:
        raise MathAMRError(f"cannot read {out}: {error.strerror}") from error
    strangers = [name for name in names if not name.startswith(own)]
    if strangers:
        raise MathAMRError(
            f"{out} is no index and not empty (it has {strangers[0]!r}); name a new or an empty folder"
        )


def _remembered(path: Path, manifest: Manifest) -> InputRecord:
    """The input of that path, which need not exist any more."""
    name = os.fsencode(path.expanduser().resolve()).decode("utf-8", "replace")
    for record in manifest.inputs:
        if record.path in (name, str(path)):
            return record
    known = ", ".join(record.path for record in manifest.inputs)
    raise MathAMRError(f"no posts of the index came from {path}; its inputs: {known or 'none'}")


def _remember(archive: ArchiveWriter, inputs: Sequence[InputRecord]) -> None:
    """Writes the manifest of an index all of whose parts follow its posts."""
    counted = archive.catalogue.inputs()
    records = {record.path: record for record in archive.manifest.inputs} | {
        record.path: record for record in inputs
    }
    kept = tuple(record for path, record in records.items() if counted[path] or record in inputs)
    take_stock(archive, replace(archive.manifest, inputs=kept))


def peak_memory() -> int:
    """The most memory this process ever had, and the largest of its children; in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * sum(
        resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
