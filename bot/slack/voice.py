"""The worker's voice in Slack: posts, private answers, files, status, apologies."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any, Final

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.answer import Answer, Lang
from bot.inbox import NewTurn, Turn
from bot.logs import logger
from bot.offload import Offload
from bot.processes import ComputationFault
from bot.reply.blocks import CHART_BARS, Attachment, Message, Reply, as_text, attachment, render
from bot.reply.chart import png
from bot.reply.export import export as exported
from bot.reply.labels import label
from bot.reply.mrkdwn import cut, escape
from bot.slack.acknowledged import Acknowledgements
from bot.slack.clients import webhook_client
from bot.slack.errors import BlocksRefused, translated
from bot.slack.reading import Identity, mentions, mentions_somebody_else, message_of, turn_of_message
from bot.slack.reading import Message as Heard
from bot.slack.workspaces import Workspaces
from bot.store import Store
from bot.worker import Begin, Discussion, Refused, TryLater, error_id_of

log = logger()

METADATA: Final = "sizewise_answer"
# A thread is read from the last turn on; of a long one its root and its latest messages.
_DISCUSSION_MESSAGES: Final = 20
_DISCUSSION_CHARS: Final = 8_000
_PAGE: Final = 200
_PAGES: Final = 5
_DAY_S: Final = 86_400.0
LOCALE_WAITS_S: Final = 0.7
_TITLE_CHARS: Final = 200
_ALT_CHARS: Final = 1_000
_BAD_REQUEST: Final = 400

Spoken = Turn | NewTurn


class SlackVoice:
    """Says things in Slack. What a person must not see twice is looked for before it is said again."""

    def __init__(
        self, workspaces: Workspaces, store: Store, offload: Offload, strict: frozenset[str],
        session: aiohttp.ClientSession,
    ) -> None:  # fmt: skip
        self.strict = strict
        self.session = session
        self.workspaces = workspaces
        self.store = store
        self.offload = offload
        self.acknowledgements = Acknowledgements()
        self._processing: set[str] = set()
        self._locales: dict[tuple[str, str], tuple[float, Lang]] = {}

    @property
    def client(self) -> AsyncWebClient:
        return self.workspaces.here.client

    @property
    def me(self) -> Identity:
        return self.workspaces.here.me

    async def enter(self, turn: Turn) -> None:
        """Speak in the workspace of this turn from here on."""
        await self.workspaces.enter(turn.team, turn.body.get("enterprise"))

    # Language and status: a courtesy that may fail

    async def language(self, turn: Spoken) -> Lang:
        """The language of texts around an answer: that of the thread, of the team, of the person."""
        state = await self.offload.database(self.store.thread_state, turn.thread_id)
        defaults = await self.offload.database(self.store.defaults, turn.team)
        return state.lang or defaults.lang or await self.locale(turn.user)

    async def locale(self, user: str) -> Lang:
        """A person's language, asked for once a day."""
        person = (self.me.team, user)
        known = self._locales.get(person)
        if known and time.monotonic() - known[0] < _DAY_S:
            return known[1]
        lang: Lang = "en"
        try:
            async with translated():
                found = await self.client.users_info(user=user, include_locale=True)
                lang = "de" if str(found["user"].get("locale", "")).startswith("de") else "en"
        except (TryLater, Refused) as error:
            log.info("locale unknown", reason=str(error))
            return lang
        self._locales[person] = (time.monotonic(), lang)
        return lang

    async def quick_locale(self, user: str) -> Lang:
        """A person's language where an acknowledgement waits for it; English where Slack is slow to tell."""
        try:
            return await asyncio.wait_for(self.locale(user), LOCALE_WAITS_S)
        except TimeoutError:
            return "en"

    async def progress(self, turn: Spoken) -> None:
        """Show in the thread that the bot works."""
        if turn.root_ts:
            await self._status(turn, label(await self.language(turn), "computing"))
            if turn.body.get("direct"):
                self._processing.add(turn.thread_id)
                await self._session(turn, "processing")

    async def settle(self, turn: Turn) -> None:
        """Take the status away where no post does it."""
        if turn.root_ts:
            await self._status(turn, "")
            await self._at_rest(turn)

    async def _at_rest(self, turn: Turn) -> None:
        """An agent session ends its processing only when told; one that a crash left so is told at the next attempt."""
        if turn.body.get("direct") and (turn.thread_id in self._processing or turn.attempts > 1):
            self._processing.discard(turn.thread_id)
            await self._session(turn, "active")

    async def _session(self, turn: Spoken, status: str) -> None:
        """The status of an agent session: while it is processing, Slack shows a stop button."""
        try:
            async with translated():
                await self.client.agents_sessions_setStatus(
                    channel_id=turn.channel, thread_ts=str(turn.root_ts), status=status
                )
        except (TryLater, Refused, BlocksRefused) as error:
            log.info("session status not set", reason=str(error))

    async def _status(self, turn: Spoken, status: str) -> None:
        try:
            async with translated():
                await self.client.assistant_threads_setStatus(
                    channel_id=turn.channel, thread_ts=str(turn.root_ts), status=status
                )
        except (TryLater, Refused) as error:
            log.info("status not shown", reason=str(error))

    # Answers

    async def deliver(self, turn: Turn, answer: Answer, begin: Begin) -> None:
        """Say an answer where it was asked for."""
        if turn.body.get("private"):
            await self._whisper(turn, answer, begin)
        else:
            reply = render(answer, said_before=str(turn.body.get("said_before") or ""))
            await self._post_all(turn, answer, reply, begin, turn.root_ts)
            await self._at_rest(turn)

    async def share(self, turn: Turn, answer: Answer, begin: Begin) -> str:
        """Post a private answer in its channel; the ts of the new thread."""
        question = await self._question(turn)
        who = label(answer.lang, "shared_by", user=f"<@{turn.user}>", question=escape(cut(question, 500)))
        reply = render(answer, said_before=who)
        return await self._post_all(turn, answer, reply, begin, None)

    async def _question(self, turn: Turn) -> str:
        state = await self.offload.database(self.store.thread_state, turn.thread_id)
        return next((said.text for said in reversed(state.turns) if said.text), "/size")

    async def _post_all(
        self, turn: Turn, answer: Answer, reply: Reply, begin: Begin, thread_ts: str | None
    ) -> str:  # fmt: skip
        """All messages of a reply, each of them once; the ts of the first."""
        posted = await self._posted(turn) if turn.posting_at else {}
        await begin()
        parts = {str(n): message for n, message in enumerate(reply.messages)}
        if any(part.startswith("text") for part in posted):
            parts = _text_parts(answer)
        root = None
        for part, message in parts.items():
            try:
                ts = posted.get(part) or await self._post(turn, part, message, thread_ts or root)
            except BlocksRefused as refusal:
                log.error("blocks refused", turn=turn.key, id=error_id_of(turn.key), reason=str(refusal))
                return await self._post_text(turn, answer, thread_ts or root)
            root = root or ts
        if reply.file:
            await self._upload(turn, reply.file, thread_ts or root, turn.channel)
        await self._draw(turn, answer, str(thread_ts or root))
        return str(root)

    async def _post_text(self, turn: Turn, answer: Answer, thread_ts: str | None) -> str:
        """The answer again without blocks: a refused message must not be silence."""
        root = None
        for part, message in _text_parts(answer).items():
            try:
                ts = await self._post(turn, part, message, thread_ts or root)
            except BlocksRefused as refusal:
                raise Refused(str(refusal)) from None
            root = root or ts
        return thread_ts or str(root)

    async def _post(self, turn: Turn, part: str, message: Message, thread_ts: str | None) -> str:
        async with translated():
            found = await self.client.chat_postMessage(
                channel=turn.channel,
                thread_ts=thread_ts,
                text=message.text,
                blocks=list(message.blocks) or None,
                metadata={"event_type": METADATA, "event_payload": {"turn": turn.key, "part": part}},
                unfurl_links=False,
                unfurl_media=False,
            )
        return str(found["ts"])

    async def _posted(self, turn: Turn) -> dict[str, str]:
        """What an earlier attempt posted: part → ts. Asked only when there was one that came that far."""
        found = {}
        async for message in self._since(turn):
            metadata = message.get("metadata") or {}
            payload = metadata.get("event_payload") or {}
            if metadata.get("event_type") == METADATA and payload.get("turn") == turn.key:
                found[str(payload.get("part"))] = str(message["ts"])
        log.info("looked for an earlier post", turn=turn.key, found=len(found))
        return found

    async def _since(self, turn: Turn) -> AsyncIterator[dict[str, Any]]:
        """The messages that came after a turn, in its thread or, for what starts one, in its channel."""
        cursor = ""
        for _ in range(_PAGES):
            page = await self._page(turn, cursor)
            for message in page["messages"]:
                yield message
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return

    async def _page(self, turn: Turn, cursor: str) -> dict[str, Any]:
        """One page. Where reading is not allowed, nothing is found: an answer said twice is better than none."""
        where: dict[str, Any] = {
            "oldest": turn.ts,
            "limit": _PAGE,
            "include_all_metadata": True,
            "cursor": cursor or None,
        }
        try:
            async with translated():
                if turn.root_ts:
                    found = await self.client.conversations_replies(channel=turn.channel, ts=turn.root_ts, **where)
                else:
                    found = await self.client.conversations_history(channel=turn.channel, **where)
        except Refused as error:
            log.error("cannot look for an earlier post", turn=turn.key, reason=str(error))
            return {"messages": []}
        data: Any = found.data
        return dict(data)

    async def _draw(self, turn: Turn, answer: Answer, thread_ts: str) -> None:
        """The bar chart below the answer. The answer stands without it: a failure is only logged."""
        if answer.chart is None or len(answer.chart.bars) < CHART_BARS or not await self._is_new(turn, answer):
            return
        name = f"sizewise-{answer.id}.png"
        try:
            if turn.posting_at and name in {
                file["name"] async for m in self._since(turn) for file in m.get("files", [])
            }:
                return
            picture = await self.offload.draw(png, answer.chart, answer.lang, titled=False)
            async with translated():
                await self.client.files_upload_v2(
                    channel=turn.channel, thread_ts=thread_ts, filename=name, title=cut(answer.chart.title, _TITLE_CHARS),
                    content=picture, alt_txt=cut(answer.chart.alt_text, _ALT_CHARS),
                )  # fmt: skip
        except (TryLater, Refused, BlocksRefused, ComputationFault) as error:
            log.error("chart not shown", turn=turn.key, reason=str(error))

    async def _is_new(self, turn: Turn, answer: Answer) -> bool:
        """A picture for what a thread is about and for every comparison, not for every change of it."""
        if turn.kind == "share" or answer.intent == "compare":
            return True
        return (await self.offload.database(self.store.thread_state, turn.thread_id)).last_sized is None

    # Private answers: at most once

    async def _whisper(self, turn: Turn, answer: Answer, begin: Begin) -> None:
        """An answer for the asker alone. After a crash nobody can tell whether it was seen: it is not repeated."""
        if turn.posting_at:
            await self.say(turn, "maybe_lost", id=error_id_of(turn.key))
            return
        await begin()
        reply = render(answer, private=True)
        for n, message in enumerate(reply.messages):
            await self._whisper_one(turn, message, answer, first=n == 0)
        if reply.file:
            await self._upload(turn, reply.file, None, await self._direct_channel(turn))

    async def _whisper_one(self, turn: Turn, message: Message, answer: Answer, *, first: bool) -> None:
        content: dict[str, Any] = {"replace_original": first}
        status = await self._respond(turn, content | {"text": message.text, "blocks": list(message.blocks)})
        if status == _BAD_REQUEST:
            log.error("blocks refused", turn=turn.key, id=error_id_of(turn.key))
            message = Message(as_text(answer)[0] if first else message.text)
            status = await self._respond(turn, content | {"text": message.text})
        if status is None:
            await self.say(turn, "maybe_lost", id=error_id_of(turn.key))
        elif status >= _BAD_REQUEST:
            await self._whisper_otherwise(turn, message)

    async def _whisper_otherwise(self, turn: Turn, message: Message) -> None:
        """The URL is used up or too old, so nothing was shown and another way is no repetition."""
        try:
            await self._ephemeral(turn, message)
        except Refused:
            async with translated():
                await self.client.chat_postMessage(
                    channel=turn.user, text=message.text, blocks=list(message.blocks) or None, unfurl_links=False,
                    unfurl_media=False,
                )  # fmt: skip

    async def _respond(self, turn: Spoken, content: dict[str, Any]) -> int | None:
        """Use a response_url; the HTTP status, or None where the answer was lost on the way."""
        url = turn.body.get("response_url")
        if not url:
            return 404
        if turn.kind != "command":
            content = {**content, "replace_original": False}
        else:
            await self.acknowledgements.past(turn.key)
        try:
            async with translated():
                found = await webhook_client(str(url), self.session).send_dict(
                    {"response_type": "ephemeral", **content}
                )
        except TryLater as error:
            log.warning("response_url", turn=turn.key, reason=str(error))
            return None
        return int(found.status_code)

    async def _ephemeral(self, turn: Spoken, message: Message) -> None:
        async with translated():
            await self.client.chat_postEphemeral(
                channel=turn.channel, user=turn.user, text=message.text, blocks=list(message.blocks) or None,
                thread_ts=turn.root_ts,
            )  # fmt: skip

    # Files

    async def export(self, turn: Turn, answer: Answer, begin: Begin) -> None:
        """The answer as files: in its thread, or to the asker alone."""
        files = [Attachment(f"sizewise-{answer.id}.csv", "CSV", exported(answer, "csv")), attachment(answer)]
        files.append(Attachment(f"sizewise-{answer.id}.json", "JSON", exported(answer, "json")))
        known = (
            {file["name"] async for m in self._since(turn) for file in m.get("files", [])} if turn.posting_at else set()
        )
        await begin()
        channel = await self._direct_channel(turn) if turn.body.get("private") else turn.channel
        for file in files:
            if file.name not in known:
                await self._upload(turn, file, turn.root_ts, channel)

    async def _direct_channel(self, turn: Turn) -> str:
        """The direct message with the asker, found by writing into it."""
        async with translated():
            text = label(await self.language(turn), "export")
            found = await self.client.chat_postMessage(
                channel=turn.user, text=text, unfurl_links=False, unfurl_media=False
            )
        return str(found["channel"])

    async def _upload(self, turn: Turn, file: Attachment, thread_ts: str | None, channel: str) -> None:
        async with translated():
            await self.client.files_upload_v2(
                channel=channel, thread_ts=thread_ts, filename=file.name, title=file.title, content=file.content
            )
        log.info("file uploaded", turn=turn.key, name=file.name)

    # Words to the asker

    async def say(self, turn: Spoken, key: str, **params: object) -> None:
        """A short text for the asker alone; its failure is only logged, there is nobody left to tell."""
        message = Message(label(await self.language(turn), key, **params))
        try:
            await self._say(turn, message, replace=turn.kind == "command" and key != "maybe_lost")
        except (TryLater, Refused, BlocksRefused) as error:
            log.error("asker not told", turn=turn.key, text_key=key, reason=str(error))

    async def _say(self, turn: Spoken, message: Message, *, replace: bool) -> None:
        """`replace` puts it in the place of the progress note; what may be an answer is never replaced."""
        if turn.body.get("response_url"):
            status = await self._respond(turn, {"text": message.text, "replace_original": replace})
            if status is not None and status < _BAD_REQUEST:
                return
        if turn.body.get("direct"):
            async with translated():
                await self.client.chat_postMessage(
                    channel=turn.channel,
                    thread_ts=turn.root_ts,
                    text=message.text,
                    unfurl_links=False,
                    unfurl_media=False,
                )
            return
        await self._ephemeral(turn, message)

    # What people said in a thread the bot was called into

    async def discussion(self, turn: Turn, since: str | None) -> Discussion:
        """What people wrote since the last look, as far as it can be read; a bonus that may fail."""
        texts: list[tuple[str, str]] = []
        try:
            async for message in self._thread(turn, since, turn.ts):
                if self._overheard(message, turn, since):
                    texts.append((str(message["ts"]), str(message.get("text") or "")))
        except (TryLater, Refused) as error:
            log.warning("thread not read", turn=turn.key, reason=str(error))
            return Discussion((), None)
        return Discussion(_capped([text for _, text in sorted(texts)]), turn.ts)

    def _overheard(self, message: dict[str, Any], turn: Turn, since: str | None) -> bool:
        """People's words before this turn; bots' and our own are left out, and so is what was a turn itself."""
        if message.get("bot_id") or message.get("user") in (None, self.me.bot_user):
            return False
        text = str(message.get("text") or "")
        return (since or "") < str(message["ts"]) < turn.ts and bool(text.strip()) and not mentions(text, self.me)

    async def missed(self, turn: Spoken) -> tuple[NewTurn, ...]:
        """Follow-ups in the thread of a question that came late, as turns; those known already are no new ones."""
        found: list[NewTurn] = []
        defaults = await self.offload.database(self.store.defaults, turn.team)
        if turn.channel in self.strict.union(defaults.strict_channels):
            return ()
        try:
            async for data in self._thread(turn, None, latest=None):
                event = {"channel": turn.channel, **data}
                message = message_of({"event": event, "is_ext_shared_channel": turn.body.get("foreign")}, self.me)
                if isinstance(message, Heard) and message.ts != turn.ts and not mentions_somebody_else(message.text):
                    found.append(turn_of_message(message, self.me))
        except (TryLater, Refused) as error:
            log.warning("thread not read", turn=turn.key, reason=str(error))
        return tuple(found)

    async def _thread(self, turn: Spoken, since: str | None, latest: str | None) -> AsyncIterator[dict[str, Any]]:
        cursor = ""
        for _ in range(_PAGES):
            async with translated():
                page = await self.client.conversations_replies(
                    channel=turn.channel,
                    ts=str(turn.root_ts),
                    oldest=since,
                    latest=latest,
                    limit=_PAGE,
                    cursor=cursor or None,
                )
            for message in page["messages"]:
                yield message
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return


def _text_parts(answer: Answer) -> dict[str, Message]:
    return {f"text{n}": Message(text) for n, text in enumerate(as_text(answer))}


def _capped(texts: list[str]) -> tuple[str, ...]:
    """The root and the latest messages, within a budget: a long thread must not become a long question."""
    if len(texts) > _DISCUSSION_MESSAGES:
        texts = [texts[0], *texts[1 - _DISCUSSION_MESSAGES :]]
    kept: list[str] = []
    room = _DISCUSSION_CHARS - len(texts[0][:_DISCUSSION_CHARS]) if texts else 0
    for text in reversed(texts[1:]):
        room -= len(text)
        if room < 0:
            break
        kept.append(text)
    return (*(text[:_DISCUSSION_CHARS] for text in texts[:1]), *reversed(kept))
