"""From what was found to the fields of a Request, each with the words that fill it."""

import re
from collections.abc import Sequence
from typing import Any, Literal

from bot.understand.engines import choose_engine, compared_engines
from bot.understand.figures import pick
from bot.understand.formats import choose
from bot.understand.found import Draft, Found
from bot.understand.judge import asks_support
from bot.understand.language import Lang
from bot.understand.money import Money
from bot.understand.request import Assumption, Budget, Period, Wishes


def _put(draft: Draft, found: Found, name: str, value: Any, *spans: tuple[int, int]) -> None:
    draft.values[name] = value
    words = [found.text.quote(start, end) for start, end in spans]
    draft.evidence[name] = words[0] if words else ""
    if len(words) > 1:
        low, high = min(a for a, _ in spans), max(b for _, b in spans)
        draft.evidence[name] = found.text.quote(low, high)


def fill_models(found: Found, draft: Draft) -> None:
    standing = [m for m in found.models if not m.why_not]
    names = tuple(dict.fromkeys(m.name for m in standing))
    if names:
        _put(draft, found, "models", names, *((m.start, m.end) for m in standing))
    sizes = [s for s in found.sizes if not s.why_not]
    if sizes:
        chosen = (
            sizes[-1]
            if len(sizes) > 1 and _RETRACTED_SIZE.search(found.text.folded[sizes[-2].end : sizes[-1].start])
            else max(sizes, key=lambda s: s.params_b)
        )
        _put(draft, found, "params_b", chosen.params_b, (chosen.start, chosen.end))
    else:
        spelt = next((q for q, _ in found.figures.pairs if q.unit == "params"), None)
        named = _BILLIONS.search(found.text.folded) if not spelt and not names else None
        if named:
            _put(draft, found, "params_b", float(named.group(1).replace(",", ".")), named.span())


# A run of digits is entered at its start only: tried at each of 40,000 digits it would take minutes.
_BILLIONS = re.compile(r"(?<![\d.,])(\d{1,6}(?:[.,]\d{1,4})?)\s?(?:milliarden|mrd\.?|billion)(?:\s?-?param\w*)?")
_PER_SHIFT = re.compile(r"\b(?:pro|je|per|each|every|a) (?:schicht|shift)\b|\bof each shift\b")
_RETRACTED_SIZE = re.compile(r"\b(?:nein|no|nee|sorry|eher|rather|actually|doch|lieber|quatsch)\b")


_FORMAT_FIELDS: tuple[Literal["weights", "kv_cache"], ...] = ("weights", "kv_cache")


def fill_formats(found: Found, draft: Draft) -> None:
    for name in _FORMAT_FIELDS:
        chosen = choose(found.formats, name)
        if chosen and not (name == "kv_cache" and chosen.wished and not found.in_thread):
            _put(draft, found, name, chosen.value, (chosen.start, chosen.end))
    denied = [f.value for f in found.formats if f.role == "denied"]
    if denied:
        draft.other["formats_denied"] = denied
    weighed = list(dict.fromkeys(f.value for f in found.formats if f.role == "weights"))
    if len(weighed) > 1:
        draft.other["formats_named"] = weighed


_PLAIN_FIELDS = ("context_tokens", "input_tokens", "output_tokens", "concurrency", "users", "active_share")
_OTHER_FIELDS = (
    "observed_context",
    "native_context",
    "reported_tokens",
    "batch_size",
    "observed_concurrency",
    "utilization",
    "e2e_s",
    "documents",
    "samples",
    "epochs",
    "images",
    "cpu_cores",
    "line_v",
    "line_a",
    "horizon_years",
    "dims",
    "hours",
    "ram_gb",
    "psu_w",
    "power_limit_w",
    "watts",
    "network_gbit",
    "bandwidth_gb_s",
    "host_bandwidth_gb_s",
    "lora_rank",
    "parallel_tp",
    "parallel_pp",
    "parallel_dp",
    "parallel_ep",
    "system_prompt_tokens",
)


def fill_figures(found: Found, draft: Draft) -> None:
    for name in _PLAIN_FIELDS:
        chosen, rivals = pick(found.figures, name)
        if chosen is None:
            continue
        value = (
            chosen.value / 100
            if chosen.rule.startswith("share") and isinstance(chosen.value, float) and name == "active_share"
            else chosen.value
        )
        _put(draft, found, name, value, (chosen.start, chosen.end))
        others = list(dict.fromkeys(r.value for r in rivals if r.value != chosen.value))
        if others and name in found.figures.retracted:
            draft.other.setdefault("contradictory", {})[name] = [*others, chosen.value]
    for name in _OTHER_FIELDS:
        chosen, _ = pick(found.figures, name)
        if chosen is not None:
            draft.other[name] = (
                chosen.value / 100 if name == "utilization" and isinstance(chosen.value, float) else chosen.value
            )
    _fill_speeds(found, draft)
    _add_up(found, draft)


def _fill_speeds(found: Found, draft: Draft) -> None:
    wishes: dict[str, float] = {}
    spans = []
    for name in ("ttft_s", "tokens_s_per_user", "tokens_s_total"):
        chosen, _ = pick(found.figures, name)
        if chosen is not None and isinstance(chosen.value, float):
            wishes[name] = chosen.value
            spans.append((chosen.start, chosen.end))
    if wishes:
        _put(draft, found, "targets", Wishes(**wishes), *spans)
    for kind in ("observed", "claimed"):
        seen = {
            r.field.removeprefix(f"{kind}_"): r.value
            for r in found.figures.readings
            if r.field in (f"{kind}_tok_s", f"{kind}_prefill_tok_s", f"{kind}_ttft_s", f"{kind}_s", f"{kind}_gb")
        }
        if seen:
            draft.other[kind] = seen


def _add_up(found: Found, draft: Draft) -> None:
    """What two stated values imply: people times share, shifts times people, system prompt plus question."""
    values, other = draft.values, draft.other
    shifts = next((q.value for q, r in found.figures.pairs if r.field == "shifts"), None)
    people = values.get("users")
    if shifts and people and shifts <= 6:
        other["users_per_shift"], values["users"] = people, people * shifts
        draft.derived.append("users")
    share = values.get("active_share")
    if shifts and share and people and _PER_SHIFT.search(found.text.folded):
        values["concurrency"] = float(-(-people * share // 1))
        draft.evidence["concurrency"] = draft.evidence["active_share"]
        draft.derived.append("concurrency")
        return
    people = values.get("users")
    if share and people and "concurrency" not in values:
        values["concurrency"] = (
            float(-(-people * share // 1)) if people * share % 1 > 1e-9 else round(people * share, 6)
        )
        draft.evidence["concurrency"] = draft.evidence["active_share"]
        draft.derived.append("concurrency")
    system = other.get("system_prompt_tokens")
    if system:
        values["input_tokens"] = system + values.get("input_tokens", 0.0)
        draft.evidence.setdefault(
            "input_tokens",
            next(found.text.quote(r.start, r.end) for r in found.figures.readings if r.field == "system_prompt_tokens"),
        )
        draft.derived.append("input_tokens")


def fill_hardware(found: Found, draft: Draft) -> None:
    named = found.machines
    if named.hardware:
        _put(draft, found, "hardware", named.hardware, *named.spans)
        draft.values["layout"] = named.layout
    if named.alternatives:
        draft.values["alternatives"] = named.alternatives
    if named.owned:
        draft.other["owned"] = [device.model_dump(exclude_none=True) for device in named.owned]
    if named.uncounted:
        draft.other["uncounted"] = list(named.uncounted)
    if named.processor:
        draft.other["cpu"] = named.processor
    if named.ram_gb:
        draft.other.setdefault("ram_gb", named.ram_gb)


def fill_engine(found: Found, draft: Draft) -> None:
    chosen = choose_engine(found.engines, found.in_thread)
    if chosen:
        _put(draft, found, "engine", chosen.name, (chosen.start, chosen.end))
    proposed = [m.name for m in found.engines if m.why_not in ("proposed", "denied")]
    if proposed:
        draft.other["engines_weighed"] = proposed
    compared = compared_engines(found.text, found.engines)
    if len(compared) > 1 and not found.training:
        draft.other["engines_compared"] = compared
    if found.method.method and found.training:
        _put(draft, found, "method", found.method.method, (found.method.start, found.method.end))
    if len(found.method.methods) > 1:
        draft.other["methods"] = list(found.method.methods)
    if found.method.recipe:
        draft.other["recipe"] = found.method.recipe


_CURRENCY: dict[Lang, str] = {"de": "EUR", "en": "USD"}
_PERIODS: dict[str, Period] = {"hour": "hour", "day": "day", "month": "month", "year": "year"}


def fill_money(found: Found, draft: Draft) -> None:
    prices: list[dict[str, Any]] = []
    for reading in found.figures.readings:
        if not isinstance(reading.value, Money):
            continue
        money = reading.value
        if reading.field == "budget":
            if "budget" in draft.values and "budget" not in found.figures.retracted:
                continue  # "40k once, plus 500 a month for power": the first limit is the one on the purchase
            currency = money.currency or _CURRENCY[found.lang]
            if not money.currency:
                others = tuple(other for other in _CURRENCY.values() if other != currency)
                draft.assumptions.append(
                    Assumption(field="budget", value=currency, why="currency_of_language", others=others)
                )
            budget = Budget(amount=money.amount, currency=currency, period=_PERIODS.get(money.period, "once"))
            _put(draft, found, "budget", budget, (reading.start, reading.end))
        else:
            prices.append(
                {
                    "amount": money.amount,
                    "currency": money.currency,
                    "per": money.period,
                    "words": found.text.quote(reading.start, reading.end),
                }
            )
    if "budget" not in draft.values and not found.devices and _is_spent(found, prices):
        (price,) = prices
        place = found.text.raw.find(price["words"])
        draft.values["budget"] = Budget(amount=price["amount"], currency=price["currency"], period="once")
        draft.evidence["budget"] = found.text.raw[place : place + len(price["words"])]
        return
    if prices:
        draft.other["prices"] = prices


_SPENT = re.compile(
    r"\b(?:which|what|best\w*|beste\w*|welche[rsnm]?|was)\b[^?!]*\b(?:fuer|for|um die|um|around|about|rund|circa|ca\.?)\s?(?:us)?[$€]?\s?$"
)


def _is_spent(found: Found, prices: Sequence[dict[str, Any]]) -> bool:
    """ "Which card for 500 EUR": a sum once, where hardware is asked for and none is named, is what may be spent."""
    if len(prices) != 1 or prices[0]["per"] != "once":
        return False
    place = found.text.folded.find(str(prices[0]["words"]).lower())
    return place >= 0 and _SPENT.search(found.text.folded[:place]) is not None


def fill_scope_flags(found: Found, draft: Draft) -> None:
    if asks_support(found.text, draft.values):
        draft.other["format_support"] = True
    if found.scope.injection:
        draft.other["injection"] = True
    if found.scope.secret:
        draft.other["secret"] = True
    if found.scope.topic:
        draft.other["topic"] = found.scope.topic
