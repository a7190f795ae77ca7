"""App Home: what the bot is for and what to ask it."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.answer import Lang
from bot.logs import logger
from bot.reply.labels import label
from bot.reply.mrkdwn import bold, escape, fence, mrkdwn, plain
from bot.slack.errors import BlocksRefused, translated
from bot.slack.room import Room
from bot.worker import Refused, TryLater

log = logger()

_HEADER_CHARS = 150


def view(lang: Lang) -> dict[str, Any]:
    """The Home tab of a person."""

    def section(text: str) -> dict[str, Any]:
        return {"type": "section", "text": mrkdwn(text)}

    def said(key: str, example: str) -> dict[str, Any]:
        return section(f"{bold(label(lang, key))}\n{fence(label(lang, example))}")

    return {
        "type": "home",
        "blocks": [
            {"type": "header", "text": plain(label(lang, "home_title"), _HEADER_CHARS)},
            section(escape(label(lang, "home_intro"))),
            {"type": "divider"},
            said("home_examples", "home_example_list"),
            said("home_channel", "home_follow_ups"),
            said("home_slash", "example_slash"),
        ],
    }


def register(app: AsyncApp, room: Room) -> None:
    async def opened(event: dict[str, Any], client: AsyncWebClient) -> None:
        if event.get("tab") != "home":
            return
        user = str(event["user"])
        try:
            async with translated():
                await client.views_publish(user_id=user, view=view(await room.voice.locale(user)))
        except (TryLater, Refused, BlocksRefused) as error:
            log.error("home not published", reason=str(error))

    app.event("app_home_opened")(opened)
