"""Slack's mrkdwn: everything that is not our own mark-up goes through `escape`, once, after cutting."""

from __future__ import annotations

import re
from typing import Any, Final

_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MENTION = re.compile(r"<(?=[@!#])")
_FENCE = re.compile(r"`{3}")
_SAFE_URL = re.compile(r"https?://[^\s<>|\"'`]+")
# Invisible, but keeps a run of backticks from closing our fence.
_ZERO_WIDTH: Final = "\N{ZERO WIDTH SPACE}"


def escape(text: str) -> str:
    """Text for mrkdwn; `<!channel>`, `<@U1>` and links in it become harmless."""
    return text.translate(_ENTITIES)


def literal(text: str) -> str:
    """Text for plain_text and table cells, where nothing is escaped; only the look of a mention is taken away."""
    return _MENTION.sub("‹", text)


def bold(text: str) -> str:
    """Bold; asterisks inside would end it and are replaced by a look-alike."""
    shown = " ".join(escape(text).replace("*", "∗").split())
    return f"*{shown}*" if shown else ""


def bold_within(text: str, most: int, escaped_most: int) -> str:
    """Bold text cut to `most` characters, and further where escaping makes it longer than `escaped_most`: `&` is five."""
    shown = bold(cut(text, most))
    while len(shown) > escaped_most:
        most = most * 3 // 4
        shown = bold(cut(text, most))
    return shown


def fence(code: str) -> str:
    """A code block whose content cannot close it."""
    return f"```\n{escape(_FENCE.sub(f'``{_ZERO_WIDTH}`', code))}\n```"


def link(url: str, label: str) -> str:
    """A link where `url` is a plain http address, else only its label."""
    return f"<{escape(url)}|{escape(label).replace('|', '¦')}>" if _SAFE_URL.fullmatch(url) else escape(label)


def cut(text: str, most: int) -> str:
    """Text of at most `most` characters, with an ellipsis where something is missing. Cut first, escape afterwards."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def mrkdwn(text: str) -> dict[str, Any]:
    """A text object of mark-up that is already escaped. `verbatim` keeps Slack from linking what merely looks like it."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def plain(text: str, most: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": cut(literal(text), most), "emoji": False}
