"""Answers in channels and threads: each message of them once, whatever became of an earlier attempt."""

from __future__ import annotations

from typing import Final

from bot.answer import Answer
from bot.inbox import Turn
from bot.logs import logger
from bot.reply.blocks import Message, Reply, as_text
from bot.slack.errors import BlocksRefused, translated
from bot.slack.here import Here
from bot.slack.history import History
from bot.slack.uploads import Uploads
from bot.surface import Begin, Refused, error_id_of

log = logger()

METADATA: Final = "sizewise_answer"


class Posts:
    """Posts. What a person must not see twice is looked for before it is said again."""

    def __init__(self, here: Here, history: History, uploads: Uploads) -> None:
        self.here, self.history, self.uploads = here, history, uploads

    async def all(
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
        if reply.file and not (turn.posting_at and reply.file.name in await self.history.file_names(turn)):
            await self.uploads.upload(turn, reply.file, thread_ts or root, turn.channel)
        await self.uploads.draw(turn, answer, str(thread_ts or root))
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
            found = await self.here.client.chat_postMessage(
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
        async for message in self.history.since(turn):
            metadata = message.get("metadata") or {}
            payload = metadata.get("event_payload") or {}
            if metadata.get("event_type") == METADATA and payload.get("turn") == turn.key:
                found[str(payload.get("part"))] = str(message["ts"])
        log.info("looked for an earlier post", turn=turn.key, found=len(found))
        return found


def _text_parts(answer: Answer) -> dict[str, Message]:
    return {f"text{n}": Message(text) for n, text in enumerate(as_text(answer))}
