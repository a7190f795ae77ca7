"""Words of a spec that say something the engine has no figures for: stated with what is taken instead, or refused with what would work."""

from __future__ import annotations

import re

from sizing.architecture.types import Architecture
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.engines import KINDS, Engine
from sizing.errors import UserError
from sizing.gaps import Gaps
from sizing.spec import Speculative, WorkloadSpec

_NEWEST = re.compile(r"\b(?:latest|newest|current|main|master|head|nightly|dev|stable)\b", re.IGNORECASE)
_FIRST_VLLM, _BEYOND_VLLM = (0, 2), (2, 0)
DRAFT_METHOD = re.compile(r"draft|separate|assist|small|standalone", re.IGNORECASE)
_OWN_METHOD = re.compile(
    r"mtp|next-?n|eagle|d-?flash|d-?spark|n-?gram|suffix|prompt[ _-]?look-?up|look-?ahead", re.IGNORECASE
)
# What an engine that is not known is taken to resemble: nine tenths of the card, blocks and activations of a server.
TAKEN_FOR_UNKNOWN = "vllm"
METHODS = ("mtp", "eagle", "eagle3", "draft", "ngram", "suffix", "dflash", "dspark")


def state_unread(spec: WorkloadSpec, engine: Engine, model: Architecture, gaps: Gaps) -> None:
    """Raises:
    UserError: a method of speculation that is none.
    """
    if engine.name not in KINDS:
        gaps.fill("engine.name", engine.written, "engine_unread", taken=TAKEN_FOR_UNKNOWN)
    _version(spec, engine, gaps)
    _speculation(spec, model, gaps)
    _processor(spec, gaps)


def _version(spec: WorkloadSpec, engine: Engine, gaps: Gaps) -> None:
    written = spec.engine.version
    if written is None or _NEWEST.search(written):
        return
    is_read = engine.version is not None
    if engine.name == "vllm" and engine.version is not None:
        is_read = _FIRST_VLLM <= engine.version[:2] < _BEYOND_VLLM
    if not is_read:
        gaps.fill("engine.version", engine.as_of or "newest", "version_unread", written=written)


def _speculation(spec: WorkloadSpec, model: Architecture, gaps: Gaps) -> None:
    asked = spec.engine.speculative
    if asked is None:
        return
    named = isinstance(asked, Speculative)
    text = asked.method if isinstance(asked, Speculative) else asked
    if not (DRAFT_METHOD.search(text) or _OWN_METHOD.search(text)):
        field = "engine.speculative.method" if named else "engine.speculative"
        raise UserError(
            field, text, f"{field}: no way of drafting known as {text!r}; known: {', '.join(METHODS)}", METHODS
        )
    if _OWN_METHOD.search(text):
        if re.search(r"mtp|next-?n", text, re.IGNORECASE) and not model.mtp_params:
            gaps.fill("engine.speculative", text, "draft_not_counted", written=text)
        return
    drafted = any(entry.role == "draft" and entry.model for entry in spec.beside)
    if not drafted and not (isinstance(asked, Speculative) and asked.model):
        gaps.fill("engine.speculative", text, "draft_not_counted", written=text)


def _processor(spec: WorkloadSpec, gaps: Gaps) -> None:
    written = spec.host.cpu
    if written is None or spec.host.bandwidth_gb_s:
        return
    known = catalogue().accelerators.get(find(written, "accelerator").id or "")
    if known is None or not known.bandwidth_gb_s:
        gaps.fill("host.cpu", written, "cpu_unread", written=written)
