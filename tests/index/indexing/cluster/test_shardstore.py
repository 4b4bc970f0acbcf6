from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.zstd import zstd
from mathamr.index.indexing.cluster.shardstore import (
    MAGIC,
    DamagedShardError,
    ShardName,
    ShardStore,
    shard_key,
)

pytest.importorskip("fsspec", reason="shards are kept with fsspec: pip install 'mathamr[ray]'")
NAME = ShardName("work", "ab" * 20)


@pytest.mark.parametrize("place", ["folder", "memory://shards-of-a-test"])
def test_a_shard_comes_back_as_it_was_from_a_folder_and_from_an_object_store(
    place: str, tmp_path: Path
) -> None:
    store = ShardStore(place if "://" in place else str(tmp_path / place))
    assert store.keys("work") == set()
    content = {"rows": [1, 2.5, None, "x\ud800"], "ids": ["a"]}
    assert store.write(NAME, content) > 0
    assert store.read(NAME) == content
    assert store.keys("work") == {NAME.key}
    assert store.keys("other") == set()
    store.forget(NAME)
    store.forget(NAME)
    with pytest.raises(FileNotFoundError):
        store.read(NAME)


@pytest.mark.parametrize("cut", [0, 10, len(MAGIC) + 5, -1])
def test_a_torn_shard_is_damaged(cut: int, tmp_path: Path) -> None:
    store = ShardStore(str(tmp_path))
    store.write(NAME, [1, 2, 3])
    path = tmp_path / NAME.path
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DamagedShardError):
        store.read(NAME)


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    store = ShardStore(str(tmp_path))
    store.write(NAME, [1, 2, 3])
    path = tmp_path / NAME.path
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DamagedShardError):
            store.read(NAME)


@pytest.mark.parametrize("content", [b"no json", b"[" * 100_000, b'["unclosed', b"\xff\xfe"])
def test_a_forged_shard_with_a_good_checksum_is_still_only_json(content: bytes, tmp_path: Path) -> None:
    _put(tmp_path, zstd.compress(content))
    with pytest.raises(DamagedShardError):
        ShardStore(str(tmp_path)).read(NAME)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    _put(tmp_path, zstd.compress(b'"' + bytes(64 << 20)))
    with pytest.raises(DamagedShardError, match="unpacks to more than"):
        ShardStore(str(tmp_path), largest_content=1 << 20).read(NAME)
    with pytest.raises(DamagedShardError, match="larger than a shard can be"):
        ShardStore(str(tmp_path), largest_file=16).read(NAME)


def test_what_cannot_be_kept_is_said() -> None:
    with pytest.raises(MathAMRError, match="cannot keep shards at nowhere://x"):
        ShardStore("nowhere://x")
    with pytest.raises(MathAMRError, match="cannot keep shards at /proc/x"):
        ShardStore("/proc/x")


def test_a_key_changes_with_the_request_and_with_who_makes_it_and_with_nothing_else() -> None:
    key = shard_key({"model": "a", "version": "1"}, ["new", "post"])
    assert key == shard_key({"version": "1", "model": "a"}, ["new", "post"])
    others = {
        shard_key({"model": "b", "version": "1"}, ["new", "post"]),
        shard_key({"model": "a", "version": "1"}, ["new", "other"]),
        shard_key({"model": "a"}, ["new", "post"]),
    }
    assert len(others | {key}) == 4


def _put(folder: Path, packed: bytes) -> None:
    path = folder / NAME.path
    path.parent.mkdir(parents=True)
    path.write_bytes(MAGIC + blake2b(packed, digest_size=32).digest() + packed)
