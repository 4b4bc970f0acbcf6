"""`mathamr index`: build, update, check or repair an index."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from mathamr.cli.inputoptions import Beside, Exclude, Format, NoGitignore, exclusion
from mathamr.cli.options import Device, Workers
from mathamr.core.errors import MathAMRError
from mathamr.core.interruption import keeping
from mathamr.core.terminal import visible
from mathamr.index.location import index_beside, is_index
from mathamr.posts.ignorerules import HIDDEN_RULE

if TYPE_CHECKING:
    from mathamr.index.admin.inspection import CheckReport
    from mathamr.index.indexing.builder import BuildSummary
    from mathamr.index.indexing.buildpool import ClusterOptions
    from mathamr.index.indexing.intake import IntakeCounts


def command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files or folders of posts, or - for standard input.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The index directory; an existing one is updated.",
            show_default="PATH.index, beside the only PATH",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="The model, by its name (mathamr models lists them) or its folder; st:NAME, pylate:NAME or"
            " http://HOST#NAME for an encoder of other people; by default that of the index, or the default model."
        ),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch an encoder (st:, pylate:) that is not on this machine.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(help="Where vectors are stored: flat, postgres or qdrant.", show_default=False),
    ] = None,
    engine_option: Annotated[
        list[str] | None, typer.Option(help="An option of the engine, as NAME=VALUE. Repeatable.")
    ] = None,
    workers: Workers = None,
    format: Format = None,
    beside: Beside = None,
    exclude: Exclude = None,
    no_gitignore: NoGitignore = False,
    device: Device = "auto",
    parser: Annotated[
        str | None, typer.Option(help="AMR parser: builtin or amrlib.", show_default=False)
    ] = None,
    parser_model: Annotated[str | None, typer.Option(help="Model of the AMR parser.")] = None,
    dependencies: Annotated[
        bool,
        typer.Option(
            "--dependencies/--no-dependencies",
            help="Of a Lean project: whether to index the packages of its lake-manifest.json too.",
        ),
    ] = True,
    describe: Annotated[
        str | None,
        typer.Option(
            help="Ask a program (a theorem on its standard input, a sentence on its standard output) or a server of chats"
            " (http://HOST/v1#MODEL) what each theorem and declaration says, and find them by it; known answers are kept.",
            metavar="COMMAND|URL",
            show_default=False,
        ),
    ] = None,
    without: Annotated[
        list[Path] | None, typer.Option(help="Remove the posts of this input from the index. Repeatable.")
    ] = None,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Allow another model, engine or AMR parser for an existing index."),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Verify the index, repair what can be derived, and report what is lost."
        ),
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair/--no-repair", help="With --check: whether to repair what is wrong.")
    ] = True,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Then watch the inputs: update the index whenever a file changes, until Ctrl-C."
        ),
    ] = False,
    ray: Annotated[
        str | None,
        typer.Option(
            help="Build on a Ray cluster: local, auto, or the address of its head, as HOST:PORT.",
            metavar="ADDRESS",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Print times, memory and sizes, and every cause of skipping a file."
        ),
    ] = False,
) -> None:
    """Build an index of posts; run it again to update it, or to resume after an interruption.

    Without a path, the inputs that the index knows are read again.
    """
    from mathamr.core.workers import processors
    from mathamr.index.indexing.builder import BuildOptions, build_index
    from mathamr.systems.encoders.source import SERVER, EncoderSource

    if check and out is None and paths and len(paths) == 1:
        out, paths = paths[0], None
    if out is None and paths and len(paths) == 1 and str(paths[0]) != "-":
        if is_index(paths[0]):
            out, paths = paths[0], None
        else:
            out = index_beside(paths[0])
    if out is None:
        raise typer.BadParameter("name the index directory with --out")
    if check and ray is not None:
        raise typer.BadParameter("--check runs on this machine alone: leave --ray out")
    if check and (
        paths
        or watch
        or without
        or verbose
        or describe
        or exclude is not None
        or no_gitignore
        or not dependencies
    ):
        raise typer.BadParameter(
            "--check reads no input: leave paths, --watch, --without, --verbose, --describe, --exclude and --no-dependencies"
            " out"
        )
    if not check and not repair:
        raise typer.BadParameter("--no-repair belongs to --check")
    if download:
        source = EncoderSource.parse(model or "")
        if source is None or source.system == SERVER:
            raise typer.BadParameter("--download belongs to --model st:NAME or pylate:NAME")
        source.files(download=True)
    options = BuildOptions(
        model=model,
        engine=engine,
        engine_options=None if engine_option is None else _options(engine_option),
        parser=parser,
        parser_model=parser_model,
        format=format,
        beside=tuple(beside or ()),
        exclude=exclusion(exclude, paths or (), no_gitignore=no_gitignore),
        workers=workers or processors(),
        device=device,
        rebuild=rebuild,
        describe=describe,
        show_progress=True,
        cluster=_cluster(ray, workers, device),
    )
    if check:
        from mathamr.index.admin.check import check_index

        report = check_index(out, options, repair=repair)
        _show_check(report, as_json=as_json)
        if not report.sound:
            raise typer.Exit(1)
        return
    inputs = _with_packages(paths or [], out) if dependencies and format in (None, "lean") else paths or []
    with keeping(lambda: _kept(out)):
        summary = build_index(inputs, out, options, without=without or (), again=True)
    _print(summary, as_json=as_json, verbose=verbose)
    if watch:
        from mathamr.index.indexing.watching import changes

        names = ", ".join(record.path for record in summary.manifest.inputs)
        print(f"watching {visible(names)}; Ctrl-C stops", file=sys.stderr, flush=True)
        again = replace(options, exclude=None)  # each input keeps its own patterns
        for changed in changes(summary.manifest.inputs, out):
            print(f"changed: {visible(', '.join(changed))}", file=sys.stderr, flush=True)
            try:
                _print(build_index([], out, again, again=True), as_json=as_json, verbose=verbose)
            except MathAMRError as error:  # such as an input that is away: the next change may bring it back
                print(visible(f"mathamr: {error}; still watching"), file=sys.stderr, flush=True)


def _kept(out: Path) -> str:
    """Return what an index that was stopped while it was built or updated keeps."""
    from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue

    try:
        with Catalogue(out / CATALOGUE) as catalogue:
            entries, waiting = len(catalogue), catalogue.count_pending("vectors")
    except MathAMRError:
        entries = waiting = 0
    if not entries:
        return f"nothing is kept in {out} yet"
    rest = f", {waiting:,} of them without vectors" if waiting else ""
    return f"{out} keeps {_counted(entries, 'entry', 'entries')}{rest}; the same command goes on from there"


def _with_packages(paths: list[Path], out: Path) -> list[Path]:
    """Return the inputs and the packages of those that are Lean projects.

    Packages are read once: those at a fixed revision are left as they are while the index is newer than the project's
    manifest, which every change of a revision writes again.
    """
    from mathamr.index.manifest import MANIFEST, Manifest
    from mathamr.posts.formats.lean.lake import MANIFEST as LAKE_MANIFEST
    from mathamr.posts.formats.lean.lake import lake_packages

    built = out / MANIFEST
    known = {record.path for record in Manifest.read(out).inputs} if built.is_file() else set[str]()
    found = list(paths)
    for path in paths:
        for package in lake_packages(path):
            is_known = str(package.folder.resolve()) in known
            is_newer = is_known and built.stat().st_mtime > (path / LAKE_MANIFEST).stat().st_mtime
            if not (package.is_fixed and is_newer):
                found.append(package.folder)
                print(visible(f"{path.name} depends on {package.name}: {package.folder}"), file=sys.stderr)
    return list(dict.fromkeys(found))


def _cluster(address: str | None, workers: int | None, device: str) -> ClusterOptions | None:
    """Return the cluster options of `--ray`."""
    if address is None:
        return None
    from mathamr.index.indexing.buildpool import ClusterOptions

    return ClusterOptions(address=address, workers=workers, device=device)


def _print(summary: BuildSummary, *, as_json: bool, verbose: bool) -> None:
    if as_json:
        print(json.dumps(summary.to_json(), ensure_ascii=False, indent=2), flush=True)
    elif verbose:
        _show(summary)
    else:
        show_briefly(summary)


def show_briefly(summary: BuildSummary, stream: TextIO | None = None) -> None:
    """Print one line on what was indexed, to `stream` or standard output, and one on what was left out, to standard error."""
    from mathamr.core.progress import duration

    counts = summary.manifest.counts
    line = (
        f"{summary.folder}: {_counted(counts['posts'], 'entry', 'entries')} with"
        f" {_counted(counts['formulas'], 'formula', 'formulas')} ({changes(summary)}), {duration(summary.seconds)}"
    )
    print(visible(line), file=stream, flush=True)
    if said := _descriptions(summary):
        print(visible(said), file=sys.stderr)
    left_out = Counter[str]()
    for report in summary.intake.reports.values():
        left_out += report.ignored + report.skipped + report.missing
        left_out += Counter({rule: count for rule, count in report.excluded.items() if rule != HIDDEN_RULE})
    if left_out:
        causes = ", ".join(f"{count:,} × {cause}" for cause, count in left_out.most_common(3))
        more = ", …" if len(left_out) > 3 else ""
        print(visible(f"left out: {causes}{more}; -v tells more"), file=sys.stderr)
    if unknown := _unknown_commands(summary):
        print(visible(unknown), file=sys.stderr)
    if (intake := summary.intake).held_back:
        print(visible(_held_back(intake)), file=sys.stderr)


def _descriptions(summary: BuildSummary) -> str:
    """Return the sentence on what was described by a program, or has no description; empty if nothing is to be said."""
    counts = summary.descriptions
    if counts is None:
        missing = summary.intake.undescribed
        entries = _counted(missing, "entry that was read has", "entries that were read have")
        return f"{entries} no description: --describe asks for it" if missing else ""
    told = _told(
        (counts.asked, "asked about now"),
        (counts.kept, "known"),
        (counts.empty, "without an answer"),
        (counts.failed, "failed"),
        (counts.left, "left after failures"),
    )
    why = f" ({counts.failure})" if counts.failure else ""
    return f"described by {counts.by}: {told or 'nothing to describe'}{why}"


def _unknown_commands(summary: BuildSummary) -> str:
    """Return the sentence on formulas with commands that nothing explains; empty if there are none."""
    commands = Counter[str]()
    formulas = 0
    for report in summary.intake.reports.values():
        commands += report.unknown
        formulas += report.tallies["formulas with unknown commands"]
    shown = ", ".join(f"{name} ({count:,})" for name, count in commands.most_common(3))
    more = ", …" if len(commands) > 3 else ""
    return (
        f"unknown commands in {_counted(formulas, 'formula', 'formulas')}: {shown}{more}; -v tells more"
        if commands
        else ""
    )


def _options(pairs: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for each in pairs:
        name, sign, value = each.partition("=")
        if not sign or not name:
            raise typer.BadParameter(f"--engine-option {each!r}: write it as NAME=VALUE")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def _show(summary: BuildSummary) -> None:
    from rich.table import Table

    from mathamr.cli.safeconsole import SafeConsole
    from mathamr.core.progress import duration

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_column(justify="left")
    counts, intake = summary.manifest.counts, summary.intake
    table.add_row("entries", f"{counts['posts']:,}", changes(summary))
    table.add_row("formulas", f"{counts['formulas']:,}", f"{counts['visual_classes']:,} visual classes")
    reports = intake.reports.values()
    if left_out := sum(report.words_left_out for report in reports):
        read = sum(report.words_read for report in reports)
        table.add_row("left out", f"{left_out:,}", f"of {read:,} words read are in no entry")
    for stage, seconds in summary.log.seconds.items():
        done = summary.log.posts[stage]
        rate = f"{done / seconds:,.1f} posts/s" if done and seconds else ""
        table.add_row(stage, duration(seconds), rate)
    made = intake.new + intake.changed
    table.add_row(
        "all", duration(summary.seconds), f"{summary.posts_per_second:,.1f} posts/s" if made else ""
    )
    table.add_row(
        "memory", f"{summary.memory / 2**20:,.0f} MiB", "peak of this process and its largest worker"
    )
    parts = ", ".join(f"{name} {size / 2**20:,.1f}" for name, size in summary.sizes.items())
    table.add_row("on disk", f"{sum(summary.sizes.values()) / 2**20:,.1f} MiB", parts)
    if (cluster := summary.cluster) is not None:
        lost = f", {cluster.lost_workers} workers lost" if cluster.lost_workers else ""
        table.add_row("cluster", f"{cluster.made:,}", f"portions on {len(cluster.nodes)} machines{lost}")
    SafeConsole().print(table)
    notes = SafeConsole(stderr=True)
    if said := _descriptions(summary):
        notes.print(said, highlight=False, markup=False)
    for path, report in intake.reports.items():
        for line in report.lines():
            notes.print(f"{path}: {line}", highlight=False, markup=False)
    for cause, count in summary.log.fallbacks.most_common():
        notes.print(f"{count:,} × {cause}", highlight=False, markup=False)
    if intake.held_back:
        notes.print(_held_back(intake), highlight=False, markup=False)


def _held_back(intake: IntakeCounts) -> str:
    """Return the sentence on the entries whose files can no longer be read whole."""
    entries = _counted(intake.held_back, "entry stays", "entries stay")
    files = _counted(len(intake.held_files), "file that", "files that")
    example = f" ({intake.held_files[0]})" if intake.held_files else ""
    return (
        f"{entries} as before, from {files} can no longer be read whole{example}; repair the file, or delete it to delete"
        " its entries"
    )


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _told(*counts: tuple[int, str]) -> str:
    """Return the counts that are not zero, each with what it counts."""
    return ", ".join(f"{count:,} {what}" for count, what in counts if count)


def changes(summary: BuildSummary) -> str:
    """Return what became of the posts of the inputs: `3 new, 1 deleted`."""
    intake = summary.intake
    told = _told(
        (intake.new, "new"),
        (intake.changed, "changed"),
        (intake.deleted, "deleted"),
        (intake.unchanged, "unchanged"),
        (intake.others, "left to the input that brought them first"),
    )
    return told or "nothing to do"


def _show_check(report: CheckReport, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
        return
    for line in report.lines():
        print(visible(line))
