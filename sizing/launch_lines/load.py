"""Load-test lines that send what the estimate was made for: lengths, concurrency and rate."""

from __future__ import annotations

from sizing.estimate import Estimate
from sizing.launch_lines.command import LaunchCommand, Words, start
from sizing.launch_lines.local import cache_formats, file_name, placement
from sizing.memory.local.settings import llama_settings, since
from sizing.resolve import Resolved
from sizing.speed.workload import work

_PROMPTS_PER_SLOT = 10


# Where the servers listen unless told otherwise.
_PORTS = {"sglang": 30000, "llama.cpp": 8080, "ik_llama.cpp": 8080, "ollama": 11434, "lm-studio": 1234, "mlx": 8080, "lmdeploy": 23333,
          "tgi": 8080, "exllamav2": 5000, "exllamav3": 5000}  # fmt: skip
_USUAL_PORT = 8000


def lengths(resolved: Resolved) -> tuple[int, int]:
    """(input, output) tokens of a request, as the speed was estimated for."""
    load = work(resolved)
    return max(1, load.input_tokens), max(1, load.output_tokens)


def _url(resolved: Resolved) -> str:
    return f"localhost:{_PORTS.get(resolved.engine.name, _USUAL_PORT)}"


def _requests(resolved: Resolved) -> int:
    return resolved.spec.load.requests or _PROMPTS_PER_SLOT * resolved.concurrency


def vllm_bench(resolved: Resolved) -> LaunchCommand:
    """`vllm bench serve`, against any OpenAI-compatible server."""
    given, output = lengths(resolved)
    words = start(
        "vllm", "bench", "serve", "--model", resolved.architecture.id, "--base-url", f"http://{_url(resolved)}"
    )
    _random_load(resolved, words, given, output)
    words.option("--random-prefix-len", resolved.spec.load.shared_prefix_tokens)
    return LaunchCommand("vllm", "load_test", tuple(words.words))


def sglang_bench(resolved: Resolved) -> LaunchCommand:
    """`python -m sglang.bench_serving`."""
    given, output = lengths(resolved)
    words = start("python", "-m", "sglang.bench_serving", "--backend", "sglang", "--model", resolved.architecture.id)
    _random_load(resolved, words, given, output)
    return LaunchCommand("sglang", "load_test", tuple(words.words))


def _random_load(resolved: Resolved, words: Words, given: int, output: int) -> None:
    words.option("--dataset-name", "random").option("--random-input-len", given).option("--random-output-len", output)
    words.option("--num-prompts", _requests(resolved))
    if resolved.spec.load.rate_rps is None or resolved.spec.concurrency:
        words.option("--max-concurrency", resolved.concurrency)  # else a cap would hold back what arrives in a crowd
    words.option("--request-rate", resolved.spec.load.rate_rps)


def genai_perf(resolved: Resolved) -> LaunchCommand:
    """`genai-perf profile`, against any OpenAI-compatible server; its successor `aiperf` takes the same options."""
    given, output = lengths(resolved)
    words = start("genai-perf", "profile", "-m", resolved.architecture.id, "--endpoint-type", "chat", "--streaming")
    words.option("--url", _url(resolved)).option("--synthetic-input-tokens-mean", given)
    words.option("--synthetic-input-tokens-stddev", 0).option("--output-tokens-mean", output)
    if resolved.spec.load.rate_rps is None:
        words.option("--concurrency", resolved.concurrency)
    else:
        words.option("--request-rate", resolved.spec.load.rate_rps)
    words.option("--request-count", _requests(resolved))
    return LaunchCommand("genai-perf", "load_test", tuple(words.words), notes=("aiperf_takes_the_same",))


def llama_bench(resolved: Resolved, estimate: Estimate) -> LaunchCommand:
    """`llama-bench` for one sequence: prompt, generation, and depth where tokens are already cached."""
    settings, asked = llama_settings(resolved), resolved.spec.engine
    given, output = lengths(resolved)
    words = start("llama-bench", "-m", file_name(resolved)).option("-p", given).option("-n", output)
    words.option("-d", resolved.prior_tokens or None)
    placement(resolved, estimate, words, is_bench=True)
    words.option("-fa", _flash(resolved, settings.flash, is_ik=settings.is_ik))
    cache_formats(resolved, words)
    words.option("-b", asked.batch_tokens).option("-ub", asked.ubatch_tokens)
    return LaunchCommand(resolved.engine.name, "load_test", tuple(words.words), notes=("name_your_file",))


def _flash(resolved: Resolved, flash: bool, *, is_ik: bool) -> str:
    """`llama-bench` took 0 and 1 until June 2026 (llama.cpp pull request 23714), and ik_llama.cpp's still does."""
    if is_ik or not since(resolved.engine, "2026-06", 9450):
        return "1" if flash else "0"
    return "on" if flash else "off"


def llama_batched_bench(resolved: Resolved, estimate: Estimate) -> LaunchCommand:
    """`llama-batched-bench` for several sequences at once."""
    given, output = lengths(resolved)
    total = resolved.spec.engine.total_context_tokens or resolved.context_tokens * resolved.concurrency
    words = start("llama-batched-bench", "-m", file_name(resolved)).option("-c", total)
    words.option("-npp", given).option("-ntg", output).option("-npl", resolved.concurrency)
    placement(resolved, estimate, words)
    cache_formats(resolved, words)
    return LaunchCommand(resolved.engine.name, "load_test", tuple(words.words), notes=("name_your_file",))


def ollama_run(resolved: Resolved) -> LaunchCommand:
    """`ollama run --verbose` prints the rates of one answer; `lengths` of it are up to the prompt."""
    name = resolved.architecture.id.rpartition("/")[2].lower()
    words = start("ollama", "run", name, "--verbose", _TASK)
    return LaunchCommand("ollama", "load_test", tuple(words.words), notes=("name_your_model",))


_TASK = "Explain in about three hundred words how a heat pump works."


def load_tests(resolved: Resolved, estimate: Estimate) -> tuple[LaunchCommand, ...]:
    """The load tests that suit an engine."""
    name = resolved.engine.name
    if name in ("llama.cpp", "ik_llama.cpp"):
        one = llama_bench(resolved, estimate)
        return (one, llama_batched_bench(resolved, estimate)) if resolved.concurrency > 1 else (one,)
    if name == "ollama":
        one = ollama_run(resolved)
        return (one, genai_perf(resolved)) if resolved.concurrency > 1 else (one,)
    if name == "sglang":
        return sglang_bench(resolved), genai_perf(resolved)
    return vllm_bench(resolved), genai_perf(resolved)
