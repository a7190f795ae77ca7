"""Estimate: what the engine says of one resolved spec on one set of hardware. INTERFACE fixes the names."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Verdict = Literal["fits", "tight", "no"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Range(_Part):
    """An 80 % range from calibration residuals, in the unit of the field that holds it."""

    low: float
    expected: float
    high: float


class DeviceMemory(_Part):
    """What one physical device holds, in GiB. Fields of the other task (inference or training) are None.

    `usable_gib` is the engine's own budget. `free_gib` is what is left beside `total_gib`, negative where it is short; together they
    are the capacity of the device, which is larger than the budget where captured graphs lie outside it.
    """

    accelerator: str | None
    weights_gib: float
    kv_cache_gib: float | None = None
    activations_gib: float
    overhead_gib: float
    graphs_gib: float | None = None
    gradients_gib: float | None = None
    optimizer_gib: float | None = None
    beside_gib: float | None = None
    total_gib: float
    usable_gib: float | None = None
    free_gib: float | None = None
    kv_pool_gib: float | None = None
    state_gib: float | None = None


class HostMemory(_Part):
    """What is kept in the host's RAM, in GiB."""

    weights_gib: float = 0.0
    kv_cache_gib: float = 0.0
    activations_gib: float = 0.0
    optimizer_gib: float = 0.0
    state_gib: float = 0.0
    total_gib: float = 0.0


class Memory(_Part):
    """Memory of the whole deployment; `per_device` in rank order, one entry for every physical device."""

    per_device: tuple[DeviceMemory, ...]
    host: HostMemory = HostMemory()
    kv_bytes_per_token: float | None = None
    kv_bytes_per_sequence: float | None = None
    kv_capacity_tokens: float | None = None
    max_concurrency_at_context: float | None = None


class Speed(_Part):
    """Rates of one replica set as deployed: tokens/s, milliseconds, requests/s; every range is an 80 % range.

    `in_flight` sequences run at once; `saturated` says that more are asked for than run. The token counts are those the rates hold
    for, as said or as assumed.
    """

    decode_tok_s_per_user: Range | None = None
    output_tok_s_total: Range | None = None
    prefill_tok_s: Range | None = None
    ttft_ms: Range | None = None
    tpot_ms: Range | None = None
    requests_s: Range | None = None
    bound_by: str | None = None
    in_flight: float | None = None
    saturated: bool | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class Assumption(_Part):
    """A gap that was filled: which field, with what, and why (a code worded by the bot)."""

    field: str
    value: Any
    code: str
    params: dict[str, Any] = {}


class Warning_(_Part):
    """Something the user must know beside the verdict. `message` is English; code and params are for the bot."""

    code: str
    params: dict[str, Any] = {}
    message: str


class Reason(_Part):
    """Why the estimate is as it is. `topic` is a key of `sizing.reasons.Topic`, under which knowledge is asked."""

    topic: str
    code: str
    params: dict[str, Any] = {}


class DerivationStep(_Part):
    """How one quantity came about: formula, inputs, value, unit and sources."""

    quantity: str
    formula: str
    inputs: dict[str, Any]
    value: float
    unit: str
    sources: tuple[str, ...] = ()


class Failure(_Part):
    """Why a spec could not be sized."""

    field: str
    message: str
    value: Any = None
    suggestions: tuple[str, ...] = ()


class Estimate(_Part):
    """The engine's answer for one spec."""

    id: str | int | None = None
    ok: bool
    verdict: Verdict | None = None
    fits: bool | None = None
    margin_gib: Range | None = None
    memory: Memory | None = None
    speed: Speed | None = None
    training: dict[str, Any] | None = None
    system: dict[str, Any] | None = None
    work: dict[str, Any] | None = None
    cost: dict[str, Any] | None = None
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Warning_, ...] = ()
    reasons: tuple[Reason, ...] = ()
    derivation: tuple[DerivationStep, ...] = ()
    measured: tuple[dict[str, Any], ...] = ()
    error: Failure | None = None
