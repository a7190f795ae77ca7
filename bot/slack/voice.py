"""The worker's voice in Slack: where each kind of answer goes."""

from __future__ import annotations

from collections.abc import Sequence

from slack_sdk.web.async_client import AsyncWebClient

from bot.answer import Answer, Lang
from bot.attached import Attached
from bot.inbox import NewTurn, Turn
from bot.reply.blocks import render
from bot.reply.labels import label
from bot.reply.mrkdwn import cut, escape
from bot.slack.courtesy import Courtesy
from bot.slack.files import Files
from bot.slack.here import Here, Spoken
from bot.slack.history import History
from bot.slack.overheard import Overheard
from bot.slack.posts import Posts
from bot.slack.uploads import Uploads
from bot.slack.whispers import Whispers
from bot.surface import Begin, Discussion, FileRef


class SlackVoice:
    """Says things in Slack: posts, private answers, files, status, apologies."""

    def __init__(self, here: Here, strict: frozenset[str]) -> None:
        self.here = here
        history = History(here)
        self.courtesy = Courtesy(here)
        self.uploads = Uploads(here, history, self.courtesy)
        self.posts = Posts(here, history, self.uploads)
        self.whispers = Whispers(here, self.uploads, self.courtesy)
        self.files = Files(here)
        self.overheard = Overheard(here, history, strict)

    @property
    def client(self) -> AsyncWebClient:
        return self.here.client

    async def enter(self, turn: Turn) -> None:
        """Speak in the workspace of this turn from here on."""
        await self.here.workspaces.enter(turn.team, turn.body.get("enterprise"))

    async def progress(self, turn: Turn) -> None:
        await self.courtesy.progress(turn)

    async def settle(self, turn: Turn) -> None:
        await self.courtesy.settle(turn)

    async def locale(self, user: str) -> Lang:
        return await self.courtesy.locale(user)

    async def deliver(self, turn: Turn, answer: Answer, begin: Begin) -> None:
        """Say an answer where it was asked for."""
        if turn.body.get("private"):
            await self.whispers.answer(turn, answer, begin)
        else:
            reply = render(answer, said_before=str(turn.body.get("said_before") or ""))
            await self.posts.all(turn, answer, reply, begin, turn.root_ts)
            await self.courtesy.at_rest(turn)

    async def share(self, turn: Turn, answer: Answer, begin: Begin) -> str:
        """Post a private answer in its channel; the ts of the new thread."""
        question = await self._question(turn)
        who = label(answer.lang, "shared_by", user=f"<@{turn.user}>", question=escape(cut(question, 500)))
        reply = render(answer, said_before=who)
        return await self.posts.all(turn, answer, reply, begin, None)

    async def _question(self, turn: Turn) -> str:
        state = await self.here.offload.database(self.here.store.thread_state, turn.thread_id)
        return next((said.text for said in reversed(state.turns) if said.text), "/size")

    async def export(self, turn: Turn, answer: Answer, begin: Begin) -> None:
        await self.uploads.export(turn, answer, begin)

    async def say(self, turn: Spoken, key: str, **params: object) -> None:
        await self.whispers.say(turn, key, **params)

    async def attached(self, turn: Turn, files: Sequence[FileRef]) -> Attached:
        return await self.files.of(turn, files)

    async def discussion(self, turn: Turn, since: str | None) -> Discussion:
        return await self.overheard.discussion(turn, since)

    async def missed(self, turn: Spoken) -> tuple[NewTurn, ...]:
        return await self.overheard.missed(turn)
