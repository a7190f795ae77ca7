"""What a message asked beside the verdict: speed, cost, power, the machine; each intent has its paragraph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from bot.compose import ecosystems, leading, queueing, special
from bot.compose.counting import missed
from bot.compose.draft import Draft
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized

Say = Callable[[Draft, Sized, str], None]

_SPEED_TARGETS: Final = ("ttft_s", "tokens_s_per_user", "tokens_s_total")
# Above this a training run is told in days.
_MOST_HOURS: Final = 96.0


def say_asked(draft: Draft, sized: Sized, heard: Heard, *, label: str = "", speed: bool = True) -> None:
    """Speed always where it fits (in a comparison the table has it); targets and the rest where they were asked."""
    if speed and not label and sized.figures["task"] != "training":
        _speed(draft, sized, always=heard.asks("throughput"))
        _targets(draft, sized)
        _observed(draft, sized, heard)
    if sized.estimate.training:
        _training(draft, sized, label)
        if heard.asks("cost") and label:
            draft.say("note", rented_text(draft, sized), draft.title("cost_of_run"))
    for intent, say in _BY_INTENT.items():
        if heard.asks(intent) and (label or intent != "power"):
            say(draft, sized, label)
    ecosystems.say_ecosystem(draft, sized)
    if not label:
        special.say_beside(draft, sized, heard)


def asked_headline(sized: Sized, heard: Heard, words: Wording) -> str | None:
    """A first sentence for what was asked, where nobody asked for the verdict."""
    training = sized.estimate.training or {}
    if sized.estimate.fits and training.get("hours") and _asks_time_first(heard):
        return words.text("headline", "hours", hours=hours_text(training["hours"], words), **_named(sized))
    speed = sized.estimate.speed
    if sized.estimate.fits and speed and speed.decode_tok_s_per_user and _asks_time_first(heard):
        key = "speed_and_first" if speed.ttft_ms else "speed"
        rates = {"rate": speed.decode_tok_s_per_user, "first": speed.ttft_ms}
        return words.text("headline", key, **rates, **_named(sized))
    if heard.asks("fits", "size", "compare"):
        return None
    watts = (sized.estimate.cost or {}).get("power_w")
    if heard.intent == "power" and watts:
        return words.text("power", "cards", watts=watts, devices=len(sized.devices))
    return None


def _asks_time_first(heard: Heard) -> bool:
    """How fast it is, or how long it takes, is asked before whether it fits, which any named card makes a question."""
    asked = [intent for intent in heard.intents if intent in ("throughput", "fits", "size", "compare")]
    return asked[:1] == ["throughput"] and not heard.asks("explain", "cost", "power")


def _named(sized: Sized) -> dict[str, str]:
    return {"model": str(sized.figures["model"]), "hardware": sized.hardware}


def hours_text(hours: Mapping[str, float], words: Wording) -> str:
    """A range of hours in hours or days: `31–73 h`, `3.1–7.2 days`."""
    low, high = float(hours["low"]), float(hours["high"])
    if high > _MOST_HOURS:
        return f"{words.span({'low': low / 24, 'high': high / 24})} {words.label('words', 'days')}"
    return f"{words.span({'low': low, 'high': high})} h"


def _speed(draft: Draft, sized: Sized, always: bool) -> None:
    speed = sized.estimate.speed
    if speed is None or not (sized.estimate.fits or always) or queueing.is_told(sized):
        return
    words = draft.words
    parts = []
    in_table = bool(draft.table and draft.options and draft.options[0] is sized)
    if speed.decode_tok_s_per_user and not in_table:
        parts.append(words.text("speed", "per_user", rate=speed.decode_tok_s_per_user))
    if speed.output_tok_s_total and (sized.figures.get("concurrency") or 1) > 1:
        parts.append(words.text("speed", "total", rate=speed.output_tok_s_total))
    if speed.ttft_ms:
        parts.append(words.text("speed", "first_token", time=speed.ttft_ms))
    parts = [part for part in parts if part not in draft.headline]
    if parts:
        draft.say("note", ", ".join(parts) + ".", draft.title("speed"))


def _targets(draft: Draft, sized: Sized) -> None:
    """Whether the wishes for speed are met."""
    if sized.parsed is None or sized.estimate.speed is None:
        return
    words = draft.words
    wishes = sized.parsed.targets.model_dump(include=set(_SPEED_TARGETS), exclude_none=True)
    lacking = missed(sized.estimate, sized.parsed.targets)
    if lacking:
        shown = [words.text("lack", f"target_{name}", wanted=wanted, got=got) for name, wanted, got in lacking]
        if any(one not in draft.headline for one in shown):
            draft.say("note", words.text("speed", "missed", lacking=words.listed(shown)), draft.title("target"))
        draft.material.add_data({name: value for name, wanted, got in lacking for value in (wanted, got)})
        draft.material.add_data([{name: got} for name, _, got in lacking])
    elif wishes and leading.targets_text(sized, words) not in draft.headline:
        draft.say("note", words.text("speed", "met"), draft.title("target"))


def _observed(draft: Draft, sized: Sized, heard: Heard) -> None:
    """A measured speed beside the estimate."""
    text = leading.observed_text(draft, sized, heard, draft.sources.query)
    if text not in draft.headline:
        draft.say("diagnosis", text, draft.title("measured"))


def _training(draft: Draft, sized: Sized, label: str) -> None:
    """Rate, time and size of a checkpoint of a training run."""
    training = sized.estimate.training or {}
    words = draft.words
    parts = []
    if rate := training.get("tokens_per_second"):
        parts.append(words.text("training", "rate", rate=rate))
        draft.material.add_rates(rate)
    if hours := training.get("hours"):
        parts.append(words.text("training", "time", hours=hours_text(hours, words)))
        draft.material.add_hours(hours)
    if size := (training.get("checkpoint_gb") or {}).get("weights"):
        parts.append(words.text("training", "checkpoint", size=size))
        draft.material.add_gb(size)
    draft.say("note", _with_label(", ".join(parts), label) + "." if parts else "", draft.title("training"))


def rented_text(draft: Draft, sized: Sized) -> str:
    """What the hours of a training run cost on rented cards; empty where hours or a price are not known."""
    hours = (sized.estimate.training or {}).get("hours")
    rent = (sized.estimate.cost or {}).get("rent_per_hour")
    if not hours or not rent:
        return ""
    currency = str((sized.estimate.cost or {}).get("currency") or "EUR")
    words, low, high = draft.words, float(hours["low"]) * rent["amount"], float(hours["high"]) * rent["amount"]
    for amount in (low, high, rent["amount"]):
        draft.material.add(amount, "money")
    draft.material.add_hours(hours)
    draft.material.add_text(str(rent.get("as_of") or ""))
    params = {"low": words.money(low, currency), "high": words.money(high, currency), "hardware": sized.hardware}
    params |= {"rate": words.money(rent["amount"], currency), "hours": hours_text(hours, words)}
    return words.text("train", "rented", **params, model=sized.figures["model"], day=words.date(str(rent["as_of"])))


def _with_label(text: str, label: str) -> str:
    return f"{label}: {text}" if label else text


def say_thresholds(draft: Draft, sized: Sized) -> None:
    """What a load test should show: below the lower end something is set up wrong."""
    speed = sized.estimate.speed
    if speed is None or speed.output_tok_s_total is None:
        return
    words, requests = draft.words, sized.figures.get("concurrency", 1)
    parts = []
    if speed.input_tokens and speed.output_tokens:
        load = {"concurrency": requests, "given": speed.input_tokens, "written": speed.output_tokens}
        draft.material.add_data(load)
        parts.append(words.text("commands", "expect_load", **load))
    if requests > 1:
        parts.append(words.text("commands", "expect", rate=speed.output_tok_s_total))
    if speed.decode_tok_s_per_user:
        parts.append(words.text("commands", "expect_user", rate=speed.decode_tok_s_per_user))
    if speed.prefill_tok_s and requests == 1:
        parts.append(words.text("commands", "expect_prompt", rate=speed.prefill_tok_s))
    if speed.ttft_ms:
        parts.append(words.text("commands", "expect_first", time=speed.ttft_ms))
    draft.say("note", " ".join(parts), draft.title("loadtest_expect"))
    draft.say("note", words.text("commands", "paste"))


def _power(draft: Draft, sized: Sized, label: str) -> None:
    watts = (sized.estimate.cost or {}).get("power_w")
    if watts:
        draft.material.add(watts, "power")
        text = draft.words.text("power", "cards", watts=watts, devices=len(sized.devices))
        draft.say("note", _with_label(text, label), draft.title("power"))


_BY_INTENT: Final[Mapping[str, Say]] = {"power": _power}
