"""What llama.cpp and the tools built on it are set to: flags said, else the defaults of that engine at that time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sizing.engines import Engine
from sizing.resolve import Resolved
from sizing.spec import Speculative
from sizing.units import MIB, pad_to

Latent = Literal["latent", "latent+values", "full"]

_UBATCH_TOKENS = 512
_FIRST_BUILD = 1000  # llama.cpp's builds ("b9849") are above, versions of other tools ("0.22.0") below
_FULL_WINDOW_MODELS = frozenset({"mistral", "phi3", "qwen2", "qwen3"})
_OLD_OLLAMA_WINDOW = frozenset({"gemma2", "cohere2", "phi3"})


@dataclass(frozen=True, slots=True)
class LlamaSettings:
    """Settings of a llama.cpp-like engine. Tokens and cells are counts; `drafts` is the number of drafted tokens a step;
    `attention_max_bytes` is ik_llama.cpp's `-amb`, None where it was not said."""

    engine: str
    backend: str
    slots: int
    cells: int
    window_padding: int
    ubatch_tokens: int
    flash: bool
    window_full: bool
    window_per_slot: bool
    latent: Latent
    latent_mode: int
    attention_max_bytes: float | None
    logits_in_buffer: bool
    output_counts_first: bool
    indexer_fused: bool
    drafts: int

    @property
    def is_ik(self) -> bool:
        """ik_llama.cpp, whose graphs and caches differ."""
        return self.engine == "ik_llama.cpp"


def llama_settings(resolved: Resolved) -> LlamaSettings:
    """The settings of a resolved spec."""
    asked, engine = resolved.spec.engine, resolved.engine
    flash = asked.flash_attention if asked.flash_attention is not None else _flash_by_default(resolved)
    padding = 256 if flash or since(engine, "2025-10", 6800) else 32
    total = asked.total_context_tokens or resolved.context_tokens * resolved.concurrency
    return LlamaSettings(
        engine=engine.name,
        backend=_backend(resolved),
        slots=resolved.concurrency,
        cells=pad_to(total, padding),
        window_padding=padding if engine.name != "ollama" else 1,
        ubatch_tokens=_ubatch(resolved, total),
        flash=flash,
        window_full=_window_full(resolved),
        window_per_slot=_between(engine, ("2025-07", 5900), ("2025-11", 6920)) and engine.name == "llama.cpp",
        latent=_latent(resolved, flash),
        latent_mode=_latent_mode(resolved),
        attention_max_bytes=asked.attention_max_mib * MIB if asked.attention_max_mib else None,
        logits_in_buffer=not _outputs_limited(engine, asked.swa_full),
        output_counts_first=since(engine, "2025-12", 7400),
        indexer_fused=since(engine, "2026-08", 10_000),
        drafts=_drafts(resolved),
    )


def since(engine: Engine, month: str, build: int, *, unknown: bool = True) -> bool:
    """Whether the engine is at least of that month or build of llama.cpp; `unknown` answers where neither is said."""
    if engine.version and engine.version[0] >= _FIRST_BUILD:
        return engine.version[0] >= build
    if engine.as_of:
        return engine.as_of[:7] >= month
    return unknown


def _between(engine: Engine, first: tuple[str, int], last: tuple[str, int]) -> bool:
    return since(engine, *first, unknown=False) and not since(engine, *last, unknown=False)


def _flash_by_default(resolved: Resolved) -> bool:
    """llama.cpp's `-fa auto` dates from September 2025, Ollama, LM Studio and ik_llama.cpp followed within weeks."""
    if resolved.engine.name == "ollama" and resolved.architecture.name == "gpt_oss":
        return True
    month, build = ("2025-09", 6325) if resolved.engine.name == "llama.cpp" else ("2025-10", 10**6)
    return since(resolved.engine, month, build)


def _outputs_limited(engine: Engine, swa_full: bool | None) -> bool:
    """Servers since the summer of 2026 reserve logits for the outputs wanted, not for every token of a batch; Ollama's own
    runner did from its first release on. Programs that embed the library (they keep full window caches) do not, and where
    nothing is said the older, larger buffer is taken."""
    if engine.name == "ollama":
        return since(engine, "2025-09", 10**6, unknown=True)
    return engine.name == "llama.cpp" and not swa_full and since(engine, "2026-07", 9490, unknown=False)


def _window_full(resolved: Resolved) -> bool:
    """Whether sliding layers keep the whole context: libraries that embed llama.cpp and ik_llama.cpp do, servers trim."""
    engine, asked = resolved.engine, resolved.spec.engine.swa_full
    if asked is not None:
        return asked
    if resolved.architecture.name in _FULL_WINDOW_MODELS or engine.name in ("ik_llama.cpp", "lm-studio"):
        return True
    if engine.name == "ollama":
        month = "2025-08" if resolved.architecture.name in _OLD_OLLAMA_WINDOW else "2025-03"
        return not since(engine, month, 10**6)
    return not since(engine, "2025-06", 5427)


def _latent_mode(resolved: Resolved) -> int:
    asked = resolved.spec.engine.mla
    if asked is None:
        return 3
    return int(asked) if str(asked).isdigit() or isinstance(asked, bool) else 3


def _latent(resolved: Resolved, flash: bool) -> Latent:
    """How multi-head latent attention is cached: the latent alone, with a transposed copy (ik's `-mla 1`), or full heads."""
    asked, engine = resolved.spec.engine.mla, resolved.engine
    if asked is not None:
        mode = _latent_mode(resolved)
        return "full" if mode == 0 else "latent+values" if mode == 1 and not flash else "latent"
    if "ipex" in engine.written.lower():
        return "full"
    month, build = {"llama.cpp": ("2025-05", 5130), "ik_llama.cpp": ("2025-07", 10**6)}.get(
        engine.name, ("2025-10", 10**6)
    )
    return "latent" if since(engine, month, build) else "full"


def _ubatch(resolved: Resolved, total_tokens: int) -> int:
    asked = resolved.spec.engine
    ubatch = asked.ubatch_tokens or _UBATCH_TOKENS
    return max(1, min(ubatch, asked.batch_tokens or ubatch, total_tokens))


def _drafts(resolved: Resolved) -> int:
    """Tokens drafted by the model's own heads; text forms say it like "mtp k=2"."""
    asked = resolved.spec.engine.speculative
    if isinstance(asked, Speculative):
        return (asked.tokens or 1) if "mtp" in asked.method.lower() else 0
    if asked is None or "mtp" not in asked.lower():
        return 0
    digits = [int(word) for word in "".join(c if c.isdigit() else " " for c in asked).split()]
    return min(64, digits[0]) if digits else 1


_BY_VENDOR = {"nvidia": "cuda", "amd": "rocm", "apple": "metal", "intel": "sycl"}


def _backend(resolved: Resolved) -> str:
    asked = resolved.spec.engine.backend
    if asked:
        return asked.lower()
    first = resolved.devices[0].accelerator if resolved.devices else None
    return _BY_VENDOR.get(first.vendor, "cuda") if first else "cuda"
