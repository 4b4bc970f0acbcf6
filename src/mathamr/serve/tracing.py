"""`Tracer`: a span a request for OpenTelemetry, where somebody collects them; nothing is loaded where nobody does."""

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

ASKED_BY = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""OpenTelemetry's own names for where spans are sent: without one of them there are none."""


class Tracer:
    """Writes down requests that are over; what it is told is what the log says."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("mathamr", __version__)

    def record(self, told: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> None:
        """One request, as part of the client's own trace where its head names one; queries are not told."""
        from opentelemetry import propagate, trace

        carried = {
            name: headers[name.encode()].decode("latin-1")
            for name in ("traceparent", "tracestate")
            if name.encode() in headers
        }
        now = time.time_ns()
        span = self._tracer.start_span(
            f"{told['method']} {told['route']}",
            context=propagate.extract(carried),
            kind=trace.SpanKind.SERVER,
            start_time=now - round(told["seconds"] * 1e9),
            attributes={
                "http.request.method": told["method"],
                "http.route": told["route"],
                "http.response.status_code": told["status"],
                "mathamr.request": told["request"],
                **{f"mathamr.seconds.{stage}": value for stage, value in told.get("stages", {}).items()},
            },
        )
        if told["status"] >= 500:
            span.set_status(trace.StatusCode.ERROR)
        span.end(now)


def tracer() -> Tracer | None:
    """The tracer that the environment asks for, sending to where it says; call it in the process that serves."""
    if not any(os.environ.get(name) for name in ASKED_BY):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtraError(
            "OpenTelemetry, which the environment asks for (OTEL_EXPORTER_OTLP_ENDPOINT),",
            'pip install "mathamr[telemetry]"',
        ) from error
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "mathamr"}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    print("mathamr: requests are told to OpenTelemetry", file=sys.stderr, flush=True)
    return Tracer(provider)
