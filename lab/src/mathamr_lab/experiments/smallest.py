"""`mathamr experiment --smallest`: every experiment on the miniature collections, as small as it gets, and what each costs."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import QDRANT_URL
from mathamr.index.engines.qdrant.server import LOCAL
from mathamr_lab.experiments.experiment import Experiment, FormulaExperiment
from mathamr_lab.experiments.miniature import write_arqmath, write_ntcir12

SMALLEST = "smallest"
"""The name of the scale in `COSTS`."""
COSTS = Path(__file__).with_name("costs.tsv")

_NODES = ("nodes.formulas=60", "nodes.epochs=1", "nodes.validation=10", "nodes.batch_size=16")
_STRUCTURE = (
    "structure.formulas=60",
    "structure.epochs=1",
    "structure.validation=10",
    "structure.reader=mathamr-3",
)
_LINES = ("contrast.epochs=1", "ranking.epochs=1")
_MARF = (
    *("model.stored=8", "model.size=16", "model.rank=2", "model.length=30", "model.formula_size=16"),
    *(f"model.formula_{each}" for each in ("layers=1", "heads=2", "inner=16", "length=16")),
    *("model.fusion_heads=2", "model.fusion_inner=16"),
    *(f"all.{each}" for each in ("epochs=1", "batch_size=4", "pairs=24", "length=32", "validation=0.2")),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of an experiment took: minutes, the largest memory of a process in GB, and disk in MB."""

    experiment: str
    scale: str
    rows: int
    minutes: float
    memory: float
    disk: float
    machine: str

    def __str__(self) -> str:
        return (
            f"{self.scale}: {self.rows} rows, {self.minutes:.1f} min, {self.memory:.1f} GB, {self.disk:.0f} MB"
            f" ({self.machine})"
        )


def known_costs(path: Path = COSTS) -> Iterator[Cost]:
    """Yield what was measured; nothing if there is no such file."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            numbers = {name: float(row[name]) for name in ("minutes", "memory", "disk")}
            yield Cost(row["experiment"], row["scale"], int(row["rows"]), **numbers, machine=row["machine"])


def smallest_changes(experiment: Experiment) -> tuple[str, ...]:
    """Return the changes that make an experiment's trainings as small as they get."""
    if isinstance(experiment, FormulaExperiment):
        systems = {variant.system for variant in experiment.variants}
        of_system = (("formula-graph", _NODES), ("ssemb", _STRUCTURE))
        return tuple(change for name, changes in of_system if name in systems for change in changes)
    return {"contexts": _LINES, "marf": _MARF}.get(experiment.kind, ())


def smallest_options(experiment: Experiment, miniature: Path) -> list[str]:
    """Return the options of `mathamr experiment` for the miniature in a folder."""
    arqmath = miniature / "ARQMath"
    options = ["--corpus", str(arqmath / "Collection"), "--beside", str(arqmath / "Formulas"), "--seeds", "1"]
    judged = {
        "graphs": ((1, 2022), (2, 2022)),
        "marf": ((1, 2022), (2, 2022)),
        "contexts": ((2, 2020), (2, 2021)),
    }
    for task, year in judged.get(experiment.kind, ((2, 2022),) if experiment.pools else ((1, 2022),)):
        options += ["--topics", str(arqmath / "Topics" / f"Topics_Task{task}_{year}.xml")]
        options += ["--qrels", str(arqmath / "Qrels" / f"qrel_task{task}_{year}_official.tsv")]
    options += ["--scale", "tiny"] if "scale" in experiment.options else []
    if "run" in experiment.options:
        year = 2021 if experiment.kind == "contexts" else 2022
        options += ["--run", str(arqmath / "Runs" / f"TangentS-task2-{year}.tsv")]
    if experiment.kind == "marf":
        options += ["--corpus", str(miniature / "NTCIR12")]
    for change in smallest_changes(experiment):
        options += ["--set", change]
    return options


def write_miniature(out: Path) -> Path:
    """Write both miniatures below a folder, unless they are there."""
    folder = out / "miniature"
    if not folder.exists():
        try:
            write_arqmath(folder / "ARQMath")
            write_ntcir12(folder / "NTCIR12")
        except OSError as error:
            raise MathAMRError(f"cannot write the miniature {folder}: {error.strerror or error}") from error
    return folder


def run_smallest(
    experiments: Sequence[Experiment],
    out: Path,
    more: Sequence[str] = (),
    *,
    jobs: int = 1,
    machine: str = "",
) -> Iterator[Cost | str]:
    """Run experiments, `jobs` at a time, each in a process and a folder of its own; yield its cost, or why it did not run.

    They share nothing, so that every cost is that of one experiment alone; each process has its share of the cores. Costs
    are kept in a file like `COSTS` in the folder: what has one there is not run again. `machine` says what the processes
    run on, and `more` are further options. Without a Qdrant server its client searches, exactly.
    """
    miniature, folder = write_miniature(out), out / SMALLEST
    folder.mkdir(exist_ok=True)
    cores = len(os.sched_getaffinity(0))
    words = ", ".join(filter(None, [f"{cores} cores", f"{jobs} at a time" if jobs > 1 else "", machine]))
    server = QDRANT_URL.value or LOCAL
    environment = {"OMP_NUM_THREADS": str(max(1, cores // jobs)), **os.environ, QDRANT_URL.name: server}
    known = {cost.experiment: cost for cost in known_costs(folder / COSTS.name)}
    runnable = []
    for experiment in experiments:
        if experiment.name in known:
            yield known[experiment.name]
        elif experiment.needs and not find_spec("qdrant_client"):
            yield f'{experiment.name}: not run, the Qdrant client is not installed; install it with: pip install "mathamr[qdrant]"'
        else:
            runnable.append(experiment)

    def measure(experiment: Experiment) -> Cost | str:
        own = folder / experiment.name
        options = [*smallest_options(experiment, miniature), "--out", str(own), *more]
        locally = ", Qdrant's client alone" if experiment.needs and server == LOCAL else ""
        return _measured(experiment, options, own, environment, words + locally)

    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(measure, each) for each in runnable]):
            found = done.result()
            if isinstance(found, Cost):
                known[found.experiment] = found
                lines = "".join(f"{line}\n" for line in cost_lines(list(known.values())))
                (folder / COSTS.name).write_text(lines, encoding="utf-8")
            yield found


def _measured(
    experiment: Experiment, options: Sequence[str], own: Path, environment: Mapping[str, str], machine: str
) -> Cost | str:
    """Run one experiment from its beginning and return its cost, or how it failed."""
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    log, began = own / "log", time.monotonic()
    command = [sys.executable, "-m", "mathamr", "experiment", experiment.name, *options]
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, env=environment)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    minutes = (time.monotonic() - began) / 60
    if process.returncode:
        last = log.read_text("utf-8", "replace").strip().rpartition("\n")[2]
        return f"{experiment.name}: failed (exit code {process.returncode}) after {minutes:.1f} min: {last}; see {log}"
    memory = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9
    minutes, memory, disk = (max(0.01, round(each, 2)) for each in (minutes, memory, _size(own) / 1e6))
    return Cost(experiment.name, SMALLEST, len(experiment.rows), minutes, memory, disk, machine)


def cost_lines(costs: Sequence[Cost]) -> Iterator[str]:
    """Yield the lines of a file like `COSTS`."""
    names = [each.name for each in fields(Cost)]
    yield "\t".join(names)
    for cost in costs:
        yield "\t".join(_cell(getattr(cost, name)) for name in names)


def _cell(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
