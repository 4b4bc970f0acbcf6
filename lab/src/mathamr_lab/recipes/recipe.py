"""`TrainingRecipe`: trains one system from posts to its model folder, in stages; and the recipes by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.modelfolder import CONFIG, read_config
from mathamr.core.registry import Registry
from mathamr.core.storage.durable import write_whole

if TYPE_CHECKING:
    from mathamr_lab.training.resources import Resources

PREPARED, MODEL = "prepared", "model"
"""The folders of a training: its input, and the resulting model; every stage has a folder of its own name beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSources:
    """The sources of a training: a path (for MathAMR+ a store of graphs or a shard of one), posts, and exclusions.

    `graphs` names tensors of a store, `accepted` and `without` choose among its pairs. `base` is the folder of a text encoder to start from, instead of the recipe's default.
    """

    path: Path
    posts: tuple[Path, ...] = ()
    graphs: str = "both-hierarchy-none"
    accepted: bool = False
    without: tuple[Path, ...] = ()
    base: Path | None = None

    def given(self) -> list[str]:
        """Return the options that were given beside the path."""
        return [
            each.name
            for each in fields(self)
            if each.name != "path" and getattr(self, each.name) != each.default
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form for a prepared folder, which is created again when it changes."""
        paths = [self.path, *self.posts, *self.without, *filter(None, [self.base])]
        return {
            "path": str(self.path),
            "posts": [str(path) for path in self.posts],
            "graphs": self.graphs,
            "accepted": self.accepted,
            "without": [str(path) for path in self.without],
            "base": self.base and str(self.base),
            "stamps": [_stamp(path) for path in paths],
        }


def _stamp(path: Path) -> list[int]:
    """Return the total size and the latest modification time of a file, or of the files directly below a folder without
    database journals and locks.
    """
    try:
        files = [each for each in path.iterdir() if each.is_file()] if path.is_dir() else [path]
        states = [
            each.stat() for each in files if not each.name.endswith(("-wal", "-shm", "-journal", ".lock"))
        ]
    except OSError as error:
        raise MathAMRError(f"cannot read {path}: {error.strerror}") from error
    return [sum(state.st_size for state in states), max((state.st_mtime_ns for state in states), default=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """A named configuration of a recipe with changes, each ``STAGE.FIELD=VALUE``, and the stages to do; none means all."""

    config: str
    changes: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()

    def of(self, stage: str) -> list[str]:
        """Return the changes of one stage, without its name.

        >>> TrainingSettings(config="box", changes=("graph.epochs=2", "text.epochs=1")).of("text")
        ['epochs=1']
        """
        return [change.partition(".")[2] for change in self.changes if change.partition(".")[0] == stage]

    def chosen(self, stages: TrainingStages) -> TrainingStages:
        """Return the stages to do among all of a recipe."""
        return {name: run for name, run in stages.items() if not self.stages or name in self.stages}

    def checked(self, known: Sequence[str]) -> TrainingSettings:
        """Return itself if all its stages are known."""
        for change in self.changes:
            stage, dot, rest = change.partition(".")
            if not dot or "=" in stage or "=" not in rest:
                raise MathAMRError(
                    f"cannot read the change {change!r}; expected STAGE.FIELD=VALUE, the stages are {', '.join(known)}"
                )
        for stage in (*self.stages, *(change.partition(".")[0] for change in self.changes)):
            if stage not in known:
                raise UnknownNameError("stage", stage, list(known))
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class StageWork:
    """The folders of a stage: it reads the files of `prepared` and writes into the training's folder `out`."""

    prepared: Path
    out: Path
    resources: Resources
    fresh: bool = False

    def folder(self, stage: str) -> Path:
        """Return the folder of a stage's results."""
        return self.out / stage

    @property
    def model(self) -> Path:
        """The folder of the model, which contains only the model."""
        return self.out / MODEL


@dataclass(frozen=True, slots=True)
class StageResult:
    """The rows of a stage, one per epoch or other results, and whether it finished."""

    rows: Sequence[Mapping[str, Any]]
    done: bool = True


TrainingStages = Mapping[str, Callable[[StageWork], StageResult]]
"""By name, in order: the parts of a training, each of which continues where it stopped, and is skipped once it is done."""


class TrainingRecipe(Protocol):
    """How one system is trained."""

    @property
    def configurations(self) -> Iterable[str]:
        """The names of its configurations; the first is the default."""
        ...

    @property
    def stages(self) -> Sequence[str]:
        """The names of all its stages, in order."""
        ...

    @property
    def reads(self) -> Sequence[str]:
        """The fields of `TrainingSources` that it uses beside the path; the others are refused."""
        ...

    def check(self, settings: TrainingSettings) -> None:
        """Refuse settings that cannot be trained, before anything is written."""
        ...

    def prepare(
        self,
        sources: TrainingSources,
        settings: TrainingSettings,
        folder: Path,
        say: Callable[[str], None],
    ) -> Sequence[Path]:
        """Write the files that the stages read, so that a machine with only torch and numpy can train; return their paths."""
        ...

    def planned(self, settings: TrainingSettings) -> TrainingStages:
        """Return the stages of these settings, in order."""
        ...


@runtime_checkable
class ChecksUse(Protocol):
    """A recipe whose models need something to search with that training does not need."""

    def check_use(self, settings: TrainingSettings, base: Path | None) -> None:
        """Refuse settings, or a base that was named apart, whose model could be trained here and not used."""
        ...


def named_recipe(name: str) -> str:
    """Return the name of a recipe, given with or without hyphens.

    >>> named_recipe("mathamrplus"), named_recipe("formulagraph")
    ('mathamr-plus', 'formula-graph')
    """
    joined = {each.replace("-", ""): each for each in RECIPES}
    return name if name in RECIPES else joined.get(name.replace("-", ""), name)


def rank_as_published(model: Path, rankings: Mapping[str, str]) -> None:
    """Make the paper's rankings, by task, the default ones of a model; do nothing without any."""
    if rankings and (model / CONFIG).exists():
        row = {**read_config(model), "default_rankings": dict(rankings)}
        write_whole(model / CONFIG, (json.dumps(row, indent=2, ensure_ascii=False) + "\n").encode())


RECIPES: Registry[TrainingRecipe] = Registry(
    "system to train",
    {
        "mathamr-plus": "mathamr_lab.systems.mathamrplus.recipe:RECIPE",
        "mathamr": "mathamr_lab.systems.mathamr.recipe:RECIPE",
        "marf": "mathamr_lab.systems.marf.recipe:RECIPE",
        "text": "mathamr_lab.systems.text.recipe:RECIPE",
        "formula-graph": "mathamr_lab.systems.formulagraph.recipe:RECIPE",
        "ssemb": "mathamr_lab.systems.ssemb.recipe:RECIPE",
    },
    group="mathamr.recipes",
)
