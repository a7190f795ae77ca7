"""Clicks in an answer: buttons and selects re-run in its thread, sharing posts it, feedback is kept."""

from __future__ import annotations

import re
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.context.respond.async_respond import AsyncRespond

from bot.logs import logger
from bot.reply.blocks import ACTION, ASSUME, FEEDBACK, SHARE
from bot.reply.labels import label
from bot.slack.record import arrival
from bot.slack.room import Room

log = logger()

_WORK = re.compile(f"^(?:{re.escape(ACTION)}|{re.escape(ASSUME)}).+|^{SHARE}$")


def register(app: AsyncApp, room: Room) -> None:
    async def work(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext, respond: AsyncRespond) -> None:
        await ack()
        found = arrival(context)
        if found.outcome == "gone":
            await _tell(room, respond, body, "gone")
        elif found.outcome == "duplicate" and found.turn and found.turn.kind == "share":
            await _tell(room, respond, body, "already_shared")
        else:
            await room.accept(found)

    async def feedback(ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond) -> None:
        sign, _, answer_id = str(body["actions"][0].get("value")).partition(":")
        known = await room.offload.database(
            room.store.vote, answer_id, str(body["user"]["id"]), 1 if sign == "+" else -1, room.me.team
        )
        await ack()
        await _tell(room, respond, body, "thanks" if known else "gone")

    app.action(_WORK)(work)
    app.action(FEEDBACK)(feedback)


async def _tell(room: Room, respond: AsyncRespond, body: dict[str, Any], key: str) -> None:
    """A sentence to the one who clicked. `respond` does not raise: its status is looked at."""
    lang = await room.voice.locale(str(body["user"]["id"]))
    found = await respond(text=label(lang, key), response_type="ephemeral", replace_original=False)
    if found.status_code >= 400:
        log.warning("response_url", status=found.status_code, text_key=key)
