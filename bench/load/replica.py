"""One replica as a process of its own: settings from the environment, the real pipeline or one that only takes time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from bot.answer import Answer
from bot.settings import Settings
from bot.slack.serve import main
from bot.thread import Context, ThreadState, Turn


class Slow:
    """Says what was asked in the thread so far, after a while; a question named "poison" ends the process."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def warm(self) -> None:
        """There is nothing to load."""

    def respond(self, text: str, thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
        if text == "poison":
            os._exit(9)
        time.sleep(self.seconds)
        said = " | ".join([turn.text for turn in thread.turns] + [text])
        answer = Answer(id=context.answer_id or "", lang="en", intent="fits", headline=said)
        return answer, thread.add(Turn(text=text, intent="fits"), "en")

    def act(
        self, action: str, payload: Mapping[str, Any], thread: ThreadState, context: Context
    ) -> tuple[Answer, ThreadState]:
        del payload
        return self.respond(action, thread, context)


if __name__ == "__main__":
    seconds = os.environ.get("REPLICA_ANSWERS_IN_S")
    sys.exit(main(Settings(_env_file=None), Slow(float(seconds)) if seconds else None))
