"""A prepared folder: all input files of one system's training, for this machine or one that only trains.

training.json   the system, its settings, what it was prepared from, and the hashes of the other files
…               the recipe's own files
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from mathamr.core.configured import describing
from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file, file_hash
from mathamr_lab.recipes.recipe import (
    RECIPES,
    StageWork,
    TrainingSettings,
    TrainingSources,
    named_recipe,
)
from mathamr_lab.training.resources import Resources

FILE, FORMAT = "training.json", 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTraining:
    """The content of `training.json`."""

    system: str
    settings: TrainingSettings
    sources: dict[str, Any]
    hashes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> PreparedTraining:
        """Read `training.json` of a folder after checking the hashes of its files."""
        path = folder / FILE
        with describing(path, "prepared training"):
            row = json.loads(path.read_text(encoding="utf-8"))
            if row["format"] != FORMAT:
                raise MathAMRError(f"{path} has format {row['format']}, this version reads {FORMAT}")
            settings = {name: _tuples(value) for name, value in dict(row["settings"]).items()}
            read = cls(
                system=named_recipe(str(row["system"])),
                settings=TrainingSettings(**settings),
                sources=dict(row["sources"]),
                hashes={str(name): str(value) for name, value in row["sha256"].items()},
            )
        for name, expected in read.hashes.items():
            if ".." in Path(name).parts or Path(name).is_absolute():
                raise MathAMRError(f"{path} names a file outside its folder: {name}")
            checked_file(folder / name, {Path(name).name: expected})
        return read

    def save(self, folder: Path) -> None:
        """Write `training.json`, the last file of a prepared folder."""
        row = {
            "format": FORMAT,
            "system": self.system,
            "settings": asdict(self.settings),
            "sources": self.sources,
            "sha256": self.hashes,
        }
        (folder / FILE).write_text(json.dumps(row, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def say(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


def prepare(
    system: str,
    sources: TrainingSources,
    settings: TrainingSettings,
    folder: Path,
    *,
    fresh: bool = False,
    say: Callable[[str], None] = say,
) -> bool:
    """Create a prepared folder; one with the same sources is kept. Return True if it was."""
    system = named_recipe(system)
    recipe = RECIPES[system]
    recipe.check(settings)
    for name in sources.given():
        if name not in recipe.reads:
            raise MathAMRError(f"the training of {system} does not use --{name}; leave it out")
    if sources.base is not None and any(change.startswith("model.base=") for change in settings.changes):
        raise MathAMRError("--base and --set model.base name two text encoders to start from; give one")
    given = json.loads(json.dumps(sources.to_json()))
    wanted = PreparedTraining(system=system, settings=settings, sources=given)
    if not fresh and _kept(folder, wanted):
        say(f"{folder} was prepared from the same before: it is kept")
        return True
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).unlink(missing_ok=True)
        written = recipe.prepare(sources, settings, folder, say)
        hashes = {path.relative_to(folder).as_posix(): file_hash(path) for path in written}
        replace(wanted, hashes=hashes).save(folder)
    except OSError as error:
        raise MathAMRError(f"cannot write the prepared folder {folder}: {error}") from error
    return False


def _kept(folder: Path, wanted: PreparedTraining) -> bool:
    if not (folder / FILE).exists():
        return False
    try:
        found = PreparedTraining.load(folder)
    except MathAMRError:
        return False
    return replace(found, hashes={}) == wanted


def train_prepared(
    folder: Path, out: Path, resources: Resources, *, fresh: bool = False
) -> Iterator[dict[str, Any]]:
    """Do the stages of a prepared training one after the other and yield their results as rows.

    Finished stages are skipped, and a stopped one continues. `minutes` bounds all stages together.
    """
    prepared = PreparedTraining.load(folder)
    began = time.monotonic()
    for name, run in RECIPES[prepared.system].planned(prepared.settings).items():
        left = resources.minutes
        if left is not None:
            left = max(0.0, left - (time.monotonic() - began) / 60)
        print(f"{name}:", file=resources.stream or sys.stderr, flush=True)
        work = StageWork(prepared=folder, out=out, resources=replace(resources, minutes=left), fresh=fresh)
        result = run(work)
        for row in result.rows:
            yield {"stage": name, **row}
        if not result.done:
            return
