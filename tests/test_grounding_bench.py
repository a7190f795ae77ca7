"""The independent check of `bench/grounding`: what it reads as a number, what it accepts, and what it must refuse."""

from pathlib import Path

import pytest

from bench.grounding.facts import facts_in
from bench.grounding.numbers import Pool, altered, numbers_of
from bench.grounding.recorded import asked
from bench.grounding.support import judged
from bench.grounding.trace import traced
from bot.thread import Context
from knowledge.service import Knowledge
from knowledge.settings import Settings

ESTIMATE = {
    "weights_gib": 14.988,
    "kv_bytes_per_token": 131072,
    "decode_tok_s": {"low": 43.4, "high": 61.9},
    "ttft_ms": 612.0,
    "share": 0.85,
}


@pytest.mark.parametrize(
    ("text", "lang", "values"),
    [
        ("Weights need 15 GiB in Q4_K_M on an RTX 4090 [1].", "en", [15 * 2**30]),
        ("1.234,5 GiB und 8k Kontext", "de", [1234.5 * 2**30, 8000]),
        ("43–62 tokens/s, first token after 0.6 s (as of 2026-11)", "en", [43, 62, 0.6]),
        ("85 % von vLLM 0.19.1", "de", [0.85]),
    ],
)
def test_numbers_are_read_as_a_reader_sees_them(text: str, lang: str, values: list[float]) -> None:
    found = numbers_of(text, lang, ["RTX 4090", "Q4_K_M"])
    assert [number.value for number in found] == pytest.approx(values)


@pytest.mark.parametrize("text", ["15 GiB", "128 KiB", "43–62 tokens/s", "612 ms", "0.61 s", "85 %", "16.1 GB"])
def test_what_the_estimate_rounds_to_is_traced_and_another_number_is_not(text: str) -> None:
    pool = Pool(facts_in(ESTIMATE))
    numbers = numbers_of(text, "en", ())
    assert all(pool.holds(number) for number in numbers)
    assert not any(pool.holds(altered(number)) for number in numbers)


@pytest.mark.parametrize("text", ["15 GB", "15 ms", "43 %", "612 GiB"])
def test_the_right_figure_under_another_unit_is_not_traced(text: str) -> None:
    pool = Pool(facts_in(ESTIMATE))
    assert not any(pool.holds(number) for number in numbers_of(text, "en", ()))


def test_an_answer_is_traced_and_its_reason_supported(tmp_path: Path) -> None:
    knowledge = Knowledge(Settings(tmp_path, f"sqlite:///{tmp_path / 'knowledge.db'}", embeddings="off"))
    rows = [{"id": "1", "text": "Does Llama 3.1 8B in bf16 fit on an RTX 4090 with vLLM and 8k context?"}]
    (turn,) = asked(rows, Context(knowledge=knowledge))
    found = list(traced(turn))
    assert len(found) > 15
    assert [each.number.text for each in found if each.origin is None] == []
    assert judged(turn).outcome == "supported"
