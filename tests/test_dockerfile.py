"""The image of `deploy/Dockerfile` is built, indexes and searches, where Docker is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.folders import write_files

ROOT = Path(__file__).parents[1]
IMAGE = "mathamr-of-tests"


def _docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
def test_the_image_is_built_and_answers(tmp_path: Path) -> None:
    if shutil.which("docker") is None or _docker("info").returncode:
        pytest.skip("needs a Docker that runs; the Dockerfile is not built here")
    built = _docker("build", "--quiet", "-f", "deploy/Dockerfile", "-t", IMAGE, ".")
    assert built.returncode == 0, built.stderr
    write_files(tmp_path, {"limit.md": "A bounded monotone sequence $a_n$ converges."})
    tmp_path.chmod(0o755)
    script = "mathamr index /notes --out /tmp/notes && mathamr search /tmp/notes 'monotone sequence'"
    mount = f"{tmp_path}:/notes:ro"
    ran = _docker("run", "--rm", "-v", mount, "--entrypoint", "sh", IMAGE, "-c", script)
    assert ran.returncode == 0, ran.stderr
    assert "limit.md:1" in ran.stdout
