"""`TextShard`: the word pieces of posts, and their form as compact arrays."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mathamr.text.wordpieces import Pieces

_COLUMNS = ("numbers", "counts", "of", "starts", "ends", "spans")


@dataclass(frozen=True, eq=False)
class TextShard:
    """The pieces of posts by number."""

    posts: tuple[Pieces, ...]

    def __len__(self) -> int:
        return len(self.posts)

    def fingerprint(self) -> int:
        """Return a checksum that is equal for equal texts."""
        check = 0
        for post in self.posts:
            for array in (post.numbers, post.of, post.starts, post.ends):
                check = zlib.crc32(np.ascontiguousarray(array).data, check)
        return check


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
    """Read the arrays of `text_arrays`."""
    arrays = {name: file[name] for name in _COLUMNS}
    cuts, spans = np.cumsum(arrays["counts"])[:-1], np.cumsum(arrays["spans"])[:-1]
    numbers = np.split(arrays["numbers"].astype(np.uint16), cuts)
    of, starts, ends = (np.split(arrays[name].astype(np.int32), spans) for name in ("of", "starts", "ends"))
    posts = tuple(Pieces(*columns) for columns in zip(numbers, of, starts, ends, strict=True))
    if any(len(post.ends) and int(post.ends.max()) > len(post) for post in posts):
        raise ValueError("a span ends beyond its post")
    return TextShard(posts)
