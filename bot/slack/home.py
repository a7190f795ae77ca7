"""App Home: what to ask, what was asked, what the team has set; and prompts for the direct message."""

from __future__ import annotations

import re
from typing import Any, Final

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from bot.logs import logger
from bot.reply import views
from bot.reply.labels import label
from bot.slack.errors import BlocksRefused, translated
from bot.slack.forms import Forms, Where, ask_directly
from bot.slack.needs import PROMPTS
from bot.slack.room import Room
from bot.surface import Refused, TryLater

log = logger()

_RECENT: Final = 5
_TROUBLE: Final = (TryLater, Refused, BlocksRefused)
_ASK = re.compile(f"^{re.escape(views.ASK)}:")


async def publish(room: Room, client: AsyncWebClient, user: str) -> None:
    """Show a person their Home tab."""
    lang = await room.voice.locale(user)
    defaults = await room.offload.database(room.store.defaults, room.me.team)
    recent = await room.offload.database(room.store.recent_questions, room.me.team, user, _RECENT)
    view = await room.offload.compute(views.home, lang, defaults, recent)
    try:
        async with translated():
            await client.views_publish(user_id=user, view=view)
    except _TROUBLE as error:
        log.error("home not published", reason=str(error))


async def suggest(room: Room, client: AsyncWebClient, user: str, channel: str) -> None:
    """Prompts in the direct message."""
    lang = await room.voice.locale(user)
    examples = label(lang, "home_example_list").splitlines()[:PROMPTS]
    prompts = [{"title": example, "message": example} for example in examples]
    try:
        async with translated():
            await client.assistant_threads_setSuggestedPrompts(
                channel_id=channel, title=label(lang, "prompts_title"), prompts=prompts
            )
    except _TROUBLE as error:
        log.info("prompts not shown", reason=str(error))


def register(app: AsyncApp, room: Room) -> None:
    async def opened(event: dict[str, Any], client: AsyncWebClient) -> None:
        user = str(event["user"])
        if event.get("tab") == "home":
            await publish(room, client, user)
        elif event.get("tab") == "messages" and event.get("channel"):
            await suggest(room, client, user, str(event["channel"]))

    async def form(ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        lang = await room.voice.courtesy.quick_locale(str(body["user"]["id"]))
        await Forms(room).size_form(client, str(body["trigger_id"]), lang, "", Where())

    async def ask(ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        user = str(body["user"]["id"])
        await ask_directly(room, user, str(body["actions"][0].get("value") or ""), str(body["trigger_id"]))
        await publish(room, client, user)

    app.event("app_home_opened")(opened)
    app.action(views.OPEN_FORM)(form)
    app.action(_ASK)(ask)
