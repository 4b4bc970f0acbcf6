"""`IndexWriter`: an index directory opened for changes, which are safe on disk when a call returns.

One process at a time may hold it; the same object reads and searches.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

from mathamr.core.cancellation import ProcessorBudget, WorkCancelled
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.durable import check_room
from mathamr.core.storage.plainfiles import check_plain, sweep
from mathamr.core.storage.writerlock import WriterLock
from mathamr.graphs.guarded import TooMuchWorkError
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.indexing.analysis import AnalysedPost, analyse, check_usable
from mathamr.index.indexing.buildlog import BuildLog
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.stages import IndexStages, WordWriter
from mathamr.index.manifest import Manifest
from mathamr.index.storage import IndexStorage, check_finished
from mathamr.posts.identifiers import check_id
from mathamr.posts.post import Post

OWN_INPUT = ""
"""The input of posts that do not come from a file; only `delete` removes them."""
_RESERVE = 8 << 20
"""Bytes that must be free on the disk before a change, so that a failed change can be undone."""
_ROOM = 30
"""Upper bound of the bytes that are derived from one byte of a post."""


@contextmanager
def _spending(seconds: float | None) -> Iterator[None]:
    """Raise `TooMuchWorkError` if the work inside the block takes more seconds of a processor than this."""
    if seconds is None:
        yield
        return
    try:
        with ProcessorBudget(seconds).applied():
            yield
    except WorkCancelled as error:
        raise TooMuchWorkError(
            f"the vectors of what is written take more than {seconds:.3g} s of a processor; shorten it, or write it in parts"
        ) from error


class IndexWriter(IndexStorage):
    """An archive that this process may change, one thread at a time."""

    read_only: ClassVar[bool] = False

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        catalogue: Catalogue,
        lock: WriterLock,
        *,
        device: str = "auto",
        model: Path | str | None = None,
    ) -> None:
        super().__init__(folder, manifest, catalogue, device=device, model=model)
        self._lock = lock
        self._writing = threading.RLock()
        self.stages = IndexStages(self)

    @classmethod
    def open(
        cls,
        folder: Path | str,
        *,
        device: str = "auto",
        model: Path | str | None = None,
        purpose: str = "a Python program",
    ) -> Self:
        """Open an index like `IndexStorage.open`, and first finish work that a killed process left unfinished.

        `purpose` appears in the error of others that want to change the index meanwhile.
        """
        folder = Path(folder).expanduser()
        check_plain(folder)
        Manifest.read(folder)
        lock = WriterLock(folder, purpose)
        try:
            sweep(folder)
            manifest, catalogue = Manifest.read(folder), Catalogue(folder / CATALOGUE)
        except BaseException:
            lock.release()
            raise
        writer = cls(folder, manifest, catalogue, lock, device=device, model=model)
        try:
            check_finished(manifest, folder)
            writer.update_parts()
            writer._update_manifest()
        except BaseException:
            writer.close()
            raise
        return writer

    def put(
        self,
        posts: Sequence[Post],
        analysed: Sequence[AnalysedPost] | None = None,
        seconds: float | None = None,
    ) -> None:
        """Add posts, or replace those of the same id; once it returns, they can be found and are safe on disk.

        From then on they belong to no file, so reading a file again does not change them. Their graphs are computed first,
        within limits: if one post exceeds them (`TooMuchWorkError`), none is stored. Readers see the state before until
        everything is computed. `analysed` is the analysis of each post, if another process made it; `seconds` of a processor may be
        spent on the graphs of all posts together, and as many on their vectors.
        """
        for post in posts:
            check_id(post.id)
            check_usable(post)
        lines = [post.to_json() for post in posts]
        with self._writing:
            check_room(self.folder, _RESERVE + _ROOM * sum(map(len, lines)))
            if self.has_graphs:
                self.work.prepare(lines, [post.id for post in posts], seconds)
            made = map(analyse, posts) if analysed is None else analysed
            newest = {post.id: found for post, found in zip(posts, made, strict=True)}
            self._keep_snapshot()
            with self._undone([post.id for post in posts]):
                self._store(list(newest.values()))
                with _spending(seconds):
                    self.update_parts()
            self._keep_snapshot()

    def _store(self, posts: Sequence[AnalysedPost]) -> None:
        """Store posts, and their words unless those of other posts are outdated, which a later stage computes."""
        catalogue, has_words = self.catalogue, self.catalogue.has_words
        known = catalogue.known_among([post.row.id for post in posts])
        represented = catalogue.represented_words(sorted({key for post in posts for key in post.row.visuals}))
        with catalogue.transaction():
            numbers = catalogue.put_rows([post.row for post in posts], OWN_INPUT)
        if has_words:
            new = {post.row.id for post in posts if post.row.id not in known}
            WordWriter(self, BuildLog()).write(list(zip(numbers, posts, strict=True)), new, represented)

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Delete posts and return the ids that existed. Once it returns, they are gone, even after a crash.

        A post from a file comes back when the file is read again.
        """
        check_room(self.folder, _RESERVE)
        with self._writing:
            self._keep_snapshot()
            with self._undone(ids):
                with self.catalogue.transaction():
                    gone = [post_id for post_id in dict.fromkeys(ids) if self.catalogue.delete(post_id)]
                if gone:
                    self.update_parts()
            self._keep_snapshot()
        return gone

    def _keep_snapshot(self) -> None:
        """Take the snapshot that others read during a change and after it; an engine that can be opened only once has none."""
        with suppress(MathAMRError):
            self._newest(waits=True)

    @contextmanager
    def _undone(self, ids: Sequence[str]) -> Iterator[None]:
        """Undo a change that fails inside the block, so that a write that raises an error stores nothing."""
        before = self.catalogue.with_inputs(ids)
        try:
            yield
        except BaseException as failure:
            try:
                with self.catalogue.transaction():
                    for post_id in dict.fromkeys(ids):
                        if post_id in before:
                            post, source = before[post_id]
                            self.catalogue.put_rows([analyse(post).row], source)
                        else:
                            self.catalogue.delete(post_id)
                self.update_parts()
            except MathAMRError as error:
                failure.add_note(f"what was stored before could not be restored at once: {error}")
            raise

    def update_parts(self, *, pool: BuildPool | None = None, log: BuildLog | None = None) -> BuildLog:
        """Bring all parts up to date with the catalogue."""
        with self._writing:
            return self.stages.update_parts(pool=pool, log=log)

    def close(self) -> None:
        """Update the manifest and release the lock; it may be called twice."""
        with self._writing:
            try:
                if self._lock.held:
                    self._update_manifest()
            finally:
                try:
                    super().close()
                finally:
                    self._lock.release()

    def _update_manifest(self) -> None:
        """Update the manifest after single changes."""
        is_behind = self.manifest.revision != self.catalogue.revision
        if self.manifest.finished and is_behind and self.catalogue.settled:
            self.update_manifest()

    def update_manifest(self, manifest: Manifest | None = None) -> None:
        """Update the counts of the manifest (or of the one that is passed), and store a copy in the catalogue."""
        catalogue = self.catalogue
        counts = {
            "posts": len(catalogue),
            **{f"{kind}s": count for kind, count in sorted(catalogue.kinds().items())},
            "formulas": catalogue.count_formulas(),
            "visual_classes": self.lexical.formulas.count(),
            **{f"{field.name} vectors": self.engine[field.name].count() for field in self.engine.fields},
            "unfiled": catalogue.inputs()[""],
        }
        stock = replace(
            manifest or self.manifest,
            finished=True,
            revision=catalogue.revision,
            counts=counts,
        )
        with catalogue.transaction():
            catalogue.set_meta("manifest", stock.to_json())
        self.manifest = stock.write(self.folder)
