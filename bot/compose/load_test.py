"""A load test asked for with the workload itself: the line that sends its load, and what it should show."""

from __future__ import annotations

import re
from typing import Final

from bot.compose import topics
from bot.compose.draft import Draft
from bot.compose.labels import option_label
from bot.compose.launching import load_commands
from bot.sized import Sized
from sizing.defaults import Defaults

_ASKED: Final = re.compile(
    r"\bload[- ]?test\w*|\blast(?:en)?tests?\b|\bbelastungstest\w*|\bbenchmark(?:en|ing)?[- ](?:command|line|plan|befehl|zeile)|"
    r"\bvllm bench\b|\bllama-bench\b|\bgenai-perf\b|\baiperf\b|\bbench_serving\b|"
    r"\b(?:how|wie) (?:do|can|should|kann|soll|messe|prüfe|teste)\b[^.?!]{0,60}"
    r"\b(?:measure|verify|benchmark|nachmessen|messen|nachprüfen)\b",
    re.IGNORECASE,
)


def is_asked(question: str) -> bool:
    """Whether a message wants the line that measures it."""
    return _ASKED.search(question) is not None


def say(draft: Draft, sized: Sized, question: str, defaults: Defaults) -> None:
    """The line leads, the verdict stands second; nothing where it was not asked for or the workload does not fit."""
    if not is_asked(question) or not sized.estimate.fits:
        return
    commands = load_commands(sized, draft.words, defaults)
    if not commands:
        return
    draft.commands = commands
    draft.lead = f"{draft.headline} {draft.lead}".strip()
    figures = {**sized.figures, "label": option_label(sized, draft.words)}
    draft.headline = draft.words.text("commands", "loadtest", **figures)
    topics.say_thresholds(draft, sized)
