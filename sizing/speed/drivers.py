"""Everything a speed depends on, gathered once per deployment, and the keys under which calibration knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sizing.engines import Engine
from sizing.memory.plan import MemoryPlan
from sizing.resolve import Resolved
from sizing.speed.extras import Adapters, Drafts, adapters, drafts
from sizing.speed.machine import Machine, Operand, machine
from sizing.speed.reads import Cache, Weights, attention_shape, cache, weights_read
from sizing.speed.workload import Work, work
from sizing.units import GB, GIB

_FAMILIES = {
    "llama.cpp": "llama.cpp", "ollama": "llama.cpp", "lm-studio": "llama.cpp", "ik_llama.cpp": "ik_llama.cpp", "mlx": "mlx",
    "exllamav2": "exllama", "exllamav3": "exllama", "mlc-llm": "mlc-llm", "vllm": "vllm", "sglang": "sglang",
    "tensorrt-llm": "tensorrt-llm", "tgi": "other-server", "lmdeploy": "sglang", "transformers": "transformers",
    "ktransformers": "ik_llama.cpp", "transformers-neuronx": "neuronx", "neuron-pytorch": "encoder", "infinity": "encoder",
    "text-embeddings-inference": "encoder", "tensorrt": "encoder", "optimum-habana/synapseai": "habana",
    "deepspeed(optimum-habana)": "habana", "deepspeed": "other-server", "tinygrad": "transformers", "ds4": "llama.cpp",
}  # fmt: skip
_WRITTEN = {"ipex-llm": "ipex-llm", "trt-edge-llm": "trt-edge"}
_SERVERS = frozenset({"vllm", "sglang", "tensorrt-llm", "other-server"})
# Sequences that run at once where nobody says: vLLM's default of its server, TensorRT-LLM's max_batch_size; SGLang goes by memory.
_DEFAULT_SEQUENCES = {"vllm": 256, "sglang": 4096, "tensorrt-llm": 2048, "other-server": 1024}
_VLLM_LARGE = 1024  # vLLM since 0.8 on devices of 70 GiB and more, except the A100
_SHORT_SUMS = frozenset(
    {"llama.cpp", "ik_llama.cpp", "exllama", "mlc-llm"}
)  # accumulate in 16 bits where that is faster
_USABLE = 0.9


@dataclass(frozen=True)
class Drivers:
    """The causes of a speed. Batches are per replica; `experts_over` devices share the routed experts."""

    resolved: Resolved
    machine: Machine
    weights: Weights
    cache: Cache
    work: Work
    drafts: Drafts
    adapters: Adapters
    family: str
    server: bool
    tensor: int
    pipeline: int
    layer_split: bool
    replicas: int
    prefill_replicas: int
    attention_ranks: int
    experts_over: int
    capacity: float
    sequences_cap: int
    host_share: float
    axes: Mapping[str, str]

    @cached_property
    def attention_shape(self) -> tuple[tuple[float, float], ...]:
        """What attention costs by (most tokens seen, width), which every step and prompt asks for."""
        return attention_shape(self.resolved.architecture)

    @cached_property
    def operand(self) -> Operand:
        """The operands that matrices are multiplied in: narrow ones only where the device has them and the format computes so."""
        peaks, kind = self.machine.peak_tflops, self.weights.kind
        wanted: dict[str, tuple[Operand, ...]] = {
            "fp8": ("fp8",), "int8": ("int8",), "nvfp4": ("fp4", "fp8"), "mxfp4": ("fp4",) if self.server else (),
        }  # fmt: skip
        return next((name for name in wanted.get(kind, ()) if name in peaks), "16bit")

    @cached_property
    def flops_per_s(self) -> float:
        """Peak of one device for the deployment's operands."""
        return self.machine.peak_tflops[self.operand] * 1e12


def family(engine: Engine) -> str:
    """The engine family whose kernels and scheduler are calibrated together."""
    written = engine.written.strip().lower()
    if written in _WRITTEN:
        return _WRITTEN[written]
    return _FAMILIES.get(
        engine.name, _FAMILIES.get(written, "other-server" if engine.kind == "server" else "transformers")
    )


def era(engine: Engine) -> str:
    """The year of the software, as far as version or date tell; "now" where neither does."""
    if engine.as_of:
        return min(max(engine.as_of[:4], "2023"), "2026")
    if engine.name == "vllm" and engine.version:
        return "2024" if engine.version < (0, 7) else "2025" if engine.version < (0, 14) else "2026"
    return "now"


def drivers(resolved: Resolved, plan: MemoryPlan) -> Drivers:
    """The drivers of a deployment."""
    fam = family(resolved.engine)
    server = fam in _SERVERS
    tensor, pipeline = max(1, resolved.tensor), max(1, resolved.pipeline)
    layer_split = pipeline > 1 and not server
    hardware = machine(
        resolved.devices, resolved.spec.host, tensor=tensor, layer_split=layer_split, short_sums=fam in _SHORT_SUMS
    )
    weights, load = weights_read(resolved), work(resolved)
    halved = _stores_kv_in_fp8(resolved, weights, fam)
    kv = cache(resolved, halved=halved)
    ranks = _attention_ranks(resolved, weights, hardware, fam, load)
    inside = ranks > 1 and resolved.data == 1  # attention ranks within the tensor-parallel group
    replicas = resolved.data if inside else max(1, resolved.data // ranks)
    return Drivers(
        resolved=resolved,
        machine=hardware,
        weights=weights,
        cache=kv,
        work=load,
        drafts=drafts(resolved),
        adapters=adapters(resolved),
        family=fam,
        server=server,
        tensor=1 if inside else tensor,
        pipeline=pipeline,
        layer_split=layer_split,
        replicas=replicas,
        prefill_replicas=min(resolved.spec.engine.prefill_replicas or 0, replicas - 1),
        attention_ranks=ranks,
        experts_over=tensor if inside else tensor * ranks,
        capacity=_capacity(resolved, plan, weights, kv, load, hardware, ranks, halved=halved),
        sequences_cap=_sequences_cap(resolved, hardware, fam, load, ranks),
        host_share=_host_share(plan, weights, hardware),
        axes=_axes(resolved, hardware, weights, fam, load),
    )


def _stores_kv_in_fp8(resolved: Resolved, weights: Weights, fam: str) -> bool:
    """TensorRT-LLM's FP8 and NVFP4 checkpoints and Habana's FP8 recipes bring an FP8 cache with them, unless another is stated."""
    if resolved.spec.kv_cache is not None or resolved.kv_k.bits_per_element <= 8:
        return False
    return fam in ("tensorrt-llm", "habana") and weights.kind in ("fp8", "nvfp4")


def _attention_ranks(resolved: Resolved, weights: Weights, hardware: Machine, fam: str, load: Work) -> int:
    """Ranks of attention data parallelism (experts shared by all of them), else 1.

    Stated, or TensorRT-LLM's and SGLang's meaning of data parallelism for experts, or a replica that no device group could hold.
    TensorRT-LLM's recipes for the greatest throughput of experts turn it on within a tensor-parallel group.
    """
    data, stated = resolved.data, resolved.spec.engine.data_parallel_attention
    if weights.experts and data == 1 and resolved.tensor > 1:
        recipe = fam == "tensorrt-llm" and load.pattern == "offline"
        return resolved.tensor if (recipe if stated is None else stated) else 1
    if data <= 1 or not weights.experts:
        return 1
    if stated is not None:
        return data if stated else 1
    too_big = weights.total_bytes / resolved.ranks_per_replica > 0.95 * hardware.visible_gib * GIB
    return data if too_big or fam in ("tensorrt-llm", "sglang") or resolved.expert > resolved.tensor else 1


def _capacity(
    resolved: Resolved,
    plan: MemoryPlan,
    weights: Weights,
    kv: Cache,
    load: Work,
    hardware: Machine,
    ranks: int,
    *,
    halved: bool,
) -> float:
    """Sequences of mean length that fit into the KV pool of one replica; at least one, since measured rows did run."""
    context = load.prior_tokens + load.input_tokens + 0.5 * load.output_tokens
    held = max(1.0, kv.held_bytes(context))
    full = kv.held_bytes(resolved.context_tokens)
    planned = plan.max_concurrency_at_context
    if planned and planned >= 1 and ranks == 1:
        # The plan holds the cache in the format stated; where the engine halves it by itself, twice as much fits.
        return max(1.0, planned * max(1.0, full) / held * (2.0 if halved else 1.0))
    devices = resolved.ranks_per_replica * (ranks if resolved.data > 1 else 1)
    stored = (weights.total_bytes - weights.expert_bytes) * ranks + weights.expert_bytes
    pool = devices * (_USABLE * hardware.visible_gib * GIB - 1.5 * GIB) - stored
    return max(1.0, pool / held)


def _sequences_cap(resolved: Resolved, hardware: Machine, fam: str, load: Work, ranks: int) -> int:
    stated = resolved.spec.engine.max_num_seqs
    if stated:
        return stated * ranks
    if fam == "vllm" and _large_for_vllm(resolved, hardware):
        return _VLLM_LARGE * ranks
    if fam in _DEFAULT_SEQUENCES:
        return _DEFAULT_SEQUENCES[fam] * ranks
    return max(load.concurrency, 1 if load.concurrency_stated else 64)


def _large_for_vllm(resolved: Resolved, hardware: Machine) -> bool:
    era_ = resolved.engine.era
    return hardware.visible_gib >= 70 and "a100" not in hardware.device_id and (era_ is None or era_ >= (0, 8))


def _host_share(plan: MemoryPlan, weights: Weights, hardware: Machine) -> float:
    """Share of the weights read from the host's RAM; tables looked up by token (llama.cpp keeps them there) are hardly read."""
    if hardware.kind in ("cpu", "apple", "apu", "nvidia-soc"):
        return 0.0
    read = weights.dense_bytes + weights.expert_bytes
    kept = plan.host.weights_bytes - weights.lookup_bytes - 0.02 * read
    return min(1.0, kept / read) if kept > 0 and read else 0.0


def _axes(resolved: Resolved, hardware: Machine, weights: Weights, fam: str, load: Work) -> dict[str, str]:
    kind, when = hardware.kind, era(resolved.engine)
    arch = f"{kind}/{hardware.architecture}"
    axes = {
        "class": kind,
        "arch": arch,
        "device": hardware.device_id,
        "engine": fam,
        "engine-class": f"{fam}@{kind}",
        "engine-arch": f"{fam}@{arch}",
        "format-class": f"{weights.kind}@{kind}",
        "format-engine": f"{weights.kind}@{fam}",
        "era": f"{fam}@{when}",
        "era-class": f"{fam}@{when}@{kind}",
        "kv-engine": f"{int(resolved.kv_k.bits_per_element)}@{fam}@{kind}",
        "link": hardware.link.kind,
        "link-class": f"{hardware.link.kind}@{kind}",
        "pattern": load.measured_as,
        "pattern-engine": f"{load.measured_as}@{fam}",
        "routing": "experts" if weights.experts else "dense",
        "stated": "all" if _all_stated(resolved, hardware, load) else "part",
    }
    if weights.experts:
        axes["moe-class"] = f"moe@{kind}"
        axes["moe-engine"] = f"moe@{fam}"
        axes["moe-format"] = f"moe@{weights.kind}@{kind}"
    if _mostly_linear(resolved):
        axes["mixer"] = "linear"
        axes["mixer-engine"] = f"linear@{fam}"
    if resolved.spec.engine.backend:
        axes["backend"] = f"{resolved.spec.engine.backend.lower()}@{kind}"
    return axes


def _all_stated(resolved: Resolved, hardware: Machine, load: Work) -> bool:
    """Whether the age of the software, both lengths and a CPU's cores were said; what was not makes a range wider."""
    dated = resolved.engine.as_of is not None or resolved.engine.version is not None
    cores = hardware.kind != "cpu" or resolved.spec.host.cpu_cores is not None
    return dated and cores and not load.input_assumed and not load.output_assumed


def _mostly_linear(resolved: Resolved) -> bool:
    """Hybrids of linear attention or Mamba (Qwen3-Next, Nemotron-H): their kernels are more, and less tuned, than attention's."""
    mixers = [layer.kind for layer in resolved.architecture.layers if layer.kind != "none"]
    return 2 * mixers.count("linear") > len(mixers)


def bytes_per_s(rate_gb_s: float) -> float:
    """GB/s as bytes/s."""
    return rate_gb_s * GB
