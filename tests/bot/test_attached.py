"""What is read of a file: as if it had been pasted, within what a question may hold, and a reason where it is not."""

from __future__ import annotations

import codecs
import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answer import Answer, Lang
from bot.attached import MAX_CHARACTERS, MOST_CHARS, Attached, Content, Unread, enclosed
from bot.testing import Conversation

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    "max_position_embeddings": 131072, "torch_dtype": "bfloat16",
}  # fmt: skip
STARTUP = """Initializing a V1 LLM engine (v0.9.2) with config: model='Qwen/Qwen3-32B-FP8', tensor_parallel_size=2, max_seq_len=32768
Available KV cache memory: 22.10 GiB
GPU KV cache size: 181,040 tokens"""
SERVING = (
    "Avg prompt throughput: 512.3 tokens/s, Avg generation throughput: 210.4 tokens/s, Running: 8 reqs, "
    "Waiting: 3 reqs, GPU KV cache usage: 91.2%"
)


def _string(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(layers: int = 36, vocabulary: int = 3) -> bytes:
    """The header of a GGUF file whose vocabulary comes last, as it does in files that are in use."""
    figures = {
        "block_count": layers, "embedding_length": 2560, "feed_forward_length": 9728, "attention.head_count": 32,
        "attention.head_count_kv": 8, "attention.key_length": 128, "context_length": 40960,
    }  # fmt: skip
    pairs = [_string("general.architecture") + struct.pack("<I", 8) + _string("qwen3")]
    pairs += [_string(f"qwen3.{name}") + struct.pack("<II", 4, value) for name, value in figures.items()]
    words = b"".join(_string(f"word{n}") for n in range(vocabulary))
    pairs.append(_string("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, vocabulary) + words)
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs)


def whole(name: str, content: bytes) -> Content:
    return Content(name, len(content), content)


def read(question: str, *contents: Content) -> Any:
    return enclosed(question, Attached(contents))


CONFIG_FILE = whole("config.json", json.dumps(CONFIG, indent=2).encode())


@pytest.mark.parametrize(
    ("content", "question", "kind", "pasted"),
    [
        (CONFIG_FILE, "fits a 4090?", "config", json.dumps(CONFIG)),
        (whole("config.json", codecs.BOM_UTF8 + CONFIG_FILE.beginning), "fits?", "config", json.dumps(CONFIG)),
        (whole("Own-Q4_K_M.gguf", gguf()), "fits a 4090?", "gguf", 'Q4_K_M {"model_type": "qwen3"'),
        (whole("Own-Q4_K_M.gguf", gguf()), "in q8_0?", "gguf", 'in q8_0?\n{"model_type": "qwen3"'),
        (whole("without-an-ending", gguf()), "fits a 4090?", "gguf", '"num_hidden_layers": 36'),
        (whole("vllm.log", STARTUP.encode()), "why?", "text", STARTUP),
        (whole("smi.txt", "GPU 0: Grafikkarte für uns".encode("utf-16")), "why?", "text", "Grafikkarte für uns"),
        (whole("smi.txt", "Grafikkarte für uns".encode("cp1252")), "why?", "text", "Grafikkarte für uns"),
        (whole("colour.log", b"\x1b[32mINFO\x1b[0m Available KV cache memory: 22.10 GiB\r\n"), "why?", "text",
         "INFO Available KV cache memory: 22.10 GiB"),
        (whole("result.json", b'{"total_token_throughput": 812.1}'), "good?", "text", '{"total_token_throughput": 812.1}'),
    ],
)  # fmt: skip
def test_what_a_file_holds_is_read_as_if_pasted(content: Content, question: str, kind: str, pasted: str) -> None:
    found = read(question, content)
    assert [part.kind for part in found.told] == [kind]
    assert found.text.startswith(question) and pasted in found.text


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (whole("a.json", b'{"text_config": 5, "hidden_size": 64}'), "“a.json”"),
        (whole("a.json", b'{"llm_config": true, "num_hidden_layers": true}'), "? layers"),
        (whole("a.json", b'{"num_hidden_layers": ' + b"9" * 4_000 + b"}"), "? layers"),
        (whole("a.json", b'{"num_hidden_layers": 2, "model_type": "<!here> \\u202e*x*"}'), "!here x"),
        (whole("lo\x07g\u202etxt.\ud800\nx", b"1 GPU"), "“lo g txt. x”"),
        (whole("<!channel> <@U1|x>`*~", b"1 GPU"), "“!channel @U1|x”"),
    ],
)
def test_what_is_told_of_a_file_is_plain_text_of_its_own_length(content: Content, shown: str) -> None:
    said = read("fits?", content).says("en")
    assert shown in said and len(said) < 400
    assert not any(sign in said for sign in "<>`*~\u202e\ud800\n")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (whole("screen.dat", b"\x89PNG\r\n\x1a\n\x00\x00"), "kind"),
        (whole("blank.txt", b" \n\n"), "kind"),
        (whole("damaged.gguf", b"GGUF" + b"\xff" * 100), "damaged"),
        (whole("short.gguf", gguf()[:40]), "damaged"),
        (whole("nothing.gguf", b"GGUF" + struct.pack("<IQQ", 3, 0, 0)), "damaged"),
        (Content("config.json", 3_000_000, b'{"a": 1, ' + b" " * 500_000), "large"),
    ],
)
@pytest.mark.parametrize("lang", ["de", "en"])
def test_what_cannot_be_read_says_why(content: Content, reason: str, lang: Lang) -> None:
    found = read("fits?", content)
    assert found.text == "fits?"
    assert found.told == (Unread(content.name, reason),)
    assert f"{content.name}“" in found.says("de") and f"“{content.name}”" in found.says("en")
    assert found.stands_in(Answer(id="a", lang=lang, intent="fits", headline="Yes")).paragraphs[0].text == found.says(
        lang
    )


def test_one_models_file_is_read_with_a_question() -> None:
    second = whole("other.json", json.dumps(CONFIG | {"num_hidden_layers": 40}).encode())
    found = read("fits a 4090?", CONFIG_FILE, second)
    assert [part.name for part in found.told] == ["config.json", "other.json"]
    assert found.told[1] == Unread("other.json", "second")
    assert '"num_hidden_layers": 40' not in found.text
    assert read(json.dumps(CONFIG), second).told == (Unread("other.json", "second"),)


def test_of_a_long_log_beginning_end_and_what_tells_are_read() -> None:
    noise = "\n".join(f"GET /health number {n} from 10.0.0.{n % 256}" for n in range(40_000))
    log = "\n".join(("first line", noise, STARTUP, noise, SERVING, noise, "last line"))
    found = read("why is it slow?", whole("vllm.log", log.encode()))
    assert [part.kind for part in found.told] == ["cut"]
    assert len(found.text) <= MOST_CHARS + 100
    for line in ("first line", *STARTUP.splitlines(), SERVING, "last line"):
        assert line in found.text
    assert found.text.index("first line") < found.text.index("KV cache size") < found.text.index("last line")


def test_the_ends_of_what_was_fetched_in_two_pieces_are_whole_lines() -> None:
    content = Content("serving.log", 9_000_000, b"starts here\nhalf a li", b"lf a line\nends here\n")
    found = read("why?", content)
    assert found.text.splitlines() == ["why?", "starts here", "ends here"]


def test_a_header_that_was_cut_within_its_vocabulary_is_enough() -> None:
    header = gguf(vocabulary=5_000)
    cut = Content("big.gguf", 10**9, header[: len(header) // 2])
    assert '"num_hidden_layers": 36' in read("fits?", cut).text


def test_lists_of_tensors_are_left_out_where_they_are_too_long() -> None:
    layers = ["full_attention"] * 61
    config = CONFIG | {
        "layer_types": layers,
        "quantization_config": {"bits": 8, "ignore": ["model.layers.0.mlp.gate"] * 4_000},
    }
    found = read("fits?", whole("config.json", json.dumps(config).encode()))
    assert json.loads(found.text.partition("\n")[2]) == CONFIG | {
        "layer_types": layers,
        "quantization_config": {"bits": 8},
    }


@given(st.lists(st.tuples(st.text(max_size=20), st.binary(max_size=2_000)), max_size=4), st.text(max_size=100))
def test_no_file_breaks_a_question(files: list[tuple[str, bytes]], question: str) -> None:
    found = read(question, *(whole(name, content) for name, content in files))
    assert len(found.told) == len(files)
    assert len(found.text) <= MAX_CHARACTERS
    assert all(found.says(lang).strip() for lang in ("de", "en")) or not files


@pytest.mark.parametrize(
    ("question", "content", "patterns"),
    [
        ("Does it fit on an RTX 4090 in fp8 with 8k?", CONFIG_FILE, (r"^Yes", r"8\.0\d? ?B|GiB")),
        ("Passt das in fp8 mit 8k auf eine RTX 4090?", CONFIG_FILE, (r"^Ja", r"GiB")),
        ("What is the bottleneck on 2x L40S?", whole("vllm.log", f"{STARTUP}\n{SERVING}".encode()), (r"queue",)),
        ("Woran liegt es auf 2x L40S?", whole("vllm.log", f"{STARTUP}\n{SERVING}".encode()), (r"Schlange",)),
    ],
)  # fmt: skip
def test_a_file_answers_as_what_was_pasted(question: str, content: Content, patterns: tuple[str, ...]) -> None:
    from_file, pasted = Conversation(), Conversation()
    said = from_file.say(read(question, content).text).expect(*patterns)
    assert said.text.replace(said.answer.id, "") == pasted.say(
        f"{question}\n{content.beginning.decode()}"
    ).text.replace(pasted.thread.turns[-1].text[:0], "")
