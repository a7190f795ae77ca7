"""What Prometheus reads at `/metrics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from bot.answer import Answer
from bot.attached import Part, Unread

registry: Final = CollectorRegistry()

received: Final = Counter("sizewise_received", "Payloads by kind and outcome", ["kind", "outcome"], registry=registry)
turns: Final = Counter("sizewise_turns", "Turns by how they ended", ["kind", "end"], registry=registry)
record_seconds: Final = Histogram("sizewise_record_seconds", "Time to record a turn before its ack", registry=registry)
compute_seconds: Final = Histogram("sizewise_compute_seconds", "Time to compute an answer", registry=registry)
post_seconds: Final = Histogram("sizewise_post_seconds", "Time to say an answer in Slack", registry=registry)
answer_seconds: Final = Histogram(
    "sizewise_answer_seconds",
    "Time from arrival to answer",
    buckets=(0.5, 1, 2, 3, 5, 10, 30, 60, 300),
    registry=registry,
)
slack_errors: Final = Counter("sizewise_slack_errors", "Refusals of Slack's Web API", ["error"], registry=registry)
guard_fallbacks: Final = Counter(
    "sizewise_guard_fallbacks",
    "Answers with a sentence left out because a figure in it had no source",
    registry=registry,
)
unread_parts: Final = Counter("sizewise_unread_parts", "Parts of questions that were not understood", registry=registry)
files: Final = Counter("sizewise_files", "Files that came with questions", ["outcome"], registry=registry)
out_of_scope: Final = Counter("sizewise_out_of_scope", "Questions that were not about sizing", registry=registry)
waiting: Final = Gauge("sizewise_waiting", "Turns not answered yet", registry=registry)


def count_answer(answer: Answer, request: Mapping[str, Any]) -> None:
    """What an answer, and the reading of its question, say of their own quality."""
    unread_parts.inc(len(request.get("unread") or ()))
    if answer.unverified_numbers:
        guard_fallbacks.inc()
    if not answer.in_scope:
        out_of_scope.inc()


def count_files(told: Sequence[Part | Unread]) -> None:
    """What was made of the files of a question: how each was read, or why it was not."""
    for each in told:
        files.labels(each.kind if isinstance(each, Part) else each.reason).inc()


def exposition() -> bytes:
    """All metrics in Prometheus's text format."""
    return generate_latest(registry)
