"""Models from files: a pasted config.json, the hub, a GGUF header."""

import io
import json
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model_files import Hub, config_in, gguf_config, with_file, without_config
from bot.testing import Conversation
from sizing.errors import UserError

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    "max_position_embeddings": 131072, "torch_dtype": "bfloat16",
}  # fmt: skip


@pytest.fixture(autouse=True)
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub is on this machine: HF_HUB_OFFLINE, where somebody set it, is not meant for it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def _pair(key: str, value: Any) -> bytes:
    if isinstance(value, str):
        return _text(key) + struct.pack("<I", 8) + _text(value)
    if isinstance(value, list) and value and isinstance(value[0], str):
        return _text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))
    if isinstance(value, list):
        return _text(key) + struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
    return _text(key) + struct.pack("<II", 4, value)


def gguf(pairs: dict[str, Any]) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(_pair(key, value) for key, value in pairs.items())


HEADER = {
    "general.architecture": "qwen3", "general.name": "own model", "qwen3.block_count": 36, "qwen3.embedding_length": 2560,
    "qwen3.feed_forward_length": 9728, "qwen3.attention.head_count": 32, "qwen3.attention.head_count_kv": [8, 8],
    "qwen3.attention.key_length": 128, "qwen3.context_length": 40960, "tokenizer.ggml.tokens": ["a", "b", "c"],
}  # fmt: skip


def test_a_gguf_header_gives_the_shape() -> None:
    assert gguf_config(io.BytesIO(gguf(HEADER))) == {
        "model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 2560, "intermediate_size": 9728,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "max_position_embeddings": 40960, "vocab_size": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "content", [b"", b"GGUF", b"PK\x03\x04" * 9, gguf(HEADER)[:200], gguf({}), b"GGUF" + b"\xff" * 60]
)
def test_a_broken_header_is_refused(content: bytes) -> None:
    with pytest.raises(UserError):
        gguf_config(io.BytesIO(content))


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(content: bytes) -> None:
    with pytest.raises(UserError):
        gguf_config(io.BytesIO(b"GGUF" + content))


def test_a_config_is_found_in_a_message_and_its_figures_are_no_wishes() -> None:
    message = f"Does this fit a 4090? {json.dumps(CONFIG, indent=1)} with 8k context {{see above}}"
    assert config_in(message) == CONFIG
    assert without_config(message).split() == "Does this fit a 4090? with 8k context {see above}".split()  # noqa: SIM905


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"a": 1}',
        "{" * 5000,
        '{"hidden_size": ',
        "no braces",
        '{"hidden_size": ' + "9" * 5000 + "}",
        '{"a": ' * 3000 + '{"hidden_size": 1}',
    ],
)
def test_other_braces_are_no_config(text: str) -> None:
    assert config_in(text) is None
    assert without_config(text) == text


def test_a_pasted_config_is_sized() -> None:
    talk = Conversation()
    talk.say(f"Passt das auf eine RTX 4090 mit 8k Kontext? {json.dumps(CONFIG)}").expect(
        "^Ja|^Knapp", spec__context_tokens=8192
    )
    talk.say("und mit 16k Kontext?").expect(spec__context_tokens=16384, spec__model__config=CONFIG)


def test_the_hub_is_off_unless_an_operator_switches_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIZEWISE_HUB", raising=False)
    assert Hub.from_environment() is None
    monkeypatch.setenv("SIZEWISE_HUB", "on")
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example")
    assert Hub.from_environment() == Hub("https://hub.example")


@pytest.mark.parametrize("name", ["", "llama", "../etc/passwd", "a/b/c", "http://x/y", "a b/c"])
def test_only_repository_ids_are_asked_for(name: str) -> None:
    with pytest.raises(UserError, match="repository id"):
        Hub().config(name)


Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def _hub(answer: Answer) -> Iterator[Hub]:
    """A hub of our own on this machine; a request ends when the test does."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            answer(self)

        do_GET = do_HEAD

        def log_message(self, *_: object) -> None:
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Hub(f"http://127.0.0.1:{server.server_port}", timeout_s=0.5)
    finally:
        server.shutdown()
        server.server_close()


def _file(content: bytes, stated: int | None = -1) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        if stated is not None:
            request.send_header("Content-Length", str(len(content) if stated < 0 else stated))
        request.send_header("ETag", '"1"')
        request.send_header("X-Repo-Commit", "0" * 40)
        request.end_headers()
        if request.command == "GET":
            request.wfile.write(content)

    return answer


def _elsewhere(request: BaseHTTPRequestHandler) -> None:
    request.send_response(302)
    request.send_header("Location", "http://internal.example/config.json")
    request.send_header("X-Linked-Size", "10")
    request.send_header("ETag", '"1"')
    request.send_header("X-Repo-Commit", "0" * 40)
    request.send_header("Content-Length", "0")
    request.end_headers()


def _hangs_up(request: BaseHTTPRequestHandler) -> None:
    request.connection.close()


def _refuses(request: BaseHTTPRequestHandler) -> None:
    request.send_error(404)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (_file(b"{", stated=50_000_000), "larger than 2,000,000 bytes"), (_file(b"{", stated=None), "unknown size"),
        (_file(b"<html>"), "is no JSON"), (_file(b"[1]"), "no JSON object"), (_file(b"[" * 100_000), "is no JSON"),
        (_file(b'{"hidden_size": ' + b"9" * 5000 + b"}"), "is no JSON"), (_elsewhere, "on another host"),
        (_hangs_up, "does not give"), (_refuses, "does not give"),
    ],
)  # fmt: skip
def test_whatever_a_hub_answers_is_a_sentence_to_the_user(
    answer: Answer, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with _hub(answer) as hub, pytest.raises(UserError, match=said):
        hub.config("org/model")


def test_a_hub_that_is_not_there_is_a_sentence_too() -> None:
    with pytest.raises(UserError, match="does not give"):
        Hub("http://127.0.0.1:1", timeout_s=0.5).config("org/model")


def test_a_config_comes_from_the_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with _hub(_file(json.dumps(CONFIG).encode())) as hub:
        assert hub.config("org/model") == CONFIG


def test_long_arrays_of_numbers_are_read_over() -> None:
    content = gguf(HEADER | {"qwen3.attention.head_count_kv": [8] * 20_000})
    assert "num_key_value_heads" not in gguf_config(io.BytesIO(content))


@pytest.mark.parametrize(
    ("question", "weights"),
    [("Does it fit an RTX 4090 at 8k?", "q4_k_m"), ("Does it fit an RTX 4090 in Q8_0 at 8k?", "q8_0")],
)
def test_a_file_of_ones_own_is_sized(question: str, weights: str, tmp_path: Path) -> None:
    path = tmp_path / "my-model-Q4_K_M.gguf"
    path.write_bytes(gguf(HEADER | {"tokenizer.ggml.tokens": ["a"] * 151_936}))
    shape = gguf_config(io.BytesIO(path.read_bytes()))
    talk = Conversation().say(with_file(question, path))
    talk.expect("^Yes", spec__weights=weights, spec__model__config=shape)


def test_a_config_of_ones_own_is_sized(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    assert config_in(with_file("Passt das?", path)) == CONFIG


@pytest.mark.parametrize("content", [None, b"", b"{", b"[1]", b'{"a": 1}', b"GGUF", b"\xff" * 100])
def test_a_file_that_describes_no_model_is_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError):
        with_file("Fits?", path)
