"""Warnings of the engine in words."""

from __future__ import annotations

from bot.reply.wording import Wording
from sizing.estimate import Warning_

# Where experts move instead of whole layers the sentence is another.
_WITH_EXPERTS = {"offload_would_fit": "offload_experts_would_fit", "offloaded_to_ram": "offloaded_to_ram_experts"}


def warning_text(warning: Warning_, words: Wording) -> str:
    """The warning in the user's language; a code without a text keeps the engine's own English message."""
    code = warning.code
    if code in _WITH_EXPERTS and warning.params.get("cpu_moe_layers") is not None:
        code = _WITH_EXPERTS[code]
    if not words.has("warning", code):
        return warning.message
    return words.text("warning", code, **_joined(warning.params))


def _joined(params: dict[str, object]) -> dict[str, object]:
    """Lists are written as flags take them: `20,12`."""
    return {key: ", ".join(map(str, value)) if isinstance(value, list) else value for key, value in params.items()}
