"""What Slack refuses, cuts or delays: the answer comes all the same (faults C)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.answer import Answer, Command, Paragraph, Table
from bot.reply.labels import label
from bot.surface import error_id_of

pytestmark = pytest.mark.anyio


def _with(**fields: Any) -> Any:
    return lambda answer: answer.model_copy(update=fields)


REFUSALS = ["invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"]


@pytest.mark.parametrize("code", REFUSALS)
async def test_a_refused_message_goes_out_again_as_text(chat: Any, code: str) -> None:
    chat.responder.change = _with(table=Table(caption="c", columns=("a", "b"), rows=(("1", "<2>"),)))
    chat.slack.faults.plan("chat.postMessage", "error", code)
    question = await chat.slack.mention(chat.anna, chat.channel, "fits?")
    answer = await chat.slack.answer(question)
    await chat.idle()
    assert answer.blocks == []
    assert answer.text.startswith("*fits?*")
    assert "```\na  b\n1  &lt;2&gt;\n```" in answer.text
    assert len(chat.slack.answers(question)) == 1


async def test_a_message_refused_with_and_without_blocks_ends_as_an_error_with_an_id(chat: Any) -> None:
    chat.slack.faults.plan("chat.postMessage", "error", "invalid_blocks", times=2)
    await chat.slack.mention(chat.anna, chat.channel, "fits?")
    notice = await chat.slack.shown(chat.anna)
    await chat.idle()
    assert notice.text == label("de", "failed", id=error_id_of(chat.dead()[0][0]))


async def test_a_private_answer_with_refused_blocks_goes_out_again_as_text(chat: Any) -> None:
    chat.slack.faults.plan("response_url", "status", 400)
    await chat.slack.slash(chat.bert, chat.channel, "8b on a 4090")
    await chat.slack.until(lambda: any("8b" in m.text for m in chat.slack.private(chat.bert)))
    await chat.idle()
    assert [(m.text.splitlines()[0], m.blocks) for m in chat.slack.private(chat.bert)] == [("*8b on a 4090*", [])]


def _long(answer: Answer) -> Answer:
    text = " ".join(f"Sentence number {n} has its end." for n in range(400))
    return answer.model_copy(
        update={
            "paragraphs": tuple(Paragraph(kind="why", title=f"Part {n}:", text=text) for n in range(2)),
            "commands": (Command(title="Launch", code="\n".join(f"--flag-{n}=<{n}>" for n in range(200))),),
            "table": Table(caption="c", columns=("a", "b"), rows=(("1", ""), ("x" * 900, "2"))),
        }
    )


async def test_a_long_answer_comes_in_few_messages_within_every_limit(chat: Any) -> None:
    chat.responder.change = _long
    question = await chat.slack.mention(chat.anna, chat.channel, "everything")
    await chat.slack.until(lambda: not chat.room.inbox.waiting() and len(chat.slack.answers(question)) >= 3)
    answers = chat.slack.answers(question)
    assert len(answers) == 3
    assert [m.text for m in answers] == [
        "everything",
        *(label("en", "more", n=n, count=3, headline="everything") for n in (2, 3)),
    ]
    assert [m.thread_ts for m in answers] == [question.ts] * 3
    assert [sum(block["type"] == "table" for block in m.blocks) for m in answers] == [1, 0, 0]
    assert answers[-1].blocks[-1]["type"] == "context_actions"


async def test_what_is_too_long_for_messages_comes_as_a_file(chat: Any) -> None:
    text = "word " * 9_000
    chat.responder.change = _with(paragraphs=(Paragraph(kind="why", title="Why:", text=text),))
    question = await chat.slack.mention(chat.anna, chat.channel, "everything")
    await chat.slack.until(lambda: any(m.files for m in chat.slack.answers(question)), what="a file")
    await chat.idle()
    *messages, last = chat.slack.answers(question)
    [stored] = chat.slack.workspace.files.values()
    assert len(messages) == 3
    assert last.files[0]["name"].endswith(".md")
    assert stored["content"].decode().count("word") == 9_000
    assert label("de", "rest_in_file") in str(messages[-1].blocks)


async def test_a_file_that_cannot_be_sent_does_not_double_the_answer(chat: Any) -> None:
    chat.responder.change = _with(paragraphs=(Paragraph(kind="why", text="word " * 9_000),))
    chat.slack.faults.plan("files.getUploadURLExternal", "error", "internal_error")
    question = await chat.slack.mention(chat.anna, chat.channel, "everything")
    await chat.slack.until(lambda: any(m.files for m in chat.slack.answers(question)), what="a file")
    await chat.idle()
    assert len(chat.slack.answers(question)) == 4


async def test_a_rate_limit_in_the_middle_does_not_lose_the_rest(chat: Any) -> None:
    chat.responder.change = _long
    chat.slack.faults.plan("chat.postMessage", "slow", 0.0)
    chat.slack.faults.plan("chat.postMessage", "limit", 1)
    question = await chat.slack.mention(chat.anna, chat.channel, "everything")
    await chat.idle()
    assert len(chat.slack.answers(question)) == 3


async def test_a_rate_limit_at_the_start_does_not_stop_the_bot(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from playground.faults import Faults

    planned = Faults.__init__

    def limited(self: Faults, *args: Any, **kwargs: Any) -> None:
        planned(self, *args, **kwargs)
        self.plan("auth.test", "limit", 1)
        self.plan("auth.test", "status", 503)

    monkeypatch.setattr(Faults, "__init__", limited)
    monkeypatch.setattr("bot.slack.serve._ASK_AGAIN_S", 0.1)
    async with start("http") as chat:
        question = await chat.slack.mention(chat.anna, chat.channel, "awake?")
        await chat.slack.answer(question)


LOST = ["internal_error", "service_unavailable", "fatal_error"]


@pytest.mark.parametrize("code", LOST)
async def test_where_slack_is_away_the_answer_comes_later(chat: Any, code: str) -> None:
    chat.slack.faults.plan("chat.postMessage", "error", code)
    question = await chat.slack.mention(chat.anna, chat.channel, "later")
    await chat.slack.answer(question)
    await chat.idle()
    assert len(chat.slack.answers(question)) == 1
    assert chat.dead() == []


@pytest.mark.parametrize(("kind", "value"), [("status", 500), ("garbage", None), ("lost", None)])
async def test_an_answer_whose_receipt_was_lost_is_looked_for_and_not_posted_again(
    chat: Any, kind: Any, value: Any
) -> None:
    chat.slack.faults.plan("chat.postMessage", kind, value)
    question = await chat.slack.mention(chat.anna, chat.channel, "once")
    await chat.slack.answer(question)
    await chat.idle()
    assert [m.text for m in chat.slack.answers(question)] == ["once"]
    methods = [method for method, _ in chat.slack.calls]
    assert "conversations.replies" in methods
    assert chat.responder.asked == ["once", "once"]


async def test_the_notification_is_the_verdict_as_a_sentence(chat: Any) -> None:
    chat.responder.change = _with(headline="No: 122 GiB are missing.", lead="Weights need 39.6 GiB.")
    question = await chat.slack.mention(chat.anna, chat.channel, "fits?")
    assert (await chat.slack.answer(question)).text == "No: 122 GiB are missing. Weights need 39.6 GiB."


async def test_an_empty_cell_never_reaches_slack(chat: Any) -> None:
    chat.responder.change = _with(table=Table(caption="c", columns=("", "b"), rows=(("", " "), ("x", "\n"))))
    question = await chat.slack.mention(chat.anna, chat.channel, "table?")
    [table] = [block for block in (await chat.slack.answer(question)).blocks if block["type"] == "table"]
    assert [[cell["text"] for cell in row] for row in table["rows"]] == [["–", "b"], ["–", "–"], ["x", "–"]]
