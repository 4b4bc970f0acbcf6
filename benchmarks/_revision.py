"""Compares an older revision with the working tree: both do the same job in separate processes, by processor time.

`MATHAMR_BENCH_REVISION` names the revision: anything that `git archive` accepts, or a folder with its sources.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from mathamr.core.errors import MathAMRError

REVISION = os.environ.get("MATHAMR_BENCH_REVISION", "25716f2")
"""By default the last commit before the split into product and laboratory."""

ROOT = Path(__file__).parent.parent
_PRELUDE = "import json, sys, time\ngiven = json.load(sys.stdin)\n"


@contextmanager
def old_sources(revision: str = REVISION) -> Iterator[Path]:
    """Return the folder `src` of the revision, unpacked into a temporary folder."""
    if (named := Path(revision)).is_dir():
        yield named
        return
    archive = subprocess.run(["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        raise MathAMRError(
            f"the history has no revision {revision!r}; set MATHAMR_BENCH_REVISION to one that it has, or to a"
            " folder with older sources"
        )
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as unpacked:
            unpacked.extractall(folder, filter="data")
        yield Path(folder) / "src"


def measured(source: Path, job: str, given: object) -> float:
    """Return the last number that a job prints, run with one thread on the package in a folder; `given` is its input."""
    path = os.pathsep.join(filter(None, (str(source), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {
        "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", _PRELUDE + job],
        input=json.dumps(given), text=True, capture_output=True, env=environment, check=False,
    )  # fmt: skip
    if done.returncode:
        raise MathAMRError(f"the job failed with the sources in {source}:\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def compared(job: str, given: object, rounds: int = 3) -> tuple[float, float]:
    """Return the processor seconds of a job now and with the old revision, the least of a few alternating rounds.

    The job must import only modules that both revisions have.
    """
    now: list[float] = []
    then: list[float] = []
    with old_sources() as old:
        for _ in range(rounds):
            then.append(measured(old, job, given))
            now.append(measured(ROOT / "src", job, given))
    return min(now), min(then)
