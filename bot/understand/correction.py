"""A turn that only corrects: a bare figure, a version or a variant put in the place of the one said before."""

import math
import re
from collections.abc import Sequence

from bot.understand.figures import Figures
from bot.understand.follow_up import FollowUp
from bot.understand.lengths import binary_k
from bot.understand.model_kin import renamed
from bot.understand.numbers import Quantity
from bot.understand.request import Request
from bot.understand.text import Text
from sizing.catalogue.names import find

_CORRECTABLE = ("users", "concurrency", "context_tokens", "input_tokens", "output_tokens", "params_b")


def corrected(text: Text, figures: Figures, follow_up: FollowUp, alone: Request, thread: Sequence[Request]) -> Request:
    """ "Nein, eher 350", "use 8 % instead": a bare figure in a thread replaces the one of its kind said last."""
    if (
        len(thread[-1].models if thread else ()) == 1
        and not {"models", "params_b", "hardware"} & set(alone.said)
        and len(text.folded) <= 60
        and follow_up.kind != "why"
    ):
        name = renamed(thread[-1].models[0], text.folded)
        if name:
            return alone.model_copy(
                update={
                    "models": (name,),
                    "said": (*alone.said, "models"),
                    "evidence": {**alone.evidence, "models": alone.text.strip()},
                }
            )
    again = _variant_again(text, alone, thread) or _memory_again(text, alone, thread)
    if again:
        return again
    bare = _bare(text, figures)
    if (
        not thread
        or len(bare) != 1
        or (any(name in alone.said and bare is figures.bare for name in _CORRECTABLE) and not _is_rather(text, bare[0]))
        or len(text.folded) > 60
        or follow_up.kind == "why"
        or follow_up.machines
    ):
        return alone
    quantity = bare[0]
    if quantity.unit == "percent":
        name = "active_share" if thread[-1].active_share is not None or thread[-1].users else None
    else:
        name = _nearest(quantity, thread[-1])
    if name in alone.said and bare is figures.bare:
        return alone
    if name is None:
        return _count_again(text, alone, thread[-1], quantity)
    if name == "budget":
        return _budget_again(text, alone, thread[-1], quantity)
    value = quantity.value / 100 if name == "active_share" else binary_k(quantity.value, quantity.scale)
    words = {**alone.evidence, name: text.quote(*quantity.span)}
    return alone.model_copy(update={name: value, "said": (*alone.said, name), "evidence": words})


_MOST_DEVICES = 64


def _count_again(text: Text, alone: Request, before: Request, quantity: Quantity) -> Request:
    """ "And with 6?" in a thread that has a machine and no other figure: so many of its cards."""
    count = quantity.value
    if "hardware" in alone.said or len(before.hardware) != 1 or not before.hardware[0].count or quantity.unit:
        return alone
    if quantity.scale or quantity.currency or count != int(count) or not 0 < count <= _MOST_DEVICES:
        return alone
    hardware = (before.hardware[0].model_copy(update={"count": count}),)
    words = {**alone.evidence, "hardware": text.quote(*quantity.span)}
    return alone.model_copy(update={"hardware": hardware, "said": (*alone.said, "hardware"), "evidence": words})


_VARIANT = re.compile(
    r"\b(?:die|the|als|als die|in|an?|eine|as an?|with|mit|version|variante)\s(?P<variant>ti super|ti|"
    r"super|xtx|xt|sxm|pcie|nvl|"
    r"ada|max-q|ultra|pro)\b(?! ?\d)|\b(?P<form>nvl|sxm)\b(?! ?\d)"
)


_SPELLING = {"pcie": "PCIe", "nvl": "NVL", "sxm": "SXM", "xt": "XT", "xtx": "XTX"}


def _variant_again(text: Text, alone: Request, thread: Sequence[Request]) -> Request | None:
    """ "No, the Ti with 8 GB": the card of the thread with another suffix, where there is such a card."""
    found = _VARIANT.search(text.folded)
    device = thread[-1].hardware[0] if thread and len(thread[-1].hardware) == 1 else None
    named = [d for d in alone.hardware if d.accelerator != "unknown"]
    if not found or device is None or named or len(text.folded) > _SHORT:
        return None
    word = found.group("variant") or found.group("form")
    name = f"{device.accelerator} {_SPELLING.get(word, word.title())}"
    ident = find(name, "accelerator", False).id
    if not ident or ident == find(device.accelerator, "accelerator", False).id:
        return None
    memory = alone.hardware[0].memory_gb if alone.hardware else None
    hardware = (device.model_copy(update={"accelerator": name, "memory_gb": memory}),)
    words = {**alone.evidence, "hardware": text.quote(*found.span("variant" if found.group("variant") else "form"))}
    said = tuple(dict.fromkeys((*alone.said, "hardware")))
    return alone.model_copy(update={"hardware": hardware, "said": said, "evidence": words})


_SHORT = 60
_THE_FIGURE = re.compile(
    r"\b(?:the|die|der|den|das|zu[mr]?)\s(?P<gb>\d{2,3})(?:er)?\b(?!\s?(?:users?|nutzer|leute|people|%|k\b))"
)


def _memory_again(text: Text, alone: Request, thread: Sequence[Request]) -> Request | None:
    """ "Back to the 40": a figure that was the memory of the same card earlier in the thread."""
    found = _THE_FIGURE.search(text.folded)
    if not found or not thread or "hardware" in alone.said or len(thread[-1].hardware) != 1:
        return None
    device, gb = thread[-1].hardware[0], float(found.group("gb"))
    known = {d.memory_gb for turn in thread for d in turn.hardware if d.accelerator == device.accelerator}
    if gb not in known or device.memory_gb in (None, gb):
        return None
    words = {**alone.evidence, "hardware": text.quote(*found.span("gb"))}
    hardware = (device.model_copy(update={"memory_gb": gb}),)
    return alone.model_copy(update={"hardware": hardware, "said": (*alone.said, "hardware"), "evidence": words})


_CORRECTS = re.compile(
    r"\s*(?:no|nein|nee|noe|nope|sorry|quatsch|korrektur|correction|wait|actually|eher|lieber|rather|besser|"
    r"i mean|i meant|ich meine?|ich meinte|make (?:it|that)|doch)\b"
)


_RATHER = re.compile(r"\b(?:eher|doch|rather|more like|actually|sinds|sind es|ca\.?|about|around|etwa)\s$")


def _is_rather(text: Text, quantity: Quantity) -> bool:
    """ "It's rather 50, 10 of them at once": the bare figure corrects what else was said before."""
    return _RATHER.search(text.folded, max(0, quantity.start - 16), quantity.start) is not None


def _bare(text: Text, figures: Figures) -> tuple[Quantity, ...]:
    """Figures without a role; after "no," also a thousand that would else pass for a context, and an amount of money."""
    if figures.bare or not _CORRECTS.match(text.folded):
        return figures.bare
    loose = tuple(q for q, r in figures.pairs if r.rule in ("bare k", "price"))
    return loose if len(figures.pairs) == 1 else ()


def _budget_again(text: Text, alone: Request, before: Request, quantity: Quantity) -> Request:
    assert before.budget is not None
    budget = before.budget.model_copy(
        update={"amount": quantity.value, "currency": quantity.currency or before.budget.currency}
    )
    words = {**alone.evidence, "budget": text.quote(*quantity.span)}
    said = (*(name for name in alone.said if name != "context_tokens"), "budget")
    return alone.model_copy(update={"budget": budget, "context_tokens": None, "said": said, "evidence": words})


_UNLIKE = math.log(20)


def _nearest(quantity: Quantity, before: Request) -> str | None:
    """Which figure of the thread a bare one is meant to replace: said last, of like size, people first."""
    known = {
        name: getattr(before, name) for name in _CORRECTABLE if getattr(before, name) and name not in before.derived
    }
    if quantity.scale:
        known = {name: value for name, value in known.items() if name.endswith("tokens")}
    if before.budget:
        known["budget"] = before.budget.amount
    if quantity.currency:
        known = {name: value for name, value in known.items() if name == "budget"}
    distance = {name: abs(math.log(max(quantity.value, 1e-9) / value)) for name, value in known.items() if value > 0}
    late = [name for name in distance if name in before.said]
    nearest = min(late or distance, key=lambda name: distance[name], default=None)
    if nearest and distance[nearest] > _UNLIKE:  # 50 corrects the 30 users of before, not a context of 8,192
        nearest = min(distance, key=lambda name: distance[name])
    return nearest
