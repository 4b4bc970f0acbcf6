"""Inspects every part of an index without changing anything: finds what is missing, superfluous, damaged or outdated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.writerlock import InUseError
from mathamr.graphs.maker import digest
from mathamr.graphs.store import GraphStore
from mathamr.index.catalogue.catalogue import CATALOGUE
from mathamr.index.catalogue.journal import STAGES, VISUAL_STAGES
from mathamr.index.engines.engine import ENGINES, Engine
from mathamr.index.indexing.encoding import parser_of
from mathamr.index.indexing.fingerprints import Fingerprints
from mathamr.index.indexing.formulakeys import posts_with_other_keys
from mathamr.index.indexing.outdated import reset_graphs, reset_lexical, reset_vectors
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.manifest import MANIFEST
from mathamr.index.storage import GRAPHS, LEXICAL, VECTORS, IndexStorage
from mathamr.systems.field import FieldTarget

EXAMPLES = 3
Outcome = Literal["found", "mended", "lost"]


@dataclass(slots=True)
class IndexProblem:
    """A problem of one part: its kind, the number of cases with examples, and whether it was repaired.

    A problem that is `lost` cannot be repaired from the remaining data.
    """

    part: str
    what: str
    count: int = 1
    examples: tuple[str, ...] = ()
    outcome: Outcome = "found"

    def __str__(self) -> str:
        counted = f"{self.count:,} {self.what}" if self.examples else self.what
        shown = f" (as {', '.join(self.examples)})" if self.examples else ""
        outcome = "repaired" if self.outcome == "mended" else self.outcome
        return f"{outcome}: {self.part}: {counted}{shown}"


@dataclass(slots=True)
class CheckReport:
    """The findings and repairs of a check."""

    folder: Path
    problems: list[IndexProblem] = field(default_factory=list)
    posts: int = 0
    formulas: int = 0
    kept: int = 0
    """Posts that are older than their file, which can no longer be read whole."""
    outdated: tuple[str, ...] = ()
    """Parts that this version would make otherwise; the next build makes them again."""

    @property
    def sound(self) -> bool:
        """True if no problem is left."""
        return all(problem.outcome == "mended" for problem in self.problems)

    def lines(self) -> list[str]:
        """Return the report as text: one line per problem, then the verdict."""
        verdict = "whole" if self.sound else "not whole"
        return [
            *map(str, self.problems),
            *self._remarks(),
            f"{self.folder} is {verdict}: {self.posts:,} posts, {self.formulas:,} formulas",
        ]

    def _remarks(self) -> Iterator[str]:
        """Yield what is no damage, but worth knowing."""
        if self.outdated:
            parts = ", ".join(self.outdated)
            yield f"made by another version, and made again by the next mathamr index --out {self.folder}: {parts}"
        if self.kept:
            why = "posts that are older than their files, which can no longer be read"
            yield f"{why}: {self.kept:,}; repair or delete the files"

    def to_json(self) -> dict[str, Any]:
        """Return the report for `--json`."""
        return {
            "index": str(self.folder),
            "sound": self.sound,
            "posts": self.posts,
            "formulas": self.formulas,
            "kept": self.kept,
            "outdated": list(self.outdated),
            "problems": [asdict(problem) for problem in self.problems],
        }

    def add(self, part: str, what: str, outcome: Outcome = "found") -> None:
        """Add a problem."""
        self.problems.append(IndexProblem(part, what, outcome=outcome))

    def add_each(self, part: str, what: str, names: Iterable[str], outcome: Outcome = "found") -> None:
        """Add a problem with all these cases, if there are any."""
        found = sorted(map(str, names))
        if found:
            self.problems.append(IndexProblem(part, what, len(found), tuple(found[:EXAMPLES]), outcome))


class _OutOfReachError(MathAMRError):
    """Raised if a server does not answer."""


Repair = Callable[[IndexWriter], None]
"""Removes what is superfluous or damaged, and unmarks what must be computed again."""


def inspect(archive: IndexStorage, report: CheckReport) -> list[Repair]:
    """Inspect the posts, then each part derived from them, and finally the manifest; return how to repair what was found.

    A part that cannot be read is emptied.
    """
    damaged = set(archive.catalogue.damaged())
    repairs = [_inspect_posts(archive, report, damaged)]
    parts: list[tuple[str, Callable[[], Repair], Repair]] = [
        (VECTORS, lambda: _inspect_vectors(archive, report), reset_vectors),
        (LEXICAL, lambda: _inspect_lexical(archive, report), reset_lexical),
    ]
    if archive.has_graphs:
        parts.insert(0, (GRAPHS, lambda: _inspect_graphs(archive, report, damaged), reset_graphs))
    for part, inspect_part, reset in parts:
        try:
            repairs.append(inspect_part())
        except (InUseError, _OutOfReachError):
            raise
        except MathAMRError as error:
            report.add(part, f"cannot be read: {error}")
            repairs.append(reset)
    others = sorted(posts_with_other_keys(archive.catalogue, damaged))
    report.add_each(CATALOGUE, "posts have formulas under keys that this version does not make", others)
    if others:
        repairs.append(
            reset_lexical
        )  # the last one: their formulas get their keys where their words are made
    report.outdated = tuple(Fingerprints(archive.catalogue, archive.needs).outdated_parts())
    report.kept = archive.catalogue.count_kept()
    _inspect_manifest(archive, report)
    return repairs


def _inspect_posts(archive: IndexStorage, report: CheckReport, damaged: set[str]) -> Repair:
    report.add_each(
        CATALOGUE, "posts are damaged; they come back when their input is indexed again", damaged, "lost"
    )
    for stage in STAGES:
        count = archive.catalogue.count_pending(stage)
        if count:
            report.add(
                CATALOGUE, f"{count:,} posts wait for their {stage}: a build or change was interrupted"
            )
    for visual_stage in VISUAL_STAGES:
        count = archive.catalogue.count_stale_visuals(visual_stage)
        if count:
            what = "vectors" if visual_stage == "vectors" else "lexical entry"
            report.add(
                CATALOGUE,
                f"{count:,} visual classes wait for their {what}: a build or change was interrupted",
            )

    def repair(writer: IndexWriter) -> None:
        with writer.catalogue.transaction():
            for post_id in damaged:
                writer.catalogue.delete(post_id)

    return repair


def _inspect_graphs(archive: IndexStorage, report: CheckReport, unreadable: set[str]) -> Repair:
    catalogue = archive.catalogue
    fingerprint = parser_of(archive).fingerprint
    pending = {each.id for each in catalogue.pending("graph")}
    silent = {post_id for post_id, rows in catalogue.post_rows() if not rows}  # some cannot have a graph
    with GraphStore(archive.folder / GRAPHS, read_only=True) as store:
        extra = {post_id for post_id in store.ids() if post_id not in catalogue} - pending
        report.add_each(GRAPHS, "graphs belong to no post", extra)
        wrong = set[str]()
        for post in catalogue.every_post(without=unreadable):
            if post.id in pending:
                continue
            found = store.digest(post.id)
            if found != digest(post, fingerprint):
                wrong |= {post.id} if found is not None else {post.id} - silent
            else:
                try:
                    store.text(post.id)
                except MathAMRError:
                    wrong.add(post.id)
    report.add_each(GRAPHS, "posts have no graph, a damaged one, or one of another text or parser", wrong)

    def repair(writer: IndexWriter) -> None:
        with GraphStore(writer.folder / GRAPHS) as store, store.transaction():
            for post_id in extra | wrong:
                store.delete(post_id)
        with writer.catalogue.transaction():
            writer.catalogue.unmark("graph", wrong)

    return repair


def _inspect_vectors(archive: IndexStorage, report: CheckReport) -> Repair:
    catalogue, engine = archive.catalogue, _engine(archive)
    if engine.fields != archive.manifest.model.fields:
        own = ", ".join(each.name for each in engine.fields)
        raise MathAMRError(
            f"the engine has the fields {own}, and the model needs others; make the vectors again with --rebuild"
        )
    words = engine.verify()
    if words:
        raise MathAMRError("; ".join(words))
    pending = list(catalogue.pending("vectors"))
    posts = _Entries(engine, "posts", dict(catalogue.post_rows()), {each.id for each in pending})
    formulas = _Entries(
        engine,
        "formulas",
        dict(catalogue.formula_rows()),
        {name for each in pending for name in each.formula_ids},
    )
    visuals = _Entries(engine, "visual", catalogue.visual_rows(), set(catalogue.stale_visuals("vectors", -1)))
    for entries in (posts, formulas, visuals):
        what = "visual classes" if entries.of == "visual" else entries.of
        report.add_each(VECTORS, f"{what} have no vectors", entries.missing)
        report.add_each(VECTORS, f"vectors belong to none of the {what}", entries.extra)
    of_formulas = catalogue.posts_of_formulas(sorted(formulas.missing))

    def repair(writer: IndexWriter) -> None:
        for entries in (posts, formulas, visuals):
            writer.engine.delete(entries.of, sorted(entries.extra))
        writer.engine.flush()
        with writer.catalogue.transaction():
            writer.catalogue.unmark("vectors", posts.missing | of_formulas)
            writer.catalogue.unmark_visuals("vectors", visuals.missing)

    return repair


class _Entries:
    """Compares the entries of a kind in an engine with the numbers of their rows in the catalogue."""

    def __init__(self, engine: Engine, of: FieldTarget, expected: dict[str, int], pending: set[str]) -> None:
        self.of = of
        there = set(engine.ids(of))
        self.missing = {name for name, rows in expected.items() if rows} - there - pending
        self.extra = {name for name in there - pending if not expected.get(name)}


def _engine(archive: IndexStorage) -> Engine:
    try:
        return archive.engine
    except MathAMRError as error:
        if ENGINES[archive.manifest.engine.name].remote:
            raise _OutOfReachError(str(error)) from error
        raise


def _inspect_lexical(archive: IndexStorage, report: CheckReport) -> Repair:
    catalogue, lexical = archive.catalogue, archive.lexical
    words = lexical.verify()
    if words:
        raise MathAMRError("; ".join(words))
    pending = {each.id for each in catalogue.pending("lexical")}
    posts, entries = set(catalogue.ids()) - pending, set(lexical.posts.ids()) - pending
    stale = set(catalogue.stale_visuals("lexical", -1))
    visuals, known = set(catalogue.visual_keys()) - stale, set(lexical.formulas.ids()) - stale
    report.add_each(LEXICAL, "posts have no entry", posts - entries)
    report.add_each(LEXICAL, "entries belong to no post", entries - posts)
    report.add_each(LEXICAL, "visual classes have no entry", visuals - known)
    report.add_each(LEXICAL, "entries belong to no visual class", known - visuals)

    def repair(writer: IndexWriter) -> None:
        writer.lexical.posts.update([], sorted(entries - posts))
        writer.lexical.formulas.update([], sorted(known - visuals))
        with writer.catalogue.transaction():
            writer.catalogue.unmark("lexical", posts - entries)
            writer.catalogue.unmark_visuals("lexical", visuals - known)

    return repair


def _inspect_manifest(archive: IndexStorage, report: CheckReport) -> None:
    manifest, catalogue = archive.manifest, archive.catalogue
    if not manifest.finished:
        report.add(MANIFEST, "the index was never finished")
        return
    if manifest.revision == catalogue.revision:
        for name, count in {"posts": len(catalogue), "formulas": catalogue.count_formulas()}.items():
            if manifest.counts.get(name) != count:
                report.add(
                    MANIFEST, f"it counts {manifest.counts.get(name)} {name}, the catalogue has {count}"
                )
    try:
        _ = archive.system
    except MathAMRError as error:
        report.add(MANIFEST, f"queries cannot be answered: {error}", "lost")
