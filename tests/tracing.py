"""`Trace`: a command with a home of its own, and what it looked up, connected to and wrote outside of it.

Python's audit events report what Python code does. System calls, which strace reports where the machine has it, show
what native libraries do.
"""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from mathamr.core.telemetry import SWITCHES

HOOK = """
import os, sys

def report(event, arguments):
    if event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"}:
        line = f"look-up {arguments[0]!r}"
    elif event in {"socket.connect", "socket.sendto", "socket.sendmsg"} and isinstance(arguments[1], tuple):
        line = f"connection {arguments[1][0]} {arguments[1][1]}"
    else:
        return
    with open(os.environ["MATHAMR_TEST_EVENTS"], "a") as events:
        events.write(line + "\\n")

sys.addaudithook(report)
"""
ADDRESS = re.compile(
    r"sa_family=AF_INET6?, sin6?_port=htons\((\d+)\),.*?(?:inet_addr\(|inet_pton\(AF_INET6, )\"([^\"]+)\""
)
WRITTEN = re.compile(
    r"""(?:openat2?\((?:AT_FDCWD|\d+)(?:<(?P<at>[^>]*)>)?,\s"(?P<opened>[^"]+)",.*?(?:O_CREAT|O_WRONLY|O_RDWR)
    |open\("(?P<old>[^"]+)",.*?(?:O_CREAT|O_WRONLY|O_RDWR)
    |mkdirat\((?:AT_FDCWD|\d+)(?:<(?P<below>[^>]*)>)?,\s"(?P<made>[^"]+)"
    |(?:mkdir|creat)\("(?P<named>[^"]+)").*=\s\d""",
    re.VERBOSE,
)
CALLS = "connect,sendto,sendmsg,sendmmsg,openat,openat2,?open,?creat,?mkdir,mkdirat"
NO_FILES = ("/dev/", "/proc/", "/sys/")
LOCAL_NAMES = {"localhost", "127.0.0.1", "::1", "None", "''"}


@cache
def has_strace() -> bool:
    """True if this machine lets us trace system calls."""
    found = shutil.which("strace")
    return found is not None and subprocess.run([found, "-f", "true"], capture_output=True).returncode == 0


class Trace:
    """Runs commands whose home, caches and temporary files lie in a folder, and lists what left it."""

    def __init__(self, root: Path, environment: Mapping[str, str] | None = None) -> None:
        self.root = root
        for name in ("home", "tmp", "hook", "log"):
            (root / name).mkdir()
        (root / "hook" / "sitecustomize.py").write_text(HOOK, "utf-8")
        path = os.pathsep.join([str(root / "hook"), *filter(None, sys.path)])
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(root / "home"),
            "TMPDIR": str(root / "tmp"),
            "MATHAMR_TEST_EVENTS": str(root / "log" / "events"),
            "MATHAMR_API_KEY": "the-key-of-a-test-for-writing",
            # What would turn reports on must not.
            **{switch.name: "1" if switch.value == "0" else "0" for switch in SWITCHES},
            **(environment or {}),
        }

    def run(self, *words: str, seconds: float = 500) -> str:
        """Run a command to its end and return what it printed; fail if it does."""
        with self.started(*words) as process:
            out, errors = process.communicate(timeout=seconds)
        assert process.returncode == 0, errors
        return out

    def mathamr(self, *words: str) -> str:
        """Run a command of mathamr."""
        return self.run(sys.executable, "-m", "mathamr", *words)

    @contextmanager
    def started(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """A command that runs; at the end it is interrupted with all that it started."""
        process = subprocess.Popen(
            [*self._strace(), *words],
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
                try:
                    process.communicate(timeout=60)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()

    def _strace(self) -> Sequence[str]:
        if not has_strace():
            return ()
        number = len(list((self.root / "log").glob("calls*")))
        log = self.root / "log" / f"calls{number}"
        return ("strace", "-f", "--seccomp-bpf", "-y", "-s", "4096", "-o", str(log), "-e", f"trace={CALLS}")

    @property
    def calls(self) -> list[str]:
        """The system calls of all commands; none without strace."""
        logs = (self.root / "log").glob("calls*")
        return [line for log in logs for line in log.read_text("utf-8", "replace").splitlines()]

    @property
    def departures(self) -> list[str]:
        """Every look-up, and every connection to an address beyond this machine."""
        found = []
        for line in self._events():
            what, name, *_ = line.split()
            strange = name.strip("'b") not in LOCAL_NAMES if what == "look-up" else not _is_loopback(name)
            found += [line] if strange else []
        for line in self.calls:
            found += [line for port, name in ADDRESS.findall(line) if port == "53" or not _is_loopback(name)]
            found += [line] if "sa_family=AF_UNIX" in line and "resolve" in line else []
        return found

    def _events(self) -> list[str]:
        path = self.root / "log" / "events"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    @property
    def strays(self) -> list[str]:
        """Every file and folder that was written outside of the folder."""
        found = set()
        for line in self.calls:
            if match := WRITTEN.search(line):
                name = match["opened"] or match["old"] or match["made"] or match["named"]
                path = os.path.normpath(Path(match["at"] or match["below"] or self.root, name))
                found.add(path)
        inside = (str(self.root), *NO_FILES)
        return sorted(path for path in found if not f"{path}/".startswith(inside))

    @property
    def left(self) -> set[str]:
        """What appeared in the home, as paths of files below it."""
        home = self.root / "home"
        return {path.relative_to(home).as_posix() for path in home.rglob("*") if not path.is_dir()}


def _is_loopback(name: str) -> bool:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name in LOCAL_NAMES
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
