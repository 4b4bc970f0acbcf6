"""`Tracer`: one OpenTelemetry span a request; OpenTelemetry is only loaded if an exporter is configured."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mathamr import __version__
from mathamr.core.errors import MissingExtraError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""OpenTelemetry's own variables for where spans are sent; without one of them there are none."""


class Tracer:
    """Records finished requests as spans, from the same fields as the log."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("mathamr", __version__)

    def record(self, entry: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> None:
        """Record a request, as part of the client's trace if its headers name one; without the query."""
        from opentelemetry import propagate, trace

        carried = {
            name: headers[name.encode()].decode("latin-1")
            for name in ("traceparent", "tracestate")
            if name.encode() in headers
        }
        now = time.time_ns()
        span = self._tracer.start_span(
            f"{entry['method']} {entry['route']}",
            context=propagate.extract(carried),
            kind=trace.SpanKind.SERVER,
            start_time=now - round(entry["seconds"] * 1e9),
            attributes={
                "http.request.method": entry["method"],
                "http.route": entry["route"],
                "http.response.status_code": entry["status"],
                "mathamr.request": entry["request"],
                **{f"mathamr.seconds.{stage}": value for stage, value in entry.get("stages", {}).items()},
            },
        )
        if entry["status"] >= 500:
            span.set_status(trace.StatusCode.ERROR)
        span.end(now)


def tracer() -> Tracer | None:
    """Return the tracer that the environment configures, or None; call it in the process that serves."""
    if not any(os.environ.get(name) for name in ENDPOINT_VARIABLES):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtraError(
            "OpenTelemetry, which the environment configures (OTEL_EXPORTER_OTLP_ENDPOINT),",
            'pip install "mathamr[telemetry]"',
        ) from error
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "mathamr"}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    print("mathamr: sending spans of requests to OpenTelemetry", file=sys.stderr, flush=True)
    return Tracer(provider)
