"""The forms behind `/size form`, Home and the message shortcuts: a loading view at once, then what fits the message."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from pydantic import BaseModel
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from bot.answer import Lang
from bot.form import Fields, faults, filled_from, question
from bot.inbox import NewTurn
from bot.logs import logger
from bot.reply import views
from bot.reply.labels import label
from bot.reply.mrkdwn import cut, escape
from bot.slack.errors import BlocksRefused, translated
from bot.slack.reading import without_mention
from bot.slack.room import Arrival, Room
from bot.surface import Refused, TryLater

log = logger()

SIZE_THIS: Final = "size_this"
COMPARE: Final = "compare_in_thread"
_TROUBLE: Final = (TryLater, Refused, BlocksRefused)


class Where(BaseModel):
    """Where a form's answer goes: into a thread, to the asker alone, or into the direct message. Kept in the view."""

    channel: str = ""
    root_ts: str | None = None
    response_url: str | None = None
    private: bool = False


def register(app: AsyncApp, room: Room) -> None:
    forms = Forms(room)
    app.message_shortcut(SIZE_THIS)(forms.size_this)
    app.message_shortcut(COMPARE)(forms.compare_this)
    app.view(views.SIZE_FORM)(forms.sized)
    app.view(views.COMPARE_FORM)(forms.compared)


Builder = Callable[[], Awaitable[dict[str, Any]]]


class Forms:
    """The listeners, bound to a room."""

    def __init__(self, room: Room) -> None:
        self.room = room

    async def open(self, client: AsyncWebClient, trigger: str, lang: Lang, title: str, build: Builder) -> None:
        """A loading view within the trigger's three seconds, then the one that takes longer."""
        try:
            async with translated():
                opened = await client.views_open(trigger_id=trigger, view=views.loading(lang, title))
            view = await build()
            async with translated():
                shown: Any = opened["view"]
                await client.views_update(view_id=str(shown["id"]), hash=str(shown["hash"]), view=view)
        except _TROUBLE as error:
            log.error("form not opened", reason=str(error))

    async def size_form(self, client: AsyncWebClient, trigger: str, lang: Lang, text: str, where: Where) -> None:
        async def build() -> dict[str, Any]:
            fields = await self.room.offload.compute(filled_from, text)
            return views.size_form(lang, fields, where.model_dump_json())

        await self.open(client, trigger, lang, "form_title", build)

    async def size_this(self, ack: AsyncAck, shortcut: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        if self._outsider(shortcut):
            return
        text = without_mention(str(shortcut["message"].get("text") or ""), self.room.me)
        lang = await self._lang(shortcut)
        await self.size_form(client, str(shortcut["trigger_id"]), lang, text, _where(shortcut))

    async def compare_this(self, ack: AsyncAck, shortcut: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        if self._outsider(shortcut):
            return
        lang = await self._lang(shortcut)

        async def build() -> dict[str, Any]:
            return views.compare_form(lang, _where(shortcut).model_dump_json())

        await self.open(client, str(shortcut["trigger_id"]), lang, "compare_title", build)

    def _outsider(self, body: dict[str, Any]) -> bool:
        """Slack Connect fails closed: who is of another workspace opens and sends nothing."""
        return body["user"].get("team_id") not in (self.room.me.team, self.room.me.enterprise, None)

    async def _lang(self, body: dict[str, Any]) -> Lang:
        return await self.room.voice.courtesy.quick_locale(str(body["user"]["id"]))

    async def sized(self, ack: AsyncAck, body: dict[str, Any], view: dict[str, Any]) -> None:
        lang = await self._lang(body)
        fields = Fields(**{name: _value(view, name) for name in Fields.__dataclass_fields__})
        found = await self.room.offload.compute(faults, fields, lang)
        if found:
            await ack(response_action="errors", errors=found)
            return
        await self._ask(ack, body, view, question(fields, lang), lang, fresh=True)

    async def compared(self, ack: AsyncAck, body: dict[str, Any], view: dict[str, Any]) -> None:
        lang = await self._lang(body)
        await self._ask(ack, body, view, label(lang, "compare_ask", what=_value(view, "with")), lang)

    async def _ask(
        self, ack: AsyncAck, body: dict[str, Any], view: dict[str, Any], text: str, lang: Lang, *, fresh: bool = False
    ) -> None:
        """Record the question, then acknowledge, then work: as with messages, what is acknowledged is not lost."""
        user = body["user"]
        if self._outsider(body):
            await ack()
            return
        where = Where.model_validate_json(str(view.get("private_metadata") or "{}"))
        if not where.channel:
            await ack()
            await ask_directly(self.room, str(user["id"]), text, str(view["id"]))
            return
        turn = self._turn(where, str(user["id"]), text, view, lang, fresh)
        arrival = Arrival(await self.room.record(turn), turn)
        await ack()
        await self.room.accept(arrival)

    def _turn(self, where: Where, user: str, text: str, view: dict[str, Any], lang: Lang, fresh: bool) -> NewTurn:
        team, ident = self.room.me.team, f"{view['id']}:{view.get('hash')}"
        shown = label(lang, "asked_by_form", user=f"<@{user}>", question=escape(cut(text, 500)))
        return NewTurn(
            key=f"{team}/form/{ident}",
            thread_id=f"{team}/form/{ident}" if where.private else f"{team}/{where.channel}/{where.root_ts}",
            kind="command" if where.private else "message",
            team=team,
            channel=where.channel,
            user=user,
            ts=f"{time.time():.6f}",
            root_ts=None if where.private else where.root_ts,
            body={"text": text, "private": where.private, "response_url": where.response_url, "fresh": fresh}
            | self.room.me.kept()
            | ({} if where.private else {"said_before": shown}),
        )


async def ask_directly(room: Room, user: str, text: str, key: str) -> None:
    """Ask in the direct message: our post names the question, the answer comes in its thread."""
    lang = await room.voice.courtesy.quick_locale(user)
    said = label(lang, "home_asked", user=f"<@{user}>", question=escape(cut(text, 500)))
    try:
        async with translated():
            posted = await room.voice.client.chat_postMessage(
                channel=user, text=said, unfurl_links=False, unfurl_media=False
            )
    except _TROUBLE as error:
        log.error("not asked", reason=str(error))
        return
    team, channel, ts = room.me.team, str(posted["channel"]), str(posted["ts"])
    turn = NewTurn(
        key=f"{team}/home/{key}", thread_id=f"{team}/{channel}/{ts}", kind="message", team=team, channel=channel,
        user=user, ts=f"{time.time():.6f}", root_ts=ts, conversation=True, body={"text": text, "direct": True} | room.me.kept(),
    )  # fmt: skip
    await room.accept(Arrival(await room.record(turn), turn))


def _where(shortcut: dict[str, Any]) -> Where:
    message = shortcut["message"]
    root = str(message.get("thread_ts") or message["ts"])
    return Where(channel=str(shortcut["channel"]["id"]), root_ts=root, response_url=shortcut.get("response_url"))


def _value(view: dict[str, Any], name: str) -> str:
    """What stands in a field; a choice of "any" is none."""
    element = view["state"]["values"].get(name, {}).get(views.INPUT, {})
    chosen = element.get("selected_option") or {}
    value = element.get("value") or chosen.get("value") or ""
    return "" if value == views.ANY else str(value).strip()
