"""MathAMR behind the seam: every formula by the vector of its sentence as MathAMR (Mansouri, Oard and Zanibbi 2022)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import torch
from torch import Tensor

from mathamr.core.configured import describing
from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file, file_hash
from mathamr.core.tensorfile import read_tensors, tensor_bytes
from mathamr.posts.level import Level
from mathamr.systems.field import Field
from mathamr.systems.layers.lowrank import merge
from mathamr.systems.mathamr.configuration import MathAMRConfiguration
from mathamr.systems.mathamr.context import ContextName, contexts
from mathamr.systems.mathamr.sentenceencoder import SentenceEncoder
from mathamr.systems.modelfolder import described
from mathamr.systems.ranking import Component, Fuse, Lexical, Nearest, Rankings, Rerank, Task
from mathamr.systems.system import Encoded, GraphInput, Item, Need, VisualFormula
from mathamr.systems.textbase import checked_base
from mathamr.systems.vectors import Vectors
from mathamr.systems.weights import CONFIG, WEIGHTS
from mathamr.text.encoder import TextEncoder

FORMAT = 1
SENTENCE = "sentence"
AT_A_TIME = 16
"""Posts whose lines are sorted by length and encoded together: seconds of one core, so that progress is seen."""
POOL = 1000
"""Formulas that another ranking found and that are ordered again."""

_LEXICAL, _MATHAMR = Lexical(), Nearest(SENTENCE)


class MathAMRSystem:
    """One vector a formula: that of its sentence; all formulas of a sentence share it."""

    kind: ClassVar[str] = "mathamr"
    tasks: ClassVar[frozenset[Task]] = frozenset({"formulas"})
    needs: ClassVar[frozenset[Need]] = frozenset({"graph"})
    rankings: ClassVar[Rankings] = {
        "formulas": {
            "fused": Rerank(
                first=_LEXICAL,
                then=Fuse(
                    parts=(Component("lexical", _LEXICAL), Component("mathamr", _MATHAMR)),
                    fusion="score-rrf",
                ),
                pool=POOL,
            ),
            "mathamr": _MATHAMR,
            "rerank": Rerank(first=_LEXICAL, then=_MATHAMR, pool=POOL),
            "lexical": _LEXICAL,
        }
    }

    def __init__(
        self,
        base: TextEncoder,
        configuration: MathAMRConfiguration,
        changes: dict[str, Tensor],
        *,
        name: str = "mathamr",
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.configuration, self._changes, self._name = configuration, changes, name
        self._base_fingerprint, self._about = base.fingerprint, dict(about or {})
        merge(base.model, changes)
        self.encoder = SentenceEncoder(base, configuration.length)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """That of the base, of the changes to it, and of what is read."""
        hashed = hashlib.sha256(tensor_bytes(self._changes)).hexdigest()
        content = [self._base_fingerprint, hashed, self.configuration.to_json()]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The vectors of formulas."""
        return (Field(name=SENTENCE, of="formulas", size=self.encoder.size),)

    @property
    def graphs(self) -> GraphInput | None:
        """None: it reads graphs as text."""
        return None

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """The vectors of every post's formulas, in the order of the posts."""
        stream = iter(items)
        while chosen := list(islice(stream, AT_A_TIME)):
            found = [self._contexts(item) for item in chosen]
            rows = iter(self.encoder.encode([line for each in found for _, line in each]))
            for item, each in zip(chosen, found, strict=True):
                yield Encoded(
                    id=item.post.id,
                    formulas=tuple(
                        (formula, {SENTENCE: Vectors.one(next(rows), Level.FORMULA, formula)})
                        for formula, _ in each
                    ),
                )

    def _contexts(self, item: Item) -> list[tuple[str, str]]:
        if item.graph is None:
            raise MathAMRError(f"post {item.post.id!r} came without the graph that MathAMR reads")
        return list(contexts(item.graph, item.post, cast(ContextName, self.configuration.context)))

    def encode_visuals(self, visuals: Iterable[VisualFormula]) -> Iterator[Mapping[str, Vectors]]:
        """Nothing: a formula's vector depends on its sentence."""
        return ({} for _ in visuals)

    def save(self, folder: Path) -> None:
        """Writes the model folder: the changes in sixteen bits, and which text encoder they change."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / WEIGHTS).write_bytes(tensor_bytes(self._changes))
            row = {
                "format": FORMAT,
                "system": self.kind,
                "name": self.name,
                "configuration": self.configuration.to_json(),
                "base": {"name": self.configuration.base, "fingerprint": self._base_fingerprint},
                "sha256": {WEIGHTS: file_hash(folder / WEIGHTS)},
                **self._about,
            }
            (folder / CONFIG).write_text(
                json.dumps(row, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )
        except OSError as error:
            raise MathAMRError(f"cannot write the model folder {folder}: {error}") from error

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """The system in a model folder; the text encoder that it changes must be there, the same as then."""
        row = described(folder)
        if row.get("format") != FORMAT:
            raise MathAMRError(
                f"{folder / CONFIG} has format {row.get('format')}, this version reads {FORMAT}"
            )
        with describing(folder / CONFIG, "MathAMR model"):
            configuration = MathAMRConfiguration.from_json(dict(row["configuration"]))
            hashes = {str(name): str(value) for name, value in row["sha256"].items()}
            base, fingerprint = str(row["base"]["name"]), str(row["base"]["fingerprint"])
            name = str(row["name"])
        checked_file(folder / WEIGHTS, hashes)
        encoder = checked_base(base, fingerprint, device, str(folder))
        about: dict[str, Any] = {key: row[key] for key in ("measured", "license", "training") if key in row}
        return cls(encoder, configuration, read_tensors(folder / WEIGHTS), name=name, about=about)


def halved(changes: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Changes as they are stored, in sixteen bits."""
    return {name: each.detach().to("cpu", torch.float16).contiguous() for name, each in changes.items()}
