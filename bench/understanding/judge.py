"""How a reading is held against what a case says should have been read.

A case holds only the fields that its message fills; every other field must stay empty. `soft` fields may be filled or
not (two readings are as good), `intent_alt` are other intents that are as right. Figures agree within 5 % (8k is 8,000
or 8,192), names when the catalogue finds the same entry in both. `forbid` lists values that a field must never take.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from bot.understand.read import read_thread
from bot.understand.request import Request
from sizing.catalogue.names import find

Outcome = Literal["right", "wrong", "missed", "invented", "none"]

NUMBERS = ("params_b", "context_tokens", "input_tokens", "output_tokens", "concurrency", "users", "active_share")
FIELDS = ("intent", "models", "hardware", *NUMBERS, "weights", "kv_cache", "engine", "method", "budget", "targets")
_NAMED = ("models", "hardware")


def cases(folder: Path) -> list[dict[str, Any]]:
    """Every case of a folder's JSONL files, in order."""
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
        if line
    ]


def turns(case: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], Request]]:
    """Each message of a case with its gold and its reading."""
    texts = case.get("turns") or [case["text"]]
    golds = case.get("gold_turns") or [case["gold"]]
    return list(zip(texts, golds, read_thread(texts), strict=True))


def judge(gold: Mapping[str, Any], got: Request) -> dict[str, Outcome]:
    """The outcome of every field."""
    if gold["intent"] == "out_of_scope" and not gold.get("models"):
        return {"intent": "right" if not got.in_scope else "wrong"}
    soft = set(gold.get("soft", ()))
    found = {name: _outcome(name, gold, got) for name in FIELDS}
    if found["params_b"] in ("missed", "invented") and gold.get("models") and got.models:
        found["params_b"] = "none"
    return {name: "none" if name in soft and outcome != "right" else outcome for name, outcome in found.items()}


def exact(outcomes: Mapping[str, Outcome]) -> bool:
    return all(outcome in ("right", "none") for outcome in outcomes.values())


def forbidden(case: Mapping[str, Any], got: Request) -> Iterator[str]:
    """The traps of a case that a reading fell into."""
    for name, values in (case.get("forbid") or {}).items():
        for said in _said(name, got):
            if "*" in values or any(_same(said, value) for value in values):
                yield f"{name} = {said!r}"


def _said(name: str, got: Request) -> list[Any]:
    if name == "hardware":
        return [device.accelerator for device in got.hardware]
    if name == "hardware_count":
        return [device.count for device in got.hardware if device.count is not None]
    if name == "hardware_memory":
        return [device.memory_gb for device in got.hardware if device.memory_gb is not None]
    value: Any = got
    for part in name.split("."):
        value = getattr(value, part, None)
    return [] if value in (None, ()) else [value]


def _outcome(name: str, gold: Mapping[str, Any], got: Request) -> Outcome:
    if name == "intent":
        return "right" if _intent_agrees(gold, got) else "wrong"
    wanted = gold.get(name)
    read: Any = getattr(got, name)
    if name == "hardware":
        unnamed = any(device["accelerator"] == "unknown" for device in wanted or ())
        read = [device.model_dump() for device in read if unnamed or device.accelerator != "unknown"]
    elif name in ("targets", "budget") and read is not None:
        read = read.model_dump(exclude_none=True) or None
    if not wanted or not read:
        return "missed" if wanted else "invented" if read else "none"
    agrees = _list_agrees(name, wanted, read) if name in _NAMED else _same(read, wanted)
    return "right" if agrees else "wrong"


def _intent_agrees(gold: Mapping[str, Any], got: Request) -> bool:
    accepted = {gold["intent"], *gold.get("intent_alt", ())}
    if accepted & {"fits", "size"}:
        accepted |= {"fits", "size"}
    if "out_of_scope" in accepted and not got.in_scope:
        return True
    if "clarify" in accepted and (got.clarify or got.missing):
        return True
    said = {got.intent, *got.intents}
    if len(said - accepted) > 2:  # naming everything is no reading
        return False
    return bool(said & accepted) and got.in_scope == (gold["intent"] != "out_of_scope")


def _list_agrees(name: str, wanted: list[Any], read: list[Any]) -> bool:
    left = list(read)
    for item in wanted:
        match = next((other for other in left if _entry_agrees(name, item, other)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def _entry_agrees(name: str, wanted: Any, read: Any) -> bool:
    if name == "models":
        return (
            _meant(wanted, "model", "") & _meant(read, "model", "") != set() or str(wanted).lower() == str(read).lower()
        )
    if wanted["accelerator"] == "CPU":
        return any(word in read["accelerator"].lower() for word in ("cpu", "xeon", "epyc", "ryzen", "core"))
    counts = wanted.get("count") in (None, read["count"]) or (wanted.get("count") == 1 and read["count"] is None)
    memory = wanted.get("memory_gb") is None or read["memory_gb"] in (None, wanted["memory_gb"])
    names = _meant(wanted["accelerator"], "accelerator", read["accelerator"]) & _meant(
        read["accelerator"], "accelerator", ""
    )
    return counts and memory and bool(names)


def _meant(name: str, kind: Literal["model", "accelerator"], otherwise: str) -> set[str]:
    match = find(str(name), kind, False)
    return {one for one in (match.id, *match.candidates) if one} or {name or otherwise}


def _same(read: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        read = read if isinstance(read, dict) else {}
        return read.keys() == wanted.keys() and all(_same(read[key], value) for key, value in wanted.items())
    if isinstance(wanted, (int, float)) and isinstance(read, (int, float)):
        return abs(read - wanted) <= 0.05 * abs(wanted)
    if isinstance(read, str) and isinstance(wanted, str):
        return _format(read) == _format(wanted)
    return bool(read == wanted)


def _format(name: str) -> str:
    return name.lower().removeprefix("gguf-").replace("_", "").replace("-", "")
