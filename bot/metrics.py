"""What Prometheus reads at `/metrics`."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

registry: Final = CollectorRegistry()

received: Final = Counter("sizewise_received", "Payloads by kind and outcome", ["kind", "outcome"], registry=registry)
turns: Final = Counter("sizewise_turns", "Turns by how they ended", ["kind", "end"], registry=registry)
record_seconds: Final = Histogram("sizewise_record_seconds", "Time to record a turn before its ack", registry=registry)
compute_seconds: Final = Histogram("sizewise_compute_seconds", "Time to compute an answer", registry=registry)
answer_seconds: Final = Histogram(
    "sizewise_answer_seconds", "Time from arrival to answer", buckets=(0.5, 1, 2, 3, 5, 10, 30, 60, 300), registry=registry
)
slack_errors: Final = Counter("sizewise_slack_errors", "Refusals of Slack's Web API", ["error"], registry=registry)
waiting: Final = Gauge("sizewise_waiting", "Turns not answered yet", registry=registry)


def exposition() -> bytes:
    """All metrics in Prometheus's text format."""
    return generate_latest(registry)
