"""`ShardStore`: the workers' results for some posts, in a folder or object store that all machines share.

A shard is named by a hash of its input and of the work, so this run or a later one finds a shard that it needs again. Its file
is a short header with a checksum and compressed JSON: nothing in it can run code, and its size is limited. A truncated or
damaged shard counts as missing. Anybody with write access could still store wrong vectors, so only those who build the index
should have it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.zstd import zstd

INSTALL = "pip install 'mathamr[ray]'"
MAGIC = b"mathamr shard 1\n"
LARGEST_FILE = 256 << 20
LARGEST_CONTENT = 1 << 30
"""The largest size of a shard in bytes, compressed and decompressed."""
_CHECK = 32
_LEVEL = 3


class DamagedShardError(MathAMRError):
    """Raised if a file is damaged or is not a shard."""


class _Files(Protocol):
    """The part of fsspec's file system interface that is used here."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None: ...
    def find(self, path: str) -> list[str]: ...
    def size(self, path: str) -> int | None: ...
    def cat_file(self, path: str) -> bytes: ...
    def pipe_file(self, path: str, value: bytes) -> None: ...
    def rm_file(self, path: str) -> None: ...
    def invalidate_cache(self, path: str | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class ShardName:
    """The name of a shard: the kind of work, and the hash of its input."""

    work: str
    key: str

    @property
    def path(self) -> str:
        """The path in a store; it spreads the files over many folders."""
        return f"{self.work}/{self.key[:2]}/{self.key}.shard"


def shard_key(made_by: Mapping[str, str], request: Any) -> str:
    """The hash of a shard's input and of the work."""
    content = json.dumps([dict(sorted(made_by.items())), request])
    return blake2b(content.encode(), digest_size=20).hexdigest()


class ShardStore:
    """Shards by name at a URL that fsspec knows, or in a folder; larger ones than the limits, in bytes, are refused."""

    def __init__(
        self, url: str, largest_file: int = LARGEST_FILE, largest_content: int = LARGEST_CONTENT
    ) -> None:
        self.url, self._largest_file, self._largest_content = url, largest_file, largest_content
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise MissingExtraError("fsspec, which stores the shards,", INSTALL) from error
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
        """The keys of all existing shards of a kind of work."""
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
        packed = zstd.compress(json.dumps(answer).encode(), level=_LEVEL)
        if len(packed) > self._largest_file:
            raise MathAMRError(
                f"a shard of {len(packed):,} bytes is too large; the most is {self._largest_file:,}"
            )
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
        """The content of a shard; raises `FileNotFoundError` if it is missing, `DamagedShardError` if it is damaged."""
        path = f"{self._root}/{name.path}"
        size = self._files.size(path)
        if size is None or size > self._largest_file + len(MAGIC) + _CHECK:
            raise DamagedShardError(f"{name.path} at {self.url} is larger than a shard can be")
        content = self._files.cat_file(path)
        packed = content[len(MAGIC) + _CHECK :]
        check = content[len(MAGIC) : len(MAGIC) + _CHECK]
        if not content.startswith(MAGIC) or check != blake2b(packed, digest_size=_CHECK).digest():
            raise DamagedShardError(f"{name.path} at {self.url} is damaged")
        return _unpacked(packed, f"{name.path} at {self.url}", self._largest_content)

    def forget(self, name: ShardName) -> None:
        """Removes a shard; a missing one is ignored."""
        try:
            self._files.rm_file(f"{self._root}/{name.path}")
        except FileNotFoundError:
            return
        except OSError as error:
            raise MathAMRError(f"cannot remove the shard {name.path} at {self.url}: {error}") from error


def _unpacked(packed: bytes, where: str, largest: int) -> Any:
    """Decompresses and parses a shard within the size limits."""
    try:
        content = zstd.ZstdDecompressor().decompress(packed, largest + 1)
        if len(content) > largest:
            raise DamagedShardError(f"{where} unpacks to more than {largest:,} bytes")
        return json.loads(content)
    except (zstd.ZstdError, ValueError, RecursionError) as error:
        raise DamagedShardError(f"{where} is damaged: {error}") from error
