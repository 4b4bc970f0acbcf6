"""`Metrics`: counts and times of the server in Prometheus's text format."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram's buckets, in seconds."""

SECONDS = 1.0
"""Seconds between two writes of this process's counts for the other processes."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Metrics:
    """Counts on the event loop only; `gauges` are evaluated when the metrics are read.

    Processes that serve side by side write their counts into a folder every second; the one that is queried adds them up.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.started = time.time()
        self._folder, self._closed = folder, threading.Event()
        self.gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._classes: dict[str, list[int]] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._stages: defaultdict[str, float] = defaultdict(float)
        self._queries = 0
        if folder is not None:
            threading.Thread(target=self._write_counts, args=(folder,), daemon=True).start()

    def _write_counts(self, folder: Path) -> None:
        """Writes the counts of this process repeatedly until it is closed."""
        before, own = "", folder / f"{os.getpid()}.txt"
        while not self._closed.wait(SECONDS):
            try:
                text = self.own_text()
                if text != before:
                    fresh = own.with_suffix(".new")
                    fresh.write_text(text, encoding="utf-8")
                    fresh.replace(own)
                    before = text
            except (OSError, RuntimeError):
                continue  # the counts changed while they were written, or the disk is full: try again next time

    def close(self) -> None:
        """Stops writing counts for the other processes."""
        self._closed.set()

    def text(self) -> str:
        """All metrics in Prometheus's text format, summed over all processes."""
        text = self.own_text()
        for path in sorted(self._folder.glob("*.txt")) if self._folder is not None else ():
            if path.stem != str(os.getpid()):
                with suppress(OSError):
                    text = added(text, path.read_text(encoding="utf-8"))
        return text

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Counts one answered request."""
        self._requests[method, route, status] += 1
        classes = self._classes.setdefault(route, [0] * (len(BUCKETS) + 1))
        classes[next((place for place, end in enumerate(BUCKETS) if seconds <= end), len(BUCKETS))] += 1
        self._seconds[route] += seconds

    def query(self, stages: Mapping[str, float]) -> None:
        """Counts one searched query; `stages` holds the seconds of its stages."""
        self._queries += 1
        for stage, seconds in stages.items():
            if stage != "total":
                self._stages[stage] += seconds

    def own_text(self) -> str:
        """The metrics of this process alone."""
        lines = _head("mathamr_requests_total", "counter", "Requests answered.")
        for (method, route, status), count in sorted(self._requests.items()):
            lines.append(
                f'mathamr_requests_total{{method="{method}",route="{_escaped(route)}",status="{status}"}} {count}'
            )
        lines += _head(
            "mathamr_request_seconds", "histogram", "Time from the head of a request to its answer."
        )
        for route, classes in sorted(self._classes.items()):
            lines += self._histogram(_escaped(route), route, classes)
        lines += _head("mathamr_queries_total", "counter", "Queries searched or explained.")
        lines.append(f"mathamr_queries_total {self._queries}")
        lines += _head("mathamr_query_stage_seconds_total", "counter", "Where the time of the queries went.")
        for stage, seconds in sorted(self._stages.items()):
            lines.append(f'mathamr_query_stage_seconds_total{{stage="{_escaped(stage)}"}} {seconds:.6f}')
        for name, (help_text, value) in self.gauges.items():
            lines += [*_head(name, "gauge", help_text), f"{name} {value():g}"]
        lines += [*_head("mathamr_start_time_seconds", "gauge", "When the server started.")]
        lines.append(f"mathamr_start_time_seconds {self.started:.0f}")
        memory = resident_bytes()
        if memory is not None:
            lines += [*_head("mathamr_resident_memory_bytes", "gauge", "Memory of the server's process.")]
            lines.append(f"mathamr_resident_memory_bytes {memory}")
        return "\n".join(lines) + "\n"

    def _histogram(self, label: str, route: str, classes: Iterable[int]) -> list[str]:
        lines, count = [], 0
        for end, members in zip((*map(str, BUCKETS), "+Inf"), classes, strict=True):
            count += members
            lines.append(f'mathamr_request_seconds_bucket{{route="{label}",le="{end}"}} {count}')
        lines.append(f'mathamr_request_seconds_sum{{route="{label}"}} {self._seconds[route]:.6f}')
        lines.append(f'mathamr_request_seconds_count{{route="{label}"}} {count}')
        return lines


def added(one: str, other: str) -> str:
    """Adds the metrics of two processes; the start is the earlier one.

    >>> print(added("# TYPE a counter\\na 1\\nb 2\\n", "a 4\\nc 5\\n"), end="")
    # TYPE a counter
    a 5
    b 2
    c 5
    """
    more = dict(line.rsplit(" ", 1) for line in other.splitlines() if line and not line.startswith("#"))
    lines = []
    for line in one.splitlines():
        name, _, value = line.rpartition(" ")
        if not line.startswith("#") and name in more:
            both = float(value), float(more.pop(name))
            line = f"{name} {(min if name == 'mathamr_start_time_seconds' else sum)(both):.16g}"
        lines.append(line)
    return "\n".join([*lines, *(f"{name} {value}" for name, value in more.items())]) + "\n"


def resident_bytes() -> int | None:
    """The resident memory of this process; None if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return None


def _head(name: str, kind: str, help_text: str) -> list[str]:
    return [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
