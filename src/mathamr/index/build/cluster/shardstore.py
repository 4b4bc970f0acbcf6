"""`ShardStore`: what workers made of some posts, in a folder or object store that all machines see.

A shard is named by what it was made from and by whom, so whoever needs the same finds it, in this run or the next one.
Its file is a short head with a checksum and packed JSON: nothing in it can run code, and it is read within limits. What
is torn or damaged is as good as absent. Whoever may write there may still put wrong vectors there: the folder belongs
to those who build the index.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import zstandard

from mathamr.core.errors import MathAMRError, MissingExtraError

INSTALL = "pip install 'mathamr[ray]'"
MAGIC = b"mathamr shard 1\n"
LARGEST_FILE = 256 << 20
LARGEST_CONTENT = 1 << 30
"""Bytes of a shard, packed and unpacked; more is not read."""
_CHECK = 32
_LEVEL = 3


class DamagedShardError(MathAMRError):
    """A shard that is not as it was written, or was never one."""


class _Files(Protocol):
    """What is used of a file system of fsspec."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None: ...
    def find(self, path: str) -> list[str]: ...
    def size(self, path: str) -> int | None: ...
    def cat_file(self, path: str) -> bytes: ...
    def pipe_file(self, path: str, value: bytes) -> None: ...
    def rm_file(self, path: str) -> None: ...
    def invalidate_cache(self, path: str | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class ShardName:
    """A shard by the kind of work that made it and by the hash of what it was made from."""

    work: str
    key: str

    @property
    def path(self) -> str:
        """Where it is in a store: no folder gets very many files."""
        return f"{self.work}/{self.key[:2]}/{self.key}.shard"


def shard_key(made_by: Mapping[str, str], request: Any) -> str:
    """The hash of what a shard is made from and of who makes it."""
    content = json.dumps([dict(sorted(made_by.items())), request])
    return blake2b(content.encode(), digest_size=20).hexdigest()


class ShardStore:
    """Shards by name at a URL that fsspec knows, or in a folder."""

    def __init__(self, url: str) -> None:
        self.url = url
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise MissingExtraError("fsspec, which shards are kept with,", INSTALL) from error
        try:
            files, root = url_to_fs(url)
            self._files: _Files = files
            self._root = str(root).rstrip("/")
            self._is_local = "file" in (
                files.protocol if isinstance(files.protocol, tuple | list) else (files.protocol,)
            )
            self._files.makedirs(self._root, exist_ok=True)
        except (OSError, ValueError, ImportError) as error:
            raise MathAMRError(f"cannot keep shards at {url}: {error}") from error

    def keys(self, work: str) -> set[str]:
        """The keys of all shards of a kind of work that are there now."""
        self._files.invalidate_cache()
        try:
            found = self._files.find(f"{self._root}/{work}")
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise MathAMRError(f"cannot list the shards at {self.url}: {error}") from error
        return {path.rpartition("/")[2][:-6] for path in found if path.endswith(".shard")}

    def write(self, name: ShardName, answer: Any) -> int:
        """Writes a shard completely or not at all; returns its size in bytes."""
        packed = zstandard.ZstdCompressor(level=_LEVEL).compress(json.dumps(answer).encode())
        if len(packed) > LARGEST_FILE:
            raise MathAMRError(f"a shard of {len(packed):,} bytes is too large; the most is {LARGEST_FILE:,}")
        content = MAGIC + blake2b(packed, digest_size=_CHECK).digest() + packed
        path = f"{self._root}/{name.path}"
        try:
            if self._is_local:
                place = Path(path)
                place.parent.mkdir(parents=True, exist_ok=True)
                beside = place.with_name(f".{secrets.token_hex(8)}.new")
                beside.write_bytes(content)
                beside.replace(place)
            else:
                self._files.pipe_file(path, content)
        except OSError as error:
            raise MathAMRError(f"cannot write the shard {name.path} at {self.url}: {error}") from error
        return len(content)

    def read(self, name: ShardName) -> Any:
        """What a shard holds; `FileNotFoundError` where it is not there, `DamagedShardError` where it is damaged."""
        path = f"{self._root}/{name.path}"
        size = self._files.size(path)
        if size is None or size > LARGEST_FILE + len(MAGIC) + _CHECK:
            raise DamagedShardError(f"{name.path} at {self.url} is larger than a shard can be")
        content = self._files.cat_file(path)
        packed = content[len(MAGIC) + _CHECK :]
        check = content[len(MAGIC) : len(MAGIC) + _CHECK]
        if not content.startswith(MAGIC) or check != blake2b(packed, digest_size=_CHECK).digest():
            raise DamagedShardError(f"{name.path} at {self.url} is damaged")
        return _unpacked(packed, f"{name.path} at {self.url}")

    def forget(self, name: ShardName) -> None:
        """Removes a shard; a missing one is ignored."""
        try:
            self._files.rm_file(f"{self._root}/{name.path}")
        except FileNotFoundError:
            return
        except OSError as error:
            raise MathAMRError(f"cannot remove the shard {name.path} at {self.url}: {error}") from error


def _unpacked(packed: bytes, where: str) -> Any:
    """JSON out of what `write` packed, within limits."""
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
            content = reader.read(LARGEST_CONTENT + 1)
        if len(content) > LARGEST_CONTENT:
            raise DamagedShardError(f"{where} unpacks to more than {LARGEST_CONTENT:,} bytes")
        return json.loads(content)
    except (zstandard.ZstdError, ValueError, RecursionError) as error:
        raise DamagedShardError(f"{where} is damaged: {error}") from error
