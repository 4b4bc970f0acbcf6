"""The first release beside the working tree: the same job by both, each in a process of its own, by processor time."""

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

FIRST = "065ca40"
"""The commit of the first release."""

ROOT = Path(__file__).parent.parent
_PRELUDE = "import json, sys, time\ngiven = json.load(sys.stdin)\n"


@contextmanager
def first_release() -> Iterator[Path | None]:
    """The sources of the first release in a temporary folder; None where the history does not hold it.

    A copy without history finds them where `MATHAMR_FIRST_RELEASE` says.
    """
    if named := os.environ.get("MATHAMR_FIRST_RELEASE"):
        yield Path(named)
        return
    made = subprocess.run(["git", "archive", FIRST, "src"], cwd=ROOT, capture_output=True, check=False)
    if made.returncode:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(made.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder) / "src"


def measured(source: Path, job: str, given: object) -> float:
    """What a job prints last, run with one thread over the package in a folder; `given` is what it finds as JSON."""
    path = os.pathsep.join(filter(None, (str(source), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {
        "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", _PRELUDE + job],
        input=json.dumps(given), text=True, capture_output=True, env=environment, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"the job failed over {source}:\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def compared(job: str, given: object, rounds: int = 3) -> tuple[float, float | None]:
    """Processor seconds of a job now and by the first release, the least of a few rounds in turn."""
    with first_release() as old:
        now: list[float] = []
        then: list[float] = []
        for _ in range(rounds):
            if old is not None:
                then.append(measured(old, job, given))
            now.append(measured(ROOT / "src", job, given))
    return min(now), min(then, default=None)
