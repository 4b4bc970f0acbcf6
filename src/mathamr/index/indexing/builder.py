"""`build_index`: builds an index directory from files of posts, or brings an existing one up to date with its files."""

from __future__ import annotations

import logging
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from mathamr.amr.parser import PARSERS, recorded_parser, vouch_for_parser
from mathamr.core.errors import MathAMRError
from mathamr.core.settings import FOLDER_FILE, MODEL, folder_settings
from mathamr.core.storage.plainfiles import check_plain, sweep
from mathamr.core.storage.writerlock import LOCK, WriterLock
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.catalogue.postrow import storable
from mathamr.index.chosenmodel import check_model, chosen_model
from mathamr.index.descriptions import DESCRIPTIONS, known_descriptions
from mathamr.index.engines.engine import DEFAULT, check_engine
from mathamr.index.freshness import remember_reading
from mathamr.index.indexing.buildlog import BuildLog
from mathamr.index.indexing.buildpool import CLUSTERS, FEW, BuildPool, ClusterCounts, ClusterOptions
from mathamr.index.indexing.describing import DescriptionCounts, describe_index, describer
from mathamr.index.indexing.fingerprints import Fingerprints
from mathamr.index.indexing.intake import IntakeCounts, forget, input_name, input_record, take_in
from mathamr.index.indexing.outdated import reset_other_keys, reset_outdated, reset_vectors
from mathamr.index.indexing.stages import WordWriter
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.location import place_warning
from mathamr.index.manifest import (
    MANIFEST,
    EngineRecord,
    InputRecord,
    Manifest,
    ModelRecord,
    ParserRecord,
    build_time,
)
from mathamr.index.sources import SOURCES
from mathamr.index.storage import (
    GRAPHS,
    LEXICAL,
    VECTORS,
    check_parser,
    needs_graphs,
    size_on_disk,
)
from mathamr.posts.ignorerules import NO_GITIGNORE
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.models import (
    boxed,
    boxed_folder,
    default_rankings,
    is_encoder,
    load_system,
    model_folder,
    system_of,
)
from mathamr.systems.system import SYSTEMS, System
from mathamr.text.backend import chosen_backend, index_backend

LOG = logging.getLogger("mathamr.index")
MANY = 1000
"""Number of new entries after which the engine is optimised for search; it also is after a first build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """The options of a build; `None` keeps the value of an existing index.

    `model` is a folder or the name of a built-in model. `rebuild` allows another model, engine or AMR parser for an existing
    index: everything that depends on it is computed again.
    """

    model: Path | str | None = None
    engine: str | None = None
    engine_options: Mapping[str, Any] | None = None
    parser: str | None = None
    parser_model: str | None = None
    format: str | None = None
    beside: tuple[Path, ...] = ()
    exclude: tuple[str, ...] | None = None
    """Patterns of files that are left out, in the syntax of `.gitignore`; they replace those of known inputs."""
    workers: int = 1
    device: str = "auto"
    rebuild: bool = False
    show_progress: bool = False
    describe: str | None = None
    """The program or server that is asked what theorems and declarations say; what is known of them stays without it."""
    cluster: ClusterOptions | None = None
    """The cluster that does the work, or None for this machine alone."""


@dataclass(slots=True, kw_only=True)
class BuildSummary:
    """The results of a build."""

    folder: Path
    manifest: Manifest
    intake: IntakeCounts
    log: BuildLog
    seconds: float
    sizes: dict[str, int] = field(default_factory=dict)
    memory: int = 0
    cluster: ClusterCounts | None = None
    descriptions: DescriptionCounts | None = None

    @property
    def posts_per_second(self) -> float:
        """New and changed posts per second, over all stages."""
        return (self.intake.new + self.intake.changed) / max(self.seconds, 1e-9)

    def to_json(self) -> dict[str, Any]:
        """Return the report for `--json`."""
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
            "seconds_by_stage": {stage: round(value, 3) for stage, value in self.log.seconds.items()},
            "posts_by_stage": dict(self.log.posts),
            "posts_per_second": round(self.posts_per_second, 2),
            "peak_memory_bytes": self.memory,
            "bytes": self.sizes,
            "fallbacks": dict(self.log.fallbacks.most_common()),
            **({} if self.cluster is None else {"cluster": asdict(self.cluster)}),
            **({} if self.descriptions is None else {"descriptions": asdict(self.descriptions)}),
            "reading": {path: report.to_dict() for path, report in intake.reports.items()},
        }


def build_index(
    paths: Sequence[Path],
    out: Path,
    options: BuildOptions | None = None,
    *,
    without: Sequence[Path] = (),
    again: bool = False,
    pool: BuildPool | None = None,
) -> BuildSummary:
    """Build the index of all posts in these files and folders, or bring an existing one up to date with them.

    If it is killed, the same call finishes the work. Posts of other inputs stay as they are; those of `without` are deleted.
    Without any path, it finishes an interrupted build; with `again` it reads the known inputs again, as far as they still
    exist. `pool` replaces the worker pool that the options select.
    """
    options = options or BuildOptions()
    started, read_at = time.perf_counter(), int(build_time().timestamp() * 1e9)
    out = out.expanduser()
    asked = describer(options.describe) if options.describe else None
    inputs = [(path, input_record(path, options.format, options.beside)) for path in paths]
    if again and not inputs:
        inputs = [(Path(record.path), record) for record in known_inputs(out)]
    inputs = _with_exclusions(inputs, out, options.exclude)
    if not (out / MANIFEST).exists():
        for path, record in inputs:  # an input without posts raises an error before a folder is created
            read_posts(path, Report(), record.format, options.beside, record.exclude)
    log, counts = BuildLog(show=options.show_progress), IntakeCounts()
    with pool or _pool(options) as pool, _opened(out, options, [path for path, _ in inputs]) as archive:
        words = WordWriter(archive, log)
        log.plan(archive.needs, {each.of for each in archive.manifest.model.fields})
        order = _in_order(archive.manifest.inputs, [record for _, record in inputs], without)
        for place, (path, record) in enumerate(inputs):
            report = Report()
            with (
                log.stage("read", share=report.share, of=(place, len(inputs))) as progress,
                known_descriptions(out) as known,
            ):
                earlier = order[: [each.path for each in order].index(record.path)]
                take_in(
                    archive.catalogue, path, record, counts, report, pool, progress, words, earlier, known
                )
        for path in without:
            counts.deleted += forget(archive.catalogue, _remembered(path, archive.manifest))
        described = None
        if asked is not None:
            with log.stage("describe") as progress:
                described = describe_index(archive, asked, progress)
        archive.encodes_few = archive.catalogue.count_vectors_waiting() <= FEW
        archive.update_parts(pool=pool, log=log)
        with log.stage("optimize", "fields"):
            if not archive.manifest.finished or log.posts["lexical"] >= MANY:
                archive.lexical.optimize()
            if not archive.manifest.finished or log.posts["vectors"] + log.posts["visual"] >= MANY:
                archive.engine.optimize()
                archive.engine.flush()
        remember_reading(archive.catalogue, [record for _, record in inputs], read_at)
        _remember(archive, [record for _, record in inputs])
        Fingerprints(archive.catalogue, archive.needs).remember_formats(record.path for _, record in inputs)
        sizes = {name: size_on_disk(archive.folder / name) for name in (CATALOGUE, GRAPHS, VECTORS, LEXICAL)}
        return BuildSummary(
            folder=out,
            manifest=archive.manifest,
            intake=counts,
            log=log,
            seconds=time.perf_counter() - started,
            sizes=sizes,
            memory=peak_memory(),
            cluster=pool.cluster_counts,
            descriptions=described,
        )


def _pool(options: BuildOptions) -> BuildPool:
    """Return the workers of a build: processes of this machine, or a cluster."""
    if options.cluster is None:
        return BuildPool(options.workers)
    make: Callable[[ClusterOptions], BuildPool] = CLUSTERS[options.cluster.name]
    return make(options.cluster)


def _in_order(
    known: Sequence[InputRecord], now: Sequence[InputRecord], without: Sequence[Path]
) -> list[InputRecord]:
    """Return all inputs in the order in which the index got them, those of this build as they are given now."""
    gone = {input_name(path) for path in without}
    records = {record.path: record for record in known if record.path not in gone}
    return list((records | {record.path: record for record in now}).values())


def known_inputs(out: Path) -> list[InputRecord]:
    """Return the inputs of an index that still exist; none if there is no index of the current format."""
    if not (out / MANIFEST).exists():
        return []
    check_plain(out)
    return [record for record in Manifest.read(out).inputs if Path(record.path).exists()]


def _with_exclusions(
    inputs: Sequence[tuple[Path, InputRecord]], out: Path, exclude: tuple[str, ...] | None
) -> list[tuple[Path, InputRecord]]:
    """Return the inputs with their patterns of excluded files: these, or where there are none, those that the index remembers.

    `--no-gitignore` alone is added to the latter.
    """
    known = {record.path: record.exclude for record in known_inputs(out)}
    adds = exclude in (None, (NO_GITIGNORE,))
    return [
        (
            path,
            replace(
                record,
                exclude=tuple(
                    dict.fromkeys([*(known.get(record.path, ()) if adds else ()), *(exclude or ())])
                ),
            ),
        )
        for path, record in inputs
    ]


def _default_model(inputs: Sequence[Path]) -> str | None:
    """Return the model that the environment, the settings of the notes or of the user name for a new index."""
    for path in () if MODEL.name in os.environ else inputs:
        folder = path if path.is_dir() else path.parent
        if named := folder_settings(folder).get(MODEL.key):
            if boxed_folder(named) is None:
                raise MathAMRError(
                    f"{folder / FOLDER_FILE} names the model {named!r}; notes may come from anybody and choose only among"
                    f" the installed models ({', '.join(boxed())}); name another with --model"
                )
            return named
    return MODEL.value or None


def _opened(out: Path, options: BuildOptions, inputs: Sequence[Path]) -> IndexWriter:
    """Open the index in the folder for writing, with the model, engine and parser that the options select."""
    if not (out / MANIFEST).exists():
        if not inputs:
            raise MathAMRError(f"{out} is not an index; create one with: mathamr index PATH --out {out}")
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
        model = options.model
        if before is None and model is None:
            model = _default_model(inputs)
        if before is not None and not (options.rebuild and model):
            model = chosen_model(before.model, model)
        if before is None or options.rebuild:
            backend = chosen_backend(options.device)
        else:
            backend = index_backend(before.model.text_backend, out, read_only=False)
        folder = model_folder(model)
        known = before is not None and system_of(folder).fingerprint_of(folder) == before.model.fingerprint
        # The weights of a known model are loaded when there is something to encode.
        system = None if known else load_system(model, options.device, backend)
        manifest = _wanted(before, system, folder, backend, options)
        if before is not None and not options.rebuild:
            if system is not None:
                check_model(before, system, out)
            if before.parser is not None and manifest.parser is not None:
                check_parser(before, manifest.parser.fingerprint, out)
            _check_engine(before, manifest, out)
        check_engine(manifest.engine.name)
        catalogue = Catalogue(out / CATALOGUE, create=True)
        _warn_of_place(out, catalogue)
    except BaseException:
        lock.release()
        raise
    archive = IndexWriter(out, manifest, catalogue, lock, device=options.device, model=model)
    try:
        if before is not None and before.model.text_backend != manifest.model.text_backend:
            reset_vectors(archive)
        if before is None or manifest != before:
            with catalogue.transaction():
                catalogue.set_meta(SOURCES, "")  # another model may need other parts
            archive.manifest = manifest.write(out)
        if system is not None:
            archive.use_system(system)
        if options.rebuild and before is not None:
            reset_other_keys(archive)
        reset_outdated(archive)
    except BaseException:
        archive.close()
        raise
    return archive


def _wanted(
    before: Manifest | None, system: System | None, model: Path, text_backend: str, options: BuildOptions
) -> Manifest:
    """Return the manifest that the options require, marked as unfinished if anything must be computed again.

    Without a loaded system the model is the one of the index.
    """
    if system is None:
        assert before is not None
        known = before.model
    else:
        known = ModelRecord(
            name=system.name,
            system=system.kind,
            fingerprint=system.fingerprint,
            fields=system.fields,
            weights=before.model.weights if before and before.model.fingerprint == system.fingerprint else {},
        )
    is_boxed = model == boxed_folder(model.name)
    record = replace(
        known,
        name=model.name if is_boxed else known.name,
        folder=None if is_boxed or is_encoder(known.name) else str(model.expanduser().resolve()),
        text_backend=text_backend,
        default_rankings=default_rankings(model),
    )
    parser = _wanted_parser(before, options) if needs_graphs(SYSTEMS[record.system].needs) else None
    engine = before.engine if before else EngineRecord(DEFAULT)
    if options.engine is not None and options.engine != engine.name:
        engine = EngineRecord(options.engine)
    if options.engine_options is not None:
        engine = replace(engine, options=dict(options.engine_options))
    if before is None:
        return Manifest(model=record, engine=engine, parser=parser)
    same = (
        record.fingerprint == before.model.fingerprint
        and record.text_backend == before.model.text_backend
        and record.fields == before.model.fields
        and parser == before.parser
        and engine == before.engine
    )
    return replace(
        before,
        model=record,
        parser=parser,
        engine=engine,
        finished=before.finished and same,
    )


def _wanted_parser(before: Manifest | None, options: BuildOptions) -> ParserRecord:
    """Return the AMR parser that the options select, or that of the graphs; it is loaded to determine its fingerprint."""
    recorded = before.parser if before else None
    name = options.parser or (recorded.name if recorded else "builtin")
    model = options.parser_model or (recorded.model if recorded and not options.parser else None)
    if options.parser or (options.parser_model and name in PARSERS):
        vouch_for_parser(name, model)
    return ParserRecord(name, recorded_parser(name, model, "the index").fingerprint, model)


def _check_engine(before: Manifest, wanted: Manifest, out: Path) -> None:
    if wanted.engine != before.engine:
        raise MathAMRError(
            f"the index {out} keeps its vectors in the engine {before.engine.name!r} {before.engine.options or ''}, not in"
            f" {wanted.engine.name!r} {wanted.engine.options or ''}; omit --engine, or move it with --rebuild"
        )


def _warn_of_place(out: Path, catalogue: Catalogue) -> None:
    """Log what is wrong with the place of an index, once for each place."""
    place = storable(str(out.resolve()))
    if (warning := place_warning(out)) and catalogue.meta("warned of") != place:
        LOG.warning("%s", warning)
        with catalogue.transaction():
            catalogue.set_meta("warned of", place)


def _check_free(out: Path) -> None:
    """Raise an error for a folder with anything in it that is not the start of an index."""
    own = (LOCK, CATALOGUE, GRAPHS, VECTORS, LEXICAL, MANIFEST, DESCRIPTIONS)
    if out.exists() and not out.is_dir():
        raise MathAMRError(f"{out} is a file; name a folder for the index")
    try:
        names = sorted(entry.name for entry in out.iterdir()) if out.exists() else []
    except OSError as error:
        raise MathAMRError(f"cannot read {out}: {error.strerror}") from error
    foreign = [name for name in names if not name.startswith(own)]
    if foreign:
        raise MathAMRError(
            f"{out} is not an index and not empty (it has {foreign[0]!r}); name a new or an empty folder"
        )


def _remembered(path: Path, manifest: Manifest) -> InputRecord:
    """Return the record of an input by its path, which may no longer exist."""
    name = input_name(path.expanduser())
    for record in manifest.inputs:
        if record.path in (name, str(path)):
            return record
    known = ", ".join(record.path for record in manifest.inputs)
    raise MathAMRError(f"no posts of the index came from {path}; its inputs: {known or 'none'}")


def _remember(archive: IndexWriter, inputs: Sequence[InputRecord]) -> None:
    """Write the manifest of an index whose parts are all up to date."""
    counted = archive.catalogue.inputs()
    records = {record.path: record for record in archive.manifest.inputs} | {
        record.path: record for record in inputs
    }
    remaining = tuple(record for path, record in records.items() if counted[path] or record in inputs)
    now = archive.manifest
    if (now.finished, now.revision, now.inputs) != (True, archive.catalogue.revision, remaining):
        archive.update_manifest(replace(now, inputs=remaining))


def peak_memory() -> int:
    """Return the peak memory of this process and that of its largest child, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * sum(
        resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
