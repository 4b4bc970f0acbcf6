"""A template: a system that gives every word a random direction and every post the sum of its words' directions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar
from zlib import crc32

import numpy as np

from mathamr.core.modelfolder import CONFIG, read_config
from mathamr.posts.level import Level
from mathamr.systems.field import Field
from mathamr.systems.ranking import Component, Fuse, Lexical, Nearest, Rankings, Task
from mathamr.systems.system import Encoded, GraphInput, Item, Need, VisualFormula
from mathamr.systems.vectors import Vectors


class WordHashSystem:
    """Rank posts by hashed words; nothing is learned, so that the folder of its model holds no weights."""

    kind: ClassVar[str] = "wordhash"
    tasks: ClassVar[frozenset[Task]] = frozenset({"answers"})
    needs: ClassVar[frozenset[Need]] = frozenset({"wording"})
    rankings: ClassVar[Rankings] = {
        "answers": {
            "both": Fuse(parts=(Component("lexical", Lexical()), Component("hashes", Nearest("hashes")))),
            "hashes": Nearest("hashes"),
        }
    }

    def __init__(self, size: int, name: str) -> None:
        self.size, self.name = size, name

    @property
    def fingerprint(self) -> str:
        """Change it whenever the vectors change: an index asks for it."""
        return f"{self.kind}-1-{self.size}"

    @property
    def fields(self) -> tuple[Field, ...]:
        """Keep one vector for each post."""
        return (Field(name="hashes", of="posts", size=self.size),)

    @property
    def graphs(self) -> GraphInput | None:
        """Read no graphs."""
        return None

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Yield the vector of every post; a post without words has none."""
        for item in items:
            words = f"{item.post.title} {item.post.body}".lower().split()
            total = sum((self._direction(word) for word in words), np.zeros(self.size, np.float32))
            length = float(np.linalg.norm(total))
            found = {"hashes": Vectors.one(total / length, Level.DOCUMENT, item.post.id)} if length else {}
            yield Encoded(id=item.post.id, post=found)

    def encode_visuals(self, visuals: Iterable[VisualFormula]) -> Iterator[Mapping[str, Vectors]]:
        """Yield nothing for formulas: this system has no field of them."""
        return ({} for _ in visuals)

    def _direction(self, word: str) -> np.ndarray:
        return np.random.default_rng(crc32(word.encode())).standard_normal(self.size).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write the folder that `load` reads."""
        folder.mkdir(parents=True, exist_ok=True)
        row = {"format": 1, "system": self.kind, "name": self.name, "size": self.size, "sha256": {}}
        (folder / CONFIG).write_text(json.dumps(row), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> WordHashSystem:  # noqa: ARG003
        """Load the system from its folder; hashes need no device."""
        row = read_config(folder)
        return cls(int(row["size"]), str(row["name"]))
