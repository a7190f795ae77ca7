"""Options side by side in words: who is ahead and by which measure, and what in model or machine makes the difference."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.compose.cost_bill import bill_of, leads
from bot.compose.draft import Draft
from bot.compose.prices import common_way
from bot.explain import with_mark
from bot.heard import Heard
from bot.sized import Sized
from sizing.compare import Cause, compare
from sizing.cost import monthly
from sizing.defaults import Defaults
from sizing.economics import total_rate, totals

# From this ratio on a difference counts; below it two options are told to be alike.
_NOTABLE: Final = 1.1
_MANY: Final = 4
_ASKS_READING: Final = re.compile(
    r"prompt[- ]?(?:process|eval|verarbeit)\w*|prefill|\bpp\d*\b|(?:reads?|reading|lies\w*|lesen) (?:\S+ )?prompts?",
    re.IGNORECASE,
)
_MOST_CAUSES: Final = 4
# What moves speed and fit most is told first; a trait explains what figures alone do not.
_CAUSE_ORDER: Final = (
    "total_params", "active_params", "bits_per_weight", "bandwidth_gb_s", "unified_memory", "not_unified_memory", "copies_of_the_model",
    "tensor_over_pcie", "not_tensor_over_pcie", "layer_split", "not_layer_split", "peak_flop_s", "memory_gib",
    "tensor_parallel", "not_tensor_parallel", "batching_server", "not_batching_server", "kv_bits", "context_tokens", "concurrency",
)  # fmt: skip


@dataclass(frozen=True)
class Measure:
    """What options are held against each other by: its name among the texts, and its value for one of them."""

    name: str
    value: Callable[[Sized], float | None]
    less_is_better: bool = False
    money: bool = False


def _per_user(one: Sized) -> float | None:
    rate = one.estimate.speed.decode_tok_s_per_user if one.estimate.speed else None
    return rate.expected if rate else None


def _per_month(options: Sequence[Sized]) -> Measure:
    """A month in the way that all of them can be paid for, else in the cheaper way of each."""
    way = common_way(one.estimate.cost for one in options)

    def month(one: Sized) -> float | None:
        cost = one.estimate.cost
        return None if not cost else monthly(cost) if way is None else cost["monthly"][way]

    return Measure(f"per_month_{way}" if way else "per_month", month, less_is_better=True, money=True)


def _reading(one: Sized) -> float | None:
    rate = one.estimate.speed.prefill_tok_s if one.estimate.speed else None
    return rate.expected if rate else None


_USER: Final = Measure("tokens_s_per_user", _per_user)
_TOTAL: Final = Measure("tokens_s_total", lambda one: total_rate(one.estimate))
_READING: Final = Measure("prefill_tok_s", _reading)
_HEADROOM: Final = Measure("headroom_gib", lambda one: one.margin_gib)


def winner_text(draft: Draft, options: Sequence[Sized], names: Mapping[int, str], heard: Heard) -> str | None:
    """Who is ahead of those that fit, by what was asked for, else by the first measure in which they differ; and who by cost."""
    fitting = [one for one in options if one.estimate.fits]
    if len(fitting) < 2:
        return None
    if _ASKS_READING.search(draft.sources.query) and (read := _ahead(fitting, _READING)) is not None:
        return f"{_told(draft, _READING, read, names)} {_writing(draft, fitting, names)}"
    many = max(one.figures.get("concurrency", 1) for one in fitting) > _MANY
    speeds = (_TOTAL, _USER) if many else (_USER, _TOTAL)
    rest = (_HEADROOM,) if _on_one_machine(fitting) else ()
    cost = _per_month(fitting)
    order = (cost, *speeds, *rest) if leads(heard) else (*speeds, cost, *rest)
    for measure in order:
        found = _ahead(fitting, measure)
        if found is not None:
            told = _told(draft, measure, found, names)
            against = _USER if measure is cost else cost
            other = _ahead(fitting, against)
            if other and other[0] != found[0]:
                told = f"{told} {_told(draft, against, other, names)}"
            return told
    return draft.words.text("side_by_side", "alike", labels=draft.words.listed(names[id(one)] for one in fitting))


def costs_text(draft: Draft, options: Sequence[Sized], names: Mapping[int, str]) -> str:
    """What each option costs a month, the cheapest first; empty where one has no price."""
    measure, words = _per_month(options), draft.words
    known = [(value, one) for one in options if (value := measure.value(one)) is not None]
    if len(known) < len(options):
        return ""
    for value, _ in known:
        draft.material.add(value, "money")
    told = [
        words.text(
            "side_by_side", "month_of", label=names[id(one)],
            price=words.money(value, str((one.estimate.cost or {})["currency"]), 0),
        )
        for value, one in sorted(known, key=lambda pair: pair[0])
    ]  # fmt: skip
    return words.text("side_by_side", f"months_{measure.name}", costs="; ".join(told))


def _writing(draft: Draft, options: Sequence[Sized], names: Mapping[int, str]) -> str:
    """Who writes faster, or that they are about as fast."""
    if (found := _ahead(options, _USER)) is not None:
        return _told(draft, _USER, found, names)
    rates = sorted(rate for one in options if (rate := _per_user(one)) is not None)
    for rate in rates:
        draft.material.add(rate, "rate")
    return draft.words.text("side_by_side", "alike_per_user", low=rates[0], high=rates[-1]) if rates else ""


def _on_one_machine(options: Sequence[Sized]) -> bool:
    """Then cost is the same, and what is left of the memory is worth a word."""
    return len({one.hardware for one in options}) == 1


def _ahead(options: Sequence[Sized], measure: Measure) -> tuple[list[Sized], Sized] | None:
    """(the best and those that are as good, the next) by a measure that all of them have and that sets them apart."""
    known = [(value, one) for one in options if (value := measure.value(one)) is not None]
    if len(known) < len(options):
        return None
    ranked = sorted(known, key=lambda pair: pair[0], reverse=not measure.less_is_better)
    first = ranked[0][0]
    alike = [one for value, one in ranked if _ratio(first, value) < _NOTABLE]
    return (alike, ranked[len(alike)][1]) if len(alike) < len(ranked) and min(first, ranked[-1][0]) > 0 else None


def _ratio(first: float, second: float) -> float:
    low, high = sorted((first, second))
    return high / low if low > 0 else float("inf")


def _told(draft: Draft, measure: Measure, found: tuple[list[Sized], Sized], names: Mapping[int, str]) -> str:
    (leaders, following), words = found, draft.words
    told = [leaders[0], following]
    values = [measure.value(one) or 0.0 for one in told]
    for value in values:
        draft.material.add(value, "money" if measure.money else "rate")
        draft.material.add_data({"headroom_gib": value} if measure is _HEADROOM else {})
    shown: list[Any] = list(values)
    if measure.money:
        shown = [
            words.money(value, str((one.estimate.cost or {})["currency"]), 0)
            for value, one in zip(values, told, strict=True)
        ]
    label = words.listed([names[id(one)] for one in leaders])
    return words.text(
        "side_by_side", f"ahead_{measure.name}", label=label, count=len(leaders), got=shown[0], other=shown[1]
    )


def say_causes(draft: Draft, options: Sequence[Sized], names: Mapping[int, str], defaults: Defaults) -> None:
    """What differs from the first option and what that does, each option in a sentence."""
    parsed = [one.parsed for one in options if one.parsed is not None]
    if len(parsed) < len(options):
        return
    found = compare(parsed, [one.estimate for one in options], defaults)
    sentences = []
    for place, one in enumerate(options[1:], start=1):
        told = list(_causes(draft, [cause for cause in found.causes if cause.option == place]))[:_MOST_CAUSES]
        if told:
            sentences.append(
                draft.words.text(
                    "side_by_side", "against", label=names[id(one)], first=names[id(options[0])], causes="; ".join(told)
                )
            )
    text = " ".join(sentences)
    if text:
        draft.say("why", with_mark(text, draft.sources.topic("bandwidth", text)), draft.title("differs"))


def _causes(draft: Draft, causes: Sequence[Cause]) -> Iterator[str]:
    by_code = {cause.code: cause for cause in causes}
    for code in _CAUSE_ORDER:
        cause = by_code.get(code)
        if cause is None:
            continue
        ratio = cause.params.get("ratio")
        key = code if ratio is None else f"{code}_{'more' if ratio > 1 else 'less'}"
        if draft.words.has("cause", key):
            shown = None if ratio is None else _times(draft, cause)
            yield draft.words.text("cause", key, ratio=shown)


def _times(draft: Draft, cause: Cause) -> float:
    """How many times more the one has than the other."""
    low, high = sorted((cause.params["first"], cause.params["other"]))
    inputs = {f"less_{cause.code}": low, f"more_{cause.code}": high}
    return draft.work_out("times", f"more_{cause.code} / less_{cause.code}", "", **inputs)


def say_money(draft: Draft, options: Sequence[Sized], names: Mapping[int, str], defaults: Defaults) -> None:
    """What each option costs as it is used, over the years said or written down over, in the way that was said, else the cheaper."""
    told = []
    for one in options:
        bill = bill_of(draft, one, defaults)
        found = totals(dict(bill.cost), bill.as_used, bill.months) if bill else ()
        best = min(found, key=lambda way: way.together, default=None)
        if bill is None or best is None:
            told.append(draft.words.text("side_by_side", "no_price", label=names[id(one)]))
            continue
        month = bill.cost["monthly"][best.way]
        told.append(
            draft.words.text(
                "side_by_side", f"total_{best.way}", label=names[id(one)], price=bill.money(best.together), month=bill.money(month),
                time=bill.span(), hours=bill.hours(),
            )
        )  # fmt: skip
    text = " ".join(told)
    draft.say("note", with_mark(text, draft.sources.topic("break_even", text)), draft.title("cost"))
