from __future__ import annotations

import re

from mathamr.serve.metrics import BUCKETS, Metrics, resident_bytes

_LINE = re.compile(r'[a-z_]+(\{[a-z_]+="(?:[^"\\\n]|\\.)*"(?:,[a-z_]+="(?:[^"\\\n]|\\.)*")*\})? -?[0-9.e+-]+')


def test_requests_and_stages_are_counted_in_prometheus_format() -> None:
    metrics = Metrics()
    metrics.gauges["mathamr_x"] = ("Help.", lambda: 3)
    for seconds in (0.001, 0.03, 99.0):
        metrics.request("GET", '/v1/a"b\\', 200, seconds)
    metrics.query({"amr": 0.25, "total": 1.0})
    metrics.query({"amr": 0.5})
    text = metrics.text()
    for line in text.splitlines():
        assert line.startswith("# ") or _LINE.fullmatch(line), line
    assert 'mathamr_requests_total{method="GET",route="/v1/a\\"b\\\\",status="200"} 3' in text
    assert 'mathamr_query_stage_seconds_total{stage="amr"} 0.750000' in text
    assert 'stage="total"' not in text
    assert "mathamr_x 3" in text


def test_classes_of_time_add_up() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.005, 0.0051, 0.9, 99.0):
        metrics.request("GET", "/r", 200, seconds)
    counts = [int(n) for n in re.findall(r'_bucket\{route="/r",le="[^"]+"\} (\d+)', metrics.text())]
    assert counts == sorted(counts)
    assert (counts[0], counts[1], counts[-2], counts[-1]) == (2, 3, 4, 5)
    assert len(counts) == len(BUCKETS) + 1


def test_memory_is_told_where_the_system_tells_it() -> None:
    memory = resident_bytes()
    assert memory is None or memory > 1 << 20
