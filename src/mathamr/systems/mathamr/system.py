"""MathAMR represents every formula by the vector of its sentence as MathAMR (Mansouri, Oard and Zanibbi 2022)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from torch import Tensor

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import WEIGHTS, ModelFolder, write_model_folder
from mathamr.core.tensorfile import read_tensors, tensor_bytes
from mathamr.posts.level import Level
from mathamr.systems.baseencoder import checked_base_encoder
from mathamr.systems.field import Field
from mathamr.systems.layers.lowrank import merge
from mathamr.systems.mathamr.configuration import MathAMRConfiguration
from mathamr.systems.mathamr.context import ContextName, contexts
from mathamr.systems.mathamr.sentenceencoder import SentenceEncoder
from mathamr.systems.ranking import Component, Fuse, Lexical, Nearest, Rankings, Rerank, Task
from mathamr.systems.system import Encoded, Item, Need, System
from mathamr.systems.vectors import Vectors
from mathamr.text.encoder import TextEncoder
from mathamr.text.torchfolder import restored

SENTENCE = "sentence"
AT_A_TIME = 16
"""The number of posts whose lines are sorted by length and encoded together: seconds of one core, so that progress is visible."""
POOL = 1000
"""The number of formulas found by another ranking that are reranked."""

_LEXICAL, _MATHAMR = Lexical(), Nearest(SENTENCE)


class MathAMRSystem(System):
    """One vector a formula: that of its sentence; all formulas of a sentence share it."""

    kind: ClassVar[str] = "mathamr"
    tasks: ClassVar[frozenset[Task]] = frozenset({"formulas"})
    needs: ClassVar[frozenset[Need]] = frozenset({"graph"})
    sentence_field: ClassVar[str] = SENTENCE
    """The field by which `explain` says how similar the sentences of two formulas are."""
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
        self.configuration, self._changes, self.name = configuration, changes, name
        self._base_fingerprint, self._about = base.fingerprint, dict(about or {})
        if not configuration.projected:
            base.model.head, base.size = None, base.model.configuration.size
        merge(base.model, restored(changes))
        self.encoder = SentenceEncoder(base, configuration.length)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the base, of the changes to it, and of the context."""
        hashed = hashlib.sha256(tensor_bytes(self._changes)).hexdigest()
        read = self.configuration.to_json() | {"base": self._base_fingerprint}
        content = [hashed, read]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The vectors of formulas."""
        return (Field(name=SENTENCE, of="formulas", size=self.encoder.size),)

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Yield the vectors of every post's formulas, in the order of the posts."""
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
            raise MathAMRError(
                f"post {item.post.id!r} has no graph, which this model needs; update the index with: mathamr index"
            )
        return list(contexts(item.graph, item.post, cast(ContextName, self.configuration.context)))

    def save(self, folder: Path) -> None:
        """Write the model folder: the changes in sixteen or eight bits, and the name of the text encoder they change."""
        write_model_folder(
            folder,
            {
                "system": self.kind,
                "name": self.name,
                "configuration": self.configuration.to_json(),
                "base": {"name": self.configuration.base, "fingerprint": self._base_fingerprint},
            },
            {WEIGHTS: tensor_bytes(self._changes)},
            self._about,
        )

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """Load the system from a model folder; the text encoder that it changes must be installed unchanged."""
        read = ModelFolder.read(folder, "MathAMR model")
        with read.parsing():
            configuration = MathAMRConfiguration.from_json(dict(read.config["configuration"]))
            fingerprint, name = str(read.config["base"]["fingerprint"]), str(read.config["name"])
        changes = read_tensors(read.file(WEIGHTS))
        base = checked_base_encoder(configuration.base, fingerprint, device, str(folder))
        about = read.about("system", "name", "configuration", "base")
        return cls(base, configuration, changes, name=name, about=about)
