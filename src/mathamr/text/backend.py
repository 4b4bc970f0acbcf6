"""The backends of the text encoder: `onnx` (ONNX Runtime, eight bits, no torch) and `float` (torch, floating point).

One index has one backend. It is chosen when the index is built (`chosen_backend`: `float` on a GPU, `onnx` otherwise), recorded in the
manifest, and used by everything that reads or extends the index, so that a query has the same hits everywhere. The vectors of both
backends agree up to rounding (cosines of .999 on average), so `MATHAMR_TEXT` may name the other one to search an index,
for example `MATHAMR_TEXT=onnx` for an index that was built on a GPU, on a machine without torch. Hits with nearly equal
scores may then change places. Posts are added with the recorded backend, except that an update of few posts of an index that was built on a
GPU uses `onnx`: loading torch and CUDA would take longer than to encode them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.settings import TEXT
from mathamr.text.folder import load_onnx_encoder
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.textvectors import AnyTextEncoder

if TYPE_CHECKING:
    from mathamr.text.encoder import TextEncoder

ONNX, FLOAT = "onnx", "float"
AUTO = "auto"

_loading: ContextVar[str | None] = ContextVar("backend of what is being loaded", default=None)


def chosen_backend(device: str = AUTO) -> str:
    """Return the backend for a new index: the one that `MATHAMR_TEXT` names, otherwise `float` on a GPU and `onnx` on a processor."""
    named = _named_backend()
    if named != AUTO:
        return named
    return FLOAT if _is_gpu(device) else ONNX


def index_backend(recorded: str, index: Path, *, read_only: bool) -> str:
    """Return the backend for an index with the recorded one; only a search may use another, named by `MATHAMR_TEXT`."""
    named = _named_backend()
    if named in (AUTO, recorded):
        _check_usable(recorded)
        return recorded
    if not read_only:
        raise MathAMRError(
            f"the index {index} was built with the text backend {recorded!r}, but {TEXT.name} is {named!r}; unset {TEXT.name},"
            " or encode all posts again with --rebuild"
        )
    return named


def current_backend(device: str = AUTO) -> str:
    """Return the backend of the system that is being loaded (`using_backend`), otherwise the one for a new index."""
    return _loading.get() or chosen_backend(device)


@contextmanager
def using_backend(backend: str | None) -> Iterator[None]:
    """Load text encoders inside the block with this backend; `None` changes nothing."""
    token = _loading.set(backend or _loading.get())
    try:
        yield
    finally:
        _loading.reset(token)


def load_encoder(folder: Path, device: str = AUTO, backend: str | None = None) -> AnyTextEncoder:
    """Return the text encoder in a folder, with the given or the current backend."""
    backend = backend or current_backend(device)
    _check_usable(backend)
    if backend == ONNX:
        return load_onnx_encoder(folder)
    from mathamr.text.torchfolder import load_text_encoder

    return load_text_encoder(folder, device)


def exact_encoder(encoder: AnyTextEncoder) -> TextEncoder:
    """Return the same encoder with the backend `float`, for saving and training."""
    from mathamr.text.encoder import TextEncoder
    from mathamr.text.torchfolder import load_text_encoder

    if isinstance(encoder, TextEncoder):
        return encoder
    if not isinstance(encoder, OnnxTextEncoder) or encoder.source is None:
        raise MathAMRError(
            "this text encoder cannot be saved or trained: only an encoder that was loaded from a folder has exact weights"
        )
    return load_text_encoder(encoder.source, "cpu")


def _named_backend() -> str:
    """Return the value of `MATHAMR_TEXT`."""
    if TEXT.value not in (AUTO, ONNX, FLOAT):
        raise MathAMRError(f"{TEXT.name} must be {AUTO}, {ONNX} or {FLOAT}, got {TEXT.value!r}")
    return TEXT.value


def _check_usable(backend: str) -> None:
    if backend not in (ONNX, FLOAT):
        raise MathAMRError(
            f"unknown text backend {backend!r}; this version has {ONNX} and {FLOAT}: build the index again with --rebuild"
        )
    if backend == ONNX and find_spec("onnxruntime") is None:
        raise MissingExtraError(f"the text backend {ONNX!r}", "pip install onnxruntime")
    if backend == FLOAT and find_spec("torch") is None:
        raise MissingExtraError(
            f"the text backend {FLOAT!r}",
            f'pip install "mathamr[torch]"; or set {TEXT.name}={ONNX} to search with ONNX Runtime, whose vectors agree up to'
            " rounding; or build the index again here with --rebuild",
        )


def _is_gpu(device: str) -> bool:
    """Return True if the device is a GPU; torch is imported only where a driver says that there may be one."""
    if device == "cpu":
        return False
    if device == AUTO and os.name != "nt":
        drivers = ("/proc/driver/nvidia", "/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
        if not any(Path(driver).exists() for driver in drivers):
            return False
    if find_spec("torch") is None:
        if device == AUTO:
            return False
        raise MissingExtraError(f"torch, for the device {device!r},", 'pip install "mathamr[torch]"')
    from mathamr.core.device import chosen_device

    return chosen_device(device).type != "cpu"
