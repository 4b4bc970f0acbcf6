"""`Archive`: an index directory, opened for reading: its manifest, its catalogue of posts, and the parts derived from it.

manifest.json   what made the index, counts, checksums (`Manifest`)
lock            held by the process that changes the index (`WriterLock`)
catalogue.db    posts, formulas, and what has still to be derived from them (`Catalogue`)
graphs/         graphs and tensors (`GraphStore`)
vectors/        the engine's
lexical/        words, symbols and paths (`LexicalIndex`)

To change it, open it as an `ArchiveWriter`.
"""

from __future__ import annotations

import threading
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Literal, Self

from mathamr.amr.parser import check_recorded
from mathamr.errors import MathAMRError
from mathamr.graphs.guarded import GuardedGraphs
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.store import GraphStore
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.engines.engine import Engine, open_engine
from mathamr.index.lexical.lexicalindex import LexicalIndex
from mathamr.index.lexical.terms import terms_fingerprint
from mathamr.index.manifest import Manifest
from mathamr.index.storage.plainfiles import check_plain
from mathamr.systems.mathamrplus.postencoder import PostEncoder, load_post_encoder
from mathamr.systems.modelfolder import model_folder
from mathamr.systems.vectors import Vectors

GRAPHS, VECTORS, LEXICAL = "graphs", "vectors", "lexical"


class Archive:
    """An index directory that is open, for any number of threads.

    The parts that cost time (encoder, parser, engine, lexical index) are loaded when they are first asked for.
    """

    read_only: ClassVar[bool] = True
    """Whether it was opened only for reading."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        catalogue: Catalogue,
        *,
        device: str = "auto",
        model: Path | None = None,
    ) -> None:
        self.folder, self.manifest, self.catalogue = folder, manifest, catalogue
        self.device, self._model = device, model
        self._loading = threading.RLock()

    @classmethod
    def open(cls, folder: Path | str, *, device: str = "auto", model: Path | None = None) -> Self:
        """The index in a folder; one that was never finished, or of another format, is refused with the way out.

        `model` is where the index's model is, if no longer where it was.
        """
        folder = Path(folder).expanduser()
        check_plain(folder)
        manifest = Manifest.read(folder)
        check_finished(manifest, folder)
        catalogue = Catalogue(folder / CATALOGUE, read_only=True)
        return cls(folder, manifest, catalogue, device=device, model=model)

    @cached_property
    def _encoder(self) -> PostEncoder:
        recorded = self.manifest.model
        folder = self._model or (Path(recorded.folder) if recorded.folder else None)
        try:
            encoder = load_post_encoder(model_folder(folder), self.device)
        except MathAMRError as error:
            raise MathAMRError(
                f"the model {recorded.name} of the index {self.folder} cannot be loaded: {error};"
                " name the folder it is in now with --model"
            ) from error
        check_model(self.manifest, encoder, self.folder)
        return encoder

    @property
    def encoder(self) -> PostEncoder:
        """The model that made the vectors: queries need the same one."""
        with self._loading:
            return self._encoder

    def use_encoder(self, encoder: PostEncoder) -> None:
        """Gives the index its model, which is loaded already."""
        check_model(self.manifest, encoder, self.folder)
        self.__dict__["_encoder"] = encoder

    @cached_property
    def _work(self) -> GuardedGraphs:
        recorded = self.manifest.parser
        check_recorded(recorded.name, recorded.model, self.folder)
        work = GuardedGraphs.take(recorded.name, recorded.model)
        if not self.read_only:
            check_parser(self.manifest, work.hello, self.folder)
        return work

    @property
    def work(self) -> GuardedGraphs:
        """Makes graphs as those of the index were made, in a process of its own; not for several threads at a time."""
        with self._loading:
            return self._work

    @cached_property
    def _engine(self) -> Engine:
        return open_engine(self.folder / VECTORS, read_only=self.read_only)

    @property
    def engine(self) -> Engine:
        """Where the vectors are."""
        with self._loading:
            return self._engine

    @cached_property
    def _lexical(self) -> LexicalIndex:
        if self.catalogue.meta("lexical by") != terms_fingerprint():
            raise MathAMRError(
                f"the lexical entries of the index {self.folder} were made by another version of mathamr;"
                f" bring them up to date with: mathamr index --out {self.folder}"
            )
        return LexicalIndex.open(self.folder / LEXICAL, read_only=self.read_only)

    @property
    def lexical(self) -> LexicalIndex:
        """Where words and symbols are."""
        with self._loading:
            return self._lexical

    def graphs(self) -> GraphStore:
        """The graph store, to be closed again by the thread that asked for it."""
        return GraphStore(self.folder / GRAPHS, read_only=self.read_only)

    def graph(self, post_id: str) -> MathGraph:
        """The graph of a post."""
        with self.graphs() as store:
            return store.graph(post_id)

    def vectors(self, post_id: str) -> Vectors:
        """The vectors of a post and what each of them stands for."""
        with self.graphs() as store:
            tensor = store.tensor(self.manifest.graphs, post_id)
        rows = self.engine.posts.fetch([post_id]).get(post_id)
        if rows is None or len(rows) != len(tensor.levels):
            raise MathAMRError(
                f"the vectors of post {post_id!r} are not complete; mend them with:"
                f" mathamr index --check --out {self.folder}"
            )
        return Vectors(rows, tensor.levels, tensor.references)

    def drop(self, part: Literal["engine", "lexical", "work"]) -> None:
        """Closes a part; it is opened again when it is next asked for."""
        with self._loading:
            opened = self.__dict__.pop(f"_{part}", None)
            if opened is not None:
                opened.close()

    def close(self) -> None:
        """Lets go of everything; closing twice is no error."""
        try:
            self.drop("engine")
            self.drop("lexical")
            self.drop("work")
        finally:
            self.catalogue.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def check_finished(manifest: Manifest, folder: Path) -> None:
    """Refuses an index that was never finished."""
    if not manifest.finished:
        raise MathAMRError(
            f"the index {folder} is not finished; finish it with: mathamr index --out {folder}"
        )


def check_model(manifest: Manifest, encoder: PostEncoder, folder: Path) -> None:
    """Refuses a model that did not make the vectors of an index."""
    recorded = manifest.model
    if encoder.fingerprint != recorded.fingerprint:
        raise MathAMRError(
            f"the index {folder} was made with the model {recorded.name} ({recorded.fingerprint}), not with"
            f" {encoder.name} ({encoder.fingerprint}); name its own model with --model"
            + (f" (it was in {recorded.folder})" if recorded.folder else "")
            + f", or change the index to this one with: mathamr index --out {folder} --model MODEL --rebuild"
        )


def check_parser(manifest: Manifest, fingerprint: str, folder: Path) -> None:
    """Refuses an AMR parser that did not make the graphs of an index."""
    if fingerprint != manifest.parser.fingerprint:
        raise MathAMRError(
            f"the graphs of the index {folder} were made with the AMR parser {manifest.parser.fingerprint}, here is"
            f" {fingerprint}; make them anew with: mathamr index --out {folder} --rebuild"
        )
