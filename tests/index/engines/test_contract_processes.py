"""The contract of the engine seam: kills, full disks, second writers and folders that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from mathamr.index.engines.engine import open_engine
from tests.index.engines.entries import each_in_its_folder, naive_search, same, some_posts, units


def in_a_process(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in an engine's folder; it may use `entries` and `open_engine`, and prints a clear error."""
    head = """
        import mmap, os, resource, signal, sys
        from pathlib import Path
        from mathamr.core.errors import MathAMRError
        from mathamr.index.engines.engine import ENGINES, EngineHead, open_engine
        from tests.index.engines.entries import *
        os.chdir(sys.argv[1])
        if ENGINES[EngineHead.read(Path()).engine].name == "qdrant":
            import qdrant_client
    """
    source = textwrap.dedent(head) + textwrap.dedent(program)
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", source, str(folder)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=900, check=False)


def check_20_posts(folder: Path) -> None:
    engine = open_engine(folder)
    query = units(np.random.default_rng(1), 3)
    same(engine["parts"].search_maxsim(query, 99), naive_search(some_posts(1, 20), "parts", query, 99))
    engine.close()


@each_in_its_folder
def test_a_second_writer_is_refused_and_harms_nothing(local: Path) -> None:
    engine = open_engine(local)
    other = in_a_process(
        local,
        """
        try:
            open_engine(Path("."))
        except MathAMRError as error:
            print(error)
        """,
    )
    engine.close()
    assert other.returncode == 0, other.stderr
    assert "being changed by process" in other.stdout or "already accessed" in other.stdout
    check_20_posts(local)


@pytest.mark.parametrize("variant", ["flat", "qdrant-local"])
def test_a_full_disk_is_reported_and_the_engine_still_opens(local: Path) -> None:
    result = in_a_process(
        local,
        """
        engine = open_engine(Path("."))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
        try:
            for part in range(60):
                engine.upsert("posts", some_posts(part, 300, f"part {part}, "))
                engine.flush()
            print("there was room")
        except MathAMRError as error:
            print("told:", error)
        sys.stdout.flush()
        os._exit(0)
        """,
    )
    assert "told:" in result.stdout, result.stdout + result.stderr
    engine = open_engine(local)
    assert {entry.id for entry in some_posts(1, 20)} <= set(engine.ids("posts"))
    engine.close()


@each_in_its_folder
def test_a_read_only_folder_is_read_or_refused(local: Path) -> None:
    for path in [local, *local.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    result = in_a_process(
        local,
        """
        if os.geteuid() == 0:
            os.seteuid(65534)
        for read_only in (False, True):
            try:
                engine = open_engine(Path("."), read_only=read_only)
                print("opened", engine.count("posts"))
            except MathAMRError as error:
                print("told:", error)
        """,
    )
    for path in [local, *local.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert result.returncode == 0, result.stderr
    writing, reading = result.stdout.splitlines()[:2]
    assert writing.startswith("told:")
    assert reading == "opened 20" or reading.startswith("told:")
    check_20_posts(local)


@pytest.mark.parametrize("variant", ["flat", "qdrant-local", "postgres"])
def test_what_was_flushed_survives_a_kill(local: Path) -> None:
    result = in_a_process(
        local,
        """
        engine = open_engine(Path("."))
        engine.upsert("posts", some_posts(2, 30, "kept "))
        engine.delete("posts", ["p0", "p1"])
        engine.flush()
        engine.upsert("posts", some_posts(3, 300, "lost "))
        os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    assert result.returncode == -9, result.stderr
    engine = open_engine(local)
    ids = set(engine.ids("posts"))
    wanted = {f"p{number}" for number in range(2, 20)} | {f"kept {number}" for number in range(30)}
    assert wanted <= ids
    assert not {"p0", "p1"} & ids
    assert engine.count("posts") == len(ids)
    assert engine.verify() == []
    engine.close()
    assert os.access(local, os.W_OK)
