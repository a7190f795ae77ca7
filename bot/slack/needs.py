"""What the app asks of Slack: scopes, events, commands. The manifest is made from it, the doctor checks it."""

from __future__ import annotations

from typing import Any, Final

# Every scope is a review question: each has its reason here.
SCOPES: Final = {
    "app_mentions:read": "to be called by a mention",
    "assistant:write": "suggested prompts in the direct message",
    "channels:history": "follow-ups in threads of public channels, and to look whether an answer was posted",
    "chat:write": "to answer",
    "commands": "for /size",
    "files:read": "a config.json, a GGUF file or a log that comes with a question",
    "files:write": "for exports and answers too long for a message",
    "groups:history": "the same in private channels",
    "im:history": "direct messages",
    "users:read": "the language of texts around an answer",
}
# Without these the bot runs, and tells who misses something what an admin has to do.
OPTIONAL: Final = frozenset({"files:read"})
EVENTS: Final = (
    "agent_session_stopped", "app_context_changed", "app_home_opened", "app_mention", "app_uninstalled",
    "message.channels", "message.groups", "message.im", "tokens_revoked",
)  # fmt: skip
COMMAND: Final = "/size"
# First words of a slash line that are no question.
SUBCOMMANDS: Final = ("help", "form", "defaults")
# Callback ids of the message shortcuts with their names, at most 24 characters, and what they do.
SHORTCUTS: Final = {
    "size_this": ("Size this", "Opens a form filled from this message"),
    "compare_in_thread": ("Compare in thread", "Compares what was sized here with something else"),
}
PROMPTS: Final = 4


_PROMPTS: Final = (
    "Is one RTX 4090 enough for Llama 3.3 70B with 32k context for 10 people?",
    "Which GPU for Qwen3-32B in FP8, 50 concurrent users with 8k?",
    "QLoRA on Llama 3.1 8B with a 24 GB card?",
)


def manifest(request_url: str | None = None) -> dict[str, Any]:
    """The app manifest: for Socket Mode, or for HTTP where a request URL is given."""
    socket = request_url is None
    url = {} if socket else {"url": request_url}
    command = {
        "command": COMMAND, "description": "Size an AI workload, for you alone",
        "usage_hint": "llama3.3-70b q4 32k x10 on 2x4090", "should_escape": False, **url,
    }  # fmt: skip
    events: dict[str, Any] = {"bot_events": list(EVENTS)}
    interactivity: dict[str, Any] = {"is_enabled": True}
    if not socket:
        events["request_url"] = interactivity["request_url"] = request_url
    return {
        "_metadata": {"major_version": 2, "minor_version": 0},
        "display_information": {
            "name": "sizewise",
            "description": "Which hardware does this AI workload need? Computed, with sources.",
            "background_color": "#1f3a5f",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "sizewise", "always_online": True},
            "agent_view": {
                "agent_description": "Ask which hardware an AI workload needs, in German or English.",
                "suggested_prompts": [{"title": title, "message": title} for title in _PROMPTS],
            },
            "shortcuts": [
                {"name": name, "type": "message", "callback_id": callback, "description": description}
                for callback, (name, description) in SHORTCUTS.items()
            ],
            "slash_commands": [command],
        },
        "oauth_config": {"scopes": {"bot": sorted(SCOPES)}},
        "settings": {
            "event_subscriptions": events,
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": socket,
            "token_rotation_enabled": False,
        },
    }
