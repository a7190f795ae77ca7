"""Tables of the small grammars: figures, formats, devices, models, engines, methods."""

import re

import pytest

from bot.understand.device_details import DeviceMention
from bot.understand.devices import read_devices
from bot.understand.engines import choose_engine, read_engines, read_method
from bot.understand.formats import choose, read_formats
from bot.understand.models import read_models
from bot.understand.numbers import quantities
from bot.understand.read import read
from bot.understand.text import fold
from sizing.catalogue.names import find


@pytest.mark.parametrize(
    ("text", "lang", "read"),
    [
        ("5-6 hundred tok each", "en", [(500.0, 600.0, "tokens")]),
        ("so 40-60 T€ für", "de", [(40_000.0, 60_000.0, "money_suffix")]),
        ("1,5 Mio Dokumente", "de", [(None, 1_500_000.0, "documents")]),
        ("2 Mio. Dokumente", "de", [(None, 2_000_000.0, "documents")]),
        ("232,047 chunks", "en", [(None, 232_047.0, "documents")]),
        ("3,568,759 samples", "en", [(None, 3_568_759.0, "samples")]),
        ("rent is $1.000/GPU-hr", "en", [(None, 1.0, "")]),
        ("budget of $10.000", "en", [(None, 10_000.0, "")]),
        ("Miete 1.000 € im Monat", "de", [(None, 1000.0, "money_suffix")]),
        ("1.000 tokens per second", "en", [(None, 1000.0, "token_rate")]),
        ("ca. 3.000 Token", "de", [(None, 3000.0, "tokens")]),
        ("0,8 Sekunden", "de", [(None, 0.8, "seconds")]),
        ("4-10 users", "en", [(4.0, 10.0, "people")]),
        ("1 bis 4 Minuten", "de", [(1.0, 4.0, "minutes")]),
        ("ein Dutzend Leute", "de", [(None, 12.0, "people")]),
        ("three colleagues", "en", [(None, 3.0, "people")]),
        ("seq4k x10 ctx8k", "en", [(None, 4000.0, ""), (None, 10.0, ""), (None, 8000.0, "")]),
        ("1 million chat samples", "en", [(None, 1_000_000.0, "samples")]),
        ("1e99 tokens", "en", [(None, 1e99, "tokens")]),
        ("Q4_K_M and A100 and v0.3", "en", []),
    ],
)
def test_figures(text: str, lang: str, read: list[tuple[float | None, float, str]]) -> None:
    assert [(q.low, q.value, q.unit) for q in quantities(fold(text).folded, lang)] == read


@pytest.mark.parametrize(
    ("text", "weights", "kv_cache"),
    [
        ("Q4_K_M", "q4_k_m", None),
        ("q4km", "q4_k_m", None),
        ("UD-Q4_K_XL", "ud-q4_k_xl", None),
        ("4-bit", "4bit", None),
        ("70B in 4bit: the Q4_K_M file", "q4_k_m", None),
        ("AWQ 4bit", "awq-int4", None),
        ("4.65bpw", "exl2-4.65bpw", None),
        ("exl3 at 3.5 bpw", "exl3-3.5bpw", None),
        ("fp8 KV but fp16 weights", "fp16", "fp8"),
        ("kv at q8", None, "8bit"),
        ("bf16 kv=fp8", "bf16", "fp8"),
        ("w4a8kv4", "int4", "int4"),
        ("kein bf16", None, None),
        ("8-bit Adam", None, None),
        ("q4, nee doch lieber q5", "5bit", None),
        ("768 dims fp16", None, None),
    ],
)
def test_formats(text: str, weights: str | None, kv_cache: str | None) -> None:
    found = read_formats(fold(text))
    chosen = (choose(found, "weights"), choose(found, "kv_cache"))
    assert tuple(mention.value if mention else None for mention in chosen) == (weights, kv_cache)


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        ("2x4090", [("RTX 4090", 2, None)]),
        ("8xa100-80", [("A100", 8, 80)]),
        ("A10*4", [("A10", 4, None)]),
        ("2 L40s", [("L40S", 2, None)]),
        ("3 Tesla P40s", [("P40", 3, None)]),
        ("m3u-256", [("M3 Ultra", None, 256)]),
        ("m2-pro-32", [("M2 Pro", None, 32)]),
        ("4070 Ti (12)", [("RTX 4070 Ti", None, 12)]),
        ("2x 4060ti 16", [("RTX 4060 Ti", 2, 16)]),
        ("zwei RTX 6000 Ada", [("RTX 6000 Ada", 2, None)]),
        ("two nodes with 4x 80GB A100 each", [("A100", 8, 80)]),
        ("wie viele H100?", [("H100", None, None)]),
        ("EPYC 7763 + 4090 48G", [("EPYC 7763", None, None), ("RTX 4090", None, 48)]),
        ("dual EPYC 9654 without a GPU", [("EPYC 9654", None, None)]),
        ("RTX 3080 Ti Super", [("RTX 3080 Ti Super", None, None)]),
        ("ctx 4090, 3090 tokens and 2050 users", []),
        ("PCIe 4.0 x8 with M.2 and a 100k contract", []),
    ],
)
def test_devices(text: str, devices: list[tuple[str, int | None, float | None]]) -> None:
    found = read_devices(fold(text), [], False)
    assert [_short(mention) for mention in found] == devices


def _short(mention: DeviceMention) -> tuple[str, int | None, float | None]:
    return mention.name, mention.count, mention.memory_gb


@pytest.mark.parametrize(
    ("text", "models"),
    [
        ("llama 70b 3.3", ["meta-llama/Llama-3.3-70B-Instruct"]),
        ("Mistral Small 24B (3.2)", ["mistralai/Mistral-Small-3.2-24B-Instruct-2506"]),
        ("Command R+ (104B)", [find("command r plus", "model").id]),
        ("deepsek r1", ["deepseek-ai/DeepSeek-R1"]),
        ("<https://huggingface.co/Qwen/Qwen3-32B|the model>", ["Qwen/Qwen3-32B"]),
        ("Qwen2.5-VL 7B, then the 3B", ["Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen2.5-VL-3B-Instruct"]),
        ("not Llama 3.1 70B, I mean the 3.3 one", ["meta-llama/Llama-3.3-70B-Instruct"]),
        ("Qwen3-Next... nee, lieber gpt-oss-120b", ["openai/gpt-oss-120b"]),
        ("Kimi K2.5, although K2 ran fine", ["moonshotai/Kimi-K2.5"]),
        ("llama.cpp, faster-whisper and LLaMA-Factory", []),
        ("step 3: buy solar panels", []),
    ],
)
def test_models(text: str, models: list[str]) -> None:
    mentions, _ = read_models(fold(text))
    assert [mention.name for mention in mentions if not mention.why_not] == models


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("fastchat+vLLM", "vllm"),
        ("ollama, or vLLM?", "ollama"),
        ("max_model_len 8192", "vllm"),
        ("num_ctx 8192", "ollama"),
        ("exl2 at 4 bpw", "exllamav2"),
        ("OOM with zero3", "deepspeed"),
        ("torchtune OOMs, unsloth manages", "torchtune"),
        ("no vllm please", None),
    ],
)
def test_engines(text: str, engine: str | None) -> None:
    chosen = choose_engine(read_engines(fold(text)))
    assert (chosen.name if chosen else None) == engine


@pytest.mark.parametrize(
    ("text", "bits", "method"),
    [
        ("LoRA on 4-bit weights", "4bit", "qlora"),
        ("8bit + LoRA", "8bit", "lora"),
        ("training from scratch", "", "full"),
        ("komplett feintunen (kein LoRA)", "", "full"),
        ("LoRA oder QLoRA?", "", None),
        ("SFT then DPO", "", None),
        ("full or LoRA fine-tuning", "", None),
    ],
)
def test_methods(text: str, bits: str, method: str | None) -> None:
    assert read_method(fold(text), bits).method == method


def test_evidence_is_cut_from_the_original() -> None:
    text = fold("„Für *zwei* RTX 4090 – 16 k Kontext“ &amp; <@U1>")
    start = text.folded.index("zwei")
    assert text.quote(start, text.folded.index("4090") + 4) == "zwei* RTX 4090"


@pytest.mark.parametrize(
    ("text", "users"),
    [
        ("10^6 users", 1e6),
        ("10**6 users", 1e6),
        ("10⁶ users", 1e6),
        ("2e3 users", 2000),
        ("1.5e3 users", 1500),
        ("9^999 users", 1e300),
        ("**12** users", 12),
    ],
)
def test_powers(text: str, users: float) -> None:
    assert read(f"Qwen3-14B for {text}").users == users


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("Mistral Small 24B", {"3.1", "3.2"}),
        ("Mistral Small 3.2 24B", set()),
        ("Qwen3-32B", set()),
        ("gpt-oss 20b", set()),
    ],
)
def test_a_name_without_its_version_names_the_others(text: str, others: set[str]) -> None:
    offered = {other for assumption in read(text).assumptions for other in assumption.others}
    assert {version for other in offered for version in re.findall(r"Small-(3\.\d)", other)} == others


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("21 GB belegt, Qwen3-14B auf einer 4090", "observed", {"gb": 21}),
        ("Qwen3-14B shows 21 GB used on a 4090", "observed", {"gb": 21}),
        ("EPYC, RAM mit 460 GB/s, Qwen3-14B", "host_bandwidth_gb_s", 460),
        ("a card with 2 TB/s for Qwen3-14B", "bandwidth_gb_s", 2000),
    ],
)
def test_figures_that_are_no_wish(text: str, name: str, value: object) -> None:
    assert read(text).other[name] == value


@pytest.mark.parametrize("text", ["Is 4090 4090 4090 enough for Qwen3 8B?", "3090 4090 for Qwen3 8B?"])
def test_the_number_of_a_card_is_no_count_of_the_next(text: str) -> None:
    assert all((device.count or 1) < 10 for device in read(text).hardware)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Qwen3 32B on 2x4090: vllm serve --gpu-memory-utilization 1.7", ["engine.gpu_memory_utilization"]),
        ("Qwen3 32B on 2x4090 with vLLM --tensor-parallel-size 0", ["parallel.tensor"]),
        ("Qwen3 32B on 2x4090: llama-server -ngl -5", ["engine.gpu_layers"]),
        ("vllm serve Qwen/Qwen3-32B --cpu-offload-gb -4 on 2x4090", ["engine.cpu_offload_gib"]),
        ("Was kostet Llama 3.1 8B auf einer 4090 bei 25 Stunden am Tag?", ["usage.hours_per_day"]),
        ("8 Tage die Woche, 400 % Auslastung, PUE 0,5: was kostet Llama 3.1 8B auf einer 4090?",
         ["usage.days_per_week", "usage.utilisation", "usage.pue"]),
        ("Llama 3.1 8B on a 4090 with a power limit of 0 W", ["host.power_limit_w"]),
        ("Llama 3.1 8B on a 4090 in fp3", ["weights"]),
        ("Llama 3.1 8B on a 4090, budget -500 €", ["targets.budget"]),
        ("Llama 3.1 8B auf einer 4090, TTFT unter -3 s", ["targets.ttft_s"]),
        ("Qwen3 8B on 10^9 H100", ["devices"]),
        ("Llama 3.1 8B on an H100, 0 requests per second", ["load.rate_rps"]),
        ("Llama 3.1 8B auf einer H100 bei minus 5 Anfragen pro Minute", ["load.rate_rps"]),
        ("Llama 3.1 8B on an H100 at -5 requests per second", ["load.rate_rps"]),
        ("Llama 3.1 8B on an H100 at 1e12 requests per second", ["load.rate_rps"]),
        ("Llama 3.1 8B on an H100 at 99^99 rps", ["load.rate_rps"]),
        ("Llama 3.1 8B auf einer H100 bei 0 Anfragen pro Tag", ["load.requests_per_day"]),
    ],
)  # fmt: skip
def test_what_nothing_can_be_run_with_is_asked_about_in_the_words_of_the_message(text: str, fields: list[str]) -> None:
    clarify = read(text).clarify
    assert clarify is not None
    assert (clarify.code, list(clarify.fields)) == ("impossible", fields)
    assert all(words in text for words in clarify.values)


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("2 million requests per day", "requests_per_day", 2e6),
        ("2 Mio. Anfragen pro Tag", "requests_per_day", 2e6),
        ("1,5 Millionen Anfragen am Tag", "requests_per_day", 1.5e6),
        ("1e6 requests per day", "requests_per_day", 1e6),
        ("10^6 requests a day", "requests_per_day", 1e6),
        ("1.200 Anfragen pro Tag", "requests_per_day", 1200),
        ("10k requests per minute", "rate_rps", 10_000 / 60),
        ("5 Tausend Anfragen pro Stunde", "rate_rps", 5000 / 3600),
        ("120,000 requests per hour", "rate_rps", 120_000 / 3600),
        ("0.001 requests per second", "rate_rps", 0.001),
        ("0,0001 Anfragen pro Sekunde", "rate_rps", 0.0001),
        ("3-5 requests per second", "rate_rps", 5),
        ("1.5k rpm", "rate_rps", 25),
    ],
)
def test_arrivals(text: str, field: str, value: float) -> None:
    found = read(f"Llama 3.1 8B on an H100, {text}")
    assert found.other.get(field) == pytest.approx(value)
    assert found.clarify is None


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve Qwen/Qwen3-32B --gpu-memory-utilization 0.95 --max-model-len -1 on 2x4090",
        "Qwen3 32B on 2x4090: llama-server -ngl -1",
        "Whisper: 500 Stunden pro Tag auf einer L4",
        "Llama 3.1 8B on a 4090, 24 hours a day, 7 days a week, PUE 1.4, 100 % utilisation",
        "Llama 3.1 8B Q4_K_M or UD-Q4_K_XL on a 4090; fp64 does not matter",
        "Llama 3.1 8B IQ2_XXS with kv cache q8_0 on a 4090 at a power limit of 300 W",
    ],
)
def test_what_is_usual_is_not_asked_about(text: str) -> None:
    assert read(text).clarify is None
