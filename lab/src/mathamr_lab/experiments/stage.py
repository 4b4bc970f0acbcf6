"""`Stage`: one step of an experiment, marked done atomically and never repeated with the same inputs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from mathamr.core.errors import MathAMRError

FORMAT = 1
StageKind = Literal["graphs", "prepare", "train", "index", "run"]
"""``graphs`` and ``prepare`` come first. ``train`` runs in a process of its own."""
PREPARING: tuple[StageKind, ...] = ("graphs", "prepare")
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mark:
    """The record of a finished stage: its inputs, its output, its duration, and its figures."""

    digest: str
    output: str
    seconds: float
    figures: Figures


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A step with its own inputs, the stages it needs, and its work.

    The work starts with an empty folder or the remains of a killed attempt, and returns figures; a figure named ``output``
    identifies its result, so that later stages are redone only when that has changed. `mark_path` is the file
    of the mark.
    """

    kind: StageKind
    name: str
    mark_path: Path
    inputs: Mapping[str, Any]
    needs: tuple[Stage, ...]
    work: Callable[[], Figures] = field(repr=False)

    def digest(self) -> str | None:
        """Return a hash of the current inputs; `None` while a stage that it needs is not done."""
        before = []
        for need in self.needs:
            mark = need.mark()
            if mark is None:
                return None
            before.append(mark.output)
        row = json.dumps([FORMAT, self.kind, dict(self.inputs), before], sort_keys=True, ensure_ascii=False)
        return blake2b(row.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def mark(self) -> Mark | None:
        """Return the mark of this stage with its current inputs; `None` while there is none."""
        found = read_mark(self.mark_path)
        return found if found is not None and found.digest == self.digest() else None

    def do(self) -> Mark:
        """Do the work and mark it done."""
        digest = self.digest()
        if digest is None:
            raise MathAMRError(f"{self.name}: a stage that it needs is not done yet")
        self.mark_path.parent.mkdir(parents=True, exist_ok=True)
        self.mark_path.unlink(missing_ok=True)
        began = time.monotonic()
        figures = dict(self.work())
        mark = Mark(digest, str(figures.pop("output", digest)), time.monotonic() - began, figures)
        _write(self.mark_path, mark, self)
        return mark


class ExperimentStages:
    """Stages in a valid order, each mark once."""

    def __init__(self) -> None:
        self._by_mark: dict[Path, Stage] = {}

    def add(self, stage: Stage) -> Stage:
        """Append a stage and return it, or the existing one with its mark."""
        return self._by_mark.setdefault(stage.mark_path, stage)

    def __iter__(self) -> Iterator[Stage]:
        return iter(self._by_mark.values())

    def __len__(self) -> int:
        return len(self._by_mark)


def read_mark(path: Path) -> Mark | None:
    """Read the mark in a file; a damaged one counts as missing, since its stage can be done again."""
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        return Mark(
            str(row["digest"]), str(row["output"]), float(row["seconds"]), dict(row.get("figures", {}))
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _write(path: Path, mark: Mark, stage: Stage) -> None:
    row = {
        "stage": stage.name,
        "inputs": dict(stage.inputs),
        "digest": mark.digest,
        "output": mark.output,
        "seconds": mark.seconds,
        "figures": mark.figures,
    }
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(json.dumps(row, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)
