"""A template: a system (a random direction for every word, the sum of them for a post), a measure and a fusion."""

import json
from collections import Counter
from pathlib import Path
from zlib import crc32

import numpy as np

from mathamr import Component, Encoded, Field, Fuse, Level, Lexical, Measure, Nearest, System, Vectors
from mathamr.core.modelfolder import CONFIG, read_config
from mathamr.index.scored import Scored


class WordHashSystem(System):
    """Rank posts by hashed words; `weights` are what training learns: how much a word counts."""

    kind = "wordhash"
    tasks = frozenset({"answers"})
    needs = frozenset({"wording"})
    _parts = (Component("lexical", Lexical()), Component("hashes", Nearest("hashes")))
    rankings = {"answers": {"both": Fuse(parts=_parts), "hashes": Nearest("hashes")}}  # noqa: RUF012

    def __init__(self, size, name, weights=None):
        self.size, self.name, self.weights = size, name, dict(weights or {})

    @property
    def fingerprint(self):
        """Change it whenever the vectors change: an index asks for it."""
        return f"{self.kind}-1-{self.size}-{crc32(json.dumps(self.weights, sort_keys=True).encode())}"

    @property
    def fields(self):
        """Keep one vector for each post."""
        return (Field(name="hashes", of="posts", size=self.size),)

    def encode(self, items):
        """Yield the vector of every post; a post without words has none."""
        for item in items:
            total = sum(map(self._direction, words(item.post)), np.zeros(self.size, np.float32))
            length = float(np.linalg.norm(total))
            found = {"hashes": Vectors.one(total / length, Level.DOCUMENT, item.post.id)} if length else {}
            yield Encoded(id=item.post.id, post=found)

    def _direction(self, word):
        direction = np.random.default_rng(crc32(word.encode())).standard_normal(self.size)
        return (self.weights.get(word, 1.0) * direction).astype(np.float32)

    def save(self, folder: Path):
        """Write the folder that `load` reads."""
        folder.mkdir(parents=True, exist_ok=True)
        row = {"format": 1, "system": self.kind, "name": self.name, "size": self.size, "sha256": {}}
        (folder / CONFIG).write_text(json.dumps(row | {"weights": self.weights}), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, device: str = "auto"):  # noqa: ARG003
        """Load the system from its folder; hashes need no device."""
        row = read_config(folder)
        return cls(int(row["size"]), str(row["name"]), row.get("weights"))


def words(post):
    """Return the words of a post, in small letters."""
    return f"{post.title} {post.body}".lower().split()


class Success(Measure):
    """1 for a topic with a relevant item among the first k: `Success@10`."""

    name = "Success"
    needs_cutoff = True

    def value(self, ranked, _judged):
        """Return 1 if one of the results is relevant."""
        return float(any(map(self.is_relevant, ranked)))


def borda():
    """Return Borda's count: the first of n results gets n points, the next one n - 1, and so on."""

    def fuse(rankings, weights=None, k=None):
        points = Counter()
        for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
            for place, (item, _) in enumerate(ranking):
                points[item] += weight * (len(ranking) - place)
        return [Scored(*each) for each in sorted(points.items(), key=lambda each: (-each[1], each[0]))[:k]]

    return fuse
