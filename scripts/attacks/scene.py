"""`Scene`: a checkout that is attacked, with a small index of its own and limits on what programs may use; and the register of attacks."""

# fmt: off

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
Done = subprocess.CompletedProcess[str]
Files = dict[str, str | bytes]
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
            "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}",
            "MATHAMR_CACHE": str(room / "cache"),
            "OMP_NUM_THREADS": "1",
        }
        names = {f"n{n}.md": f"# Note {n}\n\nThe group of order $n^{n}$ is a zebra.\n" for n in range(8)}
        self.notes = self.folder(names)
        # A later default model than the first has no graphs.
        has_graphs = (checkout / "src/mathamr/systems/box/mathamr-2").is_dir()
        self.base = self.indexed(self.notes, *(("--model", "mathamr-2") if has_graphs else ()))

    def folder(self, files: Files | None = None) -> Path:
        """Return a new folder with some files."""
        folder = Path(tempfile.mkdtemp(dir=self.room)) / "notes"
        folder.mkdir()
        for name, content in (files or {}).items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder

    def indexed(self, notes: Path, *options: str) -> Path:
        """Return an index of some notes."""
        out = Path(tempfile.mkdtemp(dir=self.room)) / "index"
        done = self.index(notes, out, *options)
        assert done.returncode == 0, done.stderr
        return out

    def index(self, notes: Path, out: Path, *options: str, **given: Any) -> Done:
        """Run `mathamr index`."""
        return self.run("index", str(notes), "--out", str(out), *options, **{"seconds": 300, "megabytes": 0, **given})

    def run(self, *arguments: str, module: str = "mathamr", **given: Any) -> Done:
        """Run a command of the checkout, within limits."""
        return self.python("-m", module, *arguments, **given)

    def python(self, *arguments: str, seconds: int = 60, megabytes: int = 8192, cwd: Path | None = None, humbly: bool = False, patience: int = 1200, **environment: str) -> Done:
        """Run a program over the checkout, within limits; `humbly` without root's right to write anywhere."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            if megabytes:
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

        command = [*(HUMBLE if humbly and os.getuid() == 0 else ()), sys.executable, *arguments]
        return subprocess.run(command, env=self.environment | environment, cwd=cwd or self.room, capture_output=True, text=True, errors="replace",
                              check=False, preexec_fn=limit, timeout=patience)

    def copy(self) -> Path:
        """Return a copy of the index that an attack may damage."""
        folder = Path(tempfile.mkdtemp(dir=self.room)) / "index"
        shutil.copytree(self.base, folder)
        return folder

    def search(self, folder: Path, *more: str, words: str = "zebra group", strategy: str = "lexical", **given: Any) -> Done:
        """Run `mathamr search`."""
        return self.run("search", str(folder), words, "--strategy", strategy, *more, **given)

    def check(self, folder: Path, *more: str) -> Done:
        """Run `mathamr index --check`."""
        return self.run("index", "--out", str(folder), "--check", *more, megabytes=0, seconds=120)

    @contextmanager
    def serving(self, folder: Path | None = None, files: int = 0) -> Iterator[Server]:
        """Run the server of the checkout."""
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
        command = [sys.executable, "-m", "mathamr", "serve", str(folder), "--port", "0", "--quiet"]
        self.process = subprocess.Popen(command, env=scene.environment | {"MATHAMR_API_KEY": KEY}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=limit)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().strip().rstrip("/").rpartition(":")[2])

    @property
    def megabytes(self) -> float:
        """The memory of the server's own process."""
        return int(Path(f"/proc/{self.process.pid}/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024

    @property
    def processor(self) -> float:
        """The seconds of a processor that the server's own process has taken."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def cost(self, *asked: Any, **given: Any) -> tuple[int, float, int]:
        """Return the status of a request, the processor time of the server until it has nothing more to do, also after the answer, and the answer's bytes."""
        before = self._idle()
        status, answer = self.request(*asked, seconds=400, **given)
        return status, round(self._idle() - before, 1), len(answer)

    def _idle(self) -> float:
        while True:
            before = self.processor
            time.sleep(2)
            if self.processor - before < 0.1:
                return self.processor

    def get(self, path: str, seconds: float = 60, **headers: str) -> int:
        """Return the status of a GET."""
        return self.request("GET", f"/v1/{path}", seconds=seconds, **headers)[0]

    def put(self, name: str, seconds: float = 400, **fields: object) -> int:
        """Return the status of a PUT of a post."""
        return self.request("PUT", f"/v1/posts/{name}", fields, seconds)[0]

    def timed(self, path: str, seconds: float = 60, **given: str) -> tuple[int, float]:
        """Return the status of a GET and how long the answer took."""
        started = time.monotonic()
        return self.get(path, seconds, **given), time.monotonic() - started

    def request(self, method: str, path: str, body: object = None, seconds: float = 60, client: str = "127.0.0.1", **headers: str) -> tuple[int, bytes]:
        """Return the status and the body of a response; status 0 if none came in time."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds, source_address=(client, 0))
        named = {"X-API-Key": KEY, "Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), named)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            return 0, type(error).__name__.encode()
        finally:
            connection.close()

    def beside(self, *requests: tuple[Any, ...]) -> list[threading.Thread]:
        """Send requests at the same time, and return the threads that wait for their answers."""
        threads = [threading.Thread(target=self.request, args=each, daemon=True) for each in requests]
        for thread in threads:
            thread.start()
        return threads

    def slowest_health(self, threads: list[threading.Thread], patience: float = 30) -> float:
        """Return the longest time of a health check, in seconds, while these requests wait."""
        worst, end = 0.0, time.monotonic() + patience
        time.sleep(0.3)
        while any(thread.is_alive() for thread in threads) and time.monotonic() < end:
            status, took = self.timed("health", patience)
            worst = max(worst, took if status == 200 else patience)
            time.sleep(0.1)
        return worst


def outcome(done: Done) -> Outcome:
    """Return whether a program ended on its own and without a traceback, and its last line."""
    if done.returncode < 0:
        return False, f"ended by {signal.Signals(-done.returncode).name}"
    last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or [""]
    return "Traceback" not in done.stderr, f"rc {done.returncode}: {last[0][:110]}"


def refused(done: Done, says: str = "") -> Outcome:
    """Return whether a program refused to go on, with an error that says this, and its last line."""
    held, what = outcome(done)
    return held and done.returncode != 0 and says in done.stderr, what


def patched(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON file; an attacker writes the right checksum of a manifest."""
    row = json.loads(path.read_text())
    checksum = row.pop("checksum", None)
    change(row)
    if checksum is not None:
        said = json.dumps(row, sort_keys=True).encode("utf-8", "surrogatepass")
        row["checksum"] = blake2b(said, digest_size=16).hexdigest()
    path.write_text(json.dumps(row))
