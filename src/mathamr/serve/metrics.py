"""`Metrics`: counts and times of the server for Prometheus."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends of the histogram's buckets, in seconds."""
EXCHANGE_SECONDS = 1.0
"""How often a worker process writes its metrics for the others."""
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Metrics:
    """The metrics of one application, in a registry of their own.

    Worker processes that serve side by side write theirs into a common folder every second; whichever is asked adds
    them up. prometheus_client's own multi-process mode is chosen by an environment variable before its import, for all
    registries of a process, and has no gauges that call a function.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.registry = registry = CollectorRegistry()
        self._folder, self._closed = folder, threading.Event()
        self._requests = Counter(
            "mathamr_requests", "Requests answered.", ["method", "route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "mathamr_request_seconds",
            "Time from the head of a request to its response.",
            ["route"],
            buckets=BUCKETS,
            registry=registry,
        )
        self._queries = Counter("mathamr_queries", "Queries searched or explained.", registry=registry)
        self._stages = Counter(
            "mathamr_query_stage_seconds", "Where the time of the queries went.", ["stage"], registry=registry
        )
        Gauge("mathamr_start_time_seconds", "When the server started.", registry=registry).set(time.time())
        self.gauge("mathamr_resident_memory_bytes", "Memory of the server's processes.", resident_bytes)
        if folder is not None:
            threading.Thread(target=self._write_often, args=(folder,), daemon=True).start()

    def gauge(self, name: str, help_text: str, value: Callable[[], float]) -> None:
        """Add a gauge whose value is computed when the metrics are read."""
        Gauge(name, help_text, registry=self.registry).set_function(value)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def query(self, stages: Mapping[str, float]) -> None:
        """Count a query; `stages` says where its time went."""
        self._queries.inc()
        for stage, seconds in stages.items():
            if stage != "total":
                self._stages.labels(stage).inc(seconds)

    def text(self) -> str:
        """Return the metrics of all processes together, in Prometheus's text format; reads files of the other processes."""
        texts = [generate_latest(self.registry).decode()]
        for path in sorted(self._folder.glob("*.txt")) if self._folder is not None else ():
            if path.stem != str(os.getpid()):
                with suppress(OSError):
                    texts.append(path.read_text(encoding="utf-8"))
        return texts[0] if len(texts) == 1 else merged(texts)

    def close(self) -> None:
        """Stop writing for other processes."""
        self._closed.set()

    def _write_often(self, folder: Path) -> None:
        own = folder / f"{os.getpid()}.txt"
        while not self._closed.wait(EXCHANGE_SECONDS):
            with suppress(OSError):  # a full disk: the next attempt may succeed
                fresh = own.with_suffix(".new")
                fresh.write_bytes(generate_latest(self.registry))
                fresh.replace(own)


class _Families(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def merged(texts: Iterable[str]) -> str:
    """Add up the metrics of several processes; of points in time it takes the earliest.

    >>> a = "# HELP x_total X.\\n# TYPE x_total counter\\nx_total 1.0\\n"
    >>> print(merged([a, a.replace("1.0", "4.0")]), end="")
    # HELP x_total X.
    # TYPE x_total counter
    x_total 5.0
    """
    families: dict[str, Metric] = {}
    values: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    for text in texts:
        for family in text_string_to_metric_families(text):
            known = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                key = sample.name, tuple(sorted(sample.labels.items()))
                if key not in values:
                    known.samples.append(sample)
                    values[key] = sample.value
                elif sample.name.endswith(("_created", "_start_time_seconds")):
                    values[key] = min(values[key], sample.value)
                else:
                    values[key] += sample.value
    for family in families.values():
        family.samples = [
            each._replace(value=values[each.name, tuple(sorted(each.labels.items()))])
            for each in family.samples
        ]
    registry = CollectorRegistry()
    registry.register(_Families(families.values()))
    return generate_latest(registry).decode()


def resident_bytes() -> float:
    """Return the memory of this process that is in use; NaN where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return float("nan")
