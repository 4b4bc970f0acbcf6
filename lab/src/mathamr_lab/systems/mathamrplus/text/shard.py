"""A text shard: the word pieces of the posts of a shard of graphs, in one compact file."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.text.wordpieces import Pieces, WordPieces

if TYPE_CHECKING:
    from mathamr.posts.post import Post

_COLUMNS = ("numbers", "counts", "of", "starts", "ends", "spans")


@dataclass(frozen=True, eq=False)
class TextShard:
    """The pieces of every post of a shard of graphs, by the same numbers."""

    posts: tuple[Pieces, ...]

    def __len__(self) -> int:
        return len(self.posts)

    def fingerprint(self) -> int:
        """Equal for equal texts."""
        check = 0
        for post in self.posts:
            for array in (post.numbers, post.of, post.starts, post.ends):
                check = zlib.crc32(np.ascontiguousarray(array).data, check)
        return check

    def save(self, path: Path) -> None:
        """Write one `.npz` without pickles."""
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **text_arrays(self))

    @classmethod
    def load(cls, path: Path) -> TextShard:
        """Reverse `save`; refuses anything else."""
        try:
            with np.load(path, allow_pickle=False) as file:
                return texts_from(file)
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} is not a shard of texts, or it is damaged: {error}") from error


def text_arrays(texts: TextShard) -> dict[str, npt.NDArray[np.generic]]:
    """Return texts as concatenated arrays."""
    none = [np.zeros(0, np.int32)]
    return {
        "numbers": np.concatenate([post.numbers for post in texts.posts] or [np.zeros(0, np.uint16)]),
        "counts": np.array([len(post) for post in texts.posts], np.int32),
        "of": np.concatenate([post.of for post in texts.posts] or none).astype(np.uint16),
        "starts": np.concatenate([post.starts for post in texts.posts] or none).astype(np.uint16),
        "ends": np.concatenate([post.ends for post in texts.posts] or none).astype(np.uint16),
        "spans": np.array([len(post.of) for post in texts.posts], np.int32),
    }


def texts_from(file: Mapping[str, npt.NDArray[np.generic]]) -> TextShard:
    """Reverse `text_arrays`."""
    arrays = {name: file[name] for name in _COLUMNS}
    cuts, spans = np.cumsum(arrays["counts"])[:-1], np.cumsum(arrays["spans"])[:-1]
    numbers = np.split(arrays["numbers"].astype(np.uint16), cuts)
    of, starts, ends = (np.split(arrays[name].astype(np.int32), spans) for name in ("of", "starts", "ends"))
    posts = tuple(Pieces(*columns) for columns in zip(numbers, of, starts, ends, strict=True))
    if any(len(post.ends) and int(post.ends.max()) > len(post) for post in posts):
        raise ValueError("a span ends beyond its post")
    return TextShard(posts)


def export_texts(posts: Iterable[Post], shard: Shard, pieces: WordPieces, most: int, path: Path) -> str:
    """Write the first pieces of every post of a shard of graphs; a missing post is an error."""
    from mathamr.core.progress import Progress
    from mathamr.text.wording import wording

    number = {post_id: place for place, post_id in enumerate(shard.ids)}
    found: dict[int, Pieces] = {}
    with Progress("texts", "posts", total=len(number)) as progress:
        for chunk in batches((post for post in posts if post.id in number), 256):
            wordings = [wording(post, shard[number[post.id]]) for post in chunk]
            for post, cut in zip(chunk, pieces.cut(wordings), strict=True):
                found[number[post.id]] = cut.cut(most)
            progress.advance(len(chunk))
    if missing := [post_id for post_id, place in number.items() if place not in found]:
        raise MathAMRError(
            f"{len(missing)} posts of the shard are not among the posts given, the first is {missing[0]!r}"
        )
    TextShard(tuple(found[place] for place in range(len(shard)))).save(path)
    return f"{len(shard):,} texts in {path} ({path.stat().st_size / 2**20:.1f} MiB)"
