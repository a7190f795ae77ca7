"""The team's settings: shown and changed in a modal, kept for every later question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from bot.answer import Lang
from bot.form import hardware_of
from bot.logs import logger
from bot.reply import views
from bot.reply.labels import label
from bot.slack.forms import Forms
from bot.slack.home import publish
from bot.slack.rights import may_change_settings
from bot.slack.room import Room
from bot.thread import TeamDefaults

log = logger()

# Field → lowest, highest, and what the stored value is multiplied with to be shown.
_NUMBERS: Final = {"electricity": (0.001, 10.0), "reserve": (0.0, 60.0), "quality": (1.0, 32.0)}
_CHANNELS: Final = 100


def register(app: AsyncApp, room: Room) -> None:
    async def opened(ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await open_form(room, client, str(body["trigger_id"]), str(body["user"]["id"]))

    async def saved(ack: AsyncAck, body: dict[str, Any], view: dict[str, Any], client: AsyncWebClient) -> None:
        user = str(body["user"]["id"])
        if body["user"].get("team_id") not in (room.me.team, None):
            await ack()
            return
        lang = await room.voice.courtesy.quick_locale(user)
        if not await may_change_settings(room, user, ack_waits=True):
            log.warning("settings not changed", team=room.me.team, user=user, reason="no admin")
            defaults = await room.offload.database(room.store.defaults, room.me.team)
            await ack(response_action="update", view=views.defaults_shown(lang, defaults))
            return
        now = await room.offload.database(room.store.defaults, room.me.team)
        read = await room.offload.compute(_read, view["state"]["values"], now, lang)
        if read.faults:
            await ack(response_action="errors", errors=dict(read.faults))
            return
        await room.offload.database(room.store.set_defaults, room.me.team, read.defaults)
        await ack()
        log.info("settings changed", team=room.me.team, user=user)
        await publish(room, client, user)

    app.action(views.OPEN_DEFAULTS)(opened)
    app.view(views.DEFAULTS_FORM)(saved)


async def open_form(room: Room, client: AsyncWebClient, trigger: str, user: str) -> None:
    """Show the team's settings: to change them, or to read them alone."""
    lang = await room.voice.courtesy.quick_locale(user)

    async def build() -> dict[str, Any]:
        defaults = await room.offload.database(room.store.defaults, room.me.team)
        allowed = await may_change_settings(room, user)
        view = views.defaults_form if allowed else views.defaults_shown
        return await room.offload.compute(view, lang, defaults)

    await Forms(room).open(client, trigger, lang, "defaults_title", build)


@dataclass(frozen=True)
class Read:
    """What stands in the modal, or what is wrong with it by field."""

    defaults: TeamDefaults
    faults: Mapping[str, str]


def _read(values: Mapping[str, Any], now: TeamDefaults, lang: Lang) -> Read:
    faults: dict[str, str] = {}
    owned_text = _text(values, "owned")
    owned = hardware_of(owned_text) if owned_text else []
    if owned_text and not owned:
        faults["owned"] = label(lang, "form_no_hardware")
    numbers = {name: _number(_text(values, name)) for name in _NUMBERS}
    for name, (low, high) in _NUMBERS.items():
        value = numbers[name]
        missing = value is None and (name != "electricity" or bool(_text(values, name)))
        if missing or (value is not None and not low <= value <= high):
            faults[name] = label(lang, "defaults_too_large", low=f"{low:g}", high=f"{high:g}")
    if faults:
        return Read(now, faults)
    return Read(_changed(values, now, owned, numbers), {})


def _changed(
    values: Mapping[str, Any], now: TeamDefaults, owned: list[dict[str, Any]], numbers: Mapping[str, float | None]
) -> TeamDefaults:
    chosen = {name: _choice(values, name) for name in ("place", "currency", "lang")}
    strict = (values.get("strict") or {}).get(views.INPUT, {}).get("selected_conversations") or []
    return TeamDefaults.model_validate(
        now.model_dump()
        | {
            "owned": owned,
            "cloud": {"cloud": True, "own": False}.get(chosen["place"]),
            "currency": chosen["currency"],
            "lang": None if chosen["lang"] == views.ANY else chosen["lang"],
            "electricity_per_kwh": numbers["electricity"],
            "reserve_share": (numbers["reserve"] or 0.0) / 100,
            "min_bits": numbers["quality"],
            "strict_channels": [str(channel) for channel in strict][:_CHANNELS],
        }
    )


def _text(values: Mapping[str, Any], name: str) -> str:
    return str((values.get(name) or {}).get(views.INPUT, {}).get("value") or "").strip()


def _choice(values: Mapping[str, Any], name: str) -> str:
    return str(((values.get(name) or {}).get(views.INPUT, {}).get("selected_option") or {}).get("value") or views.ANY)


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
