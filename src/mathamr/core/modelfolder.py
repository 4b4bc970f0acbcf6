"""Model folders: `config.json` describes a model and holds the SHA-256 of every other file; nothing in them can run code.

Every system and every encoder is stored like this. Apart from `format` and `sha256`, each system defines its own `config.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mathamr.core.choices import MODEL
from mathamr.core.configured import describing
from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file
from mathamr.core.rules import check_known
from mathamr.core.storage.durable import write_whole
from mathamr.core.storage.plainfiles import read_description

FORMAT = 1
CONFIG, WEIGHTS = "config.json", "weights.safetensors"


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model folder whose configuration has been read; it checks the hash of a file before it returns its path."""

    path: Path
    config: dict[str, Any]
    what: str = "model"

    @classmethod
    def read(cls, path: Path, what: str = "model") -> ModelFolder:
        """Read the folder of a model, or of something else that `what` names; raise for another format."""
        config = read_config(path, what)
        if config.get("format") != FORMAT:
            raise MathAMRError(
                f"{path / CONFIG} has format {config.get('format')}, this version reads {FORMAT};"
                " install the version that wrote it"
            )
        return cls(path, config, what)

    def parsing(self) -> AbstractContextManager[None]:
        """Turn missing or wrong fields of the configuration, read inside the block, into one clear error."""
        return describing(self.path / CONFIG, self.what)

    @property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of every file by its name."""
        with self.parsing():
            return {str(name): str(value) for name, value in self.config["sha256"].items()}

    def about(self, *known: str) -> dict[str, Any]:
        """Return the part of the configuration for human readers: how the model was trained and what was measured."""
        return {
            name: value for name, value in self.config.items() if name not in ("format", "sha256", *known)
        }

    def file(self, name: str) -> Path:
        """Return the path of a file, after its hash was checked."""
        checked_file(self.path / name, self.hashes)
        return self.path / name


def read_config(folder: Path, what: str = "model") -> dict[str, Any]:
    """Return the configuration of a folder, of any format."""
    path = folder / CONFIG
    with describing(path, what):
        row = json.loads(read_description(path))
        if not isinstance(row, dict):
            raise TypeError("expected an object")
        check_known(row, MODEL, path)
        return row


def write_model_folder(
    folder: Path,
    config: Mapping[str, Any],
    files: Mapping[str, bytes] | None = None,
    about: Mapping[str, Any] | None = None,
) -> ModelFolder:
    """Write a folder that `ModelFolder.read` reads; the configuration is written last, after all files."""
    files = files or {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MathAMRError(f"cannot write the model folder {folder}: {error}") from error
    for name, content in files.items():
        write_whole(folder / name, content)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    row = {"format": FORMAT, **config, **({"sha256": hashes} if files else {}), **(about or {})}
    write_whole(folder / CONFIG, (json.dumps(row, indent=2, ensure_ascii=False) + "\n").encode())
    return ModelFolder(folder, row)
