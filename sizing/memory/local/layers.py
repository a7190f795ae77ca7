"""What each layer of a GGUF model brings: bytes of weights, elements of cache, state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from sizing.architecture.types import Architecture, Layer
from sizing.errors import UserError
from sizing.memory.gguf import ByIdentity, GgufFile, Tensor, gguf_file
from sizing.memory.local.settings import LlamaSettings
from sizing.resolve import Resolved
from sizing.units import GIB, pad_to

_IN_RAM = -1
_HOST_BUFFERS = frozenset({"CPU", "CUDA_HOST", "HOST"})
# A repeated group that holds a repeat or alternatives can take exponential time on a hostile pattern, several repeats in a row
# polynomial: four of them 10 ms for one name, and a model has a thousand names. Users write one or two.
_NESTED_REPEAT = re.compile(r"\([^()]*[+*}|][^()]*\)[+*{]")
_REPEAT = re.compile(r"(?<!\\)(?:[*+]|\{\d*,\d*\})")
_LONGEST_PATTERN = 1000
_MOST_REPEATS = 3
_MOST_OVERRIDES = 500
_ENDS_IN_BUFFER = re.compile(r"=\s*[A-Za-z_]+\d*\s*$")
_DEVICE_BUFFER = re.compile(r"^(?:CUDA|ROCM|VULKAN|SYCL|METAL|CANN|GPU)(\d*)$")


@dataclass(frozen=True, slots=True)
class CacheShape:
    """Cache elements of one layer and token, and its recurrent state in bytes per sequence.

    DeepSeek V4 keeps the last tokens uncompressed beside its compressed cache: `local_keys` for `local_window_tokens`.
    """

    keys: int
    values: int
    window_tokens: int | None
    state_bytes: float
    local_keys: int = 0
    local_window_tokens: int = 0


@dataclass(frozen=True, slots=True)
class CacheTable:
    """The caches of all layers: the distinct shapes, and how many layers of each lie before a layer (running counts)."""

    shapes: tuple[CacheShape, ...]
    before: tuple[tuple[int, ...], ...]

    @property
    def layers(self) -> int:
        """Repeating layers."""
        return len(self.before[0]) - 1 if self.before else 0

    def count(self, shape: int, start: int, stop: int) -> int:
        """Layers of a shape from `start` up to but without `stop`."""
        return self.before[shape][stop] - self.before[shape][start]

    @property
    def state_bytes(self) -> float:
        """Recurrent state of one sequence over all layers."""
        return sum(shape.state_bytes * counts[-1] for shape, counts in zip(self.shapes, self.before, strict=True))


def cache_table(model: Architecture, latent: str) -> CacheTable:
    """The caches of a model as llama.cpp stores them (`latent`: see `settings.Latent`)."""
    return _cache_table(ByIdentity(model), latent)


@lru_cache(maxsize=512)
def _cache_table(key: ByIdentity, latent: str) -> CacheTable:
    storing = sum(1 for layer in key.model.layers if layer.kv_elements_per_token) or 1
    index = key.model.index_elements_per_token / storing if latent != "full" else 0
    local, window = _uncompressed(key.model)
    rows = [_cache_shape(key.model, layer, latent, index, local, window) for layer in key.model.layers]
    shapes = tuple(dict.fromkeys(rows))
    return CacheTable(shapes, tuple((0, *accumulate(int(row == shape) for row in rows)) for shape in shapes))


def _uncompressed(model: Architecture) -> tuple[int, int]:
    """(elements of a layer, tokens) that compressed attention keeps as they are; (0, 0) for every other kind."""
    cache = model.raw.get("kv_cache")
    if model.attention_type != "mla-compressed" or not isinstance(cache, Mapping):
        return 0, 0
    return cache.get("sliding_elements_per_token", 0) // max(1, len(model.layers)), cache.get("sliding_window") or 0


def _cache_shape(model: Architecture, layer: Layer, latent: str, index: float, local: int, window: int) -> CacheShape:
    elements = layer.kv_elements_per_token
    state = _state_bytes(layer)
    mla = model.mla
    if not elements:
        return CacheShape(0, 0, None, state)
    if mla is None or elements != mla.latent_elements:
        keys = round(elements * layer.head_dim / max(1, layer.head_dim + layer.v_head_dim))
        return CacheShape(keys + round(index), elements - keys, layer.window_tokens, state, local, window)
    if latent == "full":
        keys = layer.heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim)
        return CacheShape(keys, layer.heads * mla.v_head_dim, None, state)
    values = mla.kv_lora_rank if latent == "latent+values" else 0
    return CacheShape(mla.latent_elements + round(index), values, None, state)


def _state_bytes(layer: Layer) -> float:
    """State in f32; of the convolution only the inputs before the current one: 3 of 4 (Qwen3.6-27B: 149.62 MiB in all)."""
    shape = layer.linear
    if shape is None:
        return 0.0
    kernel = max(2, shape.conv_kernel or 4)
    return 4.0 * (shape.state_elements + shape.conv_elements * (kernel - 1) / kernel)


def window_cells(settings: LlamaSettings, window_tokens: int) -> int:
    """Cells of a sliding layer: gpt-oss 128 + 512 = 640, Gemma 4 with 4 slots and ubatch 2048: 4 x 1024 + 2048 = 6144."""
    if settings.window_full:
        return settings.cells
    if settings.window_per_slot:
        per_slot = min(settings.cells // settings.slots, window_tokens + settings.ubatch_tokens)
        return settings.slots * pad_to(per_slot, settings.window_padding)
    wanted = window_tokens * settings.slots + settings.ubatch_tokens
    return pad_to(min(settings.cells, wanted), settings.window_padding)


@dataclass(frozen=True, slots=True)
class WeightTable:
    """Bytes of all layers: running sums of what stays with its layer, what overrides keep in RAM or pin to a device."""

    before: tuple[float, ...]
    on_host_bytes: float
    pinned: tuple[tuple[int, float], ...]

    def sum(self, start: int, stop: int) -> float:
        """Bytes that stay with the layers from `start` up to but without `stop`."""
        return self.before[stop] - self.before[start]


def file_of(resolved: Resolved) -> GgufFile:
    """The model's file in the resolved format."""
    spec = resolved.spec
    size = spec.engine.file_size_gib * GIB if spec.engine.file_size_gib else None
    params = spec.model.params_b * 1e9 if spec.model and spec.model.params_b and spec.model.id else None
    return gguf_file(resolved.architecture, resolved.weights, resolved.engine.name, size, params)


def weight_table(file: GgufFile, cpu_moe_layers: int, overrides: Sequence[str]) -> WeightTable:
    """The layers' bytes after `--n-cpu-moe` and `-ot`.

    Raises:
        UserError: an override is no "pattern=buffer" or its pattern no regular expression.
    """
    return _weight_table(_FileIdentity(file), cpu_moe_layers, tuple(overrides))


class _FileIdentity:
    __slots__ = ("file",)

    def __init__(self, file: GgufFile) -> None:
        self.file = file

    def __hash__(self) -> int:
        return id(self.file)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _FileIdentity) and other.file is self.file


@lru_cache(maxsize=256)
def _weight_table(key: _FileIdentity, cpu_moe_layers: int, overrides: tuple[str, ...]) -> WeightTable:
    rules = [_rule(text) for text in overrides]
    moved: dict[int, float] = {}
    stays = []
    for index, tensors in enumerate(key.file.layers):
        here = 0.0
        for tensor in tensors:
            target = _target(tensor, index, cpu_moe_layers, rules)
            if target is None:
                here += tensor.size_bytes
            else:
                moved[target] = moved.get(target, 0.0) + tensor.size_bytes
        stays.append(here)
    host = moved.pop(_IN_RAM, 0.0)
    return WeightTable((0.0, *accumulate(stays)), host, tuple(moved.items()))


def _target(
    tensor: Tensor, layer: int, cpu_moe_layers: int, rules: Sequence[tuple[re.Pattern[str], int]]
) -> int | None:
    """Where a tensor is sent away from its layer: a device, RAM, or nowhere (None); the first rule that matches wins."""
    for pattern, where in rules:
        if pattern.search(tensor.name):
            return where
    return _IN_RAM if tensor.is_expert and layer < cpu_moe_layers else None


def override_texts(asked: str | list[str] | None) -> tuple[str, ...]:
    """The single overrides of `-ot`: a list, or one text with commas between them.

    Raises:
        UserError: more than anybody writes.
    """
    texts = [asked] if isinstance(asked, str) else (asked or [])
    found = tuple(part.strip() for text in texts for part in _split(text) if part.strip())
    if len(found) > _MOST_OVERRIDES:
        raise UserError("engine.tensor_overrides", len(found), f"at most {_MOST_OVERRIDES} overrides are taken")
    return found


def _split(text: str) -> list[str]:
    """Commas separate overrides only after a buffer's name: "blk\\.[0-9]{1,2}=CPU,exps=CPU" holds two."""
    parts, open_part = [], ""
    for piece in text.split(","):
        open_part = f"{open_part},{piece}" if open_part else piece
        if _ENDS_IN_BUFFER.search(open_part):
            parts.append(open_part)
            open_part = ""
    return [*parts, open_part]


def _rule(text: str) -> tuple[re.Pattern[str], int]:
    pattern, separator, buffer = text.rpartition("=")
    name = buffer.strip().upper()
    device = _DEVICE_BUFFER.match(name)
    if not separator or not (device or name in _HOST_BUFFERS):
        raise UserError(
            "engine.tensor_overrides", text, f'{text!r} is no override; write "pattern=CPU", such as "exps=CPU"'
        )
    if (
        len(pattern) > _LONGEST_PATTERN
        or _NESTED_REPEAT.search(pattern)
        or len(_REPEAT.findall(pattern)) > _MOST_REPEATS
    ):
        message = f"repeats inside repeats, more than {_MOST_REPEATS} repeats and very long patterns are not taken"
        raise UserError("engine.tensor_overrides", text[:80], message)
    try:
        return re.compile(pattern), int(device.group(1) or 0) if device else _IN_RAM
    except re.error as fault:
        raise UserError("engine.tensor_overrides", text, f"{pattern!r} is no regular expression: {fault}") from None
