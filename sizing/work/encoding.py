"""Embedding and reranking: tokens a second from compute, hours for a corpus, memory of the model with its batch.

An encoder reads and never writes, so throughput is compute: FLOPs a token = 2 x parameters that multiply (all but the embedding table)
+ 4 x layers x hidden x length for attention.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Format
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults
from sizing.devices import Device
from sizing.estimate import Assumption, DerivationStep, Estimate, Range, Speed
from sizing.memory.weights import weights_bytes
from sizing.reasons import ReasonCode, Topic, reason
from sizing.resolve import resolve_format, resolve_model
from sizing.spec import WorkloadSpec
from sizing.speed.machine import device_class, peaks
from sizing.system.facts import number
from sizing.units import GIB, gib
from sizing.work.corpus import TOKENS_PER_PAGE, corpus_of
from sizing.work.outcome import Parts, devices_of, outcome, ranged
from sizing.work.vectors import Index, index_of

# Share of the 16-bit peak (low, expected, high). Measured: bge-large on L4 0.27-0.33, on MI210 0.31
# (https://michaelfeil.eu/infinity/0.0.51/benchmarking/), BERT, RoBERTa and DistilBERT on Inferentia2 0.31-0.40 at 128 tokens
# (github.com/aws-neuron/aws-neuron-sdk, inf2 encoder table). The low end is a plain loop without batching by length.
_SHARE = (0.12, 0.31, 0.42)
_BATCH_TOKENS = 16_384  # tokens in one batch: 32 pieces of 512, the usual default of embedding servers
# Activations of the one live layer and of attention in 16 bit, per token: 12 hidden widths and 2 of the MLP. Planning figure.
_LIVE_WIDTHS = 12
_CHUNK_TOKENS = 400  # planning figure for a piece of text where no length is said
_CANDIDATES = 50
_CANDIDATE_TOKENS = 400


@dataclass(frozen=True, slots=True)
class Encoder:
    """An embedding or reranking model on a kind of device; `tokens_s` per device (low, expected, high)."""

    model: Architecture
    weights: Format
    flops_per_token: float
    tokens_s: tuple[float, float, float] | None

    def bytes_on_device(self) -> Parts:
        """Weights, one batch and the context of the process."""
        width = _LIVE_WIDTHS * self.model.hidden_size + 2 * self.model.intermediate_size
        return Parts(
            weights_bytes(self.model, self.weights),
            _BATCH_TOKENS * width * 2.0,
            number("cuda-context", "typical") * GIB,
        )


def encoder(model: Architecture, weights: Format, tokens: int, device: Device | None) -> Encoder:
    """The encoder with its rate for texts of that length."""
    flops = flops_per_token(model, tokens)
    return Encoder(model, weights, flops, None if device is None else _rates(device, weights, flops))


def flops_per_token(model: Architecture, tokens: int) -> float:
    """FLOPs for one token of a text of `tokens`: 2 x multiplying parameters + attention over the text."""
    active, tables = model.params_active, model.params.get("embedding", 0)
    # A count of active parameters that somebody states may leave the table out.
    return 2.0 * max(0.3 * active, active - tables) + 4.0 * len(model.layers) * model.hidden_size * tokens


def _rates(device: Device, weights: Format, flops: float) -> tuple[float, float, float]:
    accelerator = device.accelerator
    kind = device_class(accelerator)
    bandwidth = (accelerator.bandwidth_gb_s if accelerator else None) or 400.0
    peak = peaks(accelerator, kind, bandwidth)["16bit"] * 1e12
    if weights.bits_per_weight is not None and weights.bits_per_weight > 16 and kind != "cpu":
        peak /= 2  # fp32 weights multiply in TF32 at half the 16-bit rate at best
    low, expected, high = (share * peak / flops for share in _SHARE)
    return low, expected, high


def encoding_weights(spec_weights: str | None, model: Architecture, device: Device | None) -> tuple[Format, bool]:
    """(format, whether it was assumed): embedding servers load 16 bit on an accelerator, the published width on a CPU."""
    if spec_weights:
        return resolve_format(spec_weights), False
    on_cpu = device is not None and device.accelerator is not None and device.accelerator.kind == "cpu"
    return catalogue().formats["fp32" if on_cpu and "32" in model.native_dtype else "fp16"], True


def estimate_encoding(spec: WorkloadSpec, defaults: Defaults, derivation: bool) -> Estimate:
    """The Estimate of embedding or reranking a corpus on named hardware.

    Raises:
        UserError: model or hardware is missing or unknown.
    """
    model, _ = resolve_model(spec.model)
    devices = devices_of(spec)
    assumed: list[Assumption] = []
    tokens = _length(spec, model, assumed)
    weights, guessed = encoding_weights(spec.weights, model, devices[0])
    if guessed:
        assumed.append(Assumption(field="weights", value=weights.id, code="usual_for_encoders"))
    found = encoder(model, weights, tokens, devices[0])
    parts = found.bytes_on_device()
    work = corpus_work(spec, found, tokens, len(devices))
    if spec.work.documents and work.get("chunks", 0) != spec.work.documents:
        page = Assumption(field="work.tokens_per_page", value=TOKENS_PER_PAGE, code="usual_page")
        assumed += (*corpus_of(spec.work)[1], page)
    share = parts.weights / parts.total
    topic = Topic.EMBEDDING
    return outcome(
        spec, devices, parts, work, defaults, assumptions=tuple(assumed),
        reasons=(reason(topic, ReasonCode.READS_ONLY, share=share, gflop_per_token=found.flops_per_token / 1e9),),
        derivation=_steps(found, tokens, work) if derivation else (), speed=_speed(work),
    )  # fmt: skip


def _speed(work: dict[str, Any]) -> Speed:
    return Speed(prefill_tok_s=Range(**work["tokens_s"]), requests_s=Range(**work["texts_s"]), bound_by="compute")


def _length(spec: WorkloadSpec, model: Architecture, assumed: list[Assumption]) -> int:
    said = spec.work.chunk_tokens or spec.input_tokens or spec.context_tokens
    longest = model.max_position_tokens or _CHUNK_TOKENS
    if said is None:
        said = min(_CANDIDATE_TOKENS if spec.task == "reranking" else _CHUNK_TOKENS, longest)
        assumed.append(Assumption(field="work.chunk_tokens", value=said, code="usual_chunk"))
    return max(1, min(said, longest))


def corpus_work(spec: WorkloadSpec, found: Encoder, tokens: int, devices: int) -> dict[str, Any]:
    """Rates and hours; the vector index where the model makes vectors."""
    rate = found.tokens_s or (0.0, 0.0, 0.0)
    texts = {name: value * devices / tokens for name, value in zip(("low", "expected", "high"), rate, strict=True)}
    work: dict[str, Any] = {
        "task": spec.task, "chunk_tokens": tokens,
        "tokens_s": ranged(*(value * devices for value in rate)), "texts_s": texts, "gflop_per_token": found.flops_per_token / 1e9,
    }  # fmt: skip
    pieces = pieces_of(spec, tokens)
    if spec.task == "reranking":
        candidates = spec.work.candidates or _CANDIDATES
        work |= {"candidates": candidates, "search_ms": _opposite(texts, candidates * 1000.0)}
    elif pieces:
        work |= {"chunks": pieces, "hours": _opposite(texts, pieces / 3600.0), "corpus_tokens": pieces * tokens}
    dimensions = spec.work.dimensions or found.model.raw.get("pooled_dim")
    if pieces and isinstance(dimensions, int) and spec.task != "reranking":
        work["index"] = _index_data(spec, pieces, dimensions)
    return work


def pieces_of(spec: WorkloadSpec, tokens: int) -> int | None:
    """Pieces of text in the corpus: a document whose length was said is one piece, any other is cut by its pages."""
    work = spec.work
    whole = work.pages_per_document is None and (work.chunk_tokens or spec.input_tokens or spec.context_tokens)
    if work.chunks or work.documents is None or whole:
        return work.chunks or work.documents
    return corpus_of(work.model_copy(update={"chunk_tokens": tokens}))[0].chunks


def _opposite(rate: dict[str, float], amount: float) -> dict[str, float]:
    return ranged(amount / rate["high"], amount / rate["expected"], amount / rate["low"]) if rate["low"] else {}


def _index_data(spec: WorkloadSpec, pieces: int, dimensions: int) -> dict[str, Any]:
    index: Index = index_of(
        pieces, dimensions, spec.work.vector_bytes or 4.0, spec.work.index or "hnsw", spec.work.replicas or 1
    )
    return index.data()


def _steps(found: Encoder, tokens: int, work: dict[str, Any]) -> tuple[DerivationStep, ...]:
    model = found.model
    sources = ("https://michaelfeil.eu/infinity/0.0.51/benchmarking/",)
    parts = found.bytes_on_device()
    return (
        DerivationStep(
            quantity="gflop_per_token", formula="2 x (parameters - embedding table) + 4 x layers x hidden x length",
            inputs={"params_m": model.params_total / 1e6, "layers": len(model.layers), "hidden": model.hidden_size, "length": tokens},
            value=found.flops_per_token / 1e9, unit="GFLOP",
        ),
        DerivationStep(
            quantity="tokens_s", formula="16-bit peak x share reached / FLOPs per token", inputs={"share": _SHARE[1]},
            value=work["tokens_s"]["expected"], unit="tokens/s", sources=sources,
        ),
        DerivationStep(
            quantity="total_gib", formula="weights + one batch + context",
            inputs={"weights_gib": gib(parts.weights), "batch_tokens": _BATCH_TOKENS}, value=gib(parts.total), unit="GiB",
        ),
    )  # fmt: skip
