"""The stage that indexes: the vectors of all posts and topics by one model, in one file."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mathamr.errors import MathAMRError
from mathamr.experiments.stage import Figures
from mathamr.graphs.store import GraphStore
from mathamr.graphs.tensor import GraphTensor
from mathamr.graphs.virtual import Level
from mathamr.progress import Progress
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr.systems.vectors import Vectors

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class VectorTable:
    """The vectors of posts end to end: post i has rows `starts[i]` to `starts[i + 1]`, of `levels` and `references`."""

    ids: tuple[str, ...]
    vectors: Floats
    starts: Places
    levels: npt.NDArray[np.int8]
    references: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {post_id: place for place, post_id in enumerate(self.ids)})

    @classmethod
    def of(cls, ids: Iterable[str], encoded: Iterable[Vectors], size: int) -> VectorTable:
        """The vectors of posts, one post after the other."""
        every = list(encoded)
        counts = [len(each) for each in every]
        return cls(
            tuple(ids),
            np.concatenate([np.zeros((0, size), np.float32), *(each.vectors for each in every)]),
            np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64),
            np.concatenate([np.zeros(0, np.int8), *(each.levels.astype(np.int8) for each in every)]),
            tuple(reference for each in every for reference in each.references),
        )

    def of_post(self, post_id: str) -> Vectors:
        """The vectors of one post."""
        place = self._place(post_id)
        rows = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return Vectors(self.vectors[rows], self.levels[rows].astype(np.int32), self.references[rows])

    def _place(self, post_id: str) -> int:
        places: dict[str, int] = self.__dict__["_places"]
        if post_id not in places:
            raise MathAMRError(f"no vectors of {post_id!r}; index the posts again")
        return places[post_id]

    def chosen(self, ids: Sequence[str]) -> VectorTable:
        """The table of some posts, those without any vector left out."""
        places = np.array([self._place(post_id) for post_id in ids], np.int64)
        places = places[self.starts[places + 1] > self.starts[places]]
        rows, starts = self.rows(places)
        return VectorTable(
            tuple(self.ids[place] for place in places),
            self.vectors[rows],
            starts,
            self.levels[rows],
            tuple(self.references[row] for row in rows),
        )

    def rows(self, places: Places) -> tuple[Places, Places]:
        """The rows of posts by their places, end to end, and where each post's begin, with their end."""
        counts = self.starts[places + 1] - self.starts[places]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        return np.repeat(self.starts[places] - starts[:-1], counts) + np.arange(starts[-1]), starts

    def save(self, path: Path) -> None:
        """One `.npz` without pickles, written in one move."""
        head = json.dumps([self.ids, self.references], ensure_ascii=False).encode("utf-8", "surrogatepass")
        temporary = path.with_name(path.name + ".new")
        with temporary.open("wb") as file:
            np.savez(
                file,
                allow_pickle=False,
                vectors=self.vectors,
                starts=self.starts,
                levels=self.levels,
                head=np.frombuffer(head, np.uint8),
            )
        temporary.replace(path)

    @classmethod
    def load(cls, path: Path) -> VectorTable:
        """The inverse of `save`."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays: dict[str, Any] = {name: file[name] for name in file.files}
            ids, references = json.loads(arrays["head"].tobytes().decode("utf-8", "surrogatepass"))
            return cls(tuple(ids), arrays["vectors"], arrays["starts"], arrays["levels"], tuple(references))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} is no table of vectors, or it is damaged: {error}") from error


def encode_all(
    model: Path, corpus: Path, ids: Sequence[str], topics: Path, folder: Path, device: str
) -> Figures:
    """Encodes the posts and the topics with a model; `posts.npz` and `topics.npz` in the folder."""
    encoder = GraphEncoder.load(model, device)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with GraphStore(corpus) as store, Progress("encoding", "posts", total=len(ids)) as progress:
        posts = VectorTable.of(
            ids, encoder.encode(progress.each(_tensors(store, encoder.graphs, ids))), encoder.size
        )
    seconds = time.monotonic() - began
    with GraphStore(topics) as store:
        names = list(store.ids())
        asked = VectorTable.of(names, encoder.encode(_tensors(store, encoder.graphs, names)), encoder.size)
    posts.save(folder / "posts.npz")
    asked.save(folder / "topics.npz")
    per_level = {level.name.lower(): int((posts.levels == level).sum()) for level in Level}
    return {
        "vectors": len(posts.vectors),
        "index bytes": posts.vectors.nbytes,
        "posts a second": len(ids) / max(seconds, 1e-9),
        "by level": per_level,
    }


def _tensors(store: GraphStore, graphs: str, ids: Iterable[str]) -> Iterator[GraphTensor]:
    for post_id in ids:
        yield store.tensor(graphs, post_id)
