"""The number guard: what it lets through and what it stops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.grounding.mutated import caught
from bot.guard import Material, numbers_in, untraced
from bot.reply.wording import catalogue, wording
from bot.thread import Context
from bot.written import begin, end


@pytest.fixture
def material() -> Material:
    found = Material(citations=2)
    found.add_data(
        {
            "margin_gib": {"low": -120.0, "expected": -116.3, "high": -110.0},
            "context_tokens": 32768,
            "concurrency": 10,
            "decode_tok_s_per_user": {"low": 33.2, "expected": 41.0, "high": 52.4},
            "kv_bytes_per_token": 327680.0,
            "weights_share": 0.704,
            "rent_price": 2.4951,
            "ttft_ms": 812.0,
        }
    )
    found.add_names(["RTX 4090", "Llama 3.3 70B", "Q4_K_M", "2 × H100 SXM 80 GB"])
    return found


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("de", "Nein: es fehlen rund 116 GiB auf einer RTX 4090."),
        ("de", "Rund 119.091 MiB fehlen."),
        ("en", "About 116.3 GiB are missing for Llama 3.3 70B in Q4_K_M [1]."),
        ("en", "10 × 32k at 320 KiB per token."),
        ("de", "33–52 Tokens/s je Nutzer, erstes Token nach 0,8 s."),
        ("de", "70 % des Bedarfs, ab 2,50 € [2]."),
        ("en", "2 × H100 SXM 80 GB will do."),
        ("de", "32.768 Token, also 32k."),
        ("en", "Nothing to count here."),
    ],
)
def test_traced(lang: str, text: str, material: Material) -> None:
    assert untraced(text, lang, material) == ()


@pytest.mark.parametrize(
    ("lang", "text", "stopped"),
    [
        ("de", "Es fehlen 117 GiB.", ("117 gib",)),
        ("en", "About 116 GB are missing.", ("116 gb",)),
        ("en", "About 11.63 GiB are missing.", ("11.63 gib",)),
        ("en", "34 tokens/s", ("34 tokens/s",)),
        ("en", "33–60 tokens/s", ("60 tokens/s",)),
        ("en", "An RTX 5090 would do.", ("5090",)),
        ("en", "Take Q5_K_M.", ("q5_k_m",)),
        ("en", "As shown in [3].", ("[3]",)),
        ("de", "80 % des Bedarfs", ("80 %",)),
        ("en", "from $24.95", ("$24.95",)),
    ],
)
def test_stopped(lang: str, text: str, stopped: tuple[str, ...], material: Material) -> None:
    assert untraced(text, lang, material) == stopped


@pytest.mark.parametrize(
    ("lang", "text", "values"),
    [
        ("de", "1.234,5 GiB", [1234.5 * 2**30]),
        ("en", "1,234.5 GiB", [1234.5 * 2**30]),
        ("de", "1.234 Token", [1234.0]),
        ("en", "1.234 tokens", [1.234]),
        ("en", "33–52 ms", [0.033, 0.052]),
        ("de", "0,8 s", [0.8]),
        ("en", "vLLM 0.19 on H100", [0.19]),
    ],
)
def test_numbers_are_read_as_the_language_writes_them(lang: str, text: str, values: list[float]) -> None:
    assert [number.value for number in numbers_in(text, lang)] == pytest.approx(values)


@given(st.sampled_from(["de", "en"]), st.floats(min_value=0.01, max_value=1e6))
def test_what_the_wording_writes_is_traced(lang: str, value: float) -> None:
    material = Material()
    material.add_data({"size_gib": value, "rate_tok_s": value, "time_ms": value, "capacity_tokens": value})
    words = wording(lang)  # type: ignore[arg-type]
    for text in (words.gib(value), f"{words.number(value)} tokens/s", words.ms(value), words.about(value)):
        assert untraced(text, lang, material) == ()


@given(st.text(max_size=300))
def test_any_text_can_be_checked(text: str) -> None:
    assert isinstance(untraced(text, "de", Material()), tuple)


ANSWERS = [
    "Reicht eine RTX 4090 für Llama 3.3 70B in Q4_K_M, 32k Kontext, 10 Leute?",
    "Does Qwen3 32B in FP8 fit on one L40S with 16k context and 8 users?",
    "Llama 3.1 8B voll finetunen auf 4 x H100, Sequenz 4096",
    "Under $2 per hour: which GPU for a 32B at fp8?",
    "2 x L40S oder eine H100 für Qwen2.5 72B in int4?",
    "How much VRAM does DeepSeek V3.1 need?",
]


def test_an_altered_number_of_an_answer_is_caught() -> None:
    """Every number of every text in turn, and every figure as it is written, is put an eighth higher."""
    found = list(caught(({"id": str(n), "text": text} for n, text in enumerate(ANSWERS)), Context()))
    for where, least in (
        ("text", 0.95),
        ("written", 0.85),
    ):  # a small count of another kind may stand for a written one
        own = [each for each in found if each.where == where]
        assert len(own) > 100
        assert sum(each.caught for each in own) >= least * len(own), [each for each in own if not each.caught]


@pytest.mark.parametrize(
    ("slot", "value", "stopped"),
    [
        ("need:gib", 39.5872, False),  # a figure of the material, to its last digit
        ("need:gib", 39.7511, True),
        ("need:gb", 39.5872, True),  # the figure in another unit
        ("need:seconds", 39.5872, True),
        ("n:count", 10, False),
        ("n:count", 11, True),
        ("rate:span", {"low": 33.2, "high": 52.4}, False),
        ("rate:span", {"low": 33.2, "high": 61.9}, True),
    ],
)
def test_what_is_written_is_a_figure_of_the_material(
    slot: str, value: float, stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = f"It needs {{{slot}}} in all."
    monkeypatch.setitem(catalogue("en")["words"], "probe", template)
    material = Material()
    material.add_data({"need_gib": 39.5872, "users": 10, "rate_tok_s": {"low": 33.2, "high": 52.4}, "other_gib": 40.2})
    material.written = begin()
    text = wording("en").text("words", "probe", **{slot.partition(":")[0]: value})
    end()
    assert bool(untraced(text, "en", material)) is stopped
    assert untraced(text.replace("It needs", "It has"), "en", material) != ()
