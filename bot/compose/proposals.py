"""What one should know of proposals beside their table: who is best at what, what to mind, and what would work where nothing does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.compose.labels import option_label
from bot.compose.options import MOST_ROWS
from bot.compose.prices import price_cell
from bot.compose.recommended import Options
from bot.reply import names
from bot.reply.wording import Wording
from bot.sized import Sized
from sizing.recommend import Nearest

# Strengths worth a sentence, the most asked-for first; those of the first option are its headline already.
_TOLD: Final = ("cheapest", "fastest", "highest_precision", "most_throughput", "no_investment")
_MOST_TOLD: Final = 3
_TIERS: Final = ("good", "better", "best")
_MOST_NOTES: Final = 4
_LOST_ORDER: Final = (
    "no_price", "costs_more", "used_part", "little_reserve", "lower_precision", "slower", "more_cards",
)  # fmt: skip
_MOST_REASONS: Final = 3
# What an order depends on goes before what merely informs.
_NOTE_ORDER: Final = (
    "used_no_warranty", "geforce_datacentre_licence", "sold_on_boards", "pc_not_included", "rent_marketplace", "rent_doubtful",
    "rate_of_one_card", "us_owned_provider", "plan_with", "slow_first_token", "quality", "narrow_kv_cache", "needs_server_airflow",
    "many_cards_in_one_case",
    "discontinued", "list_price", "price_range", "price_old", "billed_by_the_month", "several_instances", "rent_undated", "long_lead_time",
    "machine_planning_figure",
)  # fmt: skip


def tiers_text(options: Options, words: Wording) -> str:
    """Good, better, best within a budget, each with what it costs; nothing where they are not at least two."""
    told = [
        words.text("option_why", tier, label=option_label(one, words), price=price_cell(one.estimate.cost or {}, words))
        for tier in _TIERS
        if tier in options.tiers
        for one in options.good[options.tiers[tier] - 1 : options.tiers[tier]]
    ]
    return _sentence(told) if len(told) > 1 else ""


def choice_text(options: Options, words: Wording) -> str:
    """Which of the others is best at what."""
    told: dict[str, str] = {}
    for option, why in list(zip(options.good, options.why, strict=True))[1:MOST_ROWS]:
        codes = {str(entry["code"]) for entry in why}
        best = next((code for code in _TOLD if code in codes), None)
        if best is not None:
            told[best] = words.text("option_why", best, label=option_label(option, words))
    return _sentence([told[code] for code in _TOLD if code in told][:_MOST_TOLD])


def notes_text(options: Options, words: Wording) -> str:
    """What to mind before ordering the first option."""
    by_code = {str(entry["code"]): entry for entry in options.notes[0]} if options.notes else {}
    texts = [_note(code, by_code[code], words) for code in _NOTE_ORDER if code in by_code]
    return " ".join([text for text in texts if text][:_MOST_NOTES])


def _note(code: str, entry: Mapping[str, Any], words: Wording) -> str:
    params = dict(entry.get("params", {}))
    if "currency" in params:
        for name in ("amount", "read"):
            params[name] = words.money(params[name], params["currency"], 0)
    key = f"quality_{params['loss']}" if code == "quality" else code
    return words.text("option_note", key, **params)


def lost_text(options: Options, words: Wording) -> str:
    """Why the next ones stand behind the first: what they cost more, lack or lose."""
    told = []
    for option, why in list(zip(options.good, options.why, strict=True))[1:MOST_ROWS]:
        by_code = {str(entry["code"]): entry for entry in why}
        reasons = [_lost(by_code[code], words) for code in _LOST_ORDER if code in by_code][:_MOST_REASONS]
        if reasons:
            told.append(
                words.text("option_lost", "sentence", label=option_label(option, words), reasons=words.listed(reasons))
            )
    return _sentence(told)


def _lost(entry: Mapping[str, Any], words: Wording) -> str:
    params = dict(entry.get("params", {}))
    code = str(entry["code"])
    key = f"{code}_times" if code == "costs_more" and params["share"] >= 1 else code
    return words.text("option_lost", key, **params, times=1 + params.get("share", 0.0))


def budget_params(near: Nearest, option: Sized, words: Wording) -> dict[str, str]:
    """A budget, what is needed instead, and in which period."""
    currency = str((option.estimate.cost or {}).get("currency") or "EUR")
    said = (option.spec.get("targets") or {}).get("budget_period")
    return {
        "before": words.money(float(near.before), currency, 0),
        "after": words.money(float(near.after or 0.0), currency, 0),
        "period": words.text("nearest", f"period_{said or 'once'}"),
    }


def nearest_labels(options: Options, words: Wording) -> list[str]:
    """The nearest options, each once."""
    return list(dict.fromkeys(option_label(option, words) for _, option in options.nearest))


def nearest_text(options: Options, words: Wording) -> str:
    """The single changes that give an option where there is none."""
    told = []
    for near, option in options.nearest:
        params: dict[str, Any] = {"before": near.before, "after": near.after}
        if near.change == "budget":
            params = budget_params(near, option, words)
        elif near.change == "model":
            params["after"] = names.model(str(near.after))
        elif near.change == "weights":
            params = {name: names.weight_format(str(value)) for name, value in params.items()}
        elif near.change == "weights_and_context":
            params = {"weights": names.weight_format(str(option.spec.get("weights"))), "after": near.after}
        told.append(words.text("nearest", near.change, **params, label=option_label(option, words)))
    return _sentence(told)


def _sentence(parts: list[str]) -> str:
    text = "; ".join(parts)
    return text[:1].upper() + text[1:] + "." if text else ""
