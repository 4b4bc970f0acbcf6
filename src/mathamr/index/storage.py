"""`IndexStorage`: an index directory opened for reading: the manifest, the catalogue of posts, and the parts derived from it.

manifest.json   model, engine and parser of the index, counts, checksums (`Manifest`)
lock            held by the process that changes the index (`WriterLock`)
catalogue.db    posts, formulas, and which parts still have to be derived from them (`Catalogue`)
graphs/         graphs (`GraphStore`), where the model reads them
vectors/        the engine's
lexical/        words, symbols and paths (`LexicalIndex`)

To change it, open it as an `IndexWriter`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from mathamr.core.cache import Cache
from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.core.prioritylock import PriorityLock
from mathamr.core.settings import TEXT
from mathamr.core.storage.fileversion import FileIdentity, FileVersion, file_identity, file_version
from mathamr.core.storage.plainfiles import check_plain
from mathamr.core.storage.writerlock import holder_of
from mathamr.core.workers import Lost, WorkLimits
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.chosenmodel import NotChosenError, check_model, chosen_model
from mathamr.index.engines.engine import Engine, check_engine, open_engine
from mathamr.index.engines.entry import Payload
from mathamr.index.lexical.lexicalindex import LexicalIndex
from mathamr.index.lexical.terms import terms_fingerprint
from mathamr.index.manifest import MANIFEST, Manifest
from mathamr.index.payloads import formula_payloads, post_payloads
from mathamr.index.postfilters import PostFilters
from mathamr.index.snapshot import ATTEMPTS, Snapshot, take_snapshot
from mathamr.systems.field import FieldTarget
from mathamr.systems.models import load_system, model_folder
from mathamr.systems.system import SYSTEMS, Need, System
from mathamr.systems.vectors import Vectors
from mathamr.text.backend import AUTO, ONNX, index_backend

if TYPE_CHECKING:
    from mathamr.graphs.guarded import GuardedGraphs
    from mathamr.graphs.mathgraph import MathGraph
    from mathamr.graphs.store import GraphStore

GRAPHS, VECTORS, LEXICAL = "graphs", "vectors", "lexical"
DRAWING = WorkLimits(timeout=120.0, processor=10.0, memory=2 << 30)
"""What a graph may take that is made because somebody looks at it."""
REFUSED = 256
"""The number of posts that are remembered because their graphs take more."""


LOG = logging.getLogger("mathamr.index")


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """Which manifest and which catalogue lie in the folder of an index; a writer changes the one and keeps the other."""

    manifest: FileVersion | None
    catalogue: FileIdentity | None

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Return those that lie there now."""
        return cls(file_version(folder / MANIFEST), file_identity(folder / CATALOGUE))


class NoVectorsError(MathAMRError):
    """Raised for a post without vectors in a field: it has too few words, or its vectors are lost."""


class IndexStorage(Closing):
    """An index directory that is open, for any number of threads.

    System, parser, engine and lexical index are loaded when they are first used.
    """

    read_only: ClassVar[bool] = True
    """True if it was opened only for reading."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        catalogue: Catalogue,
        *,
        device: str = "auto",
        model: Path | str | None = None,
    ) -> None:
        SYSTEMS.check(manifest.model.system)
        check_engine(manifest.engine.name)
        self.folder, self.manifest, self._live = folder, manifest, catalogue
        self.device, self.model_source = device, model
        self.encodes_few = False
        """True if the system is needed for a few posts alone: loading a GPU's libraries would take longer than to encode them."""
        self._loading = threading.RLock()
        self._drawing, self._refused = threading.Lock(), Cache[bytes, str](REFUSED)
        self._maker: GuardedGraphs | None = None
        self._system: System | None = None
        self._starting = threading.Lock()
        self._work: GuardedGraphs | None = None
        self._engine: Engine | None = None
        self._lexical: LexicalIndex | None = None
        self._seen = threading.local()
        self._moving = threading.Lock()
        self.encoding = PriorityLock()
        """Held while the system encodes something; only one thread at a time may use it, and queries go before posts."""
        self._snapshot: Snapshot | None = None
        self._files: IndexFiles | None = None
        """The files of the index when this reader last looked at the manifest."""
        self._replaced: list[Catalogue] = []
        self._behind = ""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let this thread read all parts at one revision, the newest complete one.

        The next block sees what any process has written since.
        """
        if self._view is not None:
            yield
            return
        self._seen.view = view = self._newest()
        try:
            yield
            if view.catalogue.was_overwritten:
                raise MathAMRError(f"the index {self.folder} was changed while it was read; try again")
        finally:
            self._seen.view = None

    @property
    def _view(self) -> Snapshot | None:
        """The snapshot that this thread is reading."""
        found: Snapshot | None = getattr(self._seen, "view", None)
        return found

    def _newest(self, *, waits: bool = False) -> Snapshot:
        """Return the newest complete snapshot; while another thread opens it, the one before, unless it `waits`."""
        known = self._snapshot
        if known is not None and self._is_newest(known):
            return known
        if not self._moving.acquire(blocking=waits or known is None or known.catalogue.was_overwritten):
            assert known is not None
            return known
        try:
            known = self._snapshot
            if known is None or not self._is_newest(known):
                known = self._snapshot = self._move_on(known)
            return known
        finally:
            self._moving.release()

    def _is_newest(self, known: Snapshot) -> bool:
        """Return True if there is nothing newer that this reader can read."""
        if known.catalogue.was_overwritten or (self.read_only and self._files != IndexFiles.of(self.folder)):
            return False
        if self._behind:
            return True
        if known.catalogue.was_overtaken:
            return False
        return known.revision == self._live.revision and (known.complete or not self._live.settled)

    def _move_on(self, known: Snapshot | None) -> Snapshot:
        """Return a snapshot of the newest state; the known one if there is none that this reader can read."""
        for _ in range(ATTEMPTS):
            if known is not None and known.catalogue.was_overwritten:
                known = None
            files, before = IndexFiles.of(self.folder), known
            if self.read_only and (files != self._files or self._behind):
                reason = self._unreadable(is_loaded=known is not None or self._system is not None)
                if not reason and files.catalogue != self._live.identity:
                    replaced, before = self._live, None
                    self._live = Catalogue(self.folder / CATALOGUE, read_only=True)
                    self._replaced.append(replaced)  # other threads may be using it
                self._files = files
                self._note_behind(reason)
                if reason and known is not None:
                    return known
                if reason:
                    raise MathAMRError(
                        f"the index {self.folder} changed while it was open: {reason}; open it again"
                    )
                if before is not None and self._is_newest(before):
                    return before  # only the manifest is another
            fresh = take_snapshot(self.folder, self._live, self._open_engine, self._open_lexical, before)
            # A manifest of another model may have been written while the parts were opened.
            if fresh is None or not self.read_only or IndexFiles.of(self.folder) == files:
                break
        found = fresh or known
        assert found is not None
        return found

    def _unreadable(self, *, is_loaded: bool) -> str:
        """Take over the manifest as it is now; return why that is impossible, if it is."""
        try:
            now = Manifest.read(self.folder)
        except MathAMRError as error:
            LOG.warning("%s", error)
            is_there = (self.folder / MANIFEST).exists()
            return "its manifest cannot be read" if is_there else "it was moved or deleted"
        if is_loaded and (other := self.manifest.incompatibility(now)):
            return f"it was rebuilt with {other}"
        self.manifest = now
        return ""

    def _note_behind(self, reason: str) -> None:
        if reason and reason != self._behind:
            LOG.warning("the index %s is answered from its earlier state: %s", self.folder, reason)
        self._behind = reason

    @property
    def behind(self) -> str:
        """Why answers come from an earlier state of the index, which has become one that this reader cannot read; else empty."""
        return self._behind

    @property
    def settled_state(self) -> tuple[object, ...] | None:
        """The state that this thread reads: equal states give equal answers; `None` while parts are missing."""
        view = self._view
        if view is None or not view.complete:
            return None
        return view.revision, self._files, self._behind

    def _open_engine(self, *, read_only: bool = True) -> Engine:
        return open_engine(self.folder / VECTORS, read_only=read_only)

    def _open_lexical(self, *, read_only: bool = True) -> LexicalIndex:
        made_by = self._live.meta("lexical by")
        if not made_by or (made_by != terms_fingerprint() and not read_only):
            raise MathAMRError(
                f"the lexical entries of the index {self.folder} were made by another version of mathamr;"
                f" bring them up to date with: mathamr index --out {self.folder}"
            )
        return LexicalIndex(self.folder / LEXICAL, read_only=read_only)

    @property
    def catalogue(self) -> Catalogue:
        """The posts."""
        view = self._view
        return self._live if view is None else view.catalogue

    @classmethod
    def open(cls, folder: Path | str, *, device: str = "auto", model: Path | str | None = None) -> Self:
        """Open the index in a folder.

        `model` is the folder or the name of the model, if it is no longer where the manifest says.
        """
        folder = Path(folder).expanduser()
        check_plain(folder)
        manifest = Manifest.read(folder)
        if not manifest.finished and (holder := holder_of(folder)) is not None:
            raise MathAMRError(f"the index {folder} is still being made by {holder}")
        check_finished(manifest, folder)
        catalogue = Catalogue(folder / CATALOGUE, read_only=True)
        return cls(folder, manifest, catalogue, device=device, model=model)

    @property
    def system_type(self) -> type[System]:
        """The class of the system that computed the vectors: tasks, needs and rankings, without weights."""
        return SYSTEMS[self.manifest.model.system]

    @property
    def needs(self) -> frozenset[Need]:
        """The parts of a post that the system needs."""
        return self.system_type.needs

    @property
    def has_graphs(self) -> bool:
        """True if the posts of the index have graphs."""
        return needs_graphs(self.needs)

    @property
    def system(self) -> System:
        """The system that computed the vectors, which queries need as well."""
        loaded = self._system
        if loaded is not None:  # no lock: a query must not wait until another part is loaded
            return loaded
        with self._loading:
            if self._system is None:
                recorded = self.manifest.model
                backend = index_backend(recorded.text_backend, self.folder, read_only=self.read_only)
                try:
                    model = model_folder(chosen_model(recorded, self.model_source))
                    if self.encodes_few and TEXT.value == AUTO and self.system_type.encodes_on_processor:
                        backend = ONNX
                    system = load_system(model, self.device, backend)
                except NotChosenError:
                    raise
                except MathAMRError as error:
                    raise MathAMRError(
                        f"the model {recorded.name} of the index {self.folder} cannot be loaded: {error};"
                        " name it, or the folder it is in now, with --model"
                    ) from error
                self.use_system(system)
                return system
            return self._system

    def use_system(self, system: System) -> None:
        """Use a system that is already loaded."""
        check_model(self.manifest, system, self.folder)
        self._system = system

    @property
    def work(self) -> GuardedGraphs:
        """The process that computes graphs with the parser of the index; for one thread at a time."""
        from mathamr.amr.parser import check_recorded
        from mathamr.graphs.guarded import GuardedGraphs

        with self._starting:
            if self._work is None:
                recorded = self.manifest.parser
                if recorded is None:
                    raise MathAMRError(
                        f"the index {self.folder} has no graphs: its model {self.manifest.model.name} reads none"
                    )
                check_recorded(recorded.name, recorded.model, self.folder)
                work = GuardedGraphs.take(recorded.name, recorded.model)
                if not self.read_only:
                    check_parser(self.manifest, work.identity, self.folder)
                self._work = work
            return self._work

    @property
    def engine(self) -> Engine:
        """The engine with the vectors."""
        if self._view is not None:
            return self._view.engine
        with self._loading:
            if self._engine is None:
                self._engine = self._open_engine(read_only=self.read_only)
            return self._engine

    @property
    def lexical(self) -> LexicalIndex:
        """The lexical index."""
        if self._view is not None:
            return self._view.lexical
        with self._loading:
            if self._lexical is None:
                self._lexical = self._open_lexical(read_only=self.read_only)
            return self._lexical

    @property
    def filters(self) -> PostFilters:
        """What passes a filter, at the revision that this thread reads; ask inside `reading`."""
        return (self._view or self._newest()).filters

    def graphs(self) -> GraphStore:
        """Return the graph store; the calling thread closes it."""
        from mathamr.graphs.store import GraphStore

        return GraphStore(self.folder / GRAPHS, read_only=self.read_only)

    def graph(self, post_id: str) -> MathGraph:
        """Return the graph of a post: the stored one or, if the index's model reads no graphs, one that is made now."""
        from mathamr.graphs import notation
        from mathamr.graphs.corpus import stored_post
        from mathamr.graphs.guarded import GuardedGraphs, TooMuchWorkError

        if self.has_graphs:
            with self.graphs() as store:
                return store.graph(post_id)
        line = self.catalogue.post(post_id).to_json()
        key = blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if (refused := self._refused.get(key)) is not None:
            raise TooMuchWorkError(refused)
        with self._drawing:  # a lock of its own: searches must not wait for it
            if self._maker is None:
                self._maker = GuardedGraphs.take("builtin", None, DRAWING)
            answer = self._maker([line])
        if isinstance(answer, Lost):
            refused = f"the graph of post {post_id!r} takes more work than is allowed ({answer.message})"
            self._refused.put(key, refused)
            raise TooMuchWorkError(refused)
        return notation.read(stored_post(answer[0]).text, post_id)

    def vectors(self, post_id: str, field: str | None = None) -> Vectors:
        """Return the vectors of a post in a field, and what each stands for; by default in the first of posts with many rows."""
        fields = [each for each in self.manifest.model.fields if each.of == "posts"]
        if field is None:
            if not fields:
                raise MathAMRError(
                    f"the model {self.manifest.model.name} of the index has no vectors of posts"
                )
            field = next((each.name for each in fields if each.many), fields[0].name)
        found = self.engine[field].fetch([post_id]).get(post_id)
        if found is None:
            self.catalogue.post(post_id)
            raise NoVectorsError(
                f"post {post_id!r} has no vectors of the field {field!r}; if it should have, repair them with:"
                f" mathamr index --check --out {self.folder}"
            )
        return found

    def payloads(self, of: FieldTarget, ids: Sequence[str]) -> dict[str, Payload]:
        """Return the payloads of posts or formulas, from the engine or, if it has no entry, from the catalogue."""
        found = self.engine.payloads(of, ids)
        missing = [identifier for identifier in ids if identifier not in found]
        if missing and of != "visual":
            found |= (post_payloads if of == "posts" else formula_payloads)(self.catalogue, missing)
        return found

    def close_engine(self) -> None:
        """Close the engine; the next use opens it again."""
        with self._loading:
            engine, self._engine = self._engine, None
            if engine is not None:
                engine.close()

    def close_lexical(self) -> None:
        """Close the lexical index; the next use opens it again."""
        with self._loading:
            lexical, self._lexical = self._lexical, None
            if lexical is not None:
                lexical.close()

    def close(self) -> None:
        """Release everything; it may be called twice."""
        self._snapshot = None
        try:
            self.close_engine()
            self.close_lexical()
            with self._starting:
                work, self._work = self._work, None
            with self._drawing:
                maker, self._maker = self._maker, None
            for each in (work, maker):
                if each is not None:
                    each.close()
        finally:
            for catalogue in (self._live, *self._replaced):
                catalogue.close()


def check_finished(manifest: Manifest, folder: Path) -> None:
    """Raise an error for an index whose first build is not finished."""
    if not manifest.finished:
        raise MathAMRError(
            f"the index {folder} is not finished; finish it with: mathamr index --out {folder}"
        )


def needs_graphs(needs: frozenset[Need]) -> bool:
    """Return True if a system with these needs requires graphs of posts."""
    return bool(needs & {"graph", "tensor"})


def check_parser(manifest: Manifest, fingerprint: str, folder: Path) -> None:
    """Raise an error if the graphs of the index come from another AMR parser."""
    if manifest.parser is not None and fingerprint != manifest.parser.fingerprint:
        raise MathAMRError(
            f"the graphs of the index {folder} were made with the AMR parser {manifest.parser.fingerprint}, here is"
            f" {fingerprint}; make them again with: mathamr index --out {folder} --rebuild"
        )


def size_on_disk(path: Path) -> int:
    """Return the bytes of a file and its auxiliary SQLite files, or of all files in a folder."""
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return sum(each.stat().st_size for each in path.parent.glob(path.name + "*"))
