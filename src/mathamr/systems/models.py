"""Finds models by name (bundled, of other packages, or any model folder) and the system of each."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError, MissingExtraError, UnknownNameError
from mathamr.core.integrity import checked_file
from mathamr.core.modelfolder import CONFIG, read_config
from mathamr.core.registry import entry_points
from mathamr.systems.encoders.source import SCHEMES, EncoderSource, encoder_folder
from mathamr.systems.ranking import Ranking, Task, default_first
from mathamr.systems.system import SYSTEMS, System
from mathamr.text.backend import using_backend

TEXT, GRAPH = "text", "graph"
"""The folders of a model's encoders."""
DEFAULT = "mathamr-3"
"""The model that is used unless another is named."""
LONGEST_NAME = 100
PACKAGES = "mathamr.models"
"""The entry point group of packages that bring models: each entry names a package with one folder per model."""
MORE = "mathamr-models"
"""The package that brings the further models; a checkout has them among the bundled ones."""
IN_MORE = (
    "formula-graph-paper", "marf", "marf-paper", "mathamr", "mathamr-2", "mathamr-2-text", "mathamr-paper",
    "mathamr-plus", "ssemb", "ssemb-paper",
)  # fmt: skip
"""The models in that package."""
OF_OTHERS = frozenset(SCHEMES.values())
"""The systems of encoders of other people."""
WITHDRAWN = dict.fromkeys(("mathamr-large", "mathamr-large-text"), "st:all-mpnet-base-v2")
"""Models of earlier versions, with an encoder that finds as much."""
ABOUT = ("license", "language", "base_model", "datasets")
"""What a model's configuration says for the Hugging Face Hub: licence, languages, what it started from and learned from."""
_OF_ENCODER = {"joined": "mathamrplus", "mathamrplus": "mathamrplus"}
"""The system of folders that name their encoder instead, as `mathamr-2` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A named model: its folder, its system, its size, and its measured figures."""

    name: str
    folder: Path
    system: type[System]
    bytes: int
    about: dict[str, Any] = field(default_factory=dict)

    def rankings(self, task: Task) -> Mapping[str, Ranking]:
        """Return the named rankings of a task, the model's default first."""
        return default_first(self.system.rankings[task], default_rankings(self.folder).get(task))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form for `mathamr models --json`."""
        return {
            "name": self.name,
            "system": self.system.kind,
            "tasks": sorted(self.system.tasks),
            "needs": sorted(self.system.needs),
            "rankings": {task: list(self.rankings(task)) for task in self.system.rankings},
            "bytes": self.bytes,
            **self.about,
        }

    def card(self) -> str:
        """Return the README.md of the model's folder, with the header that the Hugging Face Hub reads."""
        measured = self.about.get("measured", {})
        lines = [
            *card_header(self.about),
            f"# {self.name}",
            "",
            f"A model of the system `{self.system.kind}` for {' and '.join(sorted(self.system.tasks))}, {self.bytes / 1e6:.1f} MB.",
            "",
            f"    mathamr index NOTES --out notes.index --model {self.name}",
        ]
        for task in sorted(self.system.tasks):
            lines += ["", f"## {task.capitalize()}", "", f"Rankings: {', '.join(self.rankings(task))}.", ""]
            figures = measured.get(task, {})
            lines += ["| measured | |", "|---|---|"] if figures else ["Its folder has no figures."]
            lines += [f"| {what} | {value} |" for what, value in figures.items()]
        notes = [*measured.get("notes", ()), *filter(None, [self.about.get("license_note")])]
        lines += ["", *(f"- {each}" for each in notes)] if notes else []
        return "\n".join(lines) + "\n"


def card_header(about: Mapping[str, Any]) -> list[str]:
    """Return the lines that the Hugging Face Hub reads at the top of a model's README.md.

    >>> card_header({"license": "apache-2.0", "datasets": ["ARQMath"]})[2:5]
    ['license: apache-2.0', 'datasets: ["ARQMath"]', 'tags: [mathematics, information-retrieval, formula-search]']
    """
    known = [f"{name}: {_yaml(about[name])}" for name in ABOUT if about.get(name)]
    tags = "tags: [mathematics, information-retrieval, formula-search]"
    return ["---", "library_name: mathamr", *known, tags, "---", ""]


def _yaml(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def box() -> Path:
    """Return the folder of the models that come with the package, one folder a model."""
    return Path(__file__).parent / "box"


def boxes() -> Iterator[Path]:
    """Yield the folders that hold models by name: the package's own, then those of packages that bring more."""
    yield box()
    # Entry points are read only if the model is not in the box: reading them takes a tenth of a first query's time.
    from importlib import resources

    for name, package in entry_points(PACKAGES, tuple(sys.path)).items():
        try:
            yield Path(str(resources.files(package)))
        except (ImportError, TypeError, ValueError) as error:
            raise MathAMRError(
                f"the package {name!r} declares models but cannot be read: {error}; remove it with"
                " pip uninstall, or install it again"
            ) from error


def boxed_folder(name: str) -> Path | None:
    """Return the folder of a model in the box, by its name."""
    if Path(name).name != name or len(name) > LONGEST_NAME:
        return None
    return next((folder / name for folder in boxes() if (folder / name / CONFIG).is_file()), None)


def is_encoder(name: str) -> bool:
    """Return True if the name means an encoder of other people, such as ``st:all-MiniLM-L6-v2``."""
    return EncoderSource.parse(name) is not None


def named_folder(name: str) -> Path | None:
    """Return the folder of a model in the box, or of an encoder of other people, by its name."""
    found = boxed_folder(name) or encoder_folder(name)
    if found is None and name in WITHDRAWN:
        raise MathAMRError(
            f"{name} is no longer part of mathamr; {WITHDRAWN[name]} finds as much, and an index can change to it:"
            f" mathamr index --out INDEX --model {WITHDRAWN[name]} --rebuild (with --download if it is not on this machine)"
        )
    return found


def boxed() -> list[str]:
    """Return the names of the models in the box, the default first."""
    names = sorted({path.parent.name for folder in boxes() for path in folder.glob(f"*/{CONFIG}")})
    return sorted(names, key=lambda name: name != DEFAULT)


def model_folder(model: Path | str | None) -> Path:
    """Return the folder of a model: a path, the name of a model in the box, or by default the default model."""
    if model is None:
        folder = boxed_folder(DEFAULT)
        if folder is None:
            raise MathAMRError(
                "no bundled model is installed; reinstall mathamr, or name a model folder with --model FOLDER"
            )
        return folder
    if (Path(model) / CONFIG).is_file():
        return Path(model)
    if (found := named_folder(str(model))) is not None:
        return found
    if Path(model).exists() or len(Path(model).parts) > 1:
        raise MathAMRError(
            f"{model} is not a model folder: it has no {CONFIG}; bundled models are {', '.join(boxed())}"
        )
    if str(model) in IN_MORE:
        raise _missing(str(model))
    if str(model) in SYSTEMS:
        raise MathAMRError(
            f"{model!r} is a system without an installed model (there is {', '.join(boxed())}); name the folder of one"
            f" with --model FOLDER, or train one if the laboratory has a recipe: mathamr train {model} POSTS --out FOLDER"
        )
    raise UnknownNameError("model", str(model), boxed())


def system_of(folder: Path) -> type[System]:
    """Return the class of the system in a model folder; no weights are loaded."""
    row = read_config(folder)
    kind = row.get("system") or _OF_ENCODER.get(str(row.get("encoder")))
    if kind is None:
        raise UnknownNameError("encoder", str(row.get("encoder")), sorted(_OF_ENCODER))
    return SYSTEMS[str(kind)]


def default_rankings(folder: Path) -> dict[str, str]:
    """Return the names of a model's own default rankings by task: a published model is ranked by its paper."""
    row = read_config(folder).get("default_rankings") or {}
    if not isinstance(row, dict):
        raise MathAMRError(f"{folder / CONFIG}: default_rankings is not an object of tasks and rankings")
    named = {str(task): str(name) for task, name in row.items()}
    known = (
        {str(task): list(rankings) for task, rankings in system_of(folder).rankings.items()} if named else {}
    )
    for task, name in named.items():
        if name not in known.get(task, ()):
            raise MathAMRError(f"{folder / CONFIG}: its system has no ranking {name!r} of {task}")
    return named


def load_system(
    model: Path | str | None = None, device: str = "auto", text_backend: str | None = None
) -> System:
    """Load the system from a model folder, or from the box by name; by default the default model.

    `text_backend` is the backend of the system's index; by default it is chosen for the device.
    """
    folder = model_folder(model)
    with using_backend(text_backend):
        return system_of(folder).load(folder, device)


def checked_model(model: Path | str | None = None) -> Model:
    """Return a model after checking the hashes of its files, without loading it."""
    folder = model_folder(model)
    row = read_config(folder)
    about: dict[str, Any] = {name: row[name] for name in ("measured", "license_note", *ABOUT) if name in row}
    return Model(
        name=str(row.get("name") or folder.name),
        folder=folder,
        system=system_of(folder),
        bytes=sum(size for part in (folder, *_elsewhere(row)) for size in _checked(part)),
        about=about,
    )


def _elsewhere(row: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the parts, `text` or `graph`, that a model takes from another model, with that model's name."""
    for part in (TEXT, GRAPH):
        if isinstance(row.get(part), str):
            yield _by_name(row[part]) / part


def part_of(folder: Path, part: str) -> Path:
    """Return the folder of a model's text or graph encoder: its own, or that of the model it names."""
    named = read_config(folder).get(part)
    return folder / part if named is None else _by_name(str(named)) / part


def _by_name(name: str) -> Path:
    """Return the folder of a model that a model folder names: no path, because the folder may come from anybody."""
    found = boxed_folder(name)
    if found is None:
        raise _missing(name) if name in IN_MORE else UnknownNameError("model", name, boxed())
    return found


def _missing(name: str) -> MissingExtraError:
    return MissingExtraError(f"the model {name}", f"pip install {MORE}")


def _checked(folder: Path) -> Iterator[int]:
    """Yield the sizes of all files that the folder and its subfolders list, after checking their hashes."""
    parts = [path.parent for path in sorted(folder.rglob(CONFIG))]
    found = any(True for _ in _elsewhere(read_config(folder)))
    for part in parts:
        hashes = read_config(part).get("sha256")
        if not isinstance(hashes, dict):
            continue
        found = True
        for name in hashes:
            file = part / Path(name).name
            checked_file(file, hashes)
            yield file.stat().st_size
    if not found:
        raise MathAMRError(f"{folder / CONFIG} does not list the files of the model")
