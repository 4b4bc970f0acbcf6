"""`Scene`: a checkout that scripts/attacks.py attacks, with a small index of its own and resource limits."""

from __future__ import annotations

import http.client
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

HUMBLE = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
KEY = "write-" + "w" * 16
Outcome = tuple[bool, str]
"""Whether the checkout held, and what happened."""


ATTACKS: dict[str, Callable[[Scene], Outcome]] = {}
"""All attacks by name."""


def attack(function: Callable[[Scene], Outcome]) -> Callable[[Scene], Outcome]:
    """Register an attack under the name of its function."""
    ATTACKS[function.__name__] = function
    return function


class Scene:
    """A checkout, a small index that it built, and a folder for the attacks."""

    def __init__(self, checkout: Path, room: Path) -> None:
        self.checkout, self.room = checkout, room
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MATHAMR_")},
            "PYTHONPATH": str(checkout / "src"),
            "MATHAMR_CACHE": str(room / "cache"),
            "OMP_NUM_THREADS": "1",
        }
        self.notes = room / "notes"
        self.notes.mkdir()
        for number in range(8):
            (self.notes / f"n{number}.md").write_text(
                f"# Note {number}\n\nThe group of order $n^{number}$ is a zebra.\n"
            )
        self.base = room / "base"
        has_graphs = (
            checkout / "src/mathamr/systems/box/mathamr-2"
        ).is_dir()  # a later default model has none
        model = ("--model", "mathamr-2") if has_graphs else ()
        done = self.run("index", str(self.notes), "--out", str(self.base), *model, seconds=300, megabytes=0)
        assert done.returncode == 0, done.stderr

    def run(
        self, *arguments: str, seconds: int = 60, megabytes: int = 8192, module: str = "mathamr", **more: Any
    ) -> subprocess.CompletedProcess[str]:
        """Return a command of the checkout, within limits."""
        return self.python("-m", module, *arguments, seconds=seconds, megabytes=megabytes, **more)

    def python(
        self,
        *arguments: str,
        seconds: int = 60,
        megabytes: int = 8192,
        files: int = 0,
        cwd: Path | None = None,
        humbly: bool = False,
        patience: int = 1200,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Return a program over the checkout, within limits; `humbly` without root's right to write anywhere."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            if megabytes:
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        return subprocess.run(
            [*(HUMBLE if humbly and os.getuid() == 0 else ()), sys.executable, *arguments],
            env=self.environment | environment,
            cwd=cwd or self.room,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            preexec_fn=limit,
            timeout=patience,
        )

    def copy(self) -> Path:
        """Return a copy of the index that an attack may damage."""
        folder = Path(tempfile.mkdtemp(dir=self.room)) / "index"
        shutil.copytree(self.base, folder)
        return folder

    def search(self, folder: Path, *more: str, **given: Any) -> subprocess.CompletedProcess[str]:
        """Run `mathamr search` by words."""
        return self.run("search", str(folder), "zebra group", "--strategy", "lexical", *more, **given)

    def check(self, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
        """Run `mathamr index --check`."""
        return self.run("index", "--out", str(folder), "--check", *more, megabytes=0, seconds=120)

    @contextmanager
    def serving(self, folder: Path | None = None, files: int = 0) -> Iterator[Server]:
        """Return the server of the checkout."""
        server = Server(self, folder or self.copy(), files)
        try:
            yield server
        finally:
            server.process.kill()
            server.process.wait()


class Server:
    """`mathamr serve` and requests to it."""

    def __init__(self, scene: Scene, folder: Path, files: int) -> None:
        def limit() -> None:
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mathamr", "serve", str(folder), "--port", "0", "--quiet"],
            env=scene.environment | {"MATHAMR_API_KEY": KEY},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=limit,
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().strip().rstrip("/").rpartition(":")[2])

    @property
    def megabytes(self) -> float:
        """The memory of the server's own process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    @property
    def processor_seconds(self) -> float:
        """The processor time that the server's own process has taken."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def idle_after(self) -> float:
        """Return the processor time that it has taken when it has nothing more to do, also of what it goes on with after an answer."""
        while True:
            before = self.processor_seconds
            time.sleep(2)
            if self.processor_seconds - before < 0.1:
                return self.processor_seconds

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        seconds: float = 60,
        client: str = "127.0.0.1",
        **headers: str,
    ) -> tuple[int, bytes]:
        """Return the status and the body of a response; status 0 if none came in time."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=seconds, source_address=(client, 0)
        )
        sent = None if body is None else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(
                method, path, sent, {"X-API-Key": KEY, "Content-Type": "application/json", **named}
            )
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            return 0, type(error).__name__.encode()
        finally:
            connection.close()

    def slowest_health(self, disturb: list[str], patience: float = 30) -> float:
        """Return the longest time of a health check, in seconds, while these addresses are requested."""
        threads = [
            threading.Thread(
                target=self.request, args=("GET", each), kwargs={"seconds": patience}, daemon=True
            )
            for each in disturb
        ]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        worst, end = 0.0, time.monotonic() + patience
        while any(thread.is_alive() for thread in threads) and time.monotonic() < end:
            started = time.monotonic()
            self.request("GET", "/v1/health", seconds=patience)
            worst = max(worst, time.monotonic() - started)
            time.sleep(0.1)
        return worst


def outcome(done: subprocess.CompletedProcess[str]) -> Outcome:
    """Return a program held if it ended on its own and without a traceback."""
    if done.returncode < 0:
        return False, f"ended by {signal.Signals(-done.returncode).name}"
    last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or [""]
    return "Traceback" not in done.stderr, f"rc {done.returncode}: {last[0][:110]}"


def patched(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a JSON file; an attacker writes the right checksum of a manifest."""
    row = json.loads(path.read_text())
    checksum = row.pop("checksum", None)
    change(row)
    if checksum is not None:
        said = json.dumps(row, sort_keys=True).encode("utf-8", "surrogatepass")
        row["checksum"] = blake2b(said, digest_size=16).hexdigest()
    path.write_text(json.dumps(row))
