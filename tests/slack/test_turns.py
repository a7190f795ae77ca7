"""Each question is answered once, in its thread, whichever of its events comes first and however often."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("order", ["mention first", "message first", "mention only", "message only"])
async def test_a_mention_is_answered_once_whichever_event_comes_first(chat: Any, order: str) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "does it fit?", order=order)
    answer = await chat.slack.answer(question)
    await chat.idle()
    assert [m.text for m in chat.slack.answers(question)] == [answer.text]
    assert answer.text == "does it fit?"
    assert answer.thread_ts == question.ts
