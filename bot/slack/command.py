"""`/size …`: answered to the asker alone, with a button that shares the answer; `help`, `form` and `defaults` beside it."""

from __future__ import annotations

from typing import Any, Final

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.web.async_client import AsyncWebClient

from bot.reply.labels import label
from bot.reply.mrkdwn import mrkdwn
from bot.slack.defaults import open_form
from bot.slack.forms import Forms, Where
from bot.slack.needs import COMMAND, SUBCOMMANDS
from bot.slack.record import arrival
from bot.slack.room import Outcome, Room

_TEXTS: Final[dict[Outcome, str]] = {"new": "computing_private", "too many": "too_many", "busy": "busy"}


def register(app: AsyncApp, room: Room) -> None:
    async def size(
        ack: AsyncAck, command: dict[str, Any], context: AsyncBoltContext, client: AsyncWebClient
    ) -> None:  # fmt: skip
        name, _, rest = str(command.get("text") or "").strip().partition(" ")
        if name.casefold() in SUBCOMMANDS:
            await _other(room, ack, client, command, name.casefold(), rest.strip())
            return
        found = arrival(context)
        lang = await room.voice.courtesy.quick_locale(str(command.get("user_id")))
        if found.outcome in _TEXTS:
            await ack(text=label(lang, _TEXTS[found.outcome]), response_type="ephemeral")
        elif found.outcome == "ignored":
            await ack(text=label(lang, "empty", example=label(lang, "example_slash")), response_type="ephemeral")
        else:
            await ack()
        if found.turn is not None:
            room.voice.whispers.acknowledgements.given(found.turn.key)
        room.worker.wake()

    app.command(COMMAND)(size)


async def _other(
    room: Room, ack: AsyncAck, client: AsyncWebClient, command: dict[str, Any], name: str, rest: str
) -> None:  # fmt: skip
    user, trigger = str(command["user_id"]), str(command["trigger_id"])
    lang = await room.voice.courtesy.quick_locale(user)
    if name == "help":
        text = label(lang, "help_text")
        await ack(
            text=text, blocks=[{"type": "section", "text": mrkdwn(text)}], response_type="ephemeral"
        )  # fmt: skip
        return
    await ack()
    if name == "defaults":
        await open_form(room, client, trigger, user)
        return
    where = Where(channel=str(command["channel_id"]), response_url=command.get("response_url"), private=True)
    await Forms(room).size_form(client, trigger, lang, rest, where)
