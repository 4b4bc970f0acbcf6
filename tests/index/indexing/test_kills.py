from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.systems.tiny import NodeSystem

POINTS = 3


@pytest.mark.slow
@pytest.mark.parametrize("system", ["mathamrplus", "tiny-nodes"])
def test_whatever_is_killed_nothing_acknowledged_is_lost_and_nothing_doubled(
    model_folder: Path, tmp_path: Path, system: str
) -> None:
    """Some fifteen kills of builds, updates, single changes, backups, restorations and moves; `python -m benchmarks kills` does many more.

    MathAMR+ has graphs and vectors of posts and formulas, the other system vectors of visual classes.
    """
    if system == "tiny-nodes":
        model_folder = tmp_path / "model"
        NodeSystem().save(model_folder)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.index.engines.killing",
            str(model_folder),
            str(tmp_path),
            "flat",
            str(POINTS),
            "5",
        ],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout)["kills"] >= 6 * POINTS - 4
