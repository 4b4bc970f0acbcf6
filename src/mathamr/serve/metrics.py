"""`Metrics`: counts and times of the server in Prometheus's text format."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends of the classes of time, in seconds."""

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Metrics:
    """Counted on the event loop only; `gauges` are asked when the metrics are read."""

    def __init__(self) -> None:
        self.started = time.time()
        self.gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._classes: dict[str, list[int]] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._stages: defaultdict[str, float] = defaultdict(float)
        self._queries = 0

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request was answered."""
        self._requests[method, route, status] += 1
        classes = self._classes.setdefault(route, [0] * (len(BUCKETS) + 1))
        classes[next((place for place, end in enumerate(BUCKETS) if seconds <= end), len(BUCKETS))] += 1
        self._seconds[route] += seconds

    def query(self, stages: Mapping[str, float]) -> None:
        """One query was searched; `stages` says where its time went."""
        self._queries += 1
        for stage, seconds in stages.items():
            if stage != "total":
                self._stages[stage] += seconds

    def text(self) -> str:
        """Everything, as Prometheus reads it."""
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


def resident_bytes() -> int | None:
    """The memory of this process that is in use; None where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return None


def _head(name: str, kind: str, help_text: str) -> list[str]:
    return [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
