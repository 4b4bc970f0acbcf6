"""`Ways`: by which of several programs the layers of the text encoder are computed on a processor.

They differ by rounding only, and which is the quickest depends on the processor: ours as machine code, ONNX Runtime's, and torch's where
there are instructions for products of bfloat16 matrices. Who reads little takes ONNX Runtime, which is ready at once; who reads
more measures all of them over one window, the first time that a machine does, and remembers the quickest in the folder of caches.
`MATHAMR_TEXT` names one instead.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from mathamr.errors import MathAMRError
from mathamr.layers.language.compiled.network import CompiledTransformer, fits
from mathamr.layers.language.onnxtransformer import OnnxTransformer
from mathamr.layers.language.windows import WINDOW
from mathamr.machinecode import processor_features, processor_name
from mathamr.settings import CACHE, TEXT

if TYPE_CHECKING:
    from mathamr.layers.language.configuration import TransformerConfiguration

Floats = npt.NDArray[np.float32]
Weights = Mapping[str, npt.NDArray[Any]]
ONNX, COMPILED, FLOAT = "onnx", "compiled", "float"
AUTO = "auto"
MANY = 4000
"""Pieces after which the quickest way is looked for: to make machine code takes as long as it saves on these."""
RECORD, MOST, LONGEST = "text-ways.json", 32, 1 << 16
"""Where it is remembered which way is the quickest, for how many machines, in how many bytes."""
ROUNDS = 3
NEAR = 0.9
"""The least cosine of states with those of ONNX Runtime, over numbers drawn at random, where rounding counts for far more than over text: a
way that computes something else is no way."""


class LayerStack(Protocol):
    """What computes the layers of a text encoder over one window."""

    def __call__(self, embedded: Floats, added: Floats | None = None) -> Floats:
        """The states (width, size) of embeddings before their normalisation; `added`: (heads, width, width)."""
        ...


class Ways:
    """The ways for one text encoder; each is made when it is first gone."""

    def __init__(self, configuration: TransformerConfiguration, weights: Weights) -> None:
        self._shape, self._weights = configuration, weights
        self._read = 0

    def chosen(self, pieces: int) -> LayerStack:
        """The way to read so many more pieces."""
        self._read += pieces
        if TEXT.value == COMPILED:
            return self._compiled
        if TEXT.value == ONNX or self._read < MANY:
            return self._onnx
        return self._quickest

    @cached_property
    def _onnx(self) -> LayerStack:
        return OnnxTransformer(self._shape, self._weights)

    @cached_property
    def _compiled(self) -> LayerStack:
        if not fits(self._shape):
            raise MathAMRError(
                f"{TEXT.name}={COMPILED} needs llvmlite (the extra `fast`), an ARM processor with dot products, and a text"
                f" encoder whose sizes are multiples of 48: take {AUTO}"
            )
        return CompiledTransformer(self._shape, self._weights)

    @cached_property
    def _float(self) -> LayerStack:
        from mathamr.layers.language.torchtransformer import TorchTransformer

        return TorchTransformer(self._shape, self._weights)

    @cached_property
    def _quickest(self) -> LayerStack:
        possible: dict[str, Callable[[], LayerStack]] = {ONNX: lambda: self._onnx}
        if fits(self._shape):
            possible[COMPILED] = lambda: self._compiled
        if processor_features().get("amx-bf16") and find_spec("torch") is not None:
            possible[FLOAT] = lambda: self._float
        if len(possible) == 1:
            return self._onnx
        key = machine_key(self._shape, possible)
        name = remembered(key)
        if name not in possible:
            name = quickest({name: make() for name, make in possible.items()}, self._shape)
            remember(key, name)
        return possible[name]()


def quickest(ways: Mapping[str, LayerStack], shape: TransformerConfiguration) -> str:
    """The way that takes the least time of a processor for one window, among those that come to ONNX Runtime's states."""
    drawn = np.random.default_rng(0)
    embedded = drawn.standard_normal((WINDOW + 2, shape.size), np.float32)
    added = np.zeros((shape.heads, WINDOW + 2, WINDOW + 2), np.float32) if shape.buckets else None
    expected = ways[ONNX](embedded, added)
    spent = {}
    for name, way in ways.items():
        found = way(embedded, added)
        lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
        if not ((found * expected).sum(1) >= NEAR * lengths).all():
            continue
        spent[name] = min(_seconds(way, embedded, added) for _ in range(ROUNDS))
    return min(spent, key=spent.__getitem__)


def _seconds(way: LayerStack, embedded: Floats, added: Floats | None) -> float:
    started = process_time()
    way(embedded, added)
    return process_time() - started


def machine_key(shape: TransformerConfiguration, ways: Mapping[str, object]) -> str:
    """What the quickest way depends on: processor, shape of the network, and versions of what computes."""
    versions = {}
    for package in ("onnxruntime", "llvmlite", "torch", "mathamr"):
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    processor = [platform.machine(), processor_name(), sorted(processor_features().items())]
    about = [processor, versions, shape.to_json(), sorted(ways)]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:32]


def remembered(key: str) -> str:
    """The way that was the quickest; empty where nobody has measured yet."""
    return _record().get(key, "")


def remember(key: str, name: str) -> None:
    """Writes a way down, where the folder of caches can be written."""
    known = dict([*_record().items(), (key, name)][-MOST:])
    path = _path()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(f".{key[:8]}")
        beside.write_text(json.dumps(known, indent=1), encoding="ascii")
        beside.replace(path)


def _record() -> dict[str, str]:
    with suppress(OSError, ValueError, RecursionError):
        if _path().stat().st_size <= LONGEST:
            row = json.loads(_path().read_text(encoding="ascii"))
            if isinstance(row, dict) and all(isinstance(value, str) for value in row.values()):
                return row
    return {}


def _path() -> Path:
    return CACHE.path / RECORD
