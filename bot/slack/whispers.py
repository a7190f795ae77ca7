"""What one person alone sees: private answers, said at most once, and short texts to the asker."""

from __future__ import annotations

from typing import Any, Final

from bot.answer import Answer
from bot.inbox import Turn
from bot.logs import logger
from bot.reply.blocks import Message, as_text, render
from bot.reply.labels import label
from bot.slack.acknowledged import Acknowledgements
from bot.slack.clients import webhook_client
from bot.slack.courtesy import Courtesy
from bot.slack.errors import BlocksRefused, translated
from bot.slack.here import Here, Spoken
from bot.slack.uploads import Uploads
from bot.surface import Begin, Refused, TryLater, error_id_of

log = logger()

_BAD_REQUEST: Final = 400


class Whispers:
    """By a `response_url` as long as it holds, then by an ephemeral message, then by a direct one."""

    def __init__(self, here: Here, uploads: Uploads, courtesy: Courtesy) -> None:
        self.here, self.uploads, self.courtesy = here, uploads, courtesy
        self.acknowledgements = Acknowledgements()

    async def answer(self, turn: Turn, answer: Answer, begin: Begin) -> None:
        """An answer for the asker alone. After a crash nobody can tell whether it was seen: it is not repeated."""
        if turn.posting_at:
            await self.say(turn, "maybe_lost", id=error_id_of(turn.key))
            return
        await begin()
        reply = render(answer, private=True)
        for n, message in enumerate(reply.messages):
            await self._one(turn, message, answer, first=n == 0)
        if reply.file:
            await self.uploads.upload(turn, reply.file, None, await self.uploads.direct_channel(turn))

    async def _one(self, turn: Turn, message: Message, answer: Answer, *, first: bool) -> None:
        content: dict[str, Any] = {"replace_original": first}
        status = await self._respond(turn, content | {"text": message.text, "blocks": list(message.blocks)})
        if status == _BAD_REQUEST:
            log.error("blocks refused", turn=turn.key, id=error_id_of(turn.key))
            message = Message(as_text(answer)[0] if first else message.text)
            status = await self._respond(turn, content | {"text": message.text})
        if status is None:
            await self.say(turn, "maybe_lost", id=error_id_of(turn.key))
        elif status >= _BAD_REQUEST:
            await self._otherwise(turn, message)

    async def _otherwise(self, turn: Turn, message: Message) -> None:
        """The URL is used up or too old, so nothing was shown and another way is no repetition."""
        try:
            await self._ephemeral(turn, message)
        except Refused:
            async with translated():
                await self.here.client.chat_postMessage(
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
                found = await webhook_client(str(url), self.here.session).send_dict(
                    {"response_type": "ephemeral", **content}
                )
        except TryLater as error:
            log.warning("response_url", turn=turn.key, reason=str(error))
            return None
        return int(found.status_code)

    async def _ephemeral(self, turn: Spoken, message: Message) -> None:
        async with translated():
            await self.here.client.chat_postEphemeral(
                channel=turn.channel, user=turn.user, text=message.text, blocks=list(message.blocks) or None,
                thread_ts=turn.root_ts,
            )  # fmt: skip

    async def say(self, turn: Spoken, key: str, **params: object) -> None:
        """A short text for the asker alone; its failure is only logged, there is nobody left to tell."""
        message = Message(label(await self.courtesy.language(turn), key, **params))
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
                await self.here.client.chat_postMessage(
                    channel=turn.channel,
                    thread_ts=turn.root_ts,
                    text=message.text,
                    unfurl_links=False,
                    unfurl_media=False,
                )
            return
        await self._ephemeral(turn, message)
