"""Files that the bot sends: exports, answers too long for messages, pictures."""

from __future__ import annotations

from typing import Final

from bot.answer import Answer
from bot.inbox import Turn
from bot.logs import logger
from bot.processes import ComputationFault
from bot.reply.blocks import CHART_BARS, Attachment, attachment
from bot.reply.chart import png
from bot.reply.export import export as exported
from bot.reply.labels import label
from bot.reply.mrkdwn import cut
from bot.slack.courtesy import Courtesy
from bot.slack.errors import BlocksRefused, translated
from bot.slack.here import Here
from bot.slack.history import History
from bot.surface import Begin, Refused, TryLater

log = logger()

_TITLE_CHARS: Final = 200
_ALT_CHARS: Final = 1_000


class Uploads:
    """Uploads; what an earlier attempt left is not uploaded again."""

    def __init__(self, here: Here, history: History, courtesy: Courtesy) -> None:
        self.here, self.history, self.courtesy = here, history, courtesy

    async def export(self, turn: Turn, answer: Answer, begin: Begin) -> None:
        """The answer as files: in its thread, or to the asker alone."""
        files = [Attachment(f"sizewise-{answer.id}.csv", "CSV", exported(answer, "csv")), attachment(answer)]
        files.append(Attachment(f"sizewise-{answer.id}.json", "JSON", exported(answer, "json")))
        known = await self.history.file_names(turn) if turn.posting_at else set()
        await begin()
        channel = await self.direct_channel(turn) if turn.body.get("private") else turn.channel
        for file in files:
            if file.name not in known:
                await self.upload(turn, file, turn.root_ts, channel)

    async def direct_channel(self, turn: Turn) -> str:
        """The direct message with the asker, found by writing into it."""
        async with translated():
            text = label(await self.courtesy.language(turn), "export")
            found = await self.here.client.chat_postMessage(
                channel=turn.user, text=text, unfurl_links=False, unfurl_media=False
            )
        return str(found["channel"])

    async def upload(self, turn: Turn, file: Attachment, thread_ts: str | None, channel: str) -> None:
        async with translated():
            await self.here.client.files_upload_v2(
                channel=channel, thread_ts=thread_ts, filename=file.name, title=file.title, content=file.content
            )
        log.info("file uploaded", turn=turn.key, name=file.name)

    async def draw(self, turn: Turn, answer: Answer, thread_ts: str) -> None:
        """The bar chart below the answer. The answer stands without it: a failure is only logged."""
        if answer.chart is None or len(answer.chart.bars) < CHART_BARS or not await self._is_new(turn, answer):
            return
        name = f"sizewise-{answer.id}.png"
        try:
            if turn.posting_at and name in await self.history.file_names(turn):
                return
            picture = await self.here.offload.apart(png, answer.chart, answer.lang, titled=False)
            async with translated():
                await self.here.client.files_upload_v2(
                    channel=turn.channel, thread_ts=thread_ts, filename=name, title=cut(answer.chart.title, _TITLE_CHARS),
                    content=picture, alt_txt=cut(answer.chart.alt_text, _ALT_CHARS),
                )  # fmt: skip
        except (TryLater, Refused, BlocksRefused, ComputationFault) as error:
            log.error("chart not shown", turn=turn.key, reason=str(error))

    async def _is_new(self, turn: Turn, answer: Answer) -> bool:
        """A picture for what a thread is about and for every comparison, not for every change of it."""
        if turn.kind == "share" or answer.intent == "compare":
            return True
        return (await self.here.offload.database(self.here.store.thread_state, turn.thread_id)).last_sized is None
