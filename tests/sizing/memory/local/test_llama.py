"""llama.cpp-like plans: printed buffers, laws of the sums, and what cannot be read."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizing.errors import UserError
from sizing.memory.local.fit import fit_layers, fits, lay_out
from sizing.memory.local.layers import override_texts
from sizing.memory.local.llama import Layout
from sizing.memory.local.plan import plan_local
from sizing.memory.plan import MemoryPlan
from sizing.resolve import Resolved, resolve
from sizing.spec import parse_spec
from sizing.units import GIB, MIB


def _resolved(
    model: str, weights: str | None = "q4_k_m", card: str = "RTX 3090", count: int = 1, **fields: Any
) -> Resolved:
    engine = {"name": "llama.cpp"} | fields.pop("engine", {})
    hardware = fields.pop("hardware", [{"accelerator": card, "count": count}])
    data = {"model": {"id": model}, "weights": weights, "engine": engine, "hardware": hardware}
    return resolve(parse_spec(data | fields))


def _plan(*args: Any, **kwargs: Any) -> MemoryPlan:
    return plan_local(_resolved(*args, **kwargs))


def _mib(plan: MemoryPlan) -> dict[str, float]:
    return {
        "weights": sum(d.weights_bytes for d in plan.devices) / MIB,
        "host_weights": plan.host.weights_bytes / MIB,
        "kv": (sum(d.kv_bytes for d in plan.devices) + plan.host.kv_bytes) / MIB,
        "state": (sum(d.state_bytes for d in plan.devices) + plan.host.state_bytes) / MIB,
        "compute": sum(d.activations_bytes for d in plan.devices) / MIB,
    }


# What start-up logs print, in MiB, with where they can be read (bench/memory_local/cases.jsonl holds more).
LOGS: list[tuple[dict[str, Any], dict[str, float]]] = [
    (  # github.com/ikawrakow/ik_llama.cpp/pull/370
        {"model": "GLM-Z1-32B-0414", "weights": "iq4_xs", "engine": {"name": "ik_llama.cpp", "flash_attention": True,
         "file_size_gib": 16.382}, "context_tokens": 32768},
        {"weights": 16303.48, "host_weights": 471.75, "kv": 1952.0, "compute": 308.0},
    ),
    (  # GitHub file 56678392724
        {"model": "Qwen3.6-27B", "weights": "ud-q4_k_xl", "card": "RTX 5090", "kv_cache": "q8_0", "concurrency": 4,
         "engine": {"as_of": "2026-05", "file_size_gib": 16.67, "total_context_tokens": 131072}},
        {"weights": 16386.94, "host_weights": 682.03, "kv": 4352.0, "state": 598.5, "compute": 495.0},
    ),
    (  # github.com/HilbertraumAI/HilbertRaum
        {"model": "gemma-4-12b-it", "weights": "q4_0", "card": "RTX 3080 Ti", "concurrency": 4, "engine": {"version": "b9849",
         "ubatch_tokens": 2048, "batch_tokens": 2048, "swa_full": False, "total_context_tokens": 8192}},
        {"weights": 6637.63, "host_weights": 787.5, "kv": 2048.0, "compute": 541.07},
    ),
    (  # github.com/ggml-org/llama.cpp/issues/16188
        {"model": "gpt-oss-20b", "weights": "mxfp4", "card": "Apple M2 Pro", "context_tokens": 4096, "engine": {"version": "b6182",
         "flash_attention": False, "gpu_layers": 24, "cpu_moe_layers": 14, "swa_full": False, "file_size_gib": 11.27}},
        {"weights": 4699.9, "kv": 111.0, "compute": 985.2},
    ),
    (  # github.com/ikawrakow/ik_llama.cpp/issues/514
        {"model": "Qwen3-30B-A3B", "card": "RTX 4090", "count": 2, "context_tokens": 16384, "engine": {"as_of": "2025-06",
         "flash_attention": False, "tensor_overrides": ["exps=CPU"], "file_size_gib": 17.28}},
        {"weights": 784.42, "kv": 1536.0, "compute": 2160.0},
    ),
    (  # github.com/ikawrakow/ik_llama.cpp/issues/285, -mla 0
        {"model": "DeepSeek-R1", "weights": "q8_0", "hardware": [{"accelerator": "CPU"}], "context_tokens": 512,
         "engine": {"name": "ik_llama.cpp", "mla": 0, "flash_attention": False}},
        {"kv": 2440.0},
    ),
    (  # github.com/ikawrakow/ik_llama.cpp/pull/616, -mla 1
        {"model": "Kimi-K2-Instruct", "weights": "q8_0", "hardware": [{"accelerator": "CPU"}], "context_tokens": 512,
         "engine": {"name": "ik_llama.cpp", "mla": 1, "flash_attention": False}},
        {"kv": 64.81},
    ),
    (  # GitHub file 54573746480
        {"model": "Llama-3.2-3B-Instruct", "context_tokens": 2048, "engine": {"as_of": "2026-06"}},
        {"weights": 1918.36, "host_weights": 308.24, "kv": 224.0},
    ),
    (  # github.com/ggml-org/llama.cpp/issues/25468: window 32.25, ratio 4 672, ratio 128 20, indexer 168
        {"model": "DeepSeek-V4-Flash", "weights": "ud-q4_k_xl", "hardware": [{"memory_gb": 500}], "context_tokens": 131072,
         "engine": {"as_of": "2026-07", "flash_attention": True}},
        {"kv": 892.25},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "printed"), LOGS, ids=[row[0]["model"] for row in LOGS])
def test_buffers_are_those_of_the_log(spec: dict[str, Any], printed: dict[str, float]) -> None:
    made = _mib(_plan(**spec))
    assert {name: made[name] for name in printed} == pytest.approx(printed, rel=0.011)


MODELS = st.sampled_from(
    ["Llama-3.1-8B-Instruct", "Qwen3-30B-A3B", "gemma-3-12b-it", "gpt-oss-20b", "DeepSeek-Coder-V2-Lite-Instruct", "Qwen3.6-27B",
     "gemma-4-E4B-it", "Llama-3.3-70B-Instruct"]
)  # fmt: skip


def _layout(model: str, **kwargs: Any) -> Layout:
    resolved = _resolved(model, card="RTX 4090", count=2, context_tokens=8192)
    return lay_out(resolved, resolved.devices, **kwargs)


def _weights(layout: Layout) -> float:
    return sum(part.weights for part in layout.on_device) + layout.on_host.weights


@settings(max_examples=60, deadline=None)
@given(MODELS, st.integers(0, 90))
def test_offload_moves_bytes_and_loses_none(model: str, gpu_layers: int) -> None:
    layout = _layout(model, gpu_layers=gpu_layers)
    doubled = layout.file.token_embedding_bytes if layout.file.tied and layout.placement.output >= 0 else 0.0
    assert _weights(layout) == pytest.approx(layout.file.total_bytes + doubled)
    everywhere = _layout(model)
    assert layout.kv_bytes == pytest.approx(everywhere.kv_bytes)
    states = [sum(p.state for p in one.on_device) + one.on_host.state for one in (layout, everywhere)]
    assert states[0] == pytest.approx(states[1])


@settings(max_examples=40, deadline=None)
@given(MODELS, st.integers(0, 80), st.integers(0, 80))
def test_more_experts_in_ram_never_leave_more_on_the_cards(model: str, one: int, other: int) -> None:
    few, many = (_layout(model, cpu_moe_layers=n) for n in sorted((one, other)))
    assert sum(p.weights for p in many.on_device) <= sum(p.weights for p in few.on_device) + 1
    assert _weights(many) == pytest.approx(_weights(few))


@settings(max_examples=60, deadline=None)
@given(
    MODELS,
    st.sampled_from(["llama.cpp", "ollama", "ik_llama.cpp", "lm-studio", "mlx", "transformers", "exllamav2"]),
    st.integers(256, 120_000),
    st.integers(0, 60_000),
    st.integers(1, 6),
    st.integers(0, 4),
)
def test_more_context_or_users_never_need_less(
    model: str, engine: str, context: int, more: int, users: int, more_users: int
) -> None:
    card = {"hardware": [{"accelerator": None, "memory_gb": 10_000}]}
    small = _plan(model, None, context_tokens=context, concurrency=users, engine={"name": engine}, **card)
    large = _plan(
        model, None, context_tokens=context + more, concurrency=users + more_users, engine={"name": engine}, **card
    )
    assert sum(d.total_bytes for d in large.devices) >= sum(d.total_bytes for d in small.devices) - 1


@pytest.mark.parametrize("model", ["Llama-3.1-8B-Instruct", "Qwen3-30B-A3B", "gemma-3-12b-it"])
def test_more_bits_never_need_less(model: str) -> None:
    ladder = ["iq1_s", "iq2_xxs", "iq2_xs", "iq2_m", "iq3_xxs", "q3_k_s", "q3_k_m", "q3_k_l", "q4_k_s", "q4_k_m", "q5_k_s",
              "q5_k_m", "q6_k", "q8_0", "bf16"]  # fmt: skip
    sizes = [_plan(model, name, context_tokens=4096).devices[0].weights_bytes for name in ladder]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    ("model", "card"), [("Llama-3.3-70B-Instruct", "RTX 4090"), ("Qwen3-30B-A3B", "RTX 4060 Ti 8GB")]
)
def test_the_offload_proposed_is_the_smallest_that_fits(model: str, card: str) -> None:
    resolved = _resolved(model, card=card, context_tokens=8192)
    found = fit_layers(resolved, keep_bytes=0.0)
    assert found is not None
    moved = {"gpu_layers": found.gpu_layers, "cpu_moe_layers": found.cpu_moe_layers}
    one_less = (
        {"gpu_layers": found.gpu_layers, "cpu_moe_layers": found.cpu_moe_layers - 1}
        if found.cpu_moe_layers
        else {"gpu_layers": found.gpu_layers + 1}
    )
    assert fits(lay_out(resolved, resolved.devices, **moved))
    assert not fits(lay_out(resolved, resolved.devices, **one_less))


def test_what_does_not_fit_is_refused_with_the_offload_that_would() -> None:
    plan = _plan("Llama-3.3-70B-Instruct", card="RTX 4090", context_tokens=8192)
    assert plan.margin_bytes is not None
    assert plan.margin_bytes[2] < 0
    assert [(w.code, w.params["layers"]) for w in plan.warnings] == [("offload_would_fit", 81)]


def test_ollama_spills_by_itself_and_says_so() -> None:
    plan = _plan("Llama-3.3-70B-Instruct", card="RTX 4090", context_tokens=8192, engine={"name": "ollama"})
    assert plan.margin_bytes is not None
    low, expected, _ = plan.margin_bytes
    assert low < 0 <= expected
    assert [w.code for w in plan.warnings] == ["ollama_spills_to_ram"]
    assert plan.host.weights_bytes > 10 * GIB


def test_an_uneven_split_is_tuned_before_it_is_refused() -> None:
    cards = [{"accelerator": "RTX 4090", "count": 2}, {"accelerator": "RTX 5090"}, {"accelerator": "RTX A6000"}]
    engine = {"name": "ik_llama.cpp", "mla": 2, "flash_attention": False, "gpu_layers": 27, "file_size_gib": 226.0}
    plan = _plan("DeepSeek-V3-0324", "iq2_k_r4", hardware=cards, context_tokens=8192, engine=engine)
    assert plan.margin_bytes is not None
    assert plan.margin_bytes[1] > 0
    assert [w.code for w in plan.warnings] == ["uneven_split_needed"]


@pytest.mark.parametrize(
    "text", ["exps", r"(a+)+=CPU", "blk[=CPU", "exps=FPGA", ".*.*.*.*X=CPU", "(a|aa)+X=CPU", "exps=CPU," * 600]
)
def test_overrides_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"override|expression|repeats|taken") as caught:
        _plan("Qwen3-30B-A3B", context_tokens=4096, engine={"tensor_overrides": [text]})
    assert caught.value.field == "engine.tensor_overrides"


def test_overrides_split_at_commas_between_rules_only() -> None:
    assert override_texts(r"blk\.[0-9]{1,2}\.ffn=CPU,exps=CUDA1") == (r"blk\.[0-9]{1,2}\.ffn=CPU", "exps=CUDA1")
    assert override_texts(["exps=CPU", "shexp=CUDA0"]) == ("exps=CPU", "shexp=CUDA0")


def test_the_first_override_that_matches_wins() -> None:
    both = _plan(
        "Qwen3-30B-A3B", context_tokens=4096, engine={"tensor_overrides": r"blk\.(0|1)\.ffn_.*_exps=CUDA0,exps=CPU"}
    )
    all_out = _plan("Qwen3-30B-A3B", context_tokens=4096, engine={"tensor_overrides": "exps=CPU"})
    kept = both.devices[0].weights_bytes - all_out.devices[0].weights_bytes
    assert kept == pytest.approx(all_out.host.weights_bytes - both.host.weights_bytes)
    assert kept > 0


def test_processors_beside_cards_hold_nothing_of_their_own() -> None:
    plan = _plan("Qwen3-30B-A3B", hardware=[{"accelerator": "RTX 4090"}, {"accelerator": "CPU"}], context_tokens=4096)
    assert [d.total_bytes > 0 for d in plan.devices] == [True, False]


def test_a_processor_alone_is_the_device() -> None:
    plan = _plan("Llama-3.1-8B-Instruct", hardware=[{"accelerator": "CPU"}], context_tokens=4096)
    assert plan.host.total_bytes == 0
    assert plan.devices[0].weights_bytes == pytest.approx(4.58 * GIB, rel=0.005)
    assert [w.code for w in plan.warnings] == ["ram_not_stated"]


def test_ram_that_is_too_small_for_the_experts_is_counted() -> None:
    spec = {"model": "Qwen3-235B-A22B", "card": "RTX 4090", "context_tokens": 4096, "engine": {"cpu_moe_layers": 94}}
    margins = [_plan(**spec, host={"ram_gb": ram}).margin_bytes for ram in (64, 256)]
    assert [margin is not None and margin[1] > 0 for margin in margins] == [False, True]


def test_steps_end_in_the_figures_of_the_plan() -> None:
    plan = _plan("Qwen3.6-27B", context_tokens=8192)
    steps = {step.quantity: step.value for step in plan.derivation()}
    assert steps["weights_gib"] == pytest.approx(plan.devices[0].weights_bytes / GIB)
    assert steps["kv_cache_gib"] == pytest.approx(plan.devices[0].kv_bytes / GIB)
    assert steps["activations_gib"] == pytest.approx(plan.devices[0].activations_bytes / GIB)
    assert steps["state_gib"] == pytest.approx(plan.devices[0].state_bytes / GIB)


def test_rows_are_cut_over_all_cards_and_the_rest_stays_on_the_first() -> None:
    """github.com/ikawrakow/ik_llama.cpp/discussions/397: two T4 with `-sm row` print one KV and one compute buffer (633.5 MiB)."""
    engine = {"name": "ik_llama.cpp", "flash_attention": True, "ubatch_tokens": 1024, "file_size_gib": 21.603}
    fields: dict[str, Any] = {"weights": "q5_k_m", "card": "Tesla T4", "count": 2, "context_tokens": 8192}
    rows = _plan("Qwen3-32B", engine=engine | {"split_mode": "row"}, **fields)
    first, second = rows.devices
    assert first.weights_bytes == second.weights_bytes
    assert (second.kv_bytes, second.activations_bytes) == (0.0, 0.0)
    assert first.kv_bytes / MIB == pytest.approx(2048)
    assert first.activations_bytes / MIB == pytest.approx(633.5, rel=0.04)
    layers = _plan("Qwen3-32B", engine=engine, **fields)
    assert _mib(rows)["weights"] == pytest.approx(_mib(layers)["weights"])


def test_one_card_alone_is_used_without_a_split() -> None:
    first, second = _plan("Qwen3-8B", count=2, context_tokens=8192, engine={"split_mode": "none"}).devices
    assert first.weights_bytes > 0
    assert (second.weights_bytes, second.kv_bytes, second.activations_bytes) == (0.0, 0.0, 0.0)


def test_a_pruned_model_needs_most_where_its_widest_block_lies() -> None:
    """github.com/ikawrakow/ik_llama.cpp/pull/377: 412, 420, 2560 and 2086 MiB on four cards of 24, 24, 48 and 32 GB."""
    engine = {"name": "ik_llama.cpp", "flash_attention": True, "file_size_gib": 115.764}
    hardware = [{"accelerator": "RTX 4090", "count": 2}, {"accelerator": "RTX A6000"}, {"accelerator": "RTX 5090"}]
    kv = {"k": "q8_0", "v": "q4_0"}
    resolved = _resolved(
        "Nemotron Ultra 253B", "q3_k_m", hardware=hardware, engine=engine, context_tokens=12288, kv_cache=kv
    )
    made = lay_out(resolved, resolved.devices, split=(40, 32, 63, 28))
    weights = [part.weights / MIB for part in made.on_device]
    assert weights == pytest.approx([21995.7, 22587.26, 45199.39, 27632.88], rel=0.02)
    assert [part.kv / MIB for part in made.on_device] == pytest.approx([429.02, 292.52, 331.53, 195.01], rel=1e-3)
    assert [part.compute / MIB for part in made.on_device][2:] == pytest.approx([2560.0, 2086.0], rel=0.05)


def test_layers_of_unequal_size_are_dealt_by_their_bytes() -> None:
    """github.com/ikawrakow/ik_llama.cpp/pull/377 ran on these cards; a split in proportion to memory puts 48 GiB on the last."""
    engine = {"name": "ik_llama.cpp", "flash_attention": True, "file_size_gib": 115.764}
    hardware = [{"accelerator": "RTX 4090", "count": 2}, {"accelerator": "RTX A6000"}, {"accelerator": "RTX 5090"}]
    kv = {"k": "q8_0", "v": "q4_0"}
    plan = _plan("Nemotron Ultra 253B", "q3_k_m", hardware=hardware, engine=engine, context_tokens=12288, kv_cache=kv)
    assert [warning.code for warning in plan.warnings] == ["uneven_split_needed"]
    assert sum(plan.warnings[0].params["layers_per_device"]) == 163
    assert plan.margin_bytes is not None
    assert plan.margin_bytes[2] > 0


def test_a_card_with_another_model_on_it_gets_fewer_layers() -> None:
    hardware = [{"accelerator": "RTX 3090"}, {"accelerator": "RTX 3090", "in_use_gib": 12}]
    first, second = _plan("Qwen3-14B", hardware=hardware, context_tokens=8192).devices
    assert second.weights_bytes < 0.6 * first.weights_bytes
    assert first.usable_bytes is not None
    assert second.usable_bytes == first.usable_bytes - 12 * GIB


# What the processor holds beside weights and cache, in MiB: the pinned inputs, and the largest stage that it computes.
HOST_BUFFERS: list[tuple[dict[str, Any], float]] = [
    (  # github.com/danbev/learning-ai, notes/vision/llava.md: 25 of 33 layers on the card
        {"model": "Llama-2-7B", "weights": "f16", "card": "RTX 4070", "context_tokens": 2048,
         "engine": {"as_of": "2024-06", "flash_attention": False, "gpu_layers": 25}},
        167.2,
    ),
    (  # github.com/ikawrakow/ik_llama.cpp/discussions/357: no layer on the card, 304.75 for the output and 65 of inputs
        {"model": "Qwen3-235B-A22B", "weights": "q6_k", "card": "RTX 4090", "kv_cache": "q8_0", "context_tokens": 16384,
         "engine": {"as_of": "2025-05", "flash_attention": True, "gpu_layers": 0}},
        369.76,
    ),
    (  # github.com/ikawrakow/ik_llama.cpp/pull/370: everything on the card
        {"model": "GLM-Z1-32B-0414", "weights": "iq4_xs", "card": "RTX 3090 Ti", "context_tokens": 32768,
         "engine": {"as_of": "2025-05", "flash_attention": True}},
        76.01,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "printed"), HOST_BUFFERS, ids=[row[0]["model"] for row in HOST_BUFFERS])
def test_buffers_in_ram_are_those_of_the_log(spec: dict[str, Any], printed: float) -> None:
    assert _plan(**spec).host.activations_bytes / MIB == pytest.approx(printed, rel=0.1)


@settings(max_examples=40, deadline=None)
@given(MODELS, st.integers(0, 60), st.integers(0, 60))
def test_more_layers_on_the_card_never_need_more_ram(model: str, one: int, other: int) -> None:
    fewer, more = sorted((one, other))
    hosts = [
        _plan(model, card="RTX 4090", context_tokens=8192, engine={"gpu_layers": layers}).host
        for layers in (fewer, more)
    ]
    assert hosts[1].weights_bytes <= hosts[0].weights_bytes
    assert hosts[1].kv_bytes <= hosts[0].kv_bytes
    assert hosts[1].total_bytes <= hosts[0].total_bytes * 1.001


@pytest.mark.parametrize(
    "pattern",
    [r"blk\.([0-9]|1[0-9])\.ffn_.*_exps\.weight", r"blk\.[0-9]{1,2}\.ffn_(up|gate)_exps", r"\.ffn_(up|down)_exps\."],
)
def test_patterns_that_people_write_are_read(pattern: str) -> None:
    plan = _plan("Qwen3-30B-A3B", context_tokens=4096, engine={"tensor_overrides": f"{pattern}=CPU"})
    assert plan.host.weights_bytes > 1 * GIB


@pytest.mark.parametrize("parts", [[1], [1, 1, 1], [0, 0]])
def test_a_split_for_other_cards_is_refused(parts: list[float]) -> None:
    with pytest.raises(UserError, match="one part for each of the 2 cards"):
        _plan("Qwen3-8B", count=2, context_tokens=4096, engine={"tensor_split": parts})


@settings(max_examples=40, deadline=None)
@given(MODELS, st.lists(st.sampled_from([1, 2, 3]), min_size=2, max_size=4))
def test_layers_cut_over_cards_lose_nothing(model: str, parts: list[int]) -> None:
    """`-sm tensor`: weights in proportion, cache by whole heads, and the graph's buffer on every card."""
    fields: dict[str, Any] = {"card": "H200", "context_tokens": 8192}
    alone = _plan(model, **fields)
    cut = _plan(model, count=len(parts), engine={"split_mode": "tensor", "tensor_split": parts}, **fields)
    for name in ("weights_bytes", "kv_bytes", "state_bytes"):
        whole = getattr(alone.devices[0], name)
        assert sum(getattr(device, name) for device in cut.devices) == pytest.approx(whole, rel=1e-6)
        assert all(getattr(device, name) <= whole for device in cut.devices)
    assert {device.activations_bytes for device in cut.devices} == {alone.devices[0].activations_bytes}
    heads = _resolved(model, **fields).architecture.kv_heads
    counts = [device.kv_bytes / alone.devices[0].kv_bytes * heads for device in cut.devices]
    assert counts == pytest.approx([round(count) for count in counts])


def test_experts_in_ram_leave_no_card_empty() -> None:
    """`--n-cpu-moe` counts from the first layer: with the engine's own split the first card would hold attention alone."""
    fields: dict[str, Any] = {"count": 2, "context_tokens": 8192}
    plan = _plan("Qwen3-235B-A22B", host={"ram_gb": 256}, **fields)
    found = plan.warnings[0].params
    assert plan.warnings[0].code == "offloaded_to_ram"
    assert all(device.total_bytes > 0.85 * (device.usable_bytes or 0.0) for device in plan.devices)
    resolved = _resolved("Qwen3-235B-A22B", engine={"tensor_split": found["layers_per_device"]}, **fields)
    again = lay_out(resolved, resolved.devices, gpu_layers=95, cpu_moe_layers=found["cpu_moe_layers"])
    assert [part.weights for part in again.on_device] == [device.weights_bytes for device in plan.devices]
    even = _resolved("Qwen3-235B-A22B", **fields)
    assert not fits(lay_out(even, even.devices, gpu_layers=95, cpu_moe_layers=found["cpu_moe_layers"]))
