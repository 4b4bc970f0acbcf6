"""Model folders: which system a folder holds, whether its files are whole, and which models there are by name.

A folder has a `config.json` that says what it is and the hashes of its files; nothing in it can run code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from mathamr.errors import MathAMRError, UnknownNameError
from mathamr.integrity import checked_file
from mathamr.systems.system import SYSTEMS, System

CONFIG, TEXT = "config.json", "text"
DEFAULT = "mathamr-1"
"""The model that is used unless another is named."""
_OF_ENCODER = {"joined": "mathamrplus", "mathamrplus": "mathamrplus"}
"""Folders of the first release name their encoder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model by name: where it is, which system it is of, its size, and what was measured of it."""

    name: str
    folder: Path
    system: type[System]
    bytes: int
    about: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """For `mathamr models --json`."""
        return {
            "name": self.name,
            "system": self.system.kind,
            "tasks": sorted(self.system.tasks),
            "needs": sorted(self.system.needs),
            "rankings": {task: list(named) for task, named in self.system.rankings.items()},
            "bytes": self.bytes,
            **self.about,
        }


def box() -> Path:
    """The folder of the models that come with the package, one folder a model."""
    return Path(str(resources.files("mathamr.systems") / "box"))


def boxed() -> list[str]:
    """The names of the models in the box, the default first."""
    names = sorted(path.parent.name for path in box().glob(f"*/{CONFIG}"))
    return sorted(names, key=lambda name: name != DEFAULT)


def model_folder(model: Path | str | None) -> Path:
    """The folder of a model: a folder's path, or the name of a model in the box; without either the default."""
    if model is None:
        if DEFAULT not in boxed():
            raise MathAMRError(
                "this installation has no model in the box; train one with `mathamr train` and name its folder"
            )
        return box() / DEFAULT
    if (Path(model) / CONFIG).is_file():
        return Path(model)
    if str(model) in boxed():
        return box() / str(model)
    if Path(model).exists() or len(Path(model).parts) > 1:
        raise MathAMRError(f"no model in {model}: it has no {CONFIG}; in the box are {', '.join(boxed())}")
    if str(model) in SYSTEMS:
        raise MathAMRError(
            f"this installation has no model {model!r} in the box (there is {', '.join(boxed())}); train one with"
            f" `mathamr train {model} POSTS --out FOLDER`, then name it with --model FOLDER/model"
        )
    raise UnknownNameError("model", str(model), boxed())


def system_of(folder: Path) -> type[System]:
    """The class of the system in a model folder; no weights are loaded."""
    row = described(folder)
    kind = row.get("system") or _OF_ENCODER.get(str(row.get("encoder")))
    if kind is None:
        raise UnknownNameError("encoder", str(row.get("encoder")), sorted(_OF_ENCODER))
    return SYSTEMS[str(kind)]


def load_system(model: Path | str | None = None, device: str = "auto") -> System:
    """The system in a model folder, or in the box by its name; without either the default model."""
    folder = model_folder(model)
    return system_of(folder).load(folder, device)


def described(folder: Path) -> dict[str, Any]:
    """What a model folder says about itself."""
    path = folder / CONFIG
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MathAMRError(f"no model in {folder}: it has no {CONFIG}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise MathAMRError(f"{path} does not describe a model, or it is damaged: {error}") from error
    if not isinstance(row, dict):
        raise MathAMRError(f"{path} does not describe a model: expected an object")
    return row


def checked_model(model: Path | str | None = None) -> Model:
    """A model, after the hashes of its files were checked; nothing is loaded."""
    folder = model_folder(model)
    row = described(folder)
    about: dict[str, Any] = {name: row[name] for name in ("measured", "license") if name in row}
    return Model(
        name=str(row.get("name") or folder.name),
        folder=folder,
        system=system_of(folder),
        bytes=sum(_checked(folder if row.get("of") is None else model_folder(str(row["of"])) / TEXT)),
        about=about,
    )


def _checked(folder: Path) -> Iterator[int]:
    """The sizes of all files that the folder and those in it say they have, each after its hash was checked."""
    parts = [path.parent for path in sorted(folder.rglob(CONFIG))]
    found = False
    for part in parts:
        hashes = described(part).get("sha256")
        if not isinstance(hashes, dict):
            continue
        for name in hashes:
            checked_file(part / Path(name).name, hashes)
            found = True
            yield (part / name).stat().st_size
    if not found:
        raise MathAMRError(f"{folder / CONFIG} does not say which files belong to the model")
