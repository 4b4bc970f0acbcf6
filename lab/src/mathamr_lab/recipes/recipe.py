"""`TrainingRecipe`: how one system comes from posts to its model folder, in stages; and the recipes by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.registry import Registry

if TYPE_CHECKING:
    from mathamr_lab.training.resources import Resources

PREPARED, MODEL = "prepared", "model"
"""Folders of a training: what it reads, and the model that comes out; every stage has one of its own name beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSources:
    """What a training is prepared from: a path, for MathAMR+ a store of graphs or a shard of one; posts; what to leave out.

    `graphs` names tensors of a store, `accepted` and `without` choose among its pairs. `base` is the folder of a text encoder to start from, instead of the one that the recipe knows.
    """

    path: Path
    posts: tuple[Path, ...] = ()
    graphs: str = "both-hierarchy-none"
    accepted: bool = False
    without: tuple[Path, ...] = ()
    base: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """For a prepared folder, which is made again when it was made from something else, or from what has changed."""
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
    """The size and the last change of a file, or of the files right below a folder; not of a database's journals."""
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
    """A named configuration of a recipe with changes, each ``STAGE.FIELD=VALUE``, and the stages to do; none is all."""

    config: str
    changes: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()

    def of(self, stage: str) -> list[str]:
        """The changes of one stage, without its name.

        >>> TrainingSettings(config="box", changes=("graph.epochs=2", "text.epochs=1")).of("text")
        ['epochs=1']
        """
        return [change.partition(".")[2] for change in self.changes if change.partition(".")[0] == stage]

    def checked(self, known: Sequence[str]) -> TrainingSettings:
        """Itself, if all its stages are among these."""
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
    """Where a stage works: on the files of `prepared`, in the training's folder `out`."""

    prepared: Path
    out: Path
    resources: Resources
    fresh: bool = False

    def folder(self, stage: str) -> Path:
        """The folder of a stage's own results."""
        return self.out / stage

    @property
    def model(self) -> Path:
        """The folder of the model, with nothing in it but the model."""
        return self.out / MODEL


@dataclass(frozen=True, slots=True)
class StageResult:
    """One row an epoch, or whatever a stage has to tell, and whether it came to its end."""

    rows: Sequence[Mapping[str, Any]]
    done: bool = True


@dataclass(frozen=True, slots=True)
class TrainingStage:
    """A part of a training that goes on where it stopped, and is not done again once it is done."""

    name: str
    run: Callable[[StageWork], StageResult]


class TrainingRecipe(Protocol):
    """How one system is trained."""

    @property
    def configurations(self) -> Iterable[str]:
        """The names of its configurations; the first is taken where none is named."""
        ...

    @property
    def stages(self) -> Sequence[str]:
        """The names of all its stages, in order."""
        ...

    def check(self, settings: TrainingSettings) -> None:
        """Refuses settings that cannot be trained, before anything is made."""
        ...

    def prepare(
        self,
        sources: TrainingSources,
        settings: TrainingSettings,
        folder: Path,
        say: Callable[[str], None],
    ) -> Sequence[Path]:
        """Writes the files that the stages read, so that a machine with only torch and numpy can train; their paths."""
        ...

    def planned(self, settings: TrainingSettings) -> Sequence[TrainingStage]:
        """The stages that these settings ask for, in order."""
        ...


RECIPES: Registry[TrainingRecipe] = Registry(
    "system to train",
    {
        "mathamrplus": "mathamr_lab.systems.mathamrplus.recipe:RECIPE",
        "mathamr": "mathamr_lab.systems.mathamr.recipe:RECIPE",
        "marf": "mathamr_lab.systems.marf.recipe:RECIPE",
        "text": "mathamr_lab.systems.text.recipe:RECIPE",
        "formula-graph": "mathamr_lab.systems.formulagraph.recipe:RECIPE",
        "ssemb": "mathamr_lab.systems.ssemb.recipe:RECIPE",
    },
)
