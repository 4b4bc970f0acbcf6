"""`Tracer`: one OpenTelemetry span per request, if the environment configures an exporter; else nothing is loaded."""

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
"""OpenTelemetry's own environment variables for the address of the collector; without one of them nothing is traced."""


class Tracer:
    """Records finished requests as spans, with the fields of the log."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("mathamr", __version__)

    def record(self, fields: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> None:
        """Records one request, as part of the client's trace if its headers name one; queries are not recorded."""
        from opentelemetry import propagate, trace

        carried = {
            name: headers[name.encode()].decode("latin-1")
            for name in ("traceparent", "tracestate")
            if name.encode() in headers
        }
        now = time.time_ns()
        span = self._tracer.start_span(
            f"{fields['method']} {fields['route']}",
            context=propagate.extract(carried),
            kind=trace.SpanKind.SERVER,
            start_time=now - round(fields["seconds"] * 1e9),
            attributes={
                "http.request.method": fields["method"],
                "http.route": fields["route"],
                "http.response.status_code": fields["status"],
                "mathamr.request": fields["request"],
                **{f"mathamr.seconds.{stage}": value for stage, value in fields.get("stages", {}).items()},
            },
        )
        if fields["status"] >= 500:
            span.set_status(trace.StatusCode.ERROR)
        span.end(now)


def tracer() -> Tracer | None:
    """The tracer that the environment configures; call it in the process that serves."""
    if not any(os.environ.get(name) for name in ENDPOINT_VARIABLES):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtraError(
            "OpenTelemetry, which OTEL_EXPORTER_OTLP_ENDPOINT enables,",
            'pip install "mathamr[telemetry]"',
        ) from error
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "mathamr"}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    print("mathamr: requests are traced with OpenTelemetry", file=sys.stderr, flush=True)
    return Tracer(provider)
