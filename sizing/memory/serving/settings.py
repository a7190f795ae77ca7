"""Settings of a server as it would start: what the spec says, else the engine's own default for that version and device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sizing.engines import VLLM_RELEASES
from sizing.memory.serving import constants as c
from sizing.memory.serving.sglang import prefill_tokens
from sizing.resolve import Resolved
from sizing.spec import Speculative

DraftKind = Literal["none", "mtp", "draft", "eagle", "eagle3", "dflash", "dspark", "ngram"]
_TOKENS = re.compile(r"(?:k\s*=\s*|,\s*|\b)(\d{1,2})(?:\s*tokens?)?\b")
_LOOKED_UP = re.compile(r"n-?gram|suffix|look-?up|look-?ahead")
_LATEST = (99, 0, 0)
_WITH_TOWERS = frozenset({"vision-text", "audio-text"})  # omni models hear and see
_KINDS: tuple[DraftKind, ...] = ("dspark", "dflash", "mtp", "eagle3", "eagle")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that change memory. `step_tokens` is max_num_batched_tokens, `graphs` whether CUDA graphs are captured."""

    release: tuple[int, int, int]
    v1: bool
    utilization: float
    step_tokens: int
    sequences: int
    graphs: bool
    draft: DraftKind
    draft_tokens: int
    images: bool


def settings_of(resolved: Resolved) -> Settings:
    """The settings of a resolved spec."""
    asked = resolved.spec.engine
    release = release_of(resolved)
    v1 = is_v1(resolved, release)
    large = is_large(resolved)
    draft, tokens = draft_of(resolved)
    sequences = asked.max_num_seqs or _sequences(resolved, large, v1)
    return Settings(
        release=release,
        v1=v1,
        utilization=asked.gpu_memory_utilization or default_utilization(resolved, release),
        step_tokens=asked.max_num_batched_tokens or _step_tokens(resolved, large, v1),
        sequences=sequences,
        graphs=not asked.enforce_eager,
        draft=draft,
        draft_tokens=tokens,
        images=resolved.architecture.modality in _WITH_TOWERS and resolved.spec.images_per_request != 0,
    )


def release_of(resolved: Resolved) -> tuple[int, int, int]:
    """(major, minor, patch) of the engine, the newest where nothing is known. A vLLM date between releases counts as the later
    patch: from November 2025 on, 0.11 means 0.11.1."""
    engine = resolved.engine
    if engine.version and engine.version[0] < 2 and engine.name == "vllm" and engine.version[:2] >= (0, 2):
        padded = (*engine.version, 0, 0)[:3]
        return padded[0], padded[1], padded[2]
    if engine.name != "vllm":
        return _LATEST
    era = engine.era if not engine.version else _era_by_date(resolved)
    if era is None:
        return _LATEST
    late = era == (0, 11) and (engine.as_of or "") >= "2025-11"
    return era[0], era[1], 1 if late else 0


def _era_by_date(resolved: Resolved) -> tuple[int, int] | None:
    """Forks number their releases their own way; their date says more."""
    date = (resolved.engine.as_of or "")[:7]
    past = [version for version, month in VLLM_RELEASES if month <= date]
    return past[-1] if past else None


def is_v1(resolved: Resolved, release: tuple[int, int, int]) -> bool:
    """vLLM's V1 core: the default from 0.8 on (2025-03) on Ampere and newer, the only one from 0.11 on."""
    if resolved.spec.engine.mode:
        return resolved.spec.engine.mode == "v1"
    if release >= (0, 11, 0):
        return True
    if not resolved.engine.version and (resolved.engine.as_of or "")[:7] == "2025-03":
        return False  # 0.8 came out at the end of that month
    if release < (0, 8, 0) or resolved.architecture.attention_type == "cross":
        return False
    first = resolved.devices[0].accelerator if resolved.devices else None
    capability = float(first.compute_capability) if first and first.compute_capability else 8.0
    return capability >= 8.0


def is_large(resolved: Resolved) -> bool:
    """vLLM's class of large devices: at least 70 GiB and no A100; a card known by its memory alone goes by that."""
    first = resolved.devices[0] if resolved.devices else None
    if first is None or first.visible_gib is None:
        return False
    return first.visible_gib >= c.LARGE_DEVICE_GIB and "A100" not in first.name and "A800" not in first.name


def default_utilization(resolved: Resolved, release: tuple[int, int, int]) -> float:
    """The share of memory the engine takes where nothing is said."""
    if resolved.engine.name == "vllm":
        return c.UTILIZATION_FROM_020 if release >= (0, 20, 0) else c.UTILIZATION
    return c.UTILIZATION


def _sequences(resolved: Resolved, large: bool, v1: bool) -> int:
    release = release_of(resolved)
    if resolved.engine.name != "vllm" or not v1 or release < (0, 8, 0):
        return c.SEQUENCES_SMALL
    if release < (0, 9, 0):
        return c.SEQUENCES_FIRST_V1
    return c.SEQUENCES_LARGE if large else c.SEQUENCES_SMALL


def _step_tokens(resolved: Resolved, large: bool, v1: bool) -> int:
    if resolved.engine.name == "sglang" and resolved.devices:
        return prefill_tokens(resolved, resolved.devices[0])
    if resolved.engine.name == "tgi":
        return c.TGI_STEP_TOKENS
    if resolved.engine.name != "vllm":
        return c.BATCHED_TOKENS_LARGE
    if v1:
        return c.BATCHED_TOKENS_LARGE if large else c.BATCHED_TOKENS_SMALL
    chunked = resolved.context_tokens > c.CHUNKED_FROM_TOKENS_V0 and resolved.architecture.modality == "text"
    chunked = chunked and release_of(resolved) >= c.CHUNKED_FROM_RELEASE
    return c.BATCHED_TOKENS_SMALL if chunked else max(resolved.context_tokens, c.BATCHED_TOKENS_SMALL)


def draft_of(resolved: Resolved) -> tuple[DraftKind, int]:
    """(kind of speculation, tokens proposed a step)."""
    asked = resolved.spec.engine.speculative
    if asked is None:
        return "none", 0
    text = (f"{asked.method} {asked.model or ''}" if isinstance(asked, Speculative) else asked).lower()
    tokens = asked.tokens if isinstance(asked, Speculative) else None
    if tokens is None:
        found = _TOKENS.search(text.split(" ", 1)[1]) if " " in text else None
        tokens = int(found.group(1)) if found else 1
    if _LOOKED_UP.search(text):
        return "ngram", tokens
    for kind in _KINDS:
        if kind in text or (kind == "mtp" and "nextn" in text):
            return kind, tokens
    return "draft", tokens
