"""Requests as spans, checked with OpenTelemetry's own collector in memory."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from mathamr.core.errors import MissingExtraError
from mathamr.search.searcher import Index
from mathamr.serve.app import create_app
from mathamr.serve.service import Service
from mathamr.serve.tracing import Tracer, tracer

pytest.importorskip("opentelemetry.sdk.trace", reason="OpenTelemetry is not installed")


def test_a_request_is_one_span_of_the_clients_trace_with_its_stages_and_without_its_query(
    index: Index,
) -> None:
    from fastapi.testclient import TestClient
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    with TestClient(create_app(Service(index), tracer=Tracer(provider))) as client:
        trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
        client.get(
            "/v1/search?q=prime&strategy=lexical",
            headers={"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01"},
        )
        client.get("/v1/posts/nothing-here")
    searched, missed = kept.get_finished_spans()
    assert searched.name == "GET /v1/search"
    assert format(searched.context.trace_id, "032x") == trace_id
    told: dict[str, Any] = dict(searched.attributes or {})
    assert (told["http.route"], told["http.response.status_code"]) == ("/v1/search", 200)
    assert told["mathamr.seconds.parse"] >= 0
    assert "prime" not in str(told)
    assert searched.start_time is not None
    assert searched.end_time is not None
    assert searched.end_time - searched.start_time >= told["mathamr.seconds.total"] * 1e9
    assert dict(missed.attributes or {})["http.response.status_code"] == 404


def test_without_a_collector_nothing_is_loaded_and_without_the_packages_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ordinary = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return ordinary(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    assert tracer() is None
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    with pytest.raises(MissingExtraError, match=r"mathamr\[telemetry\]"):
        tracer()
