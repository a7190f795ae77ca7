"""Files uploaded with a question are fetched from Slack alone and read; what cannot be read is said, and nothing fails for it."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from bot import metrics
from bot.reply.labels import label
from bot.reply.mrkdwn import escape
from bot.responder import Pipeline
from bot.slack import files
from bot.slack.needs import manifest
from playground.workspace import OTHER_TEAM, Message
from tests.bot.test_attached import CONFIG, STARTUP, gguf

pytestmark = pytest.mark.anyio

CONFIG_FILE = ("config.json", json.dumps(CONFIG).encode())
LOG_FILE = ("vllm.log", STARTUP.encode())


def _said(message: Message) -> str:
    """Everything a message says."""
    return json.dumps(message.blocks, ensure_ascii=False)


def _told(lang: Any, key: str, name: str, **facts: Any) -> str:
    return json.dumps(escape(label(lang, key, name=name, **facts)), ensure_ascii=False)[1:-1]


def _counted(outcome: str) -> float:
    return metrics.registry.get_sample_value("sizewise_files_total", {"outcome": outcome}) or 0.0


async def _ask(chat: Any, text: str, *uploads: tuple[str, bytes], **how: Any) -> tuple[Message, Message]:
    shared = [chat.slack.upload(chat.anna, *upload) for upload in uploads]
    question = await chat.slack.mention(chat.anna, chat.channel, text, files=shared, **how)
    return question, await chat.slack.answer(question)


@pytest.mark.parametrize(
    ("upload", "pasted", "told"),
    [
        (CONFIG_FILE, json.dumps(CONFIG), ("file_config", {"kind": "llama", "layers": 32})),
        (("own-Q4_K_M.gguf", gguf()), 'Q4_K_M {"model_type": "qwen3"', ("file_gguf", {"kind": "qwen3", "layers": 36})),
        (LOG_FILE, STARTUP, ("file_text", {"lines": 3})),
    ],
)
async def test_a_file_is_read_as_if_pasted_and_the_answer_says_so(
    chat: Any, upload: tuple[str, bytes], pasted: str, told: tuple[str, dict[str, Any]]
) -> None:
    _, answer = await _ask(chat, "fits a 4090?", upload)
    [asked] = chat.responder.asked
    assert asked.startswith("fits a 4090?\n") and pasted in asked
    assert _told("de", told[0], upload[0], **told[1]) in _said(answer)


@pytest.mark.parametrize("order", ["mention first", "message first", "mention only", "message only"])
async def test_whichever_event_names_the_file(chat: Any, order: str) -> None:
    await _ask(chat, "fits?", CONFIG_FILE, order=order)
    await chat.idle()
    assert chat.responder.asked == [f"fits?\n{json.dumps(CONFIG)}"]


async def test_a_mention_that_names_no_file_waits_for_no_one_but_is_read_with_it(start: Any, transport: str) -> None:
    """The `app_mention` came first and without the file, and is being worked on when the `message` brings it: one answer, with it."""
    async with start(transport) as chat:
        hold = chat.responder.hold = threading.Event()
        shared = chat.slack.upload(chat.anna, *CONFIG_FILE)
        asking = asyncio.create_task(
            chat.slack.mention(
                chat.anna, chat.channel, "fits?", files=[shared], bare_mention=True, order="mention only"
            )
        )
        question = await asking
        await chat.slack.until(lambda: chat.responder.asked == ["fits?"], what="a computation without the file")
        event = chat.slack.deliverer.log[0].payload["event"] | {
            "type": "message", "subtype": "file_share", "channel_type": "channel", "files": question.files,
        }  # fmt: skip
        await chat.slack.event(event, chat.channel)
        hold.set()
        answer = await chat.slack.answer(question)
        await chat.idle()
        assert _told("de", "file_config", "config.json", kind="llama", layers=32) in _said(answer)
        assert len(chat.slack.answers(question)) == 1
        assert chat.room.inbox.states() == {"done": 1}


async def test_a_file_that_only_the_rich_text_names_is_read(chat: Any) -> None:
    shared = chat.slack.upload(chat.anna, *CONFIG_FILE)
    message = await chat.slack.say(chat.anna, chat.channel, "look", files=[shared])
    text = f"<@{chat.slack.app.bot_user}> fits?"
    section = {"type": "rich_text_section", "elements": [{"type": "file", "file_id": shared["id"]}]}
    event = chat.slack.deliverer.log[0].payload["event"] | {
        "type": "app_mention", "text": text, "blocks": [{"type": "rich_text", "elements": [section]}],
    }  # fmt: skip
    await chat.slack.event({k: v for k, v in event.items() if k not in ("files", "subtype")}, chat.channel)
    await chat.slack.answer(message)
    assert chat.responder.asked == [f"fits?\n{json.dumps(CONFIG)}"]


async def test_a_direct_message_may_be_a_file_alone(chat: Any) -> None:
    question = await chat.slack.direct(chat.bert, "", files=[chat.slack.upload(chat.bert, *CONFIG_FILE)])
    await chat.slack.answer(question)
    assert chat.responder.asked == [json.dumps(CONFIG)]


async def test_follow_ups_know_the_file(start: Any, transport: str, pipeline: Pipeline) -> None:
    async with start(transport, pipeline) as chat:
        question, answer = await _ask(chat, "Does it fit on an RTX 4090 in fp8 with 8k context?", CONFIG_FILE)
        assert answer.text.startswith("Yes")
        await chat.slack.say(chat.anna, chat.channel, "and in bf16 with 128k context and 20 users?", thread=question.ts)
        assert (await chat.slack.answer(question, 2)).text.startswith("No")
        await chat.idle()
        assert chat.slack.workspace.complaints == []


async def test_files_of_the_talk_before_a_mention_are_read(chat: Any) -> None:
    root = await chat.slack.say(chat.anna, chat.channel, "it crawls", files=[chat.slack.upload(chat.anna, *LOG_FILE)])
    picture = chat.slack.upload(chat.bert, "screen.png", b"\x89PNG")
    await chat.slack.say(chat.bert, chat.channel, "", thread=root.ts, files=[picture])
    await chat.slack.mention(chat.bert, chat.channel, "why?", thread=root.ts)
    answer = await chat.slack.answer(root)
    assert chat.responder.asked == [f"why?\n{STARTUP}"]
    assert "vllm.log" in _said(answer) and "screen.png" not in _said(answer)


UNREAD = [
    (("screen.png", b"\x89PNG\r\n"), {}, "file_kind"),
    (("sheet.pdf", b"%PDF-1.7"), {}, "file_kind"),
    (("page.html", b"<html>"), {}, "file_kind"),
    (("weights.bin", b"\x00\x01\x02"), {}, "file_kind"),
    (("notes.txt", b"x"), {"mode": "external", "is_external": True}, "file_outside"),
    (("notes.txt", b"x"), {"mode": "tombstone"}, "file_gone"),
    (("notes.txt", b"x"), {"mode": "hidden_by_limit"}, "file_gone"),
    (("notes.txt", b"x"), {"url_private_download": "https://files.example/notes.txt"}, "file_outside"),
    (("notes.txt", b"x"), {"url_private_download": "http://127.0.0.1:9/files-pri/notes.txt"}, "file_outside"),
    (("notes.txt", b"x"), {"url_private_download": "http://slack@127.0.0.1/x"}, "file_outside"),
    (("notes.txt", b"x"), {"url_private_download": "file:///etc/passwd"}, "file_outside"),
    (("notes.txt", b"x"), {"url_private_download": "http://[::1"}, "file_outside"),
]


@pytest.mark.parametrize(("upload", "about", "key"), UNREAD, ids=lambda value: str(value)[:40])
async def test_what_cannot_be_read_is_said_and_the_question_answered(
    start: Any, upload: tuple[str, bytes], about: dict[str, Any], key: str
) -> None:
    async with start("http") as chat:
        shared = chat.slack.upload(chat.anna, *upload)
        chat.slack.workspace.files[shared["id"]] |= about
        question = await chat.slack.mention(chat.anna, chat.channel, "8b on a 4090?", files=[shared])
        answer = await chat.slack.answer(question)
        assert answer.text == "8b on a 4090?"
        assert _told("de", key, upload[0]) in _said(answer)
        await chat.idle()
        assert chat.slack.workspace.complaints == [] and chat.dead() == []


async def test_a_picture_alone_is_answered_with_what_to_do(chat: Any) -> None:
    before = _counted("kind")
    question = await chat.slack.direct(chat.anna, "", files=[chat.slack.upload(chat.anna, "screen.png", b"\x89PNG")])
    assert (await chat.slack.answer(question)).text == label("de", "file_kind", name="screen.png")
    assert chat.responder.asked == []
    assert _counted("kind") == before + 1


async def test_without_the_permission_an_admin_is_told_of_it_and_the_question_answered(
    start: Any, transport: str
) -> None:
    """A workspace that installed the app before it could read files."""
    asked_for = manifest()
    asked_for["oauth_config"]["scopes"]["bot"].remove("files:read")
    async with start(transport, asked_for=asked_for) as chat:
        _, answer = await _ask(chat, "fits?", CONFIG_FILE, LOG_FILE)
        assert answer.text == "fits?"
        assert _said(answer).count("files:read") == 1
        assert _told("de", "file_scope", "config.json") in _said(answer)
        await chat.idle()
        assert chat.slack.workspace.complaints == [] and chat.dead() == []


async def test_a_token_that_the_file_host_refuses_is_followed_nowhere(start: Any) -> None:
    """Slack leads whom it refuses to a page to sign in; an address elsewhere gets no token either."""
    async with start("http") as chat:
        for place in (f"{chat.slack.base_url}/signin", "http://127.0.0.1:9/"):
            chat.slack.faults.plan("file_download", "redirect", place)
            _, answer = await _ask(chat, "fits?", CONFIG_FILE)
            assert _told("de", "file_access", "config.json") in _said(answer)
        await chat.idle()
        assert chat.slack.workspace.complaints == []


async def test_a_file_of_another_channel_is_not_opened_by_its_id(start: Any) -> None:
    async with start("http") as chat:
        secret = chat.slack.upload(chat.bert, "salaries.txt", b"secret")
        private = chat.slack.workspace.add_channel("board", chat.bert, kind="group")
        await chat.slack.say(chat.bert, private, "for us", files=[secret])
        question = await chat.slack.mention(chat.anna, chat.channel, "nothing", order="mention only")
        await chat.slack.answer(question)
        [told] = [d.payload["event"] for d in chat.slack.deliverer.log if d.payload["event"]["ts"] == question.ts]
        forged = told | {
            "ts": chat.slack.workspace.new_ts(), "thread_ts": question.ts, "text": f"<@{chat.slack.app.bot_user}> read it",
            "files": [{"id": secret["id"]}],
        }  # fmt: skip
        await chat.slack.event(forged, chat.channel)
        answer = await chat.slack.answer(question, 2)
        assert "secret" not in "".join(chat.responder.asked)
        assert "salaries" not in _said(answer) and _told("de", "file_gone", secret["id"]) in _said(answer)


async def test_in_a_shared_channel_slack_is_asked_for_the_file(chat: Any) -> None:
    shared = chat.slack.workspace.add_channel("shared", chat.anna)
    shared.shared_with = OTHER_TEAM
    question = await chat.slack.mention(chat.anna, shared, "fits?", files=[chat.slack.upload(chat.anna, *CONFIG_FILE)])
    assert question.files[0]["file_access"] == "check_file_info"
    await chat.slack.answer(question)
    assert chat.responder.asked == [f"fits?\n{json.dumps(CONFIG)}"]


@pytest.mark.parametrize(("method", "kind", "value"), [
    ("files.info", "limit", 1), ("files.info", "status", 500), ("file_download", "status", 503), ("file_download", "limit", 1),
])  # fmt: skip
async def test_slack_in_trouble_is_asked_again(start: Any, method: str, kind: str, value: int) -> None:
    async with start("http") as chat:
        chat.slack.faults.plan(method, kind, value)
        await _ask(chat, "fits?", CONFIG_FILE)
        await chat.idle()
        assert chat.responder.asked == [f"fits?\n{json.dumps(CONFIG)}"]


async def test_a_file_host_that_hangs_costs_the_file_and_not_the_answer(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_ALL_S", 0.3)
    async with start("http") as chat:
        chat.slack.faults.plan("file_download", "slow", 3.0, times=3)
        _, answer = await _ask(chat, "fits?", CONFIG_FILE)
        assert answer.text == "fits?"
        assert _told("de", "file_away", "config.json") in _said(answer)
        await chat.idle()


async def test_only_the_beginning_of_a_gguf_file_and_both_ends_of_a_long_log_are_fetched(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in (("GGUF_BYTES", 4_000), ("TEXT_BYTES", 4_000), ("PIECE_BYTES", 1_000)):
        monkeypatch.setattr(files, name, most)
    async with start("http") as chat:
        await _ask(chat, "fits?", ("own.gguf", gguf() + b"\x00" * 50_000))
        assert '"num_hidden_layers": 36' in chat.responder.asked[-1]
        log = "\n".join(["starts here", *(f"line {n}" for n in range(9_000)), "ends here"])
        await _ask(chat, "why?", ("serving.log", log.encode()))
        assert "starts here" in chat.responder.asked[-1] and chat.responder.asked[-1].endswith("ends here")
        assert len(chat.responder.asked[-1]) < 2_100


async def test_a_killed_process_reads_the_file_again(start: Any) -> None:
    """The turn keeps the file's id alone: whoever takes it up fetches it anew."""
    async with start("http", lease_s=1.0) as chat:
        hold = chat.responder.hold = threading.Event()
        shared = chat.slack.upload(chat.anna, *CONFIG_FILE)
        question = await chat.slack.mention(chat.anna, chat.channel, "fits?", files=[shared])
        await chat.slack.until(lambda: len(chat.responder.asked) == 1, what="a computation")
        for task in list(chat.room.worker._in_hand):
            task.cancel()
        hold.set()
        await chat.slack.answer(question)
        await chat.idle()
        assert set(chat.responder.asked) == {f"fits?\n{json.dumps(CONFIG)}"}
        assert len(chat.responder.asked) == 2 and len(chat.slack.answers(question)) == 1


async def test_more_files_than_are_read_are_named(chat: Any) -> None:
    uploads = [(f"part{n}.log", f"line of {n}".encode()) for n in range(files.MOST_FILES + 1)]
    _, answer = await _ask(chat, "why?", *uploads)
    assert _told("de", "file_many", uploads[-1][0]) in _said(answer)
    assert "line of 0" in chat.responder.asked[0] and f"line of {files.MOST_FILES}" not in chat.responder.asked[0]
