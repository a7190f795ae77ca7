"""Whole conversations with the real pipeline: a mention, follow-ups without one, a shared slash answer, in both languages."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.responder import Pipeline
from playground.workspace import Message

pytestmark = pytest.mark.anyio

THREADS = {
    "de": (
        ("Reicht eine RTX 4090 für Llama 3.3 70B mit 32k Kontext für 10 Leute?", r"^Nein: es fehlen rund [\d,]+"),
        ("und mit fp8?", r"^Nein: .*GiB"),
        ("vergleich das mit 2x L40S", r"L40S"),
        ("warum?", r"\w"),
    ),
    "en": (
        ("Is one RTX 4090 enough for Llama 3.3 70B with 32k context for 10 people?", r"^No: about [\d.]+"),
        ("and with fp8?", r"^No: .*GiB"),
        ("compare that with 2x L40S", r"L40S"),
        ("why?", r"\w"),
    ),
}
SLASH = {
    "de": "passt Llama 3.1 8B in fp8 mit 8k Kontext auf eine L40S?",
    "en": "does Llama 3.1 8B in fp8 with 8k context fit an L40S?",
}
FOLLOW_UP = {"de": "und mit 64k Kontext?", "en": "and with 64k context?"}
VERDICT = {"de": r"^(Ja|Nein|Knapp)\b", "en": r"^(Yes|No|Tight)\b"}


@pytest.fixture
async def talk(start: Any, transport: str, pipeline: Pipeline) -> Any:
    async with start(transport, pipeline) as found:
        yield found
        await found.idle()
        assert found.slack.workspace.complaints == []
        assert found.dead() == []


def _buttons(message: Message) -> list[str]:
    return [e["action_id"] for block in message.blocks for e in block.get("elements", []) if "action_id" in e]


@pytest.mark.parametrize("lang", ["de", "en"])
@pytest.mark.parametrize("order", ["mention first", "message first"])
async def test_a_thread_goes_on_without_a_mention(talk: Any, lang: str, order: str) -> None:
    (opening, verdict), *follow_ups = THREADS[lang]
    question = await talk.slack.mention(talk.anna, talk.channel, opening, order=order)
    answers = [await talk.slack.answer(question)]
    assert re.search(verdict, answers[0].text)
    assert any(block["type"] == "table" for block in answers[0].blocks)
    for number, (text, pattern) in enumerate(follow_ups, start=2):
        await talk.slack.say(talk.bert, talk.channel, text, thread=question.ts)
        answer = await talk.slack.answer(question, number)
        assert re.search(pattern, answer.text), answer.text
        answers.append(answer)
    await talk.idle()
    assert talk.slack.answers(question) == answers
    assert {"do:why", "do:cheaper", "do:launch", "do:export", "feedback"} <= set(_buttons(answers[0]))


@pytest.mark.parametrize("lang", ["de", "en"])
async def test_a_slash_answer_is_shared_and_goes_on_in_its_thread(talk: Any, lang: str) -> None:
    await talk.slack.slash(talk.bert, talk.channel, SLASH[lang])
    await talk.slack.until(lambda: any(m.blocks for m in talk.slack.private(talk.bert)), what="a private answer")
    private = talk.slack.private(talk.bert)[-1]
    assert re.search(VERDICT[lang], private.text)
    await talk.slack.click(talk.bert, private, "share")
    await talk.slack.until(lambda: any(m.bot_id for m in talk.slack.workspace.messages), what="the shared answer")
    [shared] = [m for m in talk.slack.workspace.messages if m.bot_id]
    await talk.idle()
    assert shared.text == private.text
    await talk.slack.say(talk.anna, talk.channel, FOLLOW_UP[lang], thread=shared.ts)
    answer = await talk.slack.answer(shared)
    assert re.search(VERDICT[lang], answer.text)
    assert "64k" in str(answer.blocks)


@pytest.mark.parametrize("lang", ["de", "en"])
async def test_every_button_and_select_of_an_answer_is_answered_in_its_thread(talk: Any, lang: str) -> None:
    question = await talk.slack.mention(talk.anna, talk.channel, THREADS[lang][0][0])
    first = await talk.slack.answer(question)
    expected = 1
    for action in [name for name in _buttons(first) if name.startswith("do:") and name != "do:export"]:
        await talk.slack.click(talk.anna, first, action)
        expected += 1
        assert (await talk.slack.answer(question, expected)).text
    await talk.slack.choose(talk.bert, first, "assume:", 0)
    assert re.search(VERDICT[lang], (await talk.slack.answer(question, expected + 1)).text)


@pytest.mark.parametrize("text", ["", "   ", "x" * 3_000, "lunch?", "0 users on -5 GB", "```", "<https://x.example|x>"])
async def test_whatever_is_written_gets_an_answer(talk: Any, text: str) -> None:
    question = await talk.slack.mention(talk.anna, talk.channel, text)
    assert (await talk.slack.answer(question)).text


async def test_called_into_a_discussion_the_bot_has_read_it(talk: Any) -> None:
    root = await talk.slack.say(
        talk.anna, talk.channel, "Wir wollen Llama 3.3 70B in fp8 betreiben, 32k Kontext, 10 Leute gleichzeitig."
    )
    await talk.slack.say(talk.bert, talk.channel, "Wir haben 2x L40S hier stehen.", thread=root.ts)
    await talk.slack.mention(talk.anna, talk.channel, "passt das?", thread=root.ts)
    answer = await talk.slack.answer(root)
    assert re.search(VERDICT["de"], answer.text)
    assert "L40S" in answer.text + str(answer.blocks)
