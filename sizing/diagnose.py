"""Observation against Estimate → the bottleneck, why, what to measure next and what helps. Codes and parameters, no words.

Percentages are hints, never proof: a server fills its memory by design, and utilization only counts whether some kernel ran
(NVML documentation). So every diagnosis names the next measurement, and one thing to change at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from sizing.estimate import Estimate, Range
from sizing.observation import Observation

Bottleneck = Literal["vram", "bandwidth", "compute", "cpu", "ram_bandwidth", "pcie", "disk", "queue", "none", "unknown"]
Judgement = Literal["below", "as_expected", "above"]

# Readings of percentages after the guide "Lokale KI: welche Hardware?": 99/70, 60/99, 20/100; the edges between are planning figures.
_BUSY, _IDLE, _FULL, _CPU_BUSY = 0.9, 0.45, 0.93, 0.9
_SLOW = 0.85  # of the low end of the expected range: below it something is wrong, not merely slower
_QUEUE_TTFT = 3.0  # times the expected first token while writing is as fast as expected: the request waited
_SLOW_LOAD_GB_S = 0.3  # below a SATA drive's half
_NARROW_LANES = 4
_SERVERS = frozenset({"vllm", "sglang", "tensorrt-llm"})
# Programs that put load on a server: what they measure is never a model half in RAM.
_SERVER_BENCHES = frozenset({"bench_serve", "genai_perf"})


@dataclass(frozen=True, slots=True)
class Compared:
    """One quantity, measured against what the engine says."""

    quantity: str
    observed: float
    expected: Range | None
    judgement: Judgement | None
    unit: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason for the diagnosis, by code."""

    code: str
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What holds it up. `sure` False means a hint that the next measurement has to confirm."""

    bottleneck: Bottleneck
    sure: bool
    findings: tuple[Finding, ...]
    next_measurement: str
    changes: tuple[str, ...]
    compared: tuple[Compared, ...]
    notes: tuple[Finding, ...] = ()

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self) | {"compared": [_compared_data(one) for one in self.compared]}


def _compared_data(one: Compared) -> dict[str, Any]:
    return {
        "quantity": one.quantity,
        "observed": one.observed,
        "judgement": one.judgement,
        "unit": one.unit,
        "expected": one.expected.model_dump() if one.expected else None,
    }


@dataclass(frozen=True, slots=True)
class _Case:
    seen: Observation
    estimate: Estimate | None
    compared: tuple[Compared, ...]

    def judged(self, quantity: str) -> Judgement | None:
        return next((one.judgement for one in self.compared if one.quantity == quantity), None)


_Verdict = tuple[Bottleneck, bool, tuple[Finding, ...]]

_NEXT: dict[Bottleneck, str] = {
    "vram": "memory_over_time",
    "bandwidth": "tokens_at_several_batches",
    "compute": "prefill_alone",
    "cpu": "cores_one_by_one",
    "ram_bandwidth": "layers_on_gpu",
    "pcie": "link_under_load",
    "disk": "second_start",
    "queue": "waiting_over_time",
    "none": "longer_run",
    "unknown": "all_at_once",
}
_CHANGES: dict[Bottleneck, tuple[str, ...]] = {
    "vram": ("shorter_context", "smaller_format", "kv_cache_8bit", "more_memory"),
    "bandwidth": ("smaller_format", "speculative", "batch_more", "faster_memory"),
    "compute": ("prefix_cache", "shorter_prompts", "chunked_prefill", "more_compute"),
    "cpu": ("more_layers_on_gpu", "parallel_preparation", "faster_cores"),
    "ram_bandwidth": ("more_layers_on_gpu", "smaller_format", "shorter_context", "more_channels"),
    "pcie": ("wider_slot", "layer_split", "replicas"),
    "disk": ("nvme", "keep_loaded", "parallel_loader"),
    "queue": ("more_replicas", "limit_context", "spread_load"),
    "none": (),
    "unknown": ("measure_first",),
}


def diagnose(seen: Observation, estimate: Estimate | None = None) -> Diagnosis:
    """The likeliest bottleneck; the first rule that its evidence satisfies decides, strongest evidence first."""
    case = _Case(seen, estimate, tuple(_compare(seen, estimate)))
    bottleneck, sure, findings = next(
        (found for rule in _RULES if (found := rule(case)) is not None), ("unknown", False, ())
    )
    if not findings:
        findings = (Finding("too_little_seen", {}),)
    changes = _CHANGES["vram" if findings[0].code == "does_not_fit_the_card" else bottleneck]
    return Diagnosis(bottleneck, sure, findings, _NEXT[bottleneck], changes, case.compared, tuple(_notes(case)))


def _compare(seen: Observation, estimate: Estimate | None) -> list[Compared]:
    speed = estimate.speed if estimate else None
    found: list[Compared] = []
    rows: tuple[tuple[str, float | None, Range | None, str, bool], ...] = (
        ("decode_tok_s", seen.decode_tok_s, speed.decode_tok_s_per_user if speed else None, "tokens/s", True),
        ("output_tok_s_total", seen.output_tok_s_total, speed.output_tok_s_total if speed else None, "tokens/s", True),
        ("prefill_tok_s", seen.prefill_tok_s, speed.prefill_tok_s if speed else None, "tokens/s", True),
        ("ttft_ms", seen.ttft_ms, speed.ttft_ms if speed else None, "ms", False),
        ("tpot_ms", seen.tpot_ms, speed.tpot_ms if speed else None, "ms", False),
    )
    for quantity, value, expected, unit, more_is_better in rows:
        if value is not None:
            found.append(Compared(quantity, value, expected, _judge(value, expected, more_is_better), unit))
    return [*found, *_compare_memory(seen, estimate)]


def _compare_memory(seen: Observation, estimate: Estimate | None) -> list[Compared]:
    memory = estimate.memory if estimate else None
    device = memory.per_device[0] if memory and memory.per_device else None
    used = max((d.memory_used_gib for d in seen.devices if d.memory_used_gib is not None), default=None)
    pairs = (
        ("weights_gib", seen.weights_gib, device.weights_gib if device else None),
        ("kv_pool_gib", seen.kv_pool_gib, device.kv_pool_gib if device else None),
        ("memory_used_gib", used, device.total_gib if device else None),
    )
    return [
        Compared(
            name,
            value,
            None if expected is None else Range(low=0.9 * expected, expected=expected, high=1.1 * expected),
            None
            if expected is None
            else _judge(value, Range(low=0.9 * expected, expected=expected, high=1.1 * expected), True),
            "GiB",
        )
        for name, value, expected in pairs
        if value is not None
    ]


def _judge(value: float, expected: Range | None, more_is_better: bool) -> Judgement | None:
    """`below` is worse than expected, whichever way the quantity counts."""
    if expected is None:
        return None
    if more_is_better:
        return "below" if value < _SLOW * expected.low else "above" if value > expected.high / _SLOW else "as_expected"
    return "below" if value > expected.high / _SLOW else "above" if value < _SLOW * expected.low else "as_expected"


def _fault(case: _Case) -> _Verdict | None:
    if case.seen.fault is None:
        return None
    return (
        "vram" if case.seen.fault != "host_out_of_memory" else "cpu",
        True,
        (Finding(case.seen.fault, _only(missing_gib=case.seen.missing_gib)),),
    )


def _spilled(case: _Case) -> _Verdict | None:
    seen = case.seen
    if not seen.in_ram:
        return None
    params = _only(
        layers_on_gpu=seen.layers_on_gpu,
        layers_total=seen.layers_total,
        gpu_share=seen.gpu_share,
        host_gib=seen.host_weights_gib,
    )
    return (
        "ram_bandwidth",
        True,
        (Finding("layers_in_ram" if seen.layers_on_gpu is not None else "share_in_ram", params),),
    )


def _plan_spills(case: _Case) -> _Verdict | None:
    """What was said does not fit the card, so that the engine runs layers on the CPU, unless the log shows them all on the GPU."""
    seen, warnings = case.seen, case.estimate.warnings if case.estimate else ()
    spill = next((warning for warning in warnings if warning.code == "ollama_spills_to_ram"), None)
    if spill is None or (seen.layers_on_gpu is not None and seen.layers_on_gpu == seen.layers_total):
        return None
    return "ram_bandwidth", False, (Finding("does_not_fit_the_card", dict(spill.params)),)


def _queue(case: _Case) -> _Verdict | None:
    seen = case.seen
    if seen.preempted or (seen.kv_usage is not None and seen.kv_usage >= _FULL and (seen.waiting or 0) > 0):
        return (
            "vram",
            True,
            (
                Finding(
                    "cache_full_and_waiting", _only(kv_usage=seen.kv_usage, waiting=seen.waiting, running=seen.running)
                ),
            ),
        )
    if seen.waiting:
        return "queue", True, (Finding("requests_wait", _only(waiting=seen.waiting, running=seen.running)),)
    return _late_first_token(case)


def _late_first_token(case: _Case) -> _Verdict | None:
    seen, speed = case.seen, case.estimate.speed if case.estimate else None
    wanted = seen.concurrency or seen.requests
    if (
        seen.ttft_ms is not None
        and seen.max_concurrency
        and seen.concurrency
        and seen.concurrency > seen.max_concurrency
    ):
        return (
            "queue",
            True,
            (
                Finding(
                    "more_than_the_cache_holds",
                    {"concurrency": seen.concurrency, "max_concurrency": seen.max_concurrency},
                ),
            ),
        )
    if (
        seen.ttft_ms is not None
        and speed is not None
        and speed.ttft_ms is not None
        and case.judged("tpot_ms") != "below"
    ) and seen.ttft_ms > _QUEUE_TTFT * speed.ttft_ms.high:
        return (
            "queue",
            False,
            (Finding("first_token_waits", {"ttft_ms": seen.ttft_ms, "expected_ms": speed.ttft_ms.expected}),),
        )
    if seen.ttft_ms and seen.tpot_ms and wanted and wanted > 8 and seen.ttft_ms > 50 * seen.tpot_ms:
        return (
            "queue",
            False,
            (Finding("first_token_long_against_steps", {"ttft_ms": seen.ttft_ms, "tpot_ms": seen.tpot_ms}),),
        )
    return None


def _processor(case: _Case) -> _Verdict | None:
    cpu, gpu = case.seen.cpu_utilization, case.seen.busiest_gpu
    if cpu is not None and cpu >= _CPU_BUSY and (gpu is None or gpu <= _IDLE):
        return "cpu", False, (Finding("cpu_busy_gpu_waits", _only(cpu=cpu, gpu=gpu)),)
    return None


def _link(case: _Case) -> _Verdict | None:
    seen = case.seen
    split = (seen.tensor_parallel or 1) > 1 or len(seen.devices) > 1
    if seen.link_width is not None and seen.link_width <= _NARROW_LANES and split:
        return "pcie", False, (Finding("narrow_link", _only(width=seen.link_width, gen=seen.link_gen)),)
    return None


def _memory_bound_batch(case: _Case) -> _Verdict | None:
    """60 % busy at 99 % full: memory caps how much runs at once."""
    gpu, full = case.seen.busiest_gpu, case.seen.fullest_vram
    if gpu is not None and full is not None and full >= _FULL and _IDLE < gpu < _BUSY:
        return "vram", False, (Finding("full_but_not_busy", {"gpu": gpu, "vram": full}),)
    return None


def _busy(case: _Case) -> _Verdict | None:
    gpu = case.seen.busiest_gpu
    if gpu is None or gpu < _BUSY:
        return None
    alone = (case.seen.concurrency or case.seen.running or 1) <= 4
    writes = case.seen.decode_tok_s is not None or case.seen.tpot_ms is not None
    finding = Finding("busy_with_room", _only(gpu=gpu, vram=case.seen.fullest_vram))
    return ("bandwidth" if alone and writes else "compute"), False, (finding,)


def _slow(case: _Case) -> _Verdict | None:
    """Much slower than the estimate with nothing else seen: something lies where it should not."""
    slow = [one for one in case.compared if one.judgement == "below" and one.unit != "GiB" and one.expected is not None]
    if not slow:
        return None
    one = slow[0]
    share = (
        one.observed / one.expected.expected
        if one.expected and one.unit != "ms"
        else (one.expected.expected / one.observed if one.expected else 0.0)
    )
    served = case.seen.engine in _SERVERS or bool(_SERVER_BENCHES & set(case.seen.sources))
    bottleneck: Bottleneck = "ram_bandwidth" if share < 0.35 and not served else "unknown"
    return (
        bottleneck,
        False,
        (Finding("slower_than_expected", {"quantity": one.quantity, "observed": one.observed, "share": share}),),
    )


def _as_expected(case: _Case) -> _Verdict | None:
    judged = [one for one in case.compared if one.judgement in ("as_expected", "above") and one.unit != "GiB"]
    if not judged:
        return None
    bound = (case.estimate.speed.bound_by if case.estimate and case.estimate.speed else None) or "bandwidth"
    known: dict[str, Bottleneck] = {"bandwidth": "bandwidth", "memory": "bandwidth", "compute": "compute"}
    return (
        known.get(bound, "bandwidth"),
        True,
        (Finding("as_fast_as_it_gets", {"quantity": judged[0].quantity, "observed": judged[0].observed}),),
    )


def _loading(case: _Case) -> _Verdict | None:
    seen = case.seen
    if seen.load_seconds and seen.file_gib and seen.file_gib * 1.074 / seen.load_seconds < _SLOW_LOAD_GB_S:
        return "disk", False, (Finding("slow_loading", {"seconds": seen.load_seconds, "file_gib": seen.file_gib}),)
    return None


def _starved(case: _Case) -> _Verdict | None:
    """An idle card with an idle processor: nothing arrives, or it is spread over cards that take turns."""
    gpu, cpu = case.seen.busiest_gpu, case.seen.cpu_utilization
    if gpu is None or gpu > _IDLE:
        return None
    return "unknown", False, (Finding("nothing_busy", _only(gpu=gpu, cpu=cpu)),)


def _full_only(case: _Case) -> _Verdict | None:
    """Only memory is known: full by design under a server, a limit elsewhere."""
    full = case.seen.fullest_vram
    if full is None or full < _FULL:
        return None
    server = case.seen.engine in _SERVERS
    return (
        ("none" if server else "vram"),
        False,
        (Finding("memory_reserved" if server else "memory_full", {"vram": full}),),
    )


def _sound(case: _Case) -> _Verdict | None:
    """A start-up log without a fault: what it holds, and nothing holding it up."""
    if case.seen.kv_capacity_tokens or case.seen.weights_gib:
        return (
            "none",
            False,
            (
                Finding(
                    "started_well",
                    _only(kv_capacity_tokens=case.seen.kv_capacity_tokens, max_concurrency=case.seen.max_concurrency),
                ),
            ),
        )
    return None


_RULES: tuple[Callable[[_Case], _Verdict | None], ...] = (
    _fault,
    _spilled,
    _plan_spills,
    _queue,
    _processor,
    _link,
    _memory_bound_batch,
    _loading,
    _slow,
    _busy,
    _as_expected,
    _starved,
    _full_only,
    _sound,
)


def _notes(case: _Case) -> list[Finding]:
    """What explains a surprise beside the bottleneck."""
    seen, found = case.seen, []
    if seen.engine in _SERVERS and (seen.fullest_vram or 0) > 0.8:
        found.append(Finding("server_fills_memory", {}))
    hot = [d for d in seen.devices if d.temperature_c is not None and d.temperature_c >= 84]
    if hot:
        found.append(Finding("hot", {"temperature_c": max(d.temperature_c or 0.0 for d in hot)}))
    limited = [d for d in seen.devices if d.power_w and d.power_limit_w and d.power_w >= 0.97 * d.power_limit_w]
    if limited:
        found.append(Finding("at_power_limit", {"power_w": limited[0].power_w, "limit_w": limited[0].power_limit_w}))
    if len({round(d.utilization, 1) for d in seen.devices if d.utilization is not None}) > 2:
        found.append(Finding("cards_take_turns", {}))
    cpu, gpu = seen.cpu_utilization, seen.busiest_gpu
    if cpu is not None and cpu >= _CPU_BUSY and gpu is not None and gpu <= _IDLE:
        found.append(Finding("larger_gpu_no_help", {}))
    return found


def _only(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
