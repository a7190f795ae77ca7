"""Traces: one of each turn with its stages, and nothing of what people write."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot import tracing
from bot.surface import error_id_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", lambda: provider.get_tracer("test"))
    return exporter


async def test_a_turn_is_a_trace_with_its_stages(start: Any, spans: InMemorySpanExporter) -> None:
    async with start("http") as chat:
        question = await chat.slack.mention(chat.anna, chat.channel, "our secret plan")
        await chat.slack.answer(question)
        await chat.idle()
        await chat.slack.until(lambda: len(spans.get_finished_spans()) == 3, what="a trace")
    found = {span.name: span for span in spans.get_finished_spans()}
    key = f"T0DOUBLE01/{chat.channel.id}/{question.ts}"
    assert dict(found["turn"].attributes) == {"turn": key, "id": error_id_of(key), "kind": "message", "attempt": 1}
    assert {name: span.parent and span.parent.span_id for name, span in found.items()} == {
        "turn": None, "compute": found["turn"].context.span_id, "post": found["turn"].context.span_id,
    }  # fmt: skip
    assert "secret" not in "".join(span.to_json() for span in found.values())


async def test_what_fails_is_marked_without_its_words(start: Any, spans: InMemorySpanExporter) -> None:
    async with start("http") as chat:
        chat.responder.fail = ValueError("our secret plan")
        await chat.slack.mention(chat.anna, chat.channel, "our secret plan")
        await chat.slack.shown(chat.anna)
        await chat.slack.until(lambda: len(spans.get_finished_spans()) == 2, what="a trace")
    found = {span.name: span for span in spans.get_finished_spans()}
    assert (found["compute"].status.is_ok, found["compute"].status.description) == (False, "ValueError")
    assert "secret" not in "".join(span.to_json() for span in found.values())


async def test_without_an_endpoint_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    assert tracing._tracer.__wrapped__() is None
    with tracing.span("turn", turn="x"):
        pass
