"""`sizewise feedback`: the latest votes, what they were about, and how often each way."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Callable

from bot.store import Feedback
from bot.surroundings import store

_WORDS = {1: "helpful", -1: "not helpful"}


def show(most: int, as_json: bool, write: Callable[[str], object]) -> None:
    """Write the latest `most` votes, newest first; with `as_json` one JSON object a line."""
    found = store().feedback(most)
    if as_json:
        for vote in found:
            write(json.dumps(_as_json(vote), ensure_ascii=False) + "\n")
        return
    counts = Counter(vote.vote for vote in found)
    write(f"{len(found)} votes: {counts[1]} helpful, {counts[-1]} not helpful\n")
    for vote in found:
        write(f"{_when(vote)}  {_WORDS[vote.vote]:<12}  {vote.user}  {vote.headline}  [{vote.answer_id}]\n")


def _when(vote: Feedback) -> str:
    return datetime.datetime.fromtimestamp(vote.at, datetime.UTC).strftime("%Y-%m-%d %H:%M")


def _as_json(vote: Feedback) -> dict[str, object]:
    return {
        "at": _when(vote), "vote": _WORDS[vote.vote], "user": vote.user, "answer_id": vote.answer_id, "headline": vote.headline,
    }  # fmt: skip
