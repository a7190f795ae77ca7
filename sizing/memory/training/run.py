"""A training run without gaps: method, formats, optimizer, sharding, lengths; each gap filled is an assumption."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Format
from sizing.devices import Device, expand
from sizing.errors import UserError
from sizing.estimate import Assumption
from sizing.memory.training.constants import constants_of
from sizing.memory.training.targets import targets_of
from sizing.memory.weights import weights_bytes
from sizing.resolve import native_format, resolve_format, resolve_model
from sizing.spec import Training, WorkloadSpec
from sizing.units import GIB

# Above this share of a card the frozen base leaves no room for activations: people then shard it (FSDP, ZeRO-3).
_BASE_SHARE = 0.75

T = TypeVar("T")

Method = Literal["full", "lora", "qlora"]
Checkpointing = Literal["none", "selective", "full"]
Precision = Literal["16-bit", "mixed", "fp8-mixed", "fp32"]
Sharding = Literal["none", "zero1", "zero2", "zero3"]
Objective = Literal["sft", "dpo", "grpo", "ppo"]

_SHARDING: dict[str, Sharding] = {
    "none": "none", "ddp": "none", "zero0": "none", "zero1": "zero1", "zero-1": "zero1", "zero2": "zero2", "zero-2": "zero2",
    "zero3": "zero3", "zero-3": "zero3", "fsdp": "zero3", "fsdp1": "zero3", "fsdp2": "zero3", "distributed-optimizer": "zero1",
}  # fmt: skip
_PRECISION: dict[str, Precision] = {
    "bf16-true": "16-bit", "fp16-true": "16-bit", "bf16": "16-bit", "pure-bf16": "16-bit", "bf16-mixed": "mixed", "fp16-mixed": "mixed",
    "amp": "mixed", "mixed": "mixed", "fp8-mixed": "fp8-mixed", "fp8": "fp8-mixed", "fp32": "fp32", "tf32": "fp32",
}  # fmt: skip


@dataclass(frozen=True)
class Run:
    """What a training run does. Degrees as in the spec; `data` counts the ranks among which states are sharded."""

    spec: WorkloadSpec
    architecture: Architecture
    weights: Format
    method: Method
    objective: Objective
    precision: Precision
    optimizer: str
    rank: int
    targets: tuple[str, ...] | None
    sequence_tokens: int
    micro_batch: int
    checkpointing: Checkpointing
    flash_attention: bool
    compiled: bool
    sharding: Sharding
    offload: str | None
    is_deepspeed: bool
    framework: str
    devices: tuple[Device, ...]
    tensor: int
    sequence_parallel: bool
    pipeline: int
    context: int
    expert: int
    data: int
    assumptions: tuple[Assumption, ...]

    @property
    def tokens(self) -> int:
        """Tokens of one micro-batch on one device."""
        return max(1, self.micro_batch * self.sequence_tokens // self.context)

    @property
    def splits_sequence(self) -> bool:
        """Whether what tensor parallelism leaves whole is split along the sequence."""
        return self.tensor > 1 and (self.sequence_parallel or constants_of(self.framework).sequence_parallel)


def resolve_run(spec: WorkloadSpec) -> Run:
    """Fill the gaps of a training spec.

    Raises:
        UserError: a name is unknown, or the layout does not divide the devices.
    """
    asked = spec.training or Training()
    found: list[Assumption] = []
    model, _ = resolve_model(spec.model)
    if not model.layers:
        raise UserError(
            "model.id", model.id, f"training {model.id} cannot be sized: the catalogue knows no layers of it"
        )
    devices = expand(spec.hardware)
    method, objective = _method(asked, spec, found)
    weights = _weights(spec, model, method, found)
    if method == "lora" and weights.bits_per_weight is not None and weights.bits_per_weight < 8:
        method = "qlora"
    tensor, pipeline = spec.parallel.tensor or 1, spec.parallel.pipeline or 1
    context = spec.parallel.context or 1
    return Run(
        spec=spec,
        architecture=model,
        weights=weights,
        method=method,
        objective=objective,
        precision=_precision(asked, method, spec, found),
        optimizer=_filled(asked.optimizer, "adamw", "training.optimizer", "usual_optimizer", found).lower(),
        rank=_filled(asked.lora_rank, 16, "training.lora_rank", "usual_rank", found) if method != "full" else 0,
        targets=targets_of(asked.lora_targets),
        sequence_tokens=_sequence(spec, asked, found),
        micro_batch=_filled(asked.micro_batch, 1, "training.micro_batch", "one_sample", found),
        checkpointing=_checkpointing(asked, found),
        flash_attention=_flash(asked, spec),
        compiled=bool(asked.compile),
        sharding=_sharding(asked, devices, method, weights_bytes(model, weights), found),
        offload=_offload(asked),
        is_deepspeed=(asked.sharding or "").lower().startswith("zero"),
        framework=(spec.engine.name or "").lower(),
        devices=devices,
        tensor=tensor,
        sequence_parallel=bool(
            spec.parallel.sequence and spec.parallel.sequence is not False and spec.parallel.sequence != 1
        ),
        pipeline=pipeline,
        context=context,
        expert=spec.parallel.expert or 1,
        data=_data(spec, len(devices), tensor * pipeline),
        assumptions=tuple(found),
    )


def _flash(asked: Training, spec: WorkloadSpec) -> bool:
    """Flash attention needs 16 bit; before mid-2023 frameworks did not use it by themselves."""
    if asked.flash_attention is not None:
        return asked.flash_attention
    wide = "32" in (asked.precision or "") or spec.weights == "fp32"
    return not wide and (spec.engine.as_of or "9999") >= "2023-07"


def _filled(value: T | None, usual: T, field: str, code: str, found: list[Assumption]) -> T:
    if value is not None:
        return value
    found.append(Assumption(field=field, value=usual, code=code))
    return usual


def _method(asked: Training, spec: WorkloadSpec, found: list[Assumption]) -> tuple[Method, Objective]:
    if asked.method is None:
        found.append(Assumption(field="training.method", value="lora", code="usual_method"))
        return "lora", "sft"
    if asked.method == "dpo" or asked.method == "grpo" or asked.method == "ppo":
        low_rank = asked.lora_rank is not None or bool(spec.weights and "16" not in spec.weights)
        return ("lora" if low_rank else "full"), asked.method
    return asked.method, "sft"


def _weights(spec: WorkloadSpec, model: Architecture, method: Method, found: list[Assumption]) -> Format:
    if spec.weights is None:
        usual = resolve_format("nf4") if method == "qlora" else _sixteen_bit(model)
        found.append(
            Assumption(field="weights", value=usual.id, code="usual_training_format", params={"method": method})
        )
        return usual
    chosen = resolve_format(spec.weights)
    if chosen.kind != "generic":
        return chosen
    bits = chosen.nominal_bits or 16
    meant = {2: "hqq-2bit-g64", 3: "hqq-3bit-g64", 4: "nf4", 8: "bnb-int8"}.get(bits)
    return resolve_format(meant) if meant else _sixteen_bit(model)


def _sixteen_bit(model: Architecture) -> Format:
    native = native_format(model)
    return native if native.id in ("bf16", "fp16") else resolve_format("bf16")


def _precision(asked: Training, method: Method, spec: WorkloadSpec, found: list[Assumption]) -> Precision:
    if asked.precision is not None:
        key = asked.precision.lower()
        if key not in _PRECISION:
            raise UserError(
                "training.precision",
                asked.precision,
                f"unknown precision {asked.precision!r}; try bf16-mixed or bf16-true",
            )
        return _PRECISION[key]
    if asked.master_fp32 is not None:
        return "mixed" if asked.master_fp32 else "16-bit"
    if method != "full" or (
        constants_of((spec.engine.name or "").lower()).pure_16bit and asked.sharding in (None, "none")
    ):
        return "16-bit"
    usual: Precision = "fp32" if spec.weights and "32" in spec.weights else "mixed"
    found.append(Assumption(field="training.precision", value=usual, code="usual_precision"))
    return usual


_OFFLOADS: dict[str, str | None] = {
    "none": None, "off": None, "no": None, "false": None, "cpu": "cpu", "true": "cpu", "yes": "cpu", "on": "cpu", "optimizer": "cpu",
    "cpu_optimizer": "cpu", "cpu-optimizer": "cpu", "cpu offload": "cpu", "params": "cpu-param", "param": "cpu-param",
    "parameters": "cpu-param", "cpu_param": "cpu-param", "all": "cpu-param", "cpu+param": "cpu-param", "cpu-param": "cpu-param",
}  # fmt: skip


def _offload(asked: Training) -> str | None:
    """What moves to the host: the optimizer's states, or the parameters with them."""
    if not isinstance(asked.offload, str):
        return "cpu" if asked.offload else None
    key = asked.offload.lower().strip()
    if key not in _OFFLOADS:
        message = f"training.offload is none, cpu (the optimizer) or params (weights too), got {asked.offload!r}"
        raise UserError("training.offload", asked.offload, message, ("cpu", "params"))
    return _OFFLOADS[key]


def _sequence(spec: WorkloadSpec, asked: Training, found: list[Assumption]) -> int:
    said = asked.sequence_tokens or spec.context_tokens or spec.input_tokens
    return _filled(said, 2048, "training.sequence_tokens", "usual_sequence", found)


def _checkpointing(asked: Training, found: list[Assumption]) -> Checkpointing:
    value = asked.checkpointing
    if isinstance(value, bool):
        return "full" if value else "none"
    if value is None:
        found.append(Assumption(field="training.checkpointing", value="full", code="usual_checkpointing"))
        return "full"
    key = value.lower()
    choices: dict[str, Checkpointing] = {"none": "none", "off": "none", "selective": "selective", "full": "full", "on": "full",
                                         "unsloth": "full", "true": "full", "false": "none"}  # fmt: skip
    if key not in choices:
        raise UserError("training.checkpointing", value, f"checkpointing is none, selective or full, got {value!r}")
    return choices[key]


def _sharding(
    asked: Training, devices: tuple[Device, ...], method: Method, base_bytes: float, found: list[Assumption]
) -> Sharding:
    if asked.sharding is None:
        room = min((device.visible_gib or 0.0 for device in devices), default=0.0) * GIB
        usual: Sharding = (
            "zero3" if len(devices) > 1 and (method == "full" or base_bytes > _BASE_SHARE * room) else "none"
        )
        if len(devices) > 1:
            found.append(Assumption(field="training.sharding", value=usual, code="usual_sharding"))
        return usual
    key = asked.sharding.lower().replace(" ", "")
    if key not in _SHARDING:
        raise UserError(
            "training.sharding", asked.sharding, f"unknown sharding {asked.sharding!r}; try zero1, zero2, zero3 or fsdp"
        )
    return _SHARDING[key]


def _data(spec: WorkloadSpec, devices: int, model_parallel: int) -> int:
    if spec.parallel.data:
        return spec.parallel.data * (spec.parallel.context or 1)
    if devices and devices % model_parallel:
        raise UserError(
            "parallel",
            model_parallel,
            f"tensor x pipeline = {model_parallel} does not divide {devices} devices; use a divisor of {devices}",
        )
    return max(1, devices // model_parallel)
