"""Launch and load-test lines: they parse as a shell would, and carry the values of the spec."""

import shlex
from typing import Any

import pytest

from sizing.commands import LaunchCommand, launch, load_test
from sizing.engine import estimate
from sizing.spec import parse_spec


def _spec(engine: dict[str, Any] | str, **fields: Any) -> dict[str, Any]:
    named = {"name": engine} if isinstance(engine, str) else engine
    base = {"model": {"id": "meta-llama/Llama-3.1-8B-Instruct"}, "context_tokens": 16384, "concurrency": 4}
    return base | {"engine": named, "hardware": [{"accelerator": "RTX 4090", "count": 2}]} | fields


def _lines(data: dict[str, Any]) -> tuple[LaunchCommand, ...]:
    spec = parse_spec(data)
    return launch(spec, estimate(spec))


LAUNCHES = [
    (
        _spec({"name": "vllm", "gpu_memory_utilization": 0.92, "max_num_batched_tokens": 8192}, kv_cache="fp8", weights="fp8"),
        "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 16384 --max-num-seqs 4 --gpu-memory-utilization 0.92"
        " --tensor-parallel-size 2 --kv-cache-dtype fp8 --quantization fp8 --max-num-batched-tokens 8192",
    ),
    (
        _spec({"name": "vllm", "speculative": {"method": "eagle", "tokens": 3, "model": "org/draft"}, "enforce_eager": True}),
        "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 16384 --max-num-seqs 4 --tensor-parallel-size 2 --enforce-eager"
        ' --speculative-config \'{"method": "eagle", "num_speculative_tokens": 3, "model": "org/draft"}\'',
    ),
    (
        _spec({"name": "sglang", "gpu_memory_utilization": 0.85}, kv_cache="fp8"),
        "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct --context-length 16384"
        " --max-running-requests 4 --mem-fraction-static 0.85 --tp-size 2 --kv-cache-dtype fp8_e4m3",
    ),
    (
        _spec("trt-llm", kv_cache="fp8"),
        "trtllm-serve meta-llama/Llama-3.1-8B-Instruct --max_seq_len 16384 --max_batch_size 4 --tp_size 2"
        " --extra_llm_api_options extra_llm_api_options.yaml",
    ),
    (
        _spec({"name": "llama.cpp", "ubatch_tokens": 1024, "flash_attention": True}, weights="q4_k_m", kv_cache="q8_0"),
        "llama-server -m Llama-3.1-8B-Instruct-Q4_K_M.gguf -c 65536 -np 4 -ngl 33 -fa on -ctk q8_0 -ctv q8_0 -ub 1024",
    ),
    (
        _spec(
            {"name": "llama.cpp", "cpu_moe_layers": 20, "gpu_layers": 99, "tensor_overrides": r"blk\.(3|4)\.ffn_.*_exps=CPU"},
            model={"id": "Qwen3-30B-A3B"},
            weights="q4_k_m",
        ),
        "llama-server -m Qwen3-30B-A3B-Q4_K_M.gguf -c 65536 -np 4 -ngl 99 --n-cpu-moe 20"
        r" -ot 'blk\.(3|4)\.ffn_.*_exps=CPU' -fa on",
    ),
    (
        _spec("ollama", weights="q4_k_m", kv_cache="q8_0"),
        "OLLAMA_CONTEXT_LENGTH=16384 OLLAMA_NUM_PARALLEL=4 OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve",
    ),
    (
        _spec("exllamav2", weights="exl2-4.65bpw", kv_cache="q8_0"),
        "python main.py --model-name Llama-3.1-8B-Instruct --max-seq-len 16384 --cache-size 65536 --cache-mode Q8"
        " --max-batch-size 4",
    ),
    (
        _spec("tgi", hardware=[{"accelerator": "L40S"}]),
        "text-generation-launcher --model-id meta-llama/Llama-3.1-8B-Instruct --max-total-tokens 16384"
        " --max-concurrent-requests 4",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "expected"), LAUNCHES, ids=[str(row[0]["engine"]["name"]) + str(n) for n, row in enumerate(LAUNCHES)]
)
def test_launch_line_carries_the_values(data: dict[str, Any], expected: str) -> None:
    command = _lines(data)[0]
    assert command.line == expected
    words = shlex.split(command.line)
    assert words[len(command.env) :] == list(command.argv)
    assert shlex.split(command.wrapped.replace("\\\n", " ")) == words


def test_ollama_model_file_holds_context_and_layers() -> None:
    spec = parse_spec(_spec({"name": "ollama", "gpu_layers": 20}, weights="q4_k_m"))
    _, create = launch(spec, estimate(spec))
    assert create.files == (
        ("Modelfile", "FROM ./Llama-3.1-8B-Instruct-Q4_K_M.gguf\nPARAMETER num_ctx 16384\nPARAMETER num_gpu 20\n"),
    )


def test_offload_that_would_fit_is_in_the_line() -> None:
    data = _spec(
        "llama.cpp",
        model={"id": "Llama 3.3 70B"},
        weights="q4_k_m",
        concurrency=1,
        hardware=[{"accelerator": "RTX 4090"}],
    )
    spec = parse_spec(data)
    made = estimate(spec)
    found = next(w for w in made.warnings if w.code == "offload_would_fit")
    words = launch(spec, made)[0].argv
    assert words[words.index("-ngl") + 1] == str(found.params["gpu_layers"])


@pytest.mark.parametrize(
    ("weights", "programs"), [("mlx-6bit", ["sudo", "mlx_lm.server"]), ("mlx-4bit", ["mlx_lm.server"])]
)
def test_wired_limit_is_raised_only_where_it_is_needed(weights: str, programs: list[str]) -> None:
    data = _spec("mlx", model={"id": "Llama 3.3 70B"}, weights=weights, hardware=[{"accelerator": "M4 Max 64GB"}])
    assert [command.argv[0] for command in _lines(data | {"context_tokens": 2048, "concurrency": 1})] == programs


LOAD_TESTS = [
    (
        _spec("vllm", input_tokens=1024, output_tokens=128, load={"rate_rps": 2.5, "requests": 200}),
        [
            "vllm bench serve --model meta-llama/Llama-3.1-8B-Instruct --base-url http://localhost:8000 --dataset-name random"
            " --random-input-len 1024 --random-output-len 128 --num-prompts 200 --max-concurrency 4 --request-rate 2.5",
            "genai-perf profile -m meta-llama/Llama-3.1-8B-Instruct --endpoint-type chat --streaming --url localhost:8000"
            " --synthetic-input-tokens-mean 1024 --synthetic-input-tokens-stddev 0 --output-tokens-mean 128"
            " --request-rate 2.5 --request-count 200",
        ],
    ),
    (
        _spec({"name": "llama.cpp", "batch_tokens": 4096}, weights="q4_k_m", input_tokens=512, output_tokens=64, prior_context_tokens=8192),
        [
            "llama-bench -m Llama-3.1-8B-Instruct-Q4_K_M.gguf -p 512 -n 64 -d 8192 -ngl 33 -fa on -b 4096",
            "llama-batched-bench -m Llama-3.1-8B-Instruct-Q4_K_M.gguf -c 65536 -npp 512 -ntg 64 -npl 4 -ngl 33",
        ],
    ),
]  # fmt: skip


def test_a_load_test_sends_the_lengths_that_the_speed_holds_for() -> None:
    """Without lengths said the estimate takes a context as half full; so does the load that is to confirm it."""
    for engine in ("vllm", "sglang", "llama.cpp"):
        spec = parse_spec(_spec(engine, **({"weights": "q4_k_m"} if engine == "llama.cpp" else {})))
        made = estimate(spec)
        assert made.speed is not None
        sent = {str(made.speed.input_tokens), str(made.speed.output_tokens)}
        assert all(sent <= set(command.argv) for command in load_test(spec, made))


@pytest.mark.parametrize(
    ("engine", "line"),
    [
        ("ollama", "ollama run llama-3.1-8b-instruct --verbose"),
        ("sglang", "python -m sglang.bench_serving --backend sglang"),
        ("mlx", "--base-url http://localhost:8080"),
    ],
)
def test_the_load_goes_to_the_engine_that_was_sized(engine: str, line: str) -> None:
    spec = parse_spec(_spec(engine))
    assert any(line in command.line for command in load_test(spec, estimate(spec)))


@pytest.mark.parametrize(("data", "expected"), LOAD_TESTS, ids=["vllm", "llama.cpp"])
def test_load_test_sends_what_was_sized(data: dict[str, Any], expected: list[str]) -> None:
    spec = parse_spec(data)
    commands = load_test(spec, estimate(spec))
    assert [command.line for command in commands] == expected
    assert all(shlex.split(command.line) == list(command.argv) for command in commands)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trt-llm", "tgi", "lmdeploy", "llama.cpp", "ik_llama.cpp", "ollama", "lm-studio",
                                    "mlx", "exllamav2", "exllamav3", "mlc-llm"])  # fmt: skip
def test_every_engine_has_lines_that_parse(engine: str) -> None:
    spec = parse_spec(_spec(engine))
    made = estimate(spec)
    commands = launch(spec, made) + load_test(spec, made)
    assert commands
    assert all(shlex.split(command.line) for command in commands)
