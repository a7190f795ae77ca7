"""WorkloadSpec: what the user wants, in the field's terms. `None` means "not said" and is never filled here.

Gaps are filled in one place, `sizing.resolve`, and listed as assumptions.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from sizing.errors import UserError
from sizing.usage import Money, Usage
from sizing.values import NUMBER, Backend, Currency, Date, Optimizer, Vendor

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Task = Literal["inference", "training", "embedding", "reranking", "transcription", "image", "video", "rag"]
LoadPattern = Literal["closed", "poisson", "burst", "offline"]
TrainingMethod = Literal["full", "lora", "qlora", "dpo", "grpo", "ppo"]
BesideRole = Literal["draft", "lora", "embedding", "reranker", "transcription", "other"]

# Upper bounds keep arithmetic exact and refuse what no machine will see (1e99 tokens); each is far above anything real.
Tokens = Annotated[int, Field(ge=0, le=10**9), NUMBER]
PositiveTokens = Annotated[int, Field(ge=1, le=10**9), NUMBER]
Count = Annotated[int, Field(ge=1, le=10**7), NUMBER]
Degree = Annotated[int, Field(ge=1, le=65536), NUMBER]
Amount = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False), NUMBER]
PositiveAmount = Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False), NUMBER]
# Billions of parameters: from an embedding model of 100,000 to a hundred times the largest one published.
Billions = Annotated[float, Field(ge=1e-4, le=1e5, allow_inf_nan=False), NUMBER]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False), NUMBER]
Name = Annotated[str, Field(min_length=1, max_length=300)]


class Contradiction(ValueError):
    """Two fields of one part that cannot both be; named after the one to change."""

    def __init__(self, field: str, value: object, problem: str) -> None:
        super().__init__(
            f"{field} {value:g} is {problem}" if isinstance(value, int | float) else f"{field} {value!r} is {problem}"
        )
        self.field = field
        self.value = value


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class ModelRef(_Part):
    """Which model: a repo id or any alias, the contents of a `config.json`, or a bare size in billions of parameters."""

    id: Name | None = None
    params_b: Billions | None = None
    active_params_b: Billions | None = None
    config: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _part_of_the_whole(self) -> ModelRef:
        if self.params_b and self.active_params_b and self.active_params_b > self.params_b:
            raise Contradiction("active_params_b", self.active_params_b, f"more than params_b {self.params_b:g}")
        return self


class KvCacheRef(_Part):
    """KV-cache formats where keys and values differ (llama.cpp's -ctk and -ctv)."""

    k: Name | None = None
    v: Name | None = None


class Speculative(_Part):
    """Speculative decoding: how drafts are made and how many tokens a step proposes."""

    method: Name
    tokens: Annotated[int, Field(ge=1, le=64), NUMBER] | None = None
    model: Name | None = None


class EngineRef(_Part):
    """The serving engine (or training framework) and those of its settings that change memory or speed.

    `redundant_experts` are copies beside the model's own (EPLB), over all ranks; `kv_offload_gib` is RAM for cache blocks of one
    replica, `cpu_offload_gib` what of each device's weights stays in RAM; `quantize_on_load` says that the checkpoint is wider than
    `weights`; `prefill_replicas` of the replicas only compute prompts and hand their KV cache to the others, which only decode.
    """

    name: Name | None = None
    version: Name | None = None
    as_of: Date | None = None
    mode: Literal["v0", "v1"] | None = None
    backend: Backend | None = None
    gpu_memory_utilization: Share | None = None
    kv_cache_memory_gib: PositiveAmount | None = None
    max_num_batched_tokens: Count | None = None
    max_num_seqs: Count | None = None
    enforce_eager: bool | None = None
    speculative: Speculative | Name | None = None
    data_parallel_attention: bool | None = None
    prefill_replicas: Count | None = None
    ubatch_tokens: Count | None = None
    batch_tokens: Count | None = None
    gpu_layers: Annotated[int, Field(ge=0, le=100000), NUMBER] | None = None
    cpu_moe_layers: Annotated[int, Field(ge=0, le=100000), NUMBER] | None = None
    tensor_overrides: str | list[str] | None = None
    split_mode: Literal["layer", "row", "tensor", "none"] | None = None
    tensor_split: Annotated[tuple[Amount, ...], Field(max_length=256)] | None = None
    attention_max_mib: Count | None = None
    flash_attention: bool | None = None
    mla: int | bool | str | None = None
    swa_full: bool | None = None
    total_context_tokens: PositiveTokens | None = None
    file_size_gib: PositiveAmount | None = None
    redundant_experts: Annotated[int, Field(ge=0, le=65536), NUMBER] | None = None
    kv_offload_gib: PositiveAmount | None = None
    cpu_offload_gib: PositiveAmount | None = None
    quantize_on_load: bool | None = None


class Load(_Part):
    """How requests arrive and what they share."""

    pattern: LoadPattern | None = None
    rate_rps: PositiveAmount | None = None
    requests: Count | None = None
    requests_per_day: PositiveAmount | None = None
    peak_hour_share: Share | None = None
    shared_prefix_tokens: Tokens | None = None
    mean_context_tokens: Tokens | None = None


class Beside(_Part):
    """Another model that lives on the same devices."""

    role: BesideRole
    model: ModelRef | None = None
    weights: Name | None = None
    count: Count | None = None
    rank: Count | None = None


class HardwareRef(_Part):
    """Devices of one kind in the machine; several entries are one machine of mixed devices."""

    accelerator: Name | None = None
    count: Count | None = None
    memory_gb: PositiveAmount | None = None
    engine_visible_gib: PositiveAmount | None = None
    in_use_gib: Amount | None = None


class Parallel(_Part):
    """Degrees of parallelism; 1 = off."""

    tensor: Degree | None = None
    pipeline: Degree | None = None
    data: Degree | None = None
    expert: Degree | None = None
    context: Degree | None = None
    sequence: Degree | bool | None = None


class Host(_Part):
    """The machine around the cards, and the place where it stands (circuit, network). `power_limit_w` is per card.

    `nvlink` False: cards that could be bridged are not, and talk over PCIe.
    """

    ram_gb: PositiveAmount | None = None
    cpu: Name | None = None
    bandwidth_gb_s: PositiveAmount | None = None
    cpu_cores: Count | None = None
    pcie_gen: Annotated[int, Field(ge=1, le=7), NUMBER] | None = None
    pcie_lanes: Annotated[int, Field(ge=1, le=16), NUMBER] | None = None
    nvlink: bool | None = None
    psu_w: PositiveAmount | None = None
    power_limit_w: PositiveAmount | None = None
    circuit_v: PositiveAmount | None = None
    circuit_a: PositiveAmount | None = None
    network_gbit: PositiveAmount | None = None
    quiet: bool | None = None
    availability: Annotated[float, Field(gt=0, lt=1)] | None = None
    services_gb: PositiveAmount | None = None


class Work(_Part):
    """What other tasks than text generation work through: a corpus, its vectors, recordings, pictures.

    `chunk_tokens` is the length of one piece of text, `index` the kind of vector index, `growth_per_year` a share of the corpus,
    `audio_hours` recordings in an archive, `live_streams` spoken at once, `frames` of one video.
    """

    documents: Count | None = None
    pages_per_document: PositiveAmount | None = None
    chunks: Annotated[int, Field(ge=1, le=10**12), NUMBER] | None = None
    chunk_tokens: PositiveTokens | None = None
    dimensions: Annotated[int, Field(ge=1, le=65536), NUMBER] | None = None
    vector_bytes: PositiveAmount | None = None
    index: Literal["flat", "hnsw", "hnsw-int8", "hnsw-binary", "ivf-pq"] | None = None
    replicas: Count | None = None
    growth_per_year: Amount | None = None
    embedder: ModelRef | None = None
    reranker: ModelRef | None = None
    candidates: Count | None = None
    audio_hours: PositiveAmount | None = None
    live_streams: Count | None = None
    width: Count | None = None
    height: Count | None = None
    frames: Count | None = None
    steps: Count | None = None
    hours_available: PositiveAmount | None = None

    @field_validator("embedder", "reranker", mode="before")
    @classmethod
    def _bare_name(cls, value: object) -> object:
        return {"id": value} if isinstance(value, str) else value


class Training(_Part):
    """A training or fine-tuning run."""

    method: TrainingMethod | None = None
    lora_rank: Count | None = None
    lora_targets: str | list[str] | None = None
    optimizer: Optimizer | None = None
    precision: Name | None = None
    master_fp32: bool | None = None
    sequence_tokens: PositiveTokens | None = None
    micro_batch: Count | None = None
    gradient_accumulation: Count | None = None
    checkpointing: Name | bool | None = None
    packing: bool | None = None
    flash_attention: bool | None = None
    compile: bool | None = None
    sharding: Name | None = None
    offload: Name | bool | None = None
    dataset_tokens: PositiveAmount | None = None
    epochs: PositiveAmount | None = None


class Targets(_Part):
    """What the answer has to meet."""

    ttft_s: PositiveAmount | None = None
    tokens_s_per_user: PositiveAmount | None = None
    tokens_s_total: PositiveAmount | None = None
    budget: Amount | None = None
    budget_currency: Currency | None = None
    budget_period: Literal["hour", "day", "month", "year", "once"] | None = None
    budget_gross: bool | None = None
    power_w: PositiveAmount | None = None


class Constraints(_Part):
    """What hardware may be proposed. `card_power_w` is the most that one card may draw (the whole deployment: `targets.power_w`)."""

    vendor: Vendor | list[Vendor] | None = None
    exclude_vendor: Vendor | list[Vendor] | None = None
    location: Name | None = None
    form: Name | None = None
    cloud: bool | None = None
    nvlink: bool | None = None
    min_bits: PositiveAmount | None = None
    max_devices: Count | None = None
    card_power_w: PositiveAmount | None = None
    owned: tuple[HardwareRef, ...] | None = None


class WorkloadSpec(_Part):
    """One workload as far as it was said. Build it with `parse_spec`, which turns faults into `UserError`s."""

    id: str | int | None = None
    task: Task = "inference"
    model: ModelRef | None = None
    weights: Name | None = None
    kv_cache: Name | KvCacheRef | None = None
    engine: EngineRef = EngineRef()
    context_tokens: PositiveTokens | None = None
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    prior_context_tokens: Tokens | None = None
    images_per_request: Annotated[int, Field(ge=0, le=10000), NUMBER] | None = None
    concurrency: Count | None = None
    users: Count | None = None
    active_share: Share | None = None
    load: Load = Load()
    beside: tuple[Beside, ...] = ()
    hardware: tuple[HardwareRef, ...] = ()
    parallel: Parallel = Parallel()
    host: Host = Host()
    training: Training | None = None
    work: Work = Work()
    targets: Targets = Targets()
    constraints: Constraints = Constraints()
    usage: Usage = Usage()

    @field_validator("engine", "load", "parallel", "host", "work", "targets", "constraints", "usage", mode="before")
    @classmethod
    def _absent_is_unsaid(cls, value: object) -> object:
        return {} if value is None else value

    @field_validator("beside", "hardware", mode="before")
    @classmethod
    def _absent_list(cls, value: object) -> object:
        return () if value is None else value

    @field_validator("model", mode="before")
    @classmethod
    def _bare_name(cls, value: object) -> object:
        return {"id": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _lengths_agree(self) -> WorkloadSpec:
        for name, tokens in (
            ("input_tokens", self.input_tokens),
            ("output_tokens", self.output_tokens),
            ("load.shared_prefix_tokens", self.load.shared_prefix_tokens),
            ("load.mean_context_tokens", self.load.mean_context_tokens),
        ):
            if self.context_tokens and tokens and tokens > self.context_tokens:
                raise Contradiction(name, tokens, f"longer than context_tokens {self.context_tokens}")
        return self


def parse_spec(data: object) -> WorkloadSpec:
    """A WorkloadSpec from plain data.

    Raises:
        UserError: names the field, the value and what would work.
    """
    if not isinstance(data, Mapping):
        raise UserError("spec", data, f"a workload spec is a JSON object, not {type(data).__name__}")
    try:
        return WorkloadSpec.model_validate(data)
    except ValidationError as fault:
        raise _as_user_error(fault) from None


def _as_user_error(fault: ValidationError) -> UserError:
    first = _most_telling(fault)
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, Contradiction):
        path = (*(str(part) for part in first["loc"]), cause.field)
        return UserError(".".join(path), cause.value, f"{cause}; leave one of them out or change it")
    field = ".".join(_path(first)) or "spec"
    if first["type"] == "extra_forbidden":
        return _unknown_field(field, first["loc"], first["input"])
    message = first["msg"].removeprefix("Value error, ")
    shown = _short(first["input"])
    return UserError(field, shown, f"{field}: {message}, got {shown!r}")


def _most_telling(fault: ValidationError) -> ErrorDetails:
    """The first fault; where a value may have one of several forms, that of the form which comes closest to it."""
    found = fault.errors(include_url=False)
    part = _path(found[0])
    return max((entry for entry in found if _path(entry)[: len(part)] == part), key=lambda entry: len(_path(entry)))


def _path(entry: ErrorDetails) -> list[str]:
    """Where a fault lies, in names of the interface: pydantic also names the form that it tried ("constrained-str", "Speculative")."""
    *parents, last = entry["loc"] or ("",)
    kept = [str(part) for part in parents if isinstance(part, int) or part in _FIELD_NAMES]
    is_named = entry["type"] == "extra_forbidden" or isinstance(last, int) or last in _FIELD_NAMES
    return [*kept, str(last)] if is_named else kept


def _short(value: object) -> object:
    """A value as an error repeats it: a long text, list or object is cut."""
    if isinstance(value, Mapping | list | tuple):
        value = str(value)
    return value if not isinstance(value, str) or len(value) <= _LONGEST_SHOWN else value[: _LONGEST_SHOWN - 3] + "…"


def _unknown_field(field: str, loc: tuple[int | str, ...], value: object) -> UserError:
    known = _fields_at(loc[:-1])
    near = difflib.get_close_matches(str(loc[-1]), known, 1, 0.5)
    hint = f'; did you mean "{near[0]}"?' if near else f"; known here: {', '.join(known)}"
    return UserError(field, _short(value), f'unknown field "{field}"{hint}', tuple(near))


_PARTS: dict[str, type[BaseModel]] = {
    "model": ModelRef, "engine": EngineRef, "load": Load, "beside": Beside, "hardware": HardwareRef,
    "parallel": Parallel, "host": Host, "work": Work, "training": Training, "targets": Targets, "constraints": Constraints,
    "kv_cache": KvCacheRef, "speculative": Speculative, "owned": HardwareRef, "usage": Usage, "electricity": Money,
    "rent_per_hour": Money, "quote": Money, "api": Money,
}  # fmt: skip
_ALL_PARTS: tuple[type[BaseModel], ...] = (WorkloadSpec, *_PARTS.values())
_FIELD_NAMES = frozenset(name for part in _ALL_PARTS for name in part.model_fields)
_LONGEST_SHOWN = 80


def _fields_at(path: tuple[int | str, ...]) -> list[str]:
    names = [part for part in path if isinstance(part, str) and part in _PARTS]
    return list((_PARTS[names[-1]] if names else WorkloadSpec).model_fields)
