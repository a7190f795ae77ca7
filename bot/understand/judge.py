"""From what was found to what is asked: intents, scope, open points and the question back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.understand.follow_up import FollowUp
from bot.understand.hardware import Machines
from bot.understand.intents import asks_fit_first
from bot.understand.request import Clarify, Intent
from bot.understand.scope import Scope
from bot.understand.text import Text

_ORDER: tuple[Intent, ...] = (
    "finetune",
    "compare",
    "rag",
    "power",
    "cost",
    "explain",
    "throughput",
    "system",
    "size",
    "fits",
)
_MOST = 3
_WEAK = 2.2


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the message asks, the main intent first."""

    intent: Intent
    intents: tuple[Intent, ...]
    in_scope: bool


def intents_of(
    scope: Scope,
    weights: dict[Intent, float],
    values: Mapping[str, Any],
    training: bool,
    named: Machines,
    follow_up: FollowUp,
    text: Text,
    in_thread: bool,
    other: Mapping[str, Any],
) -> Verdict:
    """Weigh the intents named by words against what the fields imply."""
    weights = dict(weights)
    subject = _has_subject(values)
    if _declined(scope, weights, values, subject, follow_up, text):
        return Verdict("out_of_scope", ("out_of_scope",), False)
    if training:
        weights["finetune"] = weights.get("finetune", 0.0) + 4.0
    if named.layout == "alternatives" and len(named.hardware) > 1:
        weights["compare"] = weights.get("compare", 0.0) + 3.5
    elif (
        "compare" in weights
        and len(named.hardware) < 2
        and len(values.get("models", ())) < 2
        and "formats" not in values
    ):
        weights["compare"] -= 1.0
    _from_observations(weights, other)
    _from_fields(weights, values)
    ranked = sorted((i for i in weights if weights[i] >= _WEAK), key=lambda i: (-weights[i], _ORDER.index(i)))
    if asks_support(text, values):
        ranked = ["explain", *(intent for intent in ranked if intent not in ("explain", "fits", "size"))]
    if ranked[:1] == ["throughput"] and "fits" in ranked and asks_fit_first(text):
        ranked = ["fits", *(intent for intent in ranked if intent != "fits")]
    if not ranked:
        if in_thread and follow_up.kind:
            return Verdict("clarify", (), True)
        return Verdict("clarify", ("clarify",), True)
    if not subject and not in_thread and not (set(ranked) & {"explain", "system", "rag", "power"}) and not values:
        return Verdict("clarify", ("clarify", *ranked[: _MOST - 1]), True)
    if (
        {"hardware"} & values.keys()
        and {"models", "params_b"} & values.keys()
        and "fits" not in ranked[:_MOST]
        and ranked[0] not in ("power", "rag")
    ):
        ranked = (
            [*ranked[: _MOST - 1], "fits"]
            if len(ranked) >= _MOST and weights[ranked[_MOST - 1]] < 2.6
            else [*ranked, "fits"]
        )
    return Verdict(ranked[0], tuple(ranked[:_MOST]), True)


_WORKS = re.compile(
    r"\b(?:(?:does|do|will|would|can|kann|koennen|geht|gehen|laeuft|laufen|funktioniert|klappt)\b[^.?!;]{0,60}\b(?:work|run|use|do|on|auf|mit|with)\b|"
    r"supports?\b|supported\b|unterstuetz\w*|compatible\b|kompatibel\b|native\w*|nativ\b)"
)
_ASKS_FOR_MODELS = re.compile(
    r"\b(?:models?|modell\w*|llms?|what|which|was|welche\w*|how (?:many|much|big|large|fast)|wie (?:viele?|gross|schnell)|\d+ ?b)\b"
)


def asks_support(text: Text, values: Mapping[str, Any]) -> bool:
    """ "Does FP8 work on a 3090?": whether a card can do a format, with no model that would have to fit."""
    if not {"weights", "hardware"} <= values.keys() or {"models", "params_b"} & values.keys():
        return False
    return _WORKS.search(text.folded) is not None and not _ASKS_FOR_MODELS.search(text.folded)


def _has_subject(values: Mapping[str, Any]) -> bool:
    return any(name in values for name in ("models", "params_b", "hardware", "engine"))


def _from_observations(weights: dict[Intent, float], other: Mapping[str, Any]) -> None:
    """A figure that was measured is told because it surprises: why is it so, and is that the speed to expect?"""
    if other.get("observed"):
        weights.setdefault("explain", 2.3)
        if {"tok_s", "prefill_tok_s", "ttft_s", "s"} & set(other["observed"]):
            weights.setdefault("throughput", 2.25)


def _from_fields(weights: dict[Intent, float], values: Mapping[str, Any]) -> None:
    """A bare "model on machine" asks whether it fits; a model alone asks what it needs."""
    if weights and max(weights.values()) >= 2.4:
        return
    model = "models" in values or "params_b" in values
    if model and "hardware" in values:
        weights["fits"] = max(weights.get("fits", 0.0), 2.5)
    elif model or "users" in values or "concurrency" in values:
        weights["size"] = max(weights.get("size", 0.0), 2.3)
    elif "hardware" in values:
        weights["fits"] = max(weights.get("fits", 0.0), 2.3)


_FOR_AI = re.compile(r"\b(?:inferen[cz]\w*|llms?|modell?e?s?|vllm|ollama|tokens?|fine-?tun\w*|sprachmodell\w*)\b")
_ASKS_HARDWARE = re.compile(
    r"\b(?:welche\w*|which|what)\s(?:\w+\s)?(?:gpus?|hardware|karten?|grafikkarten?|cards?|server|rechner|machine|maschine)\b"
)
_SIZING: frozenset[Intent] = frozenset(("size", "fits", "throughput", "compare", "finetune", "rag"))


def _declined(
    scope: Scope,
    weights: Mapping[Intent, float],
    values: Mapping[str, Any],
    subject: bool,
    follow_up: FollowUp,
    text: Text,
) -> bool:
    model = "models" in values or "params_b" in values
    if not text.folded.strip():
        return False
    if scope.topic == "small talk":
        return follow_up.kind in (None, "keep") and not values
    if scope.topic in ("secrets",):
        return not (model and (set(weights) & _SIZING or "hardware" in values))
    if scope.topic == "writing":
        return not (model and set(weights) & _SIZING)
    if scope.topic == "gaming" and "hardware" in values and _FOR_AI.search(text.folded):
        return False
    if scope.topic in ("gaming", "mining", "other work", "other things"):
        return not model
    if scope.topic == "legal" and _ASKS_HARDWARE.search(text.folded):
        return False  # a lawyer may be whom it is for; what was asked of the law is said to be no matter of ours
    if scope.topic == "quality" and "hardware" in values and not model:
        return False  # which model is best on a machine: those that fit are an answer, whoever judges their words
    if scope.topic in ("legal", "installation", "quality"):
        asks = {i for i in weights if i in _SIZING and weights[i] >= 2.9} - (
            {"compare"} if scope.topic == "quality" else set()
        )
        return not (model and "hardware" in values and asks) and not (asks - {"fits"} and model)
    if scope.topic == "errand":
        return not model and "hardware" not in values and not (scope.subject and set(weights) & _SIZING)
    if scope.injection and not subject and not (set(weights) & _SIZING):
        return True
    return not values and not scope.subject and not weights and not follow_up.kind and not text.folded.startswith("/")


_AMBIGUOUS_WORDS = re.compile(
    r"\b(?:an?|one|eine[rn]?|two|zwei|\d+ ?x?)\s(6000|5000|4000)(?:er|s)?\b(?! ?(?:ada|pro|"
    r"tok|user|nutzer|euro|€|w\b|anfragen|requests|dok))|\b(?:we have|wir haben|haben|got|mit|"
    r"have)\s(16|24|32|48|64|96|128|192|256|512)(?=\s?(?:$|[.,?!]|\bda\b|\bhier\b|is that|"
    r"reicht))"
)


def open_points(
    intent: Intent,
    values: Mapping[str, Any],
    other: Mapping[str, Any],
    impossible: Sequence[tuple[str, str]],
    text: Text,
    in_thread: bool,
) -> tuple[tuple[str, ...], Clarify | None]:
    """What is missing, and the one question that reading alone must ask."""
    missing = tuple(_missing(intent, values))
    contradictory = other.get("contradictory")
    if impossible:
        return missing, Clarify(
            code="impossible", fields=tuple(f for f, _ in impossible), values=tuple(words for _, words in impossible)
        )
    if contradictory:
        listed = tuple(f"{value:g}" for name in contradictory for value in contradictory[name])
        return (*missing, *contradictory), Clarify(code="contradiction", fields=tuple(contradictory), values=listed)
    word = _AMBIGUOUS_WORDS.search(text.folded)
    if word and not any(d.accelerator != "unknown" for d in values.get("hardware", ())):
        return missing, Clarify(code="ambiguous_word", fields=("hardware",), values=(text.quote(*word.span()),))
    if not text.folded.strip():
        return missing, Clarify(code="empty", fields=("models",))
    if intent == "clarify" and not in_thread:
        return missing or ("models",), Clarify(code="nothing_to_size", fields=missing or ("models",))
    return missing, None


def _missing(intent: Intent, values: Mapping[str, Any]) -> list[str]:
    out = []
    if (
        intent in ("size", "fits", "throughput", "finetune", "cost", "rag", "clarify")
        and "models" not in values
        and "params_b" not in values
    ):
        out.append("models")
    devices = values.get("hardware", ())
    if intent in ("fits", "throughput", "power") and not devices:
        out.append("hardware")
    if devices and all(d.accelerator == "unknown" and d.memory_gb is None for d in devices):
        out.append("hardware")
    if intent == "finetune" and "method" not in values:
        out.append("method")
    if intent in ("size", "clarify") and not devices and "users" not in values and "concurrency" not in values:
        out.append("concurrency")
    return out
