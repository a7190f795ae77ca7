"""Observation: what somebody measured or a log said, in the units of the field names. None means "not seen"."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Fault = Literal["out_of_memory", "cache_too_small", "no_room_for_cache", "host_out_of_memory"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SeenDevice(_Part):
    """One device as a monitor shows it; shares are of 1."""

    name: str | None = None
    utilization: float | None = None
    memory_used_gib: float | None = None
    memory_total_gib: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    temperature_c: float | None = None

    @property
    def memory_share(self) -> float | None:
        if self.memory_used_gib is None or not self.memory_total_gib:
            return None
        return self.memory_used_gib / self.memory_total_gib


class Observation(_Part):
    """Everything read, from one source or from several merged. `sources` names the readers that found something.

    Weights, cache and buffers are GiB on one device; `host_weights_gib` lies in RAM. `gpu_share` is the part of a model that Ollama
    keeps on the GPU; `kv_usage` how full the cache is; `running` and `waiting` are requests; `load_seconds` the time to load weights.
    `longest_tokens` is the longest sequence that an engine says its cache would hold.
    """

    sources: tuple[str, ...] = ()
    engine: str | None = None
    engine_version: str | None = None
    model: str | None = None
    devices: tuple[SeenDevice, ...] = ()
    gpu_utilization: float | None = None
    vram_share: float | None = None
    cpu_utilization: float | None = None
    weights_gib: float | None = None
    host_weights_gib: float | None = None
    kv_cache_gib: float | None = None
    kv_pool_gib: float | None = None
    kv_capacity_tokens: float | None = None
    max_concurrency: float | None = None
    buffers_gib: float | None = None
    graphs_gib: float | None = None
    free_gib: float | None = None
    context_tokens: int | None = None
    layers_on_gpu: int | None = None
    layers_total: int | None = None
    gpu_share: float | None = None
    tensor_parallel: int | None = None
    decode_tok_s: float | None = None
    output_tok_s_total: float | None = None
    prefill_tok_s: float | None = None
    ttft_ms: float | None = None
    tpot_ms: float | None = None
    requests_s: float | None = None
    requests: int | None = None
    concurrency: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    kv_usage: float | None = None
    running: int | None = None
    waiting: int | None = None
    preempted: bool | None = None
    link_gen: int | None = None
    link_width: int | None = None
    load_seconds: float | None = None
    file_gib: float | None = None
    fault: Fault | None = None
    missing_gib: float | None = None
    longest_tokens: int | None = None

    def seen(self) -> dict[str, Any]:
        """Only what was seen."""
        return self.model_dump(exclude_none=True, exclude_defaults=True)

    @property
    def busiest_gpu(self) -> float | None:
        """Utilization of the busiest device."""
        shares = [device.utilization for device in self.devices if device.utilization is not None]
        return max(shares) if shares else self.gpu_utilization

    @property
    def fullest_vram(self) -> float | None:
        """Share of memory in use on the fullest device."""
        shares = [device.memory_share for device in self.devices if device.memory_share is not None]
        return max(shares) if shares else self.vram_share

    @property
    def in_ram(self) -> bool:
        """Whether part of the model lies in the host's RAM."""
        layers = (
            self.layers_on_gpu is not None and self.layers_total is not None and self.layers_on_gpu < self.layers_total
        )
        return layers or (self.gpu_share is not None and self.gpu_share < 0.99)


def merged(observations: list[Observation]) -> Observation:
    """One Observation of several; the first that saw a field wins, devices come from the source that saw most."""
    fields: dict[str, Any] = {}
    for one in observations:
        for name, value in one.seen().items():
            if name == "sources":
                fields["sources"] = (*fields.get("sources", ()), *one.sources)
            elif name == "devices":
                fields["devices"] = max(fields.get("devices", ()), one.devices, key=len)
            else:
                fields.setdefault(name, value)
    return Observation(**fields)
