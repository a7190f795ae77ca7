"""Traces of turns by OpenTelemetry, where OTEL_EXPORTER_OTLP_ENDPOINT is set and the SDK is installed; else nothing.

A turn's trace has its key, kind and the id that an apology would name; what people write is never in it.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from typing import Any

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@contextlib.contextmanager
def span(name: str, **attributes: str | int | float) -> Iterator[None]:
    """A span around the body. Of what the body raises it keeps the kind: its words may be somebody's question."""
    tracer = _tracer()
    if tracer is None:
        yield
        return
    options = {"record_exception": False, "set_status_on_exception": False}
    with tracer.start_as_current_span(name, attributes=attributes, **options) as found:
        try:
            yield
        except BaseException as error:
            found.set_status(_failed(type(error).__name__))
            raise


def _failed(kind: str) -> Any:
    from opentelemetry.trace import Status, StatusCode

    return Status(StatusCode.ERROR, kind)


@functools.cache
def _tracer() -> Any:
    if not os.environ.get(_ENDPOINT):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        from bot.logs import logger

        logger().error("no traces", reason="install opentelemetry-sdk and opentelemetry-exporter-otlp-proto-grpc")
        return None
    provider = TracerProvider(resource=Resource.create({"service.name": "sizewise"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer("sizewise")
