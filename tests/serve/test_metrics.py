from __future__ import annotations

import re
from pathlib import Path

from mathamr.serve.metrics import BUCKETS, Metrics, resident_bytes

_LINE = re.compile(r'[a-z_]+(\{[a-z_]+="(?:[^"\\\n]|\\.)*"(?:,[a-z_]+="(?:[^"\\\n]|\\.)*")*\})? -?[0-9.e+-]+')


def test_requests_and_stages_are_counted_in_prometheus_format() -> None:
    metrics = Metrics()
    metrics.gauge("mathamr_x", "Help.", lambda: 3)
    for seconds in (0.001, 0.03, 99.0):
        metrics.request("GET", '/v1/a"b\\', 200, seconds)
    metrics.query({"amr": 0.25, "total": 1.0})
    metrics.query({"amr": 0.5})
    text = metrics.text()
    for line in text.splitlines():
        assert line.startswith("# ") or _LINE.fullmatch(line), line
    assert 'mathamr_requests_total{method="GET",route="/v1/a\\"b\\\\",status="200"} 3' in text
    assert 'mathamr_query_stage_seconds_total{stage="amr"} 0.75' in text
    assert 'stage="total"' not in text
    assert "mathamr_x 3" in text


def test_classes_of_time_add_up() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.005, 0.0051, 0.9, 99.0):
        metrics.request("GET", "/r", 200, seconds)
    counts = [int(n) for n in re.findall(r"mathamr_request_seconds_bucket\{[^}]+\} (\d+)", metrics.text())]
    assert counts == sorted(counts)
    assert (counts[0], counts[1], counts[-2], counts[-1]) == (2, 3, 4, 5)
    assert len(counts) == len(BUCKETS) + 1


def test_memory_is_reported_where_the_system_reports_it() -> None:
    assert not resident_bytes() <= 1 << 20  # NaN where it does not


def test_worker_processes_add_up_what_they_counted(tmp_path: Path) -> None:
    own, other = Metrics(tmp_path), Metrics()
    for metrics in (own, other):
        metrics.request("GET", "/r", 200, 0.2)
        metrics.query({"amr": 0.5})
    other.request("PUT", "/r", 201, 0.2)
    (tmp_path / "1.txt").write_text(other.text(), encoding="utf-8")
    text = own.text()
    own.close()
    assert 'mathamr_requests_total{method="GET",route="/r",status="200"} 2.0' in text
    assert 'mathamr_requests_total{method="PUT",route="/r",status="201"} 1.0' in text
    assert 'mathamr_request_seconds_count{route="/r"} 3.0' in text
    assert "mathamr_queries_total 2.0" in text
    start = re.findall(r"^mathamr_start_time_seconds (\S+)$", text, re.MULTILINE)
    assert [float(each) for each in start] == [own.registry.get_sample_value("mathamr_start_time_seconds")]
