"""What a message asked beside the verdict: speed, cost, power, the machine; each intent has its paragraph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from bot.compose.draft import Draft
from bot.compose.prices import price_sentences
from bot.heard import Heard
from bot.sized import Sized, device_counts

Say = Callable[[Draft, Sized], None]


def say_asked(draft: Draft, sized: Sized, heard: Heard) -> None:
    """Speed and capacity always where it fits; the rest where it was asked."""
    _speed(draft, sized, always=heard.asks("throughput"))
    for intent, say in _BY_INTENT.items():
        if heard.asks(intent):
            say(draft, sized)


def _speed(draft: Draft, sized: Sized, always: bool) -> None:
    speed = sized.estimate.speed
    if speed is None or not (sized.estimate.fits or always):
        return
    words = draft.words
    parts = []
    if speed.decode_tok_s_per_user:
        parts.append(words.text("speed", "per_user", rate=speed.decode_tok_s_per_user))
    if speed.output_tok_s_total and (sized.figures.get("concurrency") or 1) > 1:
        parts.append(words.text("speed", "total", rate=speed.output_tok_s_total))
    if speed.ttft_ms:
        parts.append(words.text("speed", "first_token", time=speed.ttft_ms))
    if parts:
        draft.say("note", ", ".join(parts) + ".", draft.title("speed"))


def say_thresholds(draft: Draft, sized: Sized) -> None:
    """What a load test should show: below the lower end something is set up wrong."""
    speed = sized.estimate.speed
    if speed is None or speed.output_tok_s_total is None:
        return
    words = draft.words
    parts = [words.text("commands", "expect", rate=speed.output_tok_s_total)]
    if speed.ttft_ms:
        parts.append(words.text("commands", "expect_first", time=speed.ttft_ms))
    draft.say("note", " ".join(parts), draft.title("loadtest_expect"))


def _cost(draft: Draft, sized: Sized) -> None:
    cost = sized.estimate.cost or {}
    draft.material.add_money(cost)
    count = sum(device_counts(sized).values())
    draft.say("note", " ".join(price_sentences(cost, count, draft.words)), draft.title("cost"))


def _power(draft: Draft, sized: Sized) -> None:
    watts = (sized.estimate.cost or {}).get("power_w")
    if watts:
        draft.material.add(watts, "power")
        text = draft.words.text("power", "cards", watts=watts, devices=len(sized.devices))
        draft.say("note", text, draft.title("power"))


_BY_INTENT: Final[Mapping[str, Say]] = {"cost": _cost, "power": _power}
