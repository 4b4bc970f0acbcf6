"""`Ways`: by which of several programs the layers of the text encoder are computed on a processor.

They differ by rounding only, and which is the quickest depends on the processor: ours as machine code, ONNX Runtime's, and torch's where
there are instructions for products of bfloat16 matrices. Everybody takes ONNX Runtime, which is ready at once, but for who makes a
large index: its main process names one way for all that work at it (`way_for`, `going`), so that no vector depends on who
made it or when. The first time a machine is asked it measures all of them over one window, and remembers the quickest in the
folder of caches. `MATHAMR_TEXT` names one for everything instead.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Protocol

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.core.machinecode import processor_features, processor_name
from mathamr.core.settings import CACHE, TEXT
from mathamr.text.configuration import TransformerConfiguration
from mathamr.text.onnxtransformer import OnnxTransformer
from mathamr.text.quantisedgraph import SCALE
from mathamr.text.windows import WINDOW

Weights = Mapping[str, AnyArray]
ONNX, FLOAT = "onnx", "float"
AUTO = "auto"
MANY = 500
"""Posts of an index from which on the quickest way is looked for: with fewer, making machine code takes longer than it saves."""
RECORD, MOST, LONGEST = "text-ways.json", 32, 1 << 16
"""Where it is remembered which way is the quickest, for how many machines, in how many bytes."""
ROUNDS = 3
NEAR = 0.9
"""The least cosine of states with those of ONNX Runtime, over numbers drawn at random, where rounding counts for far more than over text: a
way that computes something else is no way."""


class LayerStack(Protocol):
    """What computes the layers of a text encoder over one window."""

    def __call__(self, embedded: FloatArray, added: FloatArray | None = None) -> FloatArray:
        """The states (width, size) of embeddings before their normalisation; `added`: (heads, width, width)."""
        ...


_NAMED: ContextVar[str] = ContextVar("the way of who reads here", default=ONNX)


@contextmanager
def going(name: str) -> Iterator[None]:
    """What this thread reads meanwhile is read by the way of this name, where that can be gone here, and else by ONNX Runtime."""
    token = _NAMED.set(name)
    try:
        yield
    finally:
        _NAMED.reset(token)


def way_for(posts: int) -> str:
    """The name of the way in which an index of so many posts is made on machines like this one."""
    if TEXT.value != AUTO:
        return TEXT.value
    return quickest_here() if posts >= MANY else ONNX


class Ways:
    """The ways for one text encoder; each is made when it is first gone."""

    def __init__(self, configuration: TransformerConfiguration, weights: Weights) -> None:
        self._shape, self._weights = configuration, weights

    @property
    def chosen(self) -> LayerStack:
        """The way that is named for this thread, or for everything."""
        name = TEXT.value if TEXT.value in (ONNX,) else _NAMED.get()
        return self._float if name == FLOAT and find_spec("torch") is not None else self._onnx

    @cached_property
    def _onnx(self) -> LayerStack:
        return OnnxTransformer(self._shape, self._weights)

    @cached_property
    def _float(self) -> LayerStack:
        from mathamr.text.torchtransformer import TorchTransformer

        return TorchTransformer(self._shape, self._weights)


def quickest_here() -> str:
    """The name of the way that is the quickest on this machine, measured over one layer of MiniLM's shape, or remembered."""
    shape = TransformerConfiguration(pieces=1, layers=1)
    possible = [ONNX]
    if processor_features().get("amx-bf16") and find_spec("torch") is not None:
        possible.append(FLOAT)
    if len(possible) == 1:
        return ONNX
    key = machine_key(possible)
    name = remembered(key)
    if name not in possible:
        ways = Ways(shape, _drawn_weights(shape))
        name = quickest({each: getattr(ways, f"_{each}") for each in possible}, shape)
        remember(key, name)
    return name


def _drawn_weights(shape: TransformerConfiguration) -> dict[str, AnyArray]:
    """Weights at random, of about the size that trained ones have."""
    drawn = np.random.default_rng(1)
    weights: dict[str, AnyArray] = {}
    for name, (rows, columns) in {
        "attention": (3 * shape.size, shape.size),
        "attended": (shape.size, shape.size),
        "inner": (shape.inner, shape.size),
        "outer": (shape.size, shape.inner),
    }.items():
        weights[f"layers.0.{name}.weight"] = drawn.integers(-127, 128, (rows, columns), np.int8)
        weights[f"layers.0.{name}.weight{SCALE}"] = np.full(rows, 5e-4, np.float32)
        weights[f"layers.0.{name}.bias"] = np.zeros(rows, np.float32)
    for name in ("norm", "layers.0.attention_norm", "layers.0.outer_norm"):
        weights[f"{name}.weight"], weights[f"{name}.bias"] = (
            np.ones(shape.size, np.float32),
            np.zeros(shape.size, np.float32),
        )
    return weights


def quickest(ways: Mapping[str, LayerStack], shape: TransformerConfiguration) -> str:
    """The way that takes the least time of a processor for one window, among those that come to ONNX Runtime's states."""
    drawn = np.random.default_rng(0)
    embedded = drawn.standard_normal((WINDOW + 2, shape.size), np.float32)
    expected = ways[ONNX](embedded)
    spent = {}
    for name, way in ways.items():
        found = way(embedded)
        lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
        if not ((found * expected).sum(1) >= NEAR * lengths).all():
            continue
        spent[name] = min(_seconds(way, embedded) for _ in range(ROUNDS))
    return min(spent, key=spent.__getitem__)


def _seconds(way: LayerStack, embedded: FloatArray) -> float:
    started = process_time()
    way(embedded)
    return process_time() - started


def machine_key(ways: Iterable[str]) -> str:
    """What the quickest way depends on: the processor, and versions of what computes."""
    versions = {}
    for package in ("onnxruntime", "llvmlite", "torch", "mathamr"):
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    processor = [platform.machine(), processor_name(), sorted(processor_features().items())]
    about = [processor, versions, sorted(ways)]
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
