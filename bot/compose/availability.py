"""What is left when a card or a server fails, and what a target of availability takes, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from bot.compose import counting, own_hardware, queueing
from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.focus import availability as availability_in
from bot.compose.focus import focuses
from bot.compose.headline import verdict_headline
from bot.compose.labels import option_label, verdict_cell
from bot.compose.options import compare_table
from bot.compose.prices import price_cell
from bot.compose.told import Told
from bot.explain import cite_devices, with_mark
from bot.heard import Heard
from bot.sized import Sized, plain_spec, size
from bot.thread import Spec, ThreadState
from sizing.availability import USUAL_TARGET, Topology, copies_left, topology
from sizing.defaults import Defaults
from sizing.system.machine import system_of

_FAILS: Final = re.compile(
    r"ausf(?:all|äll|aell)|\bdies\b|\bfails?\b|\bbreaks?\b|kaputt|goes? down|failures?\b", re.IGNORECASE
)
_ONE_FAILS: Final = re.compile(
    r"\b(?:nodes?|servers?|cards?|gpus?|karten?|knoten|machines?|rechner)\b[^.?!]{0,30}?"
    r"\b(?:fails?|breaks?|crash\w*|goes? down|failures?)\b(?! to)",
    re.IGNORECASE,
)
_OTHER_INTENTS: Final = ("compare", "cost", "finetune", "power", "rag")
_MOST_TRIED: Final = 3
_NUMBERS: Final = {"zwei": 2, "two": 2, "drei": 3, "three": 3, "vier": 4, "four": 4, "fünf": 5, "five": 5}
_IN_SERVERS: Final = re.compile(
    rf"\b(\d{{1,2}}|{'|'.join(_NUMBERS)})\s(?:servern?|servers|nodes?|knoten|machines?|maschinen|rechnern?|hosts?)\b[^.?!]{{0,20}}?"
    r"(?:\bmit\b|\bwith\b|\bof\b|\beach\b|\bje\b|à)",
    re.IGNORECASE,
)
_CARDS_A_SERVER: Final = 8


def availability(told: Told) -> Iterator[str]:
    target = told.spec.host.availability or USUAL_TARGET
    devices = sum(entry.count or 1 for entry in told.spec.hardware)
    found = topology(target, max(1, -(-devices // _CARDS_A_SERVER)), devices)
    yield _target_text(told.draft, found, target)
    copies = told.spec.parallel.data or devices
    if devices > 1:
        left = copies_left(copies)
        told.draft.material.add(left, "share")
        yield told.text("availability_split", left=left)
        yield _left_after(told, devices)
    low, high = told.system.storage.engine_start_s
    told.draft.material.add_data({"low_seconds": low, "high_seconds": high})
    yield told.text("availability_restart", low=low, high=high)


def _left_after(told: Told, devices: int) -> str:
    """What still runs when one of several cards is gone: the most of the others on which the model fits."""
    spec = plain_spec(told.spec)
    if not spec.get("model") or len(told.spec.hardware) != 1:
        return ""
    assumed = {"context_tokens": told.context} if told.context and not spec.get("input_tokens") else {}
    rest = assumed | {key: value for key, value in spec.items() if key != "parallel"}
    for count in range(devices - 1, 0, -1):
        tried = size({**rest, "hardware": [{**spec["hardware"][0], "count": count}]}, Defaults(reserve_share=0.1))
        if tried.estimate.fits:
            told.draft.considered.append(tried)
            return told.text("availability_left", left=tried.hardware, verdict=verdict_cell(tried, told.words))
    return told.text("availability_left_none")


def write(draft: Draft, heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> bool:
    """Fills the draft where it is asked what a failure leaves of a deployment, or what it takes for one not to be noticed."""
    fails = _FAILS.search(text) is not None
    said = (heard.request.get("other") or {}).get("redundancy")
    one_fails = _ONE_FAILS.search(text) is not None
    if not ("availability" in focuses(text) or one_fails) or not (said or fails) or heard.asks(*_OTHER_INTENTS):
        return False
    servers = _servers(text)
    sized = _deployment(heard, thread, defaults, servers)
    if sized is None or not sized.estimate.ok or sized.figures["task"] != "inference":
        return False
    if not sized.estimate.fits:
        return False
    draft.sized, draft.asks_back = [sized], False
    draft.say("note", verdict_headline(sized, draft.words), draft.title("memory_verdict"))
    _say_target(draft, sized, text)
    if fails:
        _write_failure(draft, sized, defaults, servers)
    else:
        _write_spare(draft, sized, defaults)
    draft.assumptions = assumption_views(sized, draft.words)
    cite_devices([sized], draft.sources)
    draft.actions = ("why", "compare", "launch", "export")
    return True


def _say_target(draft: Draft, sized: Sized, text: str) -> None:
    """What a target of availability that was named takes."""
    target = availability_in(text)
    if target is None:
        return
    devices = len(sized.devices)
    found = topology(target, max(1, -(-devices // _CARDS_A_SERVER)), devices)
    told = _target_text(draft, found, target)
    draft.say("note", with_mark(told, draft.sources.topic("availability", told)), draft.title("availability"))


def _target_text(draft: Draft, found: Topology, target: float) -> str:
    draft.material.add_data(
        {"target": target * 100, "hours": found.target_downtime_h, "servers": found.servers, "devices": found.devices}
    )
    draft.material.add(target, "share")
    draft.material.add(found.target_downtime_h * 3600, "time")
    params = {"hours": found.target_downtime_h, "servers": found.servers, "devices": found.devices}
    return draft.words.text("machine", f"availability_{found.name}", target=target * 100, **params)


def _servers(text: str) -> int:
    """In how many servers the cards stand, as far as that is said."""
    found = _IN_SERVERS.search(text)
    if found is None:
        return 1
    written = found[1].lower()
    return int(written) if written.isdigit() else _NUMBERS[written]


def _in_servers(sized: Sized, servers: int, defaults: Defaults) -> Sized:
    """A copy in each server where one holds it: nothing of a layer then goes over the network."""
    devices = len(sized.devices)
    if servers < 2 or devices % servers or sized.spec.get("parallel"):
        return sized
    spread = {"tensor": devices // servers, "pipeline": 1, "data": servers}
    copies = size({**sized.spec, "parallel": spread}, defaults)
    return copies if copies.estimate.ok and copies.estimate.fits else sized


def _deployment(heard: Heard, thread: ThreadState, defaults: Defaults, servers: int) -> Sized | None:
    """What is talked of: "one card dies" names no new hardware, an open count is the smallest that does, and cards of several servers
    hold a copy in each."""
    spec: Spec = heard.specs[0] if len(heard.specs) == 1 else {}
    if not spec.get("model") or len(spec.get("hardware") or ()) != 1:
        return None
    before = thread.last_sized.specs[0] if thread.last_sized else {}
    entry, earlier = spec["hardware"][0], (before.get("hardware") or [{}])[0]
    same = entry.get("accelerator") == earlier.get("accelerator") and before.get("model") == spec["model"]
    if same and (earlier.get("count") or 1) > (entry.get("count") or 1):
        spec = {**spec, "hardware": before["hardware"]}
    return _in_servers(counting.smallest(size(spec, defaults), defaults), servers, defaults)


def _write_failure(draft: Draft, sized: Sized, defaults: Defaults, servers: int) -> None:
    """One of several cards is gone, or the only one, or a server with all of its own."""
    words, params = draft.words, _params(sized)
    copies = int(params["data"])
    speed = sized.estimate.speed
    if copies > 1 and speed is not None and speed.output_tok_s_total is not None:
        left = draft.work_out(
            "throughput_left", "(copies - lost_copies) / copies", "share", copies=float(copies), lost_copies=1.0
        )
        rate = {name: value * left for name, value in speed.output_tok_s_total.model_dump().items()}
        draft.material.add_rates(rate)
        draft.material.add_data({"copies": copies - 1})
        key = "copies_server" if copies == servers else "copies"
        draft.headline = words.text("failure", key, left=copies - 1, copies=copies, share=left, rate=rate, **params)
        draft.lead = _carried(draft, sized, copies, defaults)
    elif len(sized.devices) == 1:
        draft.headline = words.text("failure", "single", **params)
    else:
        _write_stop(draft, sized, params, defaults)
    _say_restart(draft, sized)
    other = draft.considered[-1].hardware if draft.considered and copies == 1 and len(sized.devices) > 1 else ""
    draft.say("note", words.text("failure", "next_left" if other else "next", left=other), draft.title("next_step"))


def _carried(draft: Draft, sized: Sized, copies: int, defaults: Defaults) -> str:
    """Whether the copies left take over all of the load: the requests held, and what arrives served; else what N+1 comes to."""
    words, entry, each = draft.words, sized.spec["hardware"][0], len(sized.devices) // copies

    def on(number: int) -> Sized:
        parallel = {**(sized.spec.get("parallel") or {}), "tensor": sized.figures["tensor"], "data": number}
        return size({**sized.spec, "hardware": [{**entry, "count": each * number}], "parallel": parallel}, defaults)

    left, spare = on(copies - 1), on(copies + 1)
    draft.considered += [left, spare]
    figures = {
        **left.figures,
        "margin": abs(left.margin_gib or 0.0),
        "spare": spare.hardware,
        "spare_copies": copies + 1,
    }
    draft.material.add_data({"margin_gib": left.margin_gib or 0.0, "copies": copies + 1})
    carries = bool(left.estimate.fits and (left.margin_gib or 0.0) >= 0 and not queueing.is_overloaded(left))
    if carries:
        return words.text("failure", "carried", **figures, rate=_rate_of(left))
    if left.estimate.fits and (left.margin_gib or 0.0) >= 0:
        return words.text("failure", "not_carried", **figures)
    return words.text("failure", "not_held", **figures)


def _rate_of(one: Sized) -> Any:
    speed = one.estimate.speed
    return speed.decode_tok_s_per_user if speed and speed.decode_tok_s_per_user else {"low": 0.0, "high": 0.0}


def _write_stop(draft: Draft, sized: Sized, params: dict[str, Any], defaults: Defaults) -> None:
    """A model split over all cards stands; what of it runs on those that are left."""
    words = draft.words
    for one in _on_fewer(sized, defaults):
        if one.estimate.fits and (one.margin_gib or 0.0) >= 0:
            draft.considered.append(one)
            each = words.text("ui", "on_each") if len(one.devices) > 1 else ""
            draft.headline = words.text(
                "failure", "stops_left", left=one.hardware, free=one.margin_gib, each=each, **params
            )
            draft.lead = _pace(draft, one)
            return
    for one in _on_fewer(sized, defaults)[:_MOST_TRIED]:
        tried = [size(spec, defaults) for spec in own_hardware.narrower(one, defaults)]
        fitting = next((way for way in tried if way.estimate.fits and (way.margin_gib or 0.0) >= 0), None)
        if fitting is not None:
            draft.considered.append(fitting)
            draft.headline = words.text("failure", "stops_changed", label=option_label(fitting, words), **params)
            draft.lead = _pace(draft, fitting)
            return
    draft.headline = words.text("failure", "stops_none", **params)


def _on_fewer(sized: Sized, defaults: Defaults) -> list[Sized]:
    """The deployment on what one failure leaves, on as many of the cards as the model can be split over."""
    free = {key: value for key, value in sized.spec.items() if key != "parallel"}
    entry = sized.spec["hardware"][0]
    counts = range(len(sized.devices) - 1, 0, -1)
    tried = (size({**free, "hardware": [{**entry, "count": count}]}, defaults) for count in counts)
    return [one for one in tried if one.estimate.ok and one.estimate.fits is not None and not _cannot(one)]


def _cannot(sized: Sized) -> bool:
    return any(reason.code == "cannot_run" for reason in sized.estimate.reasons)


def _write_spare(draft: Draft, sized: Sized, defaults: Defaults) -> None:
    """One copy more than the load needs: what that comes to, beside the deployment without."""
    words, params = draft.words, _params(sized)
    copies = int(params["data"]) + 1
    each = len(sized.devices) // int(params["data"])
    entry = {**sized.spec["hardware"][0], "count": each * copies}
    parallel = {"tensor": params["tensor"], "pipeline": params["pipeline"], "data": copies}
    doubled = size({**sized.spec, "hardware": [entry], "parallel": parallel}, defaults)
    draft.material.add_data({"copies": copies})
    draft.considered.append(doubled)
    draft.headline = words.text("failure", "spare", doubled=doubled.hardware, copies=copies, **params)
    price = price_cell(sized.estimate.cost or {}, words)
    priced = any((sized.estimate.cost or {}).get(way) for way in ("buy", "rent_per_hour"))
    draft.lead = words.text("failure", "pays", price=price) if priced and params["data"] == 1 else ""
    if doubled.estimate.ok:
        draft.table = compare_table([sized, doubled], words).model_copy(
            update={"caption": words.text("failure", "caption")}
        )
    _say_restart(draft, sized)
    draft.say("note", words.text("failure", "next"), draft.title("next_step"))


def _say_restart(draft: Draft, sized: Sized) -> None:
    if sized.parsed is None:
        return
    low, high = system_of(sized.parsed, sized.estimate).storage.engine_start_s
    draft.material.add_data({"low_seconds": low, "high_seconds": high})
    text = draft.words.text("failure", "restart", low=low, high=high)
    draft.say("note", with_mark(text, draft.sources.topic("availability", text)), draft.title("availability"))


def _pace(draft: Draft, one: Sized) -> str:
    speed = one.estimate.speed
    if speed is None or speed.decode_tok_s_per_user is None:
        return ""
    key = "pace" if speed.ttft_ms else "pace_alone"
    return draft.words.text("leads", key, rate=speed.decode_tok_s_per_user, first=speed.ttft_ms)


def _params(sized: Sized) -> dict[str, Any]:
    names = ("hardware", "model", "devices", "data", "tensor", "pipeline")
    return {name: sized.figures[name] for name in names}
