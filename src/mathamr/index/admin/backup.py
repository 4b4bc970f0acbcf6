"""`backup` and `restore`: write an index into one file while it is searched and changed, and create an index from such a file.

The posts matter most: SQLite itself copies the catalogue and the graphs, which yields one consistent state of each even if they
are written meanwhile. Vectors and lexical entries are included if nothing changed while they were copied; otherwise they are
computed again from the posts when the index is restored. So are vectors on a server, which has backups of its own: the restored
index keeps them in files. The file is a tar archive of plain files with their hashes; any other content is refused.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from typing import IO, Any

from mathamr.core.boundedtar import BROKEN, BoundedTarFile
from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import connect
from mathamr.core.storage.durable import check_room, sync_folder
from mathamr.core.storage.plainfiles import DAMAGED, check_plain
from mathamr.core.storage.writerlock import LOCK, WriterLock, holder_of
from mathamr.index.admin.check import check_index
from mathamr.index.admin.inspection import CheckReport
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.descriptions import DESCRIPTIONS
from mathamr.index.engines.engine import DEFAULT, ENGINES
from mathamr.index.indexing.builder import BuildOptions
from mathamr.index.manifest import MANIFEST, EngineRecord, Manifest
from mathamr.index.storage import GRAPHS, LEXICAL, VECTORS, check_finished

LIST = "backup.json"
FORMAT = 1
ATTEMPTS = 5
MOST_FILES = 100_000
DATABASES = (CATALOGUE, f"{GRAPHS}/graphs.db", DESCRIPTIONS)
_COPYING, _RESTORING = (".backup-", ""), (".", ".restoring")
"""How the names of the folders begin and end in which a backup is packed and unpacked, until it is complete."""
_PASSING = (".new", "-wal", "-shm")
_OWN = (MANIFEST, CATALOGUE, GRAPHS, VECTORS, LEXICAL, DESCRIPTIONS)


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """The content of a backup."""

    path: Path
    posts: int
    bytes: int
    derived: bool
    """True if it includes vectors and lexical entries."""


def backup(folder: Path, path: Path, attempts: int = ATTEMPTS) -> BackupSummary:
    """Write an index into a new file, completely or not at all, while others search and change it.

    Vectors and words are left out, to be computed by `restore`, if writers changed the index during all `attempts`.
    """
    folder, path = folder.expanduser(), path.expanduser()
    check_plain(folder)
    check_finished(Manifest.read(folder), folder)
    if path.exists():
        raise MathAMRError(f"{path} exists already; name a new file")
    check_room(path.parent, sum(each.stat().st_size for each in _files(folder, *_OWN)))
    with _temporary_folder(path.parent, _COPYING, "mathamr backup") as room:
        copy = room / "copy"
        copy.mkdir()
        derived = _copied(folder, copy, attempts)
        with Catalogue(copy / CATALOGUE, read_only=True) as catalogue:
            posts = len(catalogue)
        packed = room / "packed"
        try:
            with packed.open("xb") as file:
                _pack(copy, file)
                file.flush()
                os.fsync(file.fileno())
            packed.rename(path)
            sync_folder(path.parent)
        except OSError as error:
            raise MathAMRError(f"cannot write {path}: {error.strerror or error}") from error
    return BackupSummary(path, posts, path.stat().st_size, derived)


def restore(path: Path, folder: Path, options: BuildOptions | None = None) -> CheckReport:
    """Create an index from a backup in a new folder, check it, and compute the vectors and lexical entries that are missing.

    A backup that is refused leaves no folder behind.
    """
    path, folder = path.expanduser(), folder.expanduser()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise MathAMRError(f"{folder} is not empty; name a new folder")
    existed, placed = folder.exists(), False
    new = [each for each in folder.parents if not each.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _temporary_folder(folder.parent, _RESTORING, "mathamr restore") as room:
            _unpack(path, room)
            if existed:
                folder.rmdir()
            room.rename(folder)
            placed = True
        sync_folder(folder.parent)
        return check_index(folder, options)
    except MathAMRError:
        if placed:
            shutil.rmtree(folder, ignore_errors=True)
        if existed:
            folder.mkdir(exist_ok=True)
        for each in new:
            with suppress(OSError):
                each.rmdir()
        raise
    except OSError as error:
        raise MathAMRError(f"cannot write {folder}: {error.strerror or error}") from error


@contextmanager
def _temporary_folder(parent: Path, pattern: tuple[str, str], purpose: str) -> Iterator[Path]:
    """Yield a locked folder that is removed at the end; if this process is killed, the next call removes it."""
    prefix, suffix = pattern
    for left in parent.glob(f"{prefix}*{suffix}"):
        if not left.is_symlink() and (left / LOCK).exists() and holder_of(left) is None:
            shutil.rmtree(left, ignore_errors=True)
    try:
        room = Path(tempfile.mkdtemp(prefix=prefix, suffix=suffix, dir=parent))
    except OSError as error:
        raise MathAMRError(f"cannot write in {parent}: {error.strerror or error}") from error
    try:
        with WriterLock(room, purpose):
            yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _copied(folder: Path, copy: Path, attempts: int) -> bool:
    """Copy the parts; return whether vectors and lexical entries match the state of the posts."""
    remote = ENGINES[Manifest.read(folder).engine.name].remote
    for _ in range(attempts):
        for each in copy.iterdir():
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        for name in DATABASES:
            if (folder / name).exists():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                _copy_database(folder / name, copy / name)
        with _reporting(folder):
            shutil.copyfile(folder / MANIFEST, copy / MANIFEST)
        if remote:  # the copy must not share the vectors on the server with the index
            replace(Manifest.read(copy), engine=EngineRecord(DEFAULT)).write(copy)
        state = _state(copy)
        try:
            for each in _files(folder, GRAPHS, *([] if remote else [VECTORS]), LEXICAL):
                if each == folder / DATABASES[1]:
                    continue
                target = copy / each.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(each, target, follow_symlinks=False)
        except OSError:
            continue  # a writer replaced a file meanwhile
        if state == _state(folder) and state[1]:
            return not remote
    for name in (VECTORS, LEXICAL):
        shutil.rmtree(copy / name, ignore_errors=True)
    return False


def _state(folder: Path) -> tuple[int, bool]:
    """Return the revision of the posts, and whether all parts are up to date with it."""
    with Catalogue(folder / CATALOGUE, read_only=True) as catalogue:
        return catalogue.revision, catalogue.settled


def _copy_database(source: Path, target: Path) -> None:
    origin = connect(source, read_only=True)
    copy = sqlite3.connect(target)
    try:
        with _reporting(source):
            origin.backup(copy)
    finally:
        copy.close()
        origin.close()


def _files(folder: Path, *parts: str) -> Iterator[Path]:
    """Yield the files of some parts, without half-written ones and without SQLite's auxiliary files."""
    for part in parts:
        path = folder / part
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (each for each in found if each.is_file() and not each.name.endswith(_PASSING))


def _pack(copy: Path, file: IO[bytes]) -> None:
    names = sorted(each.relative_to(copy).as_posix() for each in _files(copy, *_OWN))
    listing: dict[str, Any] = {"format": FORMAT, "files": {name: _hash(copy / name) for name in names}}
    content = (json.dumps(listing, indent=2) + "\n").encode()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        head = tarfile.TarInfo(LIST)
        head.size = len(content)
        archive.addfile(head, io.BytesIO(content))
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = (copy / name).stat().st_size
            with (copy / name).open("rb") as part:
                archive.addfile(entry, part)


def _unpack(path: Path, room: Path) -> None:
    """Unpack the files of a backup; refuse names outside the folder and files that do not match their hash."""
    try:
        with path.open("rb") as file, BoundedTarFile.open(fileobj=file, mode="r:") as archive:
            listing = _listing(archive, path)
            check_room(room, path.stat().st_size)
            waiting = dict(listing)
            while (entry := archive.next()) is not None:
                wanted = waiting.pop(entry.name, None)
                content = archive.extractfile(entry) if entry.isreg() else None
                # A sparse entry may be larger than the archive: its gaps are filled with zeros.
                is_whole = entry.sparse is None and entry.size <= path.stat().st_size
                if wanted is None or content is None or not is_whole:
                    raise MathAMRError(
                        f"{path} holds {entry.name[:200]!r}, which does not belong to a backup or is damaged"
                    )
                target = room / entry.name
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as out:
                    shutil.copyfileobj(content, out, 1 << 20)
                if _hash(target) != wanted:
                    raise MathAMRError(f"{path} is damaged: {entry.name!r} is not what was packed")
            if waiting:
                raise MathAMRError(f"{path} is damaged: {next(iter(waiting))!r} is missing")
    except BROKEN as error:
        raise MathAMRError(f"{path} is not a backup, or it is damaged: {error}") from error


def _listing(archive: tarfile.TarFile, path: Path) -> dict[str, str]:
    head = archive.next()
    content = archive.extractfile(head) if head is not None and head.name == LIST and head.isreg() else None
    try:
        if content is None:
            raise ValueError(f"it does not begin with {LIST}")
        row = json.loads(content.read(64 << 20))
        if row["format"] != FORMAT:
            raise MathAMRError(f"{path} has format {row['format']}, this version reads {FORMAT}")
        names = {str(name): str(value) for name, value in row["files"].items()}
        if len(names) > MOST_FILES or not {MANIFEST, CATALOGUE} <= names.keys():
            raise ValueError("it does not list an index")
        for name in names:
            parts = PurePosixPath(name).parts
            if (
                parts[:1] not in {(own,) for own in _OWN}
                or any(part in ("..", "/") or "\0" in part for part in parts)
                or "\\" in name
            ):
                raise ValueError(f"{name[:200]!r} is not a file of an index")
    except DAMAGED as error:
        raise MathAMRError(f"{path} is not a backup of mathamr: {error}") from error
    return names


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@contextmanager
def _reporting(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise MathAMRError(f"cannot copy {path}: {error}") from error
