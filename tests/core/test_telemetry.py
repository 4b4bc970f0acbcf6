"""Libraries that report to their makers are silent in every process that imports mathamr, whatever the environment says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mathamr.cli.environment import examine
from mathamr.core.telemetry import SWITCHES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "module", ["mathamr", "mathamr.core.workers", "mathamr.cli", "mathamr_lab", "benchmarks.__main__"]
)
def test_every_entry_sets_the_switches_against_the_environment(module: str) -> None:
    if module == "mathamr_lab":
        pytest.importorskip("mathamr_lab")
    code = (
        f"import {module}, os; print([os.environ[name] for name in {[switch.name for switch in SWITCHES]}])"
    )
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    contrary = {switch.name: "1" if switch.value == "0" else "0" for switch in SWITCHES}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **contrary, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.strip() == str([switch.value for switch in SWITCHES])


def test_doctor_names_what_onnx_runtime_left_and_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def found() -> list[str]:
        return [each.help for each in examine().findings if each.name == "queued events of ONNX Runtime"]

    assert found() == []
    left = tmp_path / "Microsoft" / "DeveloperTools" / ".onnxruntime"
    left.mkdir(parents=True)
    assert f"rm -r {left}" in found()[0]
    assert left.is_dir()


def test_the_guide_names_every_switch() -> None:
    page = (ROOT / "docs" / "privacy.md").read_text("utf-8")
    assert all(f"`{switch.name}={switch.value}`" in page for switch in SWITCHES)
