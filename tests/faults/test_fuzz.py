"""Bad inputs by the hundred: understanding, logs, blocks, request bodies. No exception, every message within Slack's limits."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.answer import Answer, Paragraph, Table
from bot.reply.blocks import render
from bot.slack.reading import Identity, Message, message_of
from bot.slack.shape import malformed
from bot.understand.read import read, read_thread
from playground.blocks import check_blocks

_FRAGMENTS = st.sampled_from(
    [
        "Llama 3.3 70B", "2x4090", "q4_k_m", "32k", "x10", "H100", "für 50 Leute", "under $2,000", "bf16", "≥", "½", "10^9",
        "0 GPUs", "-5", "1e400", "999999999999999999999 users", "nan", "ⅫB", "٣٢k", "\u202e", "\x00", "`", "<!channel>",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 99999999 GiB", "llama_model_load: error", "| a | b |",
        "nvidia-smi", "{\"a\":", "CUDA error", "4090" * 50, "x" * 3000, "/", "vs", "statt", "und mit fp8?", "\n" * 40,
    ]
)  # fmt: skip
_TEXTS = st.one_of(st.text(max_size=400), st.lists(_FRAGMENTS, max_size=8).map(" ".join))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["type", "event", "team", "user", "channel", "ts", "text", "actions", "authorizations", "x"]),
        inner, max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip
_ME = Identity("T1", "U0", "B0")
_FEW = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@_FEW
@given(_TEXTS)
def test_whatever_is_asked_is_read(text: str) -> None:
    read(text)


@settings(_FEW, max_examples=40)
@given(st.lists(_TEXTS, min_size=2, max_size=4))
def test_whatever_thread_is_read(texts: list[str]) -> None:
    assert len(read_thread(texts)) == len(texts)


@_FEW
@given(_TEXTS, _TEXTS, st.lists(st.lists(_TEXTS, min_size=2, max_size=2), max_size=5))
def test_whatever_is_answered_slack_takes(headline: str, text: str, rows: list[list[str]]) -> None:
    answer = Answer(
        id="a", lang="en", intent="fits", headline=headline or "-", lead=text,
        table=Table(caption="c", columns=("a", "b"), rows=tuple(map(tuple, rows))),
        paragraphs=(Paragraph(kind="why", title=headline[:60], text=text),),
    )  # fmt: skip
    for message in render(answer).messages:
        assert check_blocks(list(message.blocks)) == []


@_FEW
@given(_JSON)
def test_whatever_is_sent_is_judged(body: object) -> None:
    raw = json.dumps(body).encode()
    wrong = malformed(raw, "application/json")
    if wrong is None and isinstance(body, dict) and body.get("type") == "event_callback":
        assert isinstance(message_of(body, _ME), Message | str)


@_FEW
@given(st.binary(max_size=300), st.sampled_from(["application/json", "application/x-www-form-urlencoded", ""]))
def test_whatever_bytes_are_judged(body: bytes, content_type: str) -> None:
    malformed(body, content_type)
