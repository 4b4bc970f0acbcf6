"""Two systems as small as systems can be: one reads words alone, one reads trees and keeps a row a node."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from mathamr.index.lexical.terms import words
from mathamr.posts.level import Level
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.systems.field import Field
from mathamr.systems.ranking import (
    Component,
    Fuse,
    Lexical,
    MaxSim,
    Nearest,
    NearestRows,
    Promote,
    Rankings,
    Rerank,
    Task,
)
from mathamr.systems.system import Encoded, Item, Need, System, VisualFormula
from mathamr.systems.vectors import Vectors

SIZE = 24


def hashed(word: str) -> np.ndarray:
    """A direction for a word, always the same."""
    seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
    vector = np.random.default_rng(seed).standard_normal(SIZE).astype(np.float32)
    return vector / np.linalg.norm(vector)


def normalised(vector: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vector)
    return vector if length == 0 else (vector / length).astype(np.float32)


class _Tiny(System):
    """What both have in common: a folder that holds nothing but the system's name."""

    kind: ClassVar[str]

    def __init__(self) -> None:
        self.name = f"{self.kind}-0"

    @property
    def fingerprint(self) -> str:
        return self.name

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        row = {"format": 1, "system": self.kind, "name": self.name, "sha256": {}}
        (folder / "config.json").write_text(json.dumps(row), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        return cls()


class WordSystem(_Tiny):
    """Posts by the mean of their words' directions; it needs the text alone."""

    kind: ClassVar[str] = "tiny-words"
    tasks: ClassVar[frozenset[Task]] = frozenset({"answers"})
    needs: ClassVar[frozenset[Need]] = frozenset({"wording"})
    rankings: ClassVar[Rankings] = {
        "answers": {
            "both": Fuse(
                parts=(Component("lexical", Lexical()), Component("words", Nearest("words"))), fusion="rrf"
            ),
            "words": Nearest("words"),
            "again": Rerank(first=Lexical(), then=Nearest("words")),
        }
    }

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field(name="words", of="posts", size=SIZE),)

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        for item in items:
            text = _words(item.post)
            if text:
                mean = normalised(np.sum([hashed(word) for word in text], axis=0))
                yield Encoded(
                    id=item.post.id, post={"words": Vectors.one(mean, Level.DOCUMENT, item.post.id)}
                )
            else:
                yield Encoded(id=item.post.id)


class NodeSystem(_Tiny):
    """Looks by the nodes of their operator trees, a row each; it needs trees alone."""

    kind: ClassVar[str] = "tiny-nodes"
    tasks: ClassVar[frozenset[Task]] = frozenset({"formulas"})
    needs: ClassVar[frozenset[Need]] = frozenset({"trees"})
    rankings: ClassVar[Rankings] = {
        "formulas": {
            "nodes": Rerank(first=NearestRows("nodes", rows=50), then=MaxSim("nodes")),
            "all": MaxSim("nodes"),
            "promoted": Promote(MaxSim("nodes")),
            "lexical": Lexical(),
        }
    }

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field(name="nodes", of="visual", size=SIZE, many=True),)

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        return (Encoded(id=item.post.id) for item in items)

    def encode_visuals(self, visuals: Iterable[VisualFormula]) -> Iterator[Mapping[str, Vectors]]:
        for visual in visuals:
            if visual.opt is None:
                yield {}
                continue
            labels = visual.opt.labels
            yield {
                "nodes": Vectors(
                    np.stack([hashed(label) for label in labels]),
                    np.full(len(labels), Level.NODE, np.int8),
                    tuple(str(node) for node in range(len(labels))),
                )
            }


def _words(post: Post) -> list[str]:
    return [word for sentence in passage(post).sentences for word in words(sentence.text)]


TINY = {"tiny-words": "tests.systems.tiny:WordSystem", "tiny-nodes": "tests.systems.tiny:NodeSystem"}
