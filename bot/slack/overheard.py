"""What people said in a thread: read where the bot was called into it, or heard of it late."""

from __future__ import annotations

from typing import Any, Final

from bot.inbox import NewTurn, Turn
from bot.logs import logger
from bot.slack.here import Here, Spoken
from bot.slack.history import History
from bot.slack.reading import Message as Heard
from bot.slack.reading import files_of, mentions, mentions_somebody_else, message_of, turn_of_message
from bot.surface import Discussion, Refused, TryLater

log = logger()

# A thread is read from the last turn on; of a long one its root and its latest messages.
_DISCUSSION_MESSAGES: Final = 20
_DISCUSSION_CHARS: Final = 8_000


class Overheard:
    """Reads threads. `strict` names channels in which nothing is heard without a mention."""

    def __init__(self, here: Here, history: History, strict: frozenset[str]) -> None:
        self.here = here
        self.history = history
        self.strict = strict

    async def discussion(self, turn: Turn, since: str | None) -> Discussion:
        """What people wrote since the last look, as far as it can be read; a bonus that may fail."""
        texts: list[tuple[str, str]] = []
        files: dict[str, tuple[dict[str, str], ...]] = {}
        try:
            async for message in self.history.thread(turn, since, turn.ts):
                if self._overheard(message, turn, since):
                    texts.append((str(message["ts"]), str(message.get("text") or "")))
                    files[str(message["ts"])] = files_of(message)
        except (TryLater, Refused) as error:
            log.warning("thread not read", turn=turn.key, reason=str(error))
            return Discussion((), None)
        latest = [file for ts in sorted(files, reverse=True) for file in files[ts]]
        return Discussion(_capped([text for _, text in sorted(texts) if text.strip()]), turn.ts, tuple(latest))

    def _overheard(self, message: dict[str, Any], turn: Turn, since: str | None) -> bool:
        """People's words before this turn; bots' and our own are left out, and so is what was a turn itself."""
        if message.get("bot_id") or message.get("user") in (None, self.here.me.bot_user):
            return False
        text = str(message.get("text") or "")
        told = bool(text.strip() or message.get("files"))
        return (since or "") < str(message["ts"]) < turn.ts and told and not mentions(text, self.here.me)

    async def missed(self, turn: Spoken) -> tuple[NewTurn, ...]:
        """Follow-ups in the thread of a question that came late, as turns; those known already are no new ones."""
        found: list[NewTurn] = []
        defaults = await self.here.offload.database(self.here.store.defaults, turn.team)
        if turn.channel in self.strict.union(defaults.strict_channels):
            return ()
        try:
            async for data in self.history.thread(turn, None, latest=None):
                event = {"channel": turn.channel, **data}
                message = message_of({"event": event, "is_ext_shared_channel": turn.body.get("foreign")}, self.here.me)
                if isinstance(message, Heard) and message.ts != turn.ts and not mentions_somebody_else(message.text):
                    found.append(turn_of_message(message, self.here.me))
        except (TryLater, Refused) as error:
            log.warning("thread not read", turn=turn.key, reason=str(error))
        return tuple(found)


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
