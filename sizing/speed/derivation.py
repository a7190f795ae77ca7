"""How a speed came about, step by step: for "why?" and for anyone who wants to check the sum."""

from __future__ import annotations

from sizing.estimate import DerivationStep
from sizing.speed.drivers import Drivers
from sizing.speed.factors import Coefficients
from sizing.speed.model import Forecast
from sizing.speed.serving import Rates
from sizing.speed.timing import Step, extras_bytes, prompt_share, prompt_work_s, touched_share

_NOTE = "factors fitted to public measurements (data/calibration.json)"


def steps(made: Forecast) -> tuple[DerivationStep, ...]:
    """The derivation of decode, prompt and total."""
    known, factor, said = made.known, made.factor, made.said
    found = [_prompt(known, factor)] if known.work.new_tokens else []
    if said.step is not None:
        found += [*_decode(known, factor, said, said.step), _total(known, said)]
    return tuple(found)


def _decode(known: Drivers, factor: Coefficients, said: Rates, step: Step) -> list[DerivationStep]:
    weights, batch = known.weights, said.in_flight / known.replicas
    share = touched_share(weights.experts, weights.experts_per_token, batch, factor.routing_spread)
    beside = extras_bytes(known, batch)
    read = weights.dense_bytes / known.tensor + weights.expert_bytes * share / known.experts_over + beside
    formula = "dense/TP + experts x touched/devices" + (" + drafts and adapters" if beside else "")
    bandwidth = {"bandwidth_gb_s": known.machine.bandwidth_gb_s, "bandwidth_share": round(factor.weight_rate, 3)}
    made = [
        _step("weights_read_gb", formula, {
            "dense_gb": weights.dense_bytes / 1e9, "experts_gb": weights.expert_bytes / 1e9, "touched_share": round(share, 4),
            "tensor": known.tensor, "devices": known.experts_over, **({"beside_gb": beside / 1e9} if beside else {}),
        }, read / 1e9, "GB"),
        _step("weights_ms", "weights_read / (bandwidth x share)", {"weights_read_gb": read / 1e9, **bandwidth}, 1e3 * step.weights, "ms"),
        _step("kv_ms", "sequences x KV bytes at mean context / (bandwidth x share)", {
            "sequences": batch, "mean_context_tokens": known.work.mean_context_tokens,
            "kv_gb_per_sequence": known.cache.read_bytes(known.work.mean_context_tokens) / 1e9,
            "bandwidth_share": round(factor.weight_rate * factor.kv_rate, 3),
        }, 1e3 * step.kv, "ms"),
        _step("compute_ms", "2 x active parameters x sequences / (TP x peak x share)", {
            "active_params_b": weights.active_params / 1e9, "sequences": batch, "tensor": known.tensor,
            "peak_tflops": known.flops_per_s / 1e12, "operands": known.operand, "peak_share": round(factor.decode_compute, 3),
        }, 1e3 * step.compute, "ms"),
        _step("kernels_ms", "blocks x price + step + sequences x price", {
            "blocks": weights.blocks, "block_us": round(factor.block_us, 1), "step_us": round(factor.step_us, 1),
            "sequence_us": round(factor.sequence_us, 2),
        }, 1e3 * step.kernels, "ms"),
    ]  # fmt: skip
    if step.link:
        made.append(_step("link_ms", "2 all-reduces a block: latency + bytes over the link", {
            "link": known.machine.link.kind, "link_gb_s": known.machine.link.gb_s, "collective_us": round(factor.collective_us, 1),
        }, 1e3 * step.link, "ms"))  # fmt: skip
    if step.host:
        made.append(_step("host_ms", "bytes kept in RAM / RAM or PCIe bandwidth", {
            "host_share": round(known.host_share, 3), "host_gb_s": known.machine.host_gb_s, "pcie_gb_s": known.machine.pcie_gb_s,
        }, 1e3 * step.host, "ms"))  # fmt: skip
    made.append(_step("decode_tok_s_per_user", "tokens per step / (root(weights^2 + compute^2) + kv + kernels + link + host)", {
        "tokens_per_step": round(step.tokens, 3), "step_ms": 1e3 * step.total,
    }, said.decode_tok_s_per_user or 0.0, "tokens/s"))  # fmt: skip
    return made


def _prompt(known: Drivers, factor: Coefficients) -> DerivationStep:
    work = known.work
    busy = prompt_work_s(known, factor, work.new_tokens, work.prior_tokens + work.shared_tokens)
    return _step("prompt_ms", "(2 x active parameters x tokens / (peak x share) + attention) / TP + link", {
        "tokens": work.new_tokens, "cached_tokens": work.prior_tokens + work.shared_tokens,
        "active_params_b": known.weights.active_params / 1e9, "peak_tflops": known.flops_per_s / 1e12, "operands": known.operand,
        "peak_share": round(prompt_share(known, factor, work.new_tokens), 3), "tensor": known.tensor,
    }, 1e3 * busy, "ms")  # fmt: skip


def _total(known: Drivers, said: Rates) -> DerivationStep:
    return _step("output_tok_s_total", "replicas x sequences x output / (output x step + prompts of all sequences)", {
        "replicas": known.replicas, "in_flight": said.in_flight, "output_tokens": known.work.output_tokens,
        "fit_at_once": known.capacity * known.replicas, "sequences_cap": known.sequences_cap * known.replicas,
    }, said.output_tok_s_total or 0.0, "tokens/s")  # fmt: skip


def _step(quantity: str, formula: str, inputs: dict[str, object], value: float, unit: str) -> DerivationStep:
    return DerivationStep(quantity=quantity, formula=formula, inputs=inputs, value=value, unit=unit, sources=(_NOTE,))
