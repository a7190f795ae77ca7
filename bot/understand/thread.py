"""A turn applied to its thread: what it keeps, replaces, adds, takes back."""

import re
from collections.abc import Sequence
from typing import Any

from bot.understand.engines import FOUR_BIT
from bot.understand.follow_up import FollowUp
from bot.understand.model_kin import sibling_of
from bot.understand.request import FIELDS, Change, Device, Intent, Request
from bot.understand.text import word_set

_KEPT_OTHER = word_set(
    "cloud nvlink ram_gb cpu cpu_cores documents samples dataset_tokens epochs utilization horizon_years prices "
    "provider vendor exclude_vendor min_bits owned max_devices power_limit_w location form card_power_w "
    "psu_w streaming co_located redundancy offload recipe observed batch_size lora_rank platform tax "
    "users_per_shift active_share speculative engine_flags laptop quiet "
    "line_a line_v hours images dims prefix_cache offline_batch formats_named usage sides layouts requests_per_day rate_rps "
    "uncounted engines_compared"
)


def apply(thread: Sequence[Request], turn: Request, follow_up: FollowUp) -> Request:
    """The Request after this turn: the whole spec, with what changed against the turn before."""
    before = thread[-1]
    if follow_up.kind == "reset":
        return turn.model_copy(update={"follow_up": "reset"})
    base = _base(thread, follow_up)
    values = {name: getattr(base, name) for name in (*FIELDS, "layout", "model_layout")}
    other = {name: value for name, value in base.other.items() if name in _KEPT_OTHER}
    evidence = dict(base.evidence)
    if turn.in_scope:
        _merge(values, other, _returned(thread, turn, follow_up), follow_up)
        if turn.models or turn.hardware:
            other = {name: value for name, value in other.items() if name not in ("sides", "layouts")}
        if turn.hardware:
            other.pop("uncounted", None)
        if turn.engine:
            other.pop("engines_compared", None)
        usage = {**other.get("usage", {}), **turn.other.get("usage", {})}
        other |= {name: value for name, value in turn.other.items() if name not in ("topic",)}
        other |= {"usage": usage} if usage else {}
        evidence |= {name: words for name, words in turn.evidence.items() if values.get(name) is not None}
    if values["method"] == "lora" and values["weights"] in FOUR_BIT and {"weights", "method"} & set(turn.said):
        values["method"] = "qlora"
    intent, intents = _intent(turn, base, follow_up)
    derived = _derive(values, turn, base)
    if "concurrency" in derived:
        evidence.setdefault("concurrency", evidence.get("active_share") or evidence.get("users", ""))
    evidence = {name: words for name, words in evidence.items() if _filled(values.get(name))}
    changes = tuple(
        Change(field=name, before=_plain(getattr(before, name)), after=_plain(values[name]))
        for name in FIELDS
        if getattr(before, name) != values[name]
    )
    return turn.model_copy(
        update={
            **values,
            "other": other if turn.in_scope else {**other, **turn.other},
            "evidence": evidence,
            "intent": intent,
            "intents": intents,
            "derived": derived,
            "changes": changes,
            "assumptions": (*(a for a in base.assumptions if a.field not in turn.said), *turn.assumptions),
            "missing": _still_missing(turn, values),
            "in_scope": turn.in_scope,
            "follow_up": follow_up.kind,
            "clarify": turn.clarify if turn.clarify and turn.clarify.code != "nothing_to_size" else None,
        }
    )


def _base(thread: Sequence[Request], follow_up: FollowUp) -> Request:
    """The turn that this one builds on: mostly the last, another after "undo" or "back to the first one"."""
    if follow_up.kind == "undo" and len(thread) > 1:
        return thread[-2]
    if follow_up.kind == "pick" and follow_up.index is not None:
        return _picked(thread, follow_up.index)
    return thread[-1]


def _picked(thread: Sequence[Request], index: int) -> Request:
    """ "The second one" is a machine of the comparison shown last, else the turn of that number."""
    last = thread[-1]
    if last.layout == "alternatives" and len(last.hardware) > 1:
        place = index - 1 if index > 0 else len(last.hardware) - 1
        if place < len(last.hardware):
            return last.model_copy(
                update={
                    "hardware": (last.hardware[place],),
                    "layout": "machine",
                    "intent": "fits",
                    "intents": ("fits",),
                }
            )
    if len(last.models) > 1 and index > 0 and index <= len(last.models) and last.intent == "compare":
        return last.model_copy(update={"models": (last.models[index - 1],)})
    place = index - 1 if index > 0 else len(thread) - 1
    return thread[place] if place < len(thread) else last


def _merge(values: dict[str, Any], other: dict[str, Any], turn: Request, follow_up: FollowUp) -> None:
    _merge_models(values, turn, follow_up)
    for name in (
        "weights",
        "kv_cache",
        "context_tokens",
        "input_tokens",
        "output_tokens",
        "method",
        "engine",
        "budget",
    ):
        if name in turn.said:
            values[name] = getattr(turn, name)
    _merge_load(values, turn, follow_up)
    _merge_hardware(values, other, turn, follow_up)
    if "targets" in turn.said:
        said = turn.targets.model_dump(exclude_none=True)
        values["targets"] = values["targets"].model_copy(update=said)
    if follow_up.kind == "scale":
        _scale(values, follow_up)
    if follow_up.kind == "drop" and follow_up.field:
        _drop(values, other, follow_up.field)


def _merge_models(values: dict[str, Any], turn: Request, follow_up: FollowUp) -> None:
    beside = bool(turn.other.get("co_located") or turn.other.get("beside_model")) or follow_up.adds_card
    if "models" in turn.said:
        compares = (follow_up.adds_alternative and not turn.hardware) or beside
        known = _sharpened(values["models"], turn.models)
        values["models"] = (
            tuple(dict.fromkeys((*values["models"], *turn.models))) if compares and not known else turn.models
        )
        if "params_b" not in turn.said and not beside:
            values["params_b"] = None
    if "params_b" in turn.said:
        values["params_b"] = turn.params_b
        if not beside and "models" not in turn.said:
            values["models"] = _same_family(values["models"], turn.params_b)
            values["params_b"] = None if values["models"] else turn.params_b


def _sharpened(before: tuple[str, ...], now: tuple[str, ...]) -> bool:
    """ "Llama 405B", then "3.1": the same model said more exactly."""
    return (
        len(before) == 1
        and len(now) == 1
        and now[0].lower().replace("-", " ").find(before[0].lower().split()[0]) >= 0
        and "/" not in before[0]
    )


def _same_family(models: tuple[str, ...], params_b: float | None) -> tuple[str, ...]:
    """ "and the 32B?" stays in the family where it has that size; otherwise the size alone is left."""
    if len(models) != 1 or params_b is None:
        return ()
    found = sibling_of(models[0], params_b)
    return (found,) if found else ()


def _merge_load(values: dict[str, Any], turn: Request, follow_up: FollowUp) -> None:
    said = set(turn.said)
    if follow_up.kind == "move" and "users" not in said:
        moved = turn.concurrency if "concurrency" in said else values["concurrency"]
        values["users"], values["concurrency"] = moved, None
        return
    if "active_share" in said:
        values["active_share"] = turn.active_share
    if "concurrency" in said and "concurrency" not in turn.derived:
        values["concurrency"] = turn.concurrency
        if "active_share" not in said:
            values["active_share"] = values["active_share"] if values["users"] is None else None
    if "users" in said:
        if (
            values["concurrency"] is not None
            and values["users"] is None
            and "concurrency" not in said
            and not follow_up.not_at_once
        ):
            values["concurrency"] = turn.users
        else:
            values["users"] = turn.users
            if "concurrency" not in said and values["active_share"] is None and not follow_up.not_at_once:
                values["concurrency"] = values["concurrency"] if values["concurrency"] is None else None
    if follow_up.not_at_once and "users" in said:
        values["concurrency"] = None


def _derive(values: dict[str, Any], turn: Request, base: Request) -> tuple[str, ...]:
    derived = [name for name in (*base.derived, *turn.derived) if _filled(values.get(name))]
    share, users = values["active_share"], values["users"]
    touched = {"active_share", "users"} & set(turn.said) or turn.follow_up == "scale"
    if share and users and touched and not ("concurrency" in turn.said and "concurrency" not in turn.derived):
        product = users * share
        values["concurrency"] = float(-(-product // 1)) if product % 1 > 1e-9 else round(product, 6)
        derived.append("concurrency")
    return tuple(dict.fromkeys(derived))


_APPLE = re.compile(r"M\d")


def _merge_hardware(values: dict[str, Any], other: dict[str, Any], turn: Request, follow_up: FollowUp) -> None:
    if (
        follow_up.pieces
        and (not turn.hardware or all(d.accelerator == "unknown" for d in turn.hardware))
        and values["hardware"]
    ):
        values["hardware"] = tuple(
            d.model_copy(update={"count": float(follow_up.pieces)}) for d in values["hardware"][:1]
        )
        return
    if follow_up.machines and not turn.hardware and values["layout"] == "machine" and len(values["hardware"]) == 1:
        device = values["hardware"][0]
        values["hardware"] = (device.model_copy(update={"count": (device.count or 1) * follow_up.machines}),)
        return
    held = values["hardware"]
    if follow_up.one_less and not turn.hardware and len(held) == 1 and (held[0].count or 1) > 1:
        values["hardware"] = (held[0].model_copy(update={"count": (held[0].count or 1) - 1}),)
        return
    if (
        follow_up.one_more
        and not turn.hardware
        and len(values["hardware"]) == 1
        and values["hardware"][0].count
        and "params_b" not in turn.said
        and "models" not in turn.said
    ):
        values["hardware"] = tuple(d.model_copy(update={"count": (d.count or 1) + 1}) for d in values["hardware"])
        return
    if not turn.hardware:
        if turn.other.get("redundancy") == "N-1" and len(values["hardware"]) == 1:
            values["hardware"] = tuple(d.model_copy(update={"count": None}) for d in values["hardware"])
        if turn.alternatives:
            values["alternatives"] = turn.alternatives
        return
    apple = tuple(d for d in values["hardware"] if _APPLE.match(d.accelerator))
    if turn.other.get("platform") == "mac" and len(apple) == 1 and turn.hardware[0].accelerator == "unknown":
        values["hardware"] = (
            apple[0].model_copy(update={"memory_gb": turn.hardware[0].memory_gb or apple[0].memory_gb}),
        )
        values["layout"] = "machine"
    elif follow_up.adds_alternative and values["hardware"]:
        values["hardware"] = _united(values["hardware"], turn.hardware)
        values["layout"] = "alternatives" if len(values["hardware"]) > 1 else "machine"
    elif follow_up.adds_card and values["layout"] == "alternatives" and len(values["hardware"]) > 1:
        values["hardware"] = _united(values["hardware"], turn.hardware)
    elif follow_up.adds_card and values["hardware"] and not _is_processor(values["hardware"]):
        values["hardware"] = _stacked(values["hardware"], turn.hardware)
        values["layout"] = "machine"
    elif chosen := _chosen(values["hardware"], values["layout"], turn):
        values["hardware"], values["layout"] = (chosen,), "machine"
    elif _refines(values["hardware"], turn.hardware):
        values["hardware"] = _refined(values["hardware"][0], turn.hardware[0])
    else:
        values["hardware"] = turn.hardware
        values["layout"] = turn.layout
        if "platform" not in turn.other and any(
            d.accelerator != "unknown" and not d.accelerator.startswith("M") for d in turn.hardware
        ):
            other.pop("platform", None)
    values["alternatives"] = turn.alternatives


def _returned(thread: Sequence[Request], turn: Request, follow_up: FollowUp) -> Request:
    """ "Back to the L40S": the machine of the thread with that card, in the number it had."""
    if not follow_up.goes_back or len(turn.hardware) != 1 or _COUNTED.match(turn.evidence.get("hardware", "")):
        return turn
    named = turn.hardware[0]
    machines = (e.hardware for e in reversed(thread[:-1]) if len(e.hardware) == 1)
    known = next((m[0] for m in machines if m[0].accelerator == named.accelerator), None)
    if known is None or named.memory_gb not in (None, known.memory_gb):
        return turn
    return turn.model_copy(update={"hardware": (known,)})


def _is_processor(devices: Sequence[Device]) -> bool:
    return all(
        "cpu" in d.accelerator.lower() or "epyc" in d.accelerator.lower() or "xeon" in d.accelerator.lower()
        for d in devices
    )


def _united(before: tuple[Device, ...], now: tuple[Device, ...]) -> tuple[Device, ...]:
    one = tuple(d.model_copy(update={"count": d.count or 1.0}) for d in before)
    return (*one, *(d for d in now if d.model_copy(update={"count": d.count or 1.0}) not in one))


def _stacked(before: tuple[Device, ...], now: tuple[Device, ...]) -> tuple[Device, ...]:
    """One more of a card that is there counts up; another card joins the machine."""
    out = list(before)
    for device in now:
        twin = next((n for n, d in enumerate(out) if d.accelerator == device.accelerator), None)
        if twin is None:
            out.append(device)
        else:
            out[twin] = out[twin].model_copy(update={"count": (out[twin].count or 1) + (device.count or 1)})
    return tuple(out)


_COUNTED = re.compile(r"^\s*(?:\d|one\b|an?\b|eine?[nr]?\b|single\b)", re.IGNORECASE)


def _chosen(before: tuple[Device, ...], layout: str, turn: Request) -> Device | None:
    """ "Take the L40S": of machines compared the one with that card, in the number it was compared in."""
    if layout != "alternatives" or len(turn.hardware) != 1 or _COUNTED.match(turn.evidence.get("hardware", "")):
        return None
    same = [d for d in before if d.accelerator == turn.hardware[0].accelerator]
    return same[0] if len(same) == 1 and turn.hardware[0].memory_gb is None else None


def _refines(before: tuple[Device, ...], now: tuple[Device, ...]) -> bool:
    """ "a 4090", then "with 48 GB": only a memory or only a count was said."""
    return (
        len(before) == 1
        and len(now) == 1
        and now[0].accelerator == "unknown"
        and before[0].accelerator != "unknown"
        and now[0].memory_gb is not None
    )


def _refined(before: Device, now: Device) -> tuple[Device, ...]:
    return (before.model_copy(update={"memory_gb": now.memory_gb}),)


def _scale(values: dict[str, Any], follow_up: FollowUp) -> None:
    name = follow_up.field
    if name == "load":
        name = (
            "concurrency"
            if values["concurrency"] is not None and values["users"] is None
            else "users"
            if values["users"] is not None
            else "concurrency"
        )
    if name == "hardware":
        values["hardware"] = tuple(
            d.model_copy(update={"count": (d.count or 1) * follow_up.factor}) for d in values["hardware"]
        )
    elif name == "budget" and values["budget"]:
        values["budget"] = values["budget"].model_copy(update={"amount": values["budget"].amount * follow_up.factor})
    elif name in values and isinstance(values[name], (int, float)):
        values[name] = values[name] * follow_up.factor


def _drop(values: dict[str, Any], other: dict[str, Any], name: str) -> None:
    if name in values:
        values[name] = type(values[name])() if name == "targets" else None
    other.pop(name, None)


def _listed(first: Intent, others: tuple[Intent, ...]) -> tuple[Intent, ...]:
    return tuple(dict.fromkeys((first, *(i for i in others if i != "clarify"))))[:3]


_ASKING: frozenset[Intent] = frozenset(
    ("compare", "throughput", "explain", "finetune", "cost", "power", "system", "rag")
)


def _intent(turn: Request, base: Request, follow_up: FollowUp) -> tuple[Intent, tuple[Intent, ...]]:
    """A turn that only changes values keeps asking what was asked."""
    if not turn.in_scope:
        return "out_of_scope", ("out_of_scope",)
    if follow_up.adds_alternative and (turn.hardware or turn.models):
        return "compare", _listed("compare", turn.intents)
    if follow_up.cheaper and not turn.hardware:
        return "cost", _listed("cost", (*turn.intents, base.intent))
    own = tuple(i for i in turn.intents if i != "clarify")
    if base.intent in own and "?" not in turn.text and own[0] != base.intent:
        own = (base.intent, *(i for i in own if i != base.intent))
    if own and (
        own[0] in _ASKING or ("fits" in own and base.intent == "explain") or base.intent in ("clarify", "out_of_scope")
    ):
        return own[0], tuple(
            dict.fromkeys(
                (*own, *((base.intent,) if base.intent not in ("clarify", "out_of_scope", "explain") else ()))
            )
        )[:3]
    kept = (
        base.intent
        if base.intent not in ("explain", "out_of_scope", "clarify")
        else next(
            (i for i in base.intents if i not in ("explain", "out_of_scope", "clarify")),
            "fits" if base.hardware else "size",
        )
    )
    kept = (
        kept
        if own
        or kept != "compare"
        or (base.layout == "alternatives" and turn.layout == "alternatives")
        or not turn.hardware
        else "fits"
    )
    return kept, tuple(
        dict.fromkeys((kept, *own, *(i for i in base.intents if i not in ("explain", "clarify", "out_of_scope"))))
    )[:3]


def _still_missing(turn: Request, values: dict[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in turn.missing if not _filled(values.get(name)))


def _filled(value: Any) -> bool:
    return (
        value is not None
        and value != ()
        and value != ""
        and not (hasattr(value, "model_dump") and not value.model_dump(exclude_none=True))
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value
