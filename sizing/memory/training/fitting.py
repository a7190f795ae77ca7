"""What fits of a training run: the largest sequence and batch, how many devices, and the cheapest steps that make it fit.

Every answer comes from the same memory plan as the estimate, with one setting changed at a time; memory grows with each of
sequence, batch and fewer shards, so the limits are found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sizing.memory.training.plan import plan_training
from sizing.memory.training.run import resolve_run
from sizing.spec import HardwareRef, Parallel, Training, WorkloadSpec
from sizing.units import gib

StepName = Literal[
    "lora", "qlora", "checkpointing", "micro_batch", "sharding", "optimizer_8bit", "offload", "shorter_sequence"
]

# What a step costs, as codes worded by the bot: quality, speed, or neither. Speed shares: QLoRA unpacks weights in both passes (0.75,
# see sizing.speed.training); checkpointing adds a third of the forward pass's share of the work (6 N -> 8 N); offload waits for PCIe.
_COSTS: dict[StepName, tuple[str, float]] = {
    "lora": ("adapts_less", 1.3),
    "qlora": ("base_in_4_bit", 0.75),
    "checkpointing": ("recomputes", 0.75),
    "micro_batch": ("smaller_batches", 0.9),
    "optimizer_8bit": ("rounder_moments", 1.0),
    "sharding": ("gathers_weights", 0.85),
    "offload": ("waits_for_pcie", 0.35),
    "shorter_sequence": ("cuts_samples", 1.0),
}
_LONGEST_TOKENS, _STEP_TOKENS, _MOST_BATCH = 1 << 20, 128, 4096
_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class Step:
    """One change on the way to a fit; `need_gib` on the fullest device after it. `speed_share` is what remains of the speed."""

    name: StepName
    value: str
    cost: str
    speed_share: float
    need_gib: float
    margin_gib: float
    fits: bool

    def data(self) -> dict[str, Any]:
        return asdict(self)


def margin_gib(spec: WorkloadSpec) -> float | None:
    """What is left on the fullest device; None for cards without a known memory."""
    margin = plan_training(resolve_run(spec)).margin_bytes
    return None if margin is None else gib(margin[1])


def need_gib(spec: WorkloadSpec) -> float:
    """What lies on the fullest device, in GiB; without hardware everything on one device."""
    with_device = spec if spec.hardware else spec.model_copy(update={"hardware": (HardwareRef(memory_gb=100_000.0),)})
    return max(gib(device.total_bytes) for device in plan_training(resolve_run(with_device)).devices)


def unchecked_gib(spec: WorkloadSpec) -> float:
    """Need of the tightest device if no activation were recomputed."""
    return need_gib(_with(spec, checkpointing="none"))


def largest_sequence(spec: WorkloadSpec) -> int | None:
    """The longest sequence that fits, in steps of 128 tokens; None where not even the shortest does."""
    return _largest(
        spec, lambda value: {"sequence_tokens": value * _STEP_TOKENS}, _LONGEST_TOKENS // _STEP_TOKENS, _STEP_TOKENS
    )


def largest_batch(spec: WorkloadSpec) -> int | None:
    """The largest micro-batch per device that fits; None where a batch of one does not."""
    return _largest(spec, lambda value: {"micro_batch": value}, _MOST_BATCH, 1)


def _largest(spec: WorkloadSpec, change: Callable[[int], dict[str, int]], most: int, unit: int) -> int | None:
    def fits(value: int) -> bool:
        return (margin_gib(_with(spec, **change(value))) or -1.0) >= 0

    if not fits(1):
        return None
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low * unit


def steps_to_fit(spec: WorkloadSpec) -> tuple[Step, ...]:
    """Steps in the order of what they cost, each on top of those before, up to the first that fits (or all, if none does)."""
    found: list[Step] = []
    current = spec
    for name, changed, value in _ladder(spec):
        current = _merge(current, changed)
        margin = margin_gib(current)
        cost, share = _COSTS[name]
        found.append(
            Step(name, value, cost, share, need_gib(current), margin or 0.0, margin is not None and margin >= 0)
        )
        if found[-1].fits:
            break
    return tuple(found)


_Change = dict[str, Any]


def _ladder(spec: WorkloadSpec) -> Iterator[tuple[StepName, _Change, str]]:
    run = resolve_run(spec)
    if run.method == "full":
        yield "lora", {"method": "lora", "lora_rank": 16}, "rank 16"
    if run.method in ("full", "lora"):
        yield "qlora", {"method": "qlora", "weights": None}, "NF4"
    if run.checkpointing != "full":
        yield "checkpointing", {"checkpointing": "full"}, "full"
    if run.micro_batch > 1:
        yield "micro_batch", {"micro_batch": 1}, "1"
    if run.sharding != "zero3" and len(run.devices) > 1 and run.tensor == 1:
        yield "sharding", {"sharding": "fsdp"}, "FSDP"
    if "8bit" not in run.optimizer:
        yield "optimizer_8bit", {"optimizer": "adamw-8bit"}, "8-bit AdamW"
    if run.offload is None:
        yield "offload", {"offload": "cpu"}, "CPU"
    longest = largest_sequence(_final(spec))
    if longest is not None and longest < run.sequence_tokens:
        yield "shorter_sequence", {"sequence_tokens": longest}, str(longest)


def _final(spec: WorkloadSpec) -> WorkloadSpec:
    """The spec with every saving on."""
    several = sum(entry.count or 1 for entry in spec.hardware) > 1
    savings: _Change = {
        "method": "qlora",
        "weights": None,
        "checkpointing": "full",
        "micro_batch": 1,
        "optimizer": "adamw-8bit",
        "offload": "cpu",
    }
    return _merge(spec, savings | ({"sharding": "fsdp"} if several else {}))


def _with(spec: WorkloadSpec, **changes: Any) -> WorkloadSpec:
    return spec.model_copy(update={"training": (spec.training or Training()).model_copy(update=changes)})


def _merge(spec: WorkloadSpec, changes: _Change) -> WorkloadSpec:
    inside = {name: value for name, value in changes.items() if name != "weights"}
    outside = {"weights": changes["weights"]} if "weights" in changes else {}
    return _with(spec, **inside).model_copy(update=outside)


def devices_needed(spec: WorkloadSpec, accelerator: str) -> int | None:
    """How many of a device (1, 2, 4, … 128) hold the run, its states sharded over them; None where not even 128 do."""
    for count in _COUNTS:
        sharding = {"sharding": "zero3"} if count > 1 else {}
        asked = _with(spec, **sharding).model_copy(
            update={"hardware": (HardwareRef(accelerator=accelerator, count=count),), "parallel": Parallel()}
        )
        if (margin_gib(asked) or -1.0) >= 0:
            return count
    return None
