"""From a sized deployment over its load test to the pasted result: read back, and held against the estimate for that very load."""

from __future__ import annotations

import pytest

from bot.answer import Answer
from bot.conversation import respond
from bot.thread import Context, ThreadState

VLLM = """============ Serving Benchmark Result ============
Successful requests:                     160
Maximum request concurrency:             16
Benchmark duration (s):                  152.30
Total input tokens:                      320000
Total generated tokens:                  80000
Request throughput (req/s):              1.05
Output token throughput (tok/s):         {total}
Total Token throughput (tok/s):          2626.50
---------------Time to First Token----------------
Mean TTFT (ms):                          812.10
Median TTFT (ms):                        799.00
P99 TTFT (ms):                           1900.00
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          {tpot}
=================================================="""

SGLANG = """============ Serving Benchmark Result ============
Backend:                                 sglang
Traffic request rate:                    inf
Max request concurrency:                 16
Successful requests:                     160
Benchmark duration (s):                  150.00
Total input tokens:                      320000
Total generated tokens:                  80000
Request throughput (req/s):              1.07
Input token throughput (tok/s):          2133.33
Output token throughput (tok/s):         533.33
Concurrency:                             15.80
---------------Time to First Token----------------
Mean TTFT (ms):                          700.00
---------------Inter-Token Latency----------------
Mean ITL (ms):                           28.10
=================================================="""

GENAI = """                              NVIDIA GenAI-Perf | LLM Metrics
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━┳━━━━━━━━━━━┳━━━━━━━━━━━┓
┃                            Statistic ┃       avg ┃       min ┃       max ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━╇━━━━━━━━━━━╇━━━━━━━━━━━┩
│             Time To First Token (ms) │    812.10 │    120.10 │  1,900.00 │
│            Time To Second Token (ms) │     28.10 │     20.10 │     60.00 │
│                 Request Latency (ms) │ 14,862.10 │ 12,000.00 │ 16,000.00 │
│             Inter Token Latency (ms) │     28.10 │     24.10 │     40.00 │
│      Output Sequence Length (tokens) │    500.00 │    498.00 │    502.00 │
│       Input Sequence Length (tokens) │  2,000.00 │  2,000.00 │  2,000.00 │
│ Output Token Throughput (tokens/sec) │    533.00 │       N/A │       N/A │
│         Request Throughput (per sec) │      1.07 │       N/A │       N/A │
│                Request Count (count) │    160.00 │       N/A │       N/A │
└──────────────────────────────────────┴───────────┴───────────┴───────────┘"""

LLAMA_BENCH = """| model                          |       size |     params | backend | ngl | fa |         test |               t/s |
| ------------------------------ | ---------: | ---------: | ------- | --: | -: | -----------: | ----------------: |
| qwen3 32B Q4_K - Medium        |  18.40 GiB |    32.76 B | CUDA    |  65 |  1 |        pp512 |       2451.30 ± 8.20 |
| qwen3 32B Q4_K - Medium        |  18.40 GiB |    32.76 B | CUDA    |  65 |  1 |        tg128 |         {rate} ± 0.05 |
"""

BATCHED = """|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |
|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|
|   512 |    128 |    1 |    640 |    0.220 |  2327.27 |    3.400 |    37.65 |    3.620 |   176.80 |
|   512 |    128 |    4 |   2560 |    0.900 |  2275.56 |    4.600 |   111.30 |    5.500 |   465.45 |
"""

OLLAMA = """total duration:       9.1s
load duration:        41.2ms
prompt eval count:    24 token(s)
prompt eval duration: 61ms
prompt eval rate:     393.44 tokens/s
eval count:           310 token(s)
eval duration:        8.9s
eval rate:            {rate} tokens/s
"""

SERVED = "Llama 3.3 70B fp8 on 2x H100 with {engine}, 16 concurrent, 2k in 500 out"
LOCAL = "Qwen3-32B q4_k_m with {engine} on an RTX 4090, 4k context"


def pasted(question: str, result: str) -> tuple[Answer, Answer, Answer]:
    """(the sizing, its load test, the answer to the result)."""
    sized, thread = respond(question, ThreadState(), Context())
    plan, thread = respond("load test", thread, Context())
    answer, _ = respond(result, thread, Context())
    return sized, plan, answer


def said(answer: Answer) -> str:
    return " ".join((answer.headline, answer.lead, *(part.text for part in answer.paragraphs))).replace("\xa0", " ")


@pytest.mark.parametrize(
    ("question", "result", "command", "observed"),
    [
        (SERVED.format(engine="vLLM"), VLLM.format(total="525.30", tpot="28.10"), "vllm bench serve", "525"),
        (SERVED.format(engine="SGLang"), SGLANG, "sglang.bench_serving", "533"),
        (SERVED.format(engine="vLLM"), GENAI, "genai-perf profile", "533"),
        (LOCAL.format(engine="llama.cpp"), LLAMA_BENCH.format(rate="38.20"), "llama-bench", "38.2"),
        (LOCAL.format(engine="llama.cpp") + ", 4 concurrent", BATCHED, "llama-batched-bench", "111"),
        (LOCAL.format(engine="ollama"), OLLAMA.format(rate="34.80"), "ollama run", "34.8"),
    ],
    ids=["vllm", "sglang", "genai-perf", "llama-bench", "llama-batched-bench", "ollama"],
)
def test_a_result_is_held_against_the_estimate(question: str, result: str, command: str, observed: str) -> None:
    _, plan, answer = pasted(question, result)
    assert any(command in one.code.replace(" \\\n ", "") for one in plan.commands)
    compared = next(part.text for part in answer.paragraphs if part.title == "Against the estimate:")
    assert observed in compared
    assert answer.unverified_numbers == ()


def test_what_is_expected_is_expected_for_the_load_that_was_sent() -> None:
    """Sized for one request, measured with sixteen: the comparison is for sixteen requests of those lengths."""
    sized, _, answer = pasted("Llama 3.3 70B fp8 on 2x H100", VLLM.format(total="525.30", tpot="28.10"))
    assert sized.estimates[0]["speed"]["in_flight"] == 1
    speed = answer.estimates[0]["speed"]
    assert (speed["in_flight"], speed["input_tokens"], speed["output_tokens"]) == (16, 2000, 500)
    assert "16 requests at once with 2,000 tokens of input and 500 of output" in said(answer)


def test_a_result_far_below_is_told_to_be_slow_and_one_within_is_not() -> None:
    slow = pasted(SERVED.format(engine="vLLM"), VLLM.format(total="110.00", tpot="140.00"))[2]
    usual = pasted(SERVED.format(engine="vLLM"), VLLM.format(total="525.30", tpot="28.10"))[2]
    assert slow.headline != usual.headline
    assert "RAM" not in slow.headline and "slower" in slow.headline


def test_a_pasted_result_changes_nothing_of_the_thread() -> None:
    """The result names a model, lengths and cards of its own; a later change still applies to what was sized."""
    _, thread = respond(LOCAL.format(engine="llama.cpp"), ThreadState(), Context())
    before = thread.last_sized
    _, thread = respond(LLAMA_BENCH.format(rate="38.20"), thread, Context())
    after, _ = respond("and with 16k context?", thread, Context())
    assert before is not None and after.specs[0] == {**before.specs[0], "context_tokens": 16384}


def test_a_result_is_answered_in_the_language_of_the_thread() -> None:
    _, thread = respond("Llama 3.3 70B fp8 auf 2x H100 mit vLLM, 16 gleichzeitig", ThreadState(), Context())
    answer, _ = respond(VLLM.format(total="525.30", tpot="28.10"), thread, Context())
    assert answer.lang == "de" and "Gerechnet für 16 Anfragen" in said(answer)


def test_the_plan_names_its_thresholds() -> None:
    sized, plan, _ = pasted(SERVED.format(engine="vLLM"), VLLM.format(total="525.30", tpot="28.10"))
    rate = sized.estimates[0]["speed"]["output_tok_s_total"]
    assert f"{rate['low']:.0f}–{rate['high']:.0f} tokens/s in total" in said(plan)
    assert "2,000 tokens of input and 500 of output" in said(plan) and "Paste the result" in said(plan)
    assert plan.unverified_numbers == ()


@pytest.mark.parametrize(
    ("text", "line", "start"),
    [
        ("Lasttest für Llama 3.1 8B BF16 auf L40S mit vLLM, 32 gleichzeitig, 1024 rein, 256 raus: Befehl und Schwellen bitte",
         ("vllm bench serve", "--random-input-len 1024", "--max-concurrency 32"), "So lässt sich Llama 3.1 8B"),
        ("Give me a load test for Qwen3 32B FP8 on 2x H100 at 4 requests per second, 1000 in 300 out",
         ("vllm bench serve", "--request-rate 4", "--random-output-len 300"), "This measures Qwen3-32B"),
        ("Wie kann ich Llama 3.3 70B Q4_K_M auf 2x RTX 3090 mit llama-bench nachmessen?",
         ("llama-bench", "-n 256"), "So lässt sich Llama 3.3 70B"),
        ("Which GPU for Qwen3 32B for 20 concurrent users at 16k, and the load test command for it?",
         ("vllm bench serve", "--max-concurrency 20"), "This measures Qwen3-32B"),
    ],
)  # fmt: skip
def test_a_load_test_may_be_asked_for_at_once(text: str, line: tuple[str, ...], start: str) -> None:
    answer = respond(text, ThreadState(), Context())[0]
    codes = " ".join(command.code for command in answer.commands).replace("\\\n", " ")
    assert all(part in " ".join(codes.split()) for part in line)
    assert answer.headline.startswith(start)
    assert any(part.title in ("Sollwerte:", "What it should show:") for part in answer.paragraphs)
    assert answer.unverified_numbers == ()


def test_a_load_test_at_a_rate_caps_nothing() -> None:
    answer = respond("Load test for Qwen3 32B FP8 on 2x H100 at 4 requests per second", ThreadState(), Context())[0]
    assert "--max-concurrency" not in answer.commands[0].code
