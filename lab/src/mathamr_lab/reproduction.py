"""The matrix of figures: every figure that the docs claim, with the commands that measured it, and whether it still holds.

A row of `figures.toml` has commands, which run in an empty folder, and figures, each with a pattern that finds it in their output. In
commands `{data}` is the folder of the evaluation data, `{sample}` that of the bundled sample. Rows with `fast = true` need the sample alone.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mathamr import sample
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr_lab.data import data_folder

MATRIX = Path(__file__).with_name("figures.toml")


@dataclass(frozen=True, slots=True)
class Figure:
    """What is measured, the pattern whose only group is its value in the output, the value, and how far off it may be."""

    what: str
    pattern: str
    value: float
    tolerance: float

    def __post_init__(self) -> None:
        if re.compile(self.pattern).groups != 1:
            raise MathAMRError(f"the pattern of the figure {self.what!r} needs exactly one group")

    def found(self, output: str) -> float | None:
        """Return the value in an output, or `None` if the pattern is not there."""
        match = re.search(self.pattern, output, re.MULTILINE)
        return None if match is None else float(match[1].replace(",", ""))


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """Figures of one measurement: the pages that claim them, its commands, about how many minutes it takes, whether it needs the sample alone."""

    name: str
    docs: tuple[str, ...]
    commands: tuple[str, ...]
    figures: tuple[Figure, ...]
    minutes: float
    fast: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """A figure and what was measured; `None` if the output does not show it."""

    figure: Figure
    measured: float | None

    @property
    def holds(self) -> bool:
        """True if the measured value is within the tolerance."""
        return self.measured is not None and math.isclose(
            self.measured, self.figure.value, rel_tol=0, abs_tol=self.figure.tolerance + 1e-9
        )


def read_matrix(path: Path = MATRIX) -> dict[str, MatrixRow]:
    """Read the rows by name."""
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: _row(name, row) for name, row in rows.items()}
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise MathAMRError(f"{path} is not a matrix of figures: {type(error).__name__}: {error}") from error


def _row(name: str, row: dict[str, Any]) -> MatrixRow:
    figures = tuple(Figure(**figure) for figure in row["figures"])
    return MatrixRow(
        name, tuple(row["docs"]), tuple(row["commands"]), figures, row["minutes"], row.get("fast", False)
    )


def chosen_rows(matrix: dict[str, MatrixRow], names: list[str], *, fast: bool) -> list[MatrixRow]:
    """Return the named rows; with `fast`, those of the sample."""
    for name in names:
        if name not in matrix:
            raise UnknownNameError("row", name, list(matrix))
    return [matrix[name] for name in names] + [
        row for row in matrix.values() if fast and row.fast and row.name not in names
    ]


def reproduce(row: MatrixRow, folder: Path) -> list[Outcome]:
    """Run the commands of a row in a folder and compare its figures; a command that fails is an error."""
    output = ""
    for command in row.commands:
        words = [_filled(word) for word in shlex.split(command)]
        settings = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        program = words[len(settings) :]
        if program[0] in ("mathamr", "python"):
            program = [sys.executable, *(["-m", "mathamr"] if program[0] == "mathamr" else []), *program[1:]]
        found = subprocess.run(
            program, cwd=folder, capture_output=True, text=True, env={**os.environ, **settings}
        )
        if found.returncode:
            raise MathAMRError(
                f"row {row.name}: `{command}` ended with code {found.returncode}: {found.stderr[-500:].strip()}"
            )
        output += found.stdout
    return [Outcome(figure, figure.found(output)) for figure in row.figures]


def _filled(word: str) -> str:
    if "{data}" in word:
        word = word.replace("{data}", str(data_folder()))
    return word.replace("{sample}", str(sample.folder()))
