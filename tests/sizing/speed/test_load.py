"""Under load: demand, waiting, the largest load, a failed device; and the nearest measurements and the derivation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from sizing.resolve import resolve
from sizing.spec import Targets, parse_spec
from sizing.speed.derivation import steps
from sizing.speed.load import Demand, after_failure, demand, largest_load, under_load, with_users
from sizing.speed.measured import distance, likeness, load_rows, nearest_speeds, spec_of
from sizing.speed.model import forecast

Deploy = Callable[..., Any]
SERVICE: dict[str, Any] = {
    "model": "Llama-3.3-70B", "weights": "fp8", "engine": {"name": "vllm"}, "hardware": [{"accelerator": "H100", "count": 8}],
    "parallel": {"tensor": 4, "data": 2}, "input_tokens": 1000, "output_tokens": 300,
}  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"users": 900}, Demand(1.0, 900, 18000.0, 0.2, ("requests_per_day", "peak_hour_share"))),
        ({"load": {"requests_per_day": 36000, "peak_hour_share": 0.1}}, Demand(1.0, None, 36000.0, 0.1, ())),
        ({"load": {"rate_rps": 3}}, Demand(3.0, None, None, 0.2, ())),
        ({"concurrency": 5}, None),
    ],
)
def test_demand(spec: dict[str, Any], wanted: Demand | None) -> None:
    assert demand(parse_spec(spec)) == wanted


def test_waiting_grows_with_the_load(deploy: Deploy) -> None:
    resolved, plan = deploy(**SERVICE)
    points = [under_load(resolved, plan, rate) for rate in (0.1, 1, 3, 6)]
    for before, after in pairwise(points):
        assert before.ttft_p95_ms <= after.ttft_p95_ms
        assert before.tpot_p50_ms < after.tpot_p50_ms
        assert before.concurrency < after.concurrency
    for point in points:
        assert point.ttft_p50_ms <= point.ttft_p95_ms and point.tpot_p50_ms <= point.tpot_p95_ms


def test_too_much_is_said_to_be_too_much(deploy: Deploy) -> None:
    resolved, plan = deploy(**SERVICE)
    point = under_load(resolved, plan, 1000)
    assert not point.stable and point.utilization > 1
    assert point.output_tok_s_total < 1000 * 300


def test_the_largest_load_meets_its_targets_and_a_little_more_does_not(deploy: Deploy) -> None:
    targets = Targets(ttft_s=2, tokens_s_per_user=25)
    resolved, plan = deploy(**SERVICE)
    found = largest_load(resolved, plan, targets)
    assert found.point is not None and found.bound_by in ("ttft_s", "tokens_s_per_user")
    assert found.point.tokens_s_per_user >= 25 and found.point.ttft_p95_ms <= 2000
    more = under_load(resolved, plan, 1.05 * found.rate_rps)
    assert more.tokens_s_per_user < 25 or more.ttft_p95_ms > 2000


@pytest.mark.parametrize(
    ("targets", "bound"),
    [
        (Targets(), "capacity"),
        (Targets(tokens_s_per_user=5000), "tokens_s_per_user"),
        (Targets(ttft_s=0.001), "ttft_s"),
    ],
)
def test_what_ends_the_load(deploy: Deploy, targets: Targets, bound: str) -> None:
    resolved, plan = deploy(**SERVICE)
    assert largest_load(resolved, plan, targets).bound_by == bound


def test_littles_law_links_users_and_rate(deploy: Deploy) -> None:
    resolved, plan = deploy(**SERVICE)
    point = with_users(resolved, plan, 20)
    assert point.concurrency == pytest.approx(20, rel=0.1)


def test_one_replica_may_fail_where_there_are_two(deploy: Deploy) -> None:
    resolved, plan = deploy(**SERVICE)
    left = after_failure(resolved, plan, 1.0)
    assert left.replicas_left == 1 and left.carries and left.point is not None
    assert left.point.utilization > under_load(resolved, plan, 1.0).utilization
    resolved, plan = deploy(**{**SERVICE, "parallel": {"tensor": 8}})
    alone = after_failure(resolved, plan, 1.0)
    assert alone.replicas_left == 0 and not alone.carries


def test_a_measured_row_is_its_own_nearest() -> None:
    row = next(row for row in load_rows() if row["model"] == "gpt-oss-120b" and row["scenario"] == "concurrent")
    found = nearest_speeds(resolve(parse_spec(spec_of(row))), 5)
    assert found[0].distance == 0 and found[0].differs == ()
    assert [one.distance for one in found] == sorted(one.distance for one in found)
    assert all(one.url.startswith("http") and one.figures for one in found)


def test_carried_likeness_is_current() -> None:
    for row in load_rows()[::40]:
        assert likeness(resolve(parse_spec(spec_of(row)))).__class__(**row["like"]) == likeness(
            resolve(parse_spec(spec_of(row)))
        )


def test_distance_counts_both_ways_alike() -> None:
    first, second = (likeness(resolve(parse_spec(spec_of(row)))) for row in load_rows()[:2])
    assert distance(first, second) == distance(second, first)


def test_what_differs_is_named(deploy: Deploy) -> None:
    found = nearest_speeds(deploy(**SERVICE)[0])
    assert len(found) == 3
    assert {one.field for one in found[0].differs} <= {
        "model", "weights", "engine", "accelerator", "count", "concurrency", "context_tokens",
    }  # fmt: skip


def test_the_derivation_adds_up(deploy: Deploy) -> None:
    made = {step.quantity: step for step in steps(forecast(*deploy(**SERVICE)))}
    assert list(made) == [
        "prompt_ms", "weights_read_gb", "weights_ms", "kv_ms", "compute_ms", "kernels_ms", "link_ms", "decode_tok_s_per_user",
        "output_tok_s_total",
    ]  # fmt: skip
    step_ms = (made["weights_ms"].value ** 2 + made["compute_ms"].value ** 2) ** 0.5
    step_ms += made["kv_ms"].value + made["kernels_ms"].value + made["link_ms"].value
    assert made["decode_tok_s_per_user"].value == pytest.approx(1000 / step_ms)
    assert all(step.sources and step.unit for step in made.values())
