"""Hardware without a model: what runs on it, or what was asked about the hardware itself."""

from __future__ import annotations

from bot.compose import best_model, cost_answer, cost_bill, cost_headlines, leading, passages, topics
from bot.compose.common import write_fault
from bot.compose.draft import Draft
from bot.compose.runnable import PROBE, runnable
from bot.explain import cite_devices, is_about_speed, with_mark
from bot.heard import Heard
from bot.sized import Sized, size
from sizing.defaults import Defaults

_SEVERAL = 2
# These are about the machine, not about models that would run on it.
_ABOUT_THE_MACHINE = ("power", "system", "explain", "cost", "rag")


def write(draft: Draft, sized: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    """The reverse question, unless the message is about power, price, the box or a cause."""
    probe = size({**sized.spec, "model": {"id": PROBE}}, defaults)
    if not probe.estimate.ok:
        write_fault(draft, probe)
    elif _asks_about_the_machine(heard, question):
        _write_machine(draft, probe, heard, question, defaults)
    else:
        _write_models(draft, sized, heard, defaults)


def _asks_about_the_machine(heard: Heard, question: str) -> bool:
    """A cause is explained, whatever else its words ask; anything else of the machine only where no model is asked for."""
    if leading.asks_why(heard, question) or heard.intent == "finetune":
        return True
    return heard.intent in _ABOUT_THE_MACHINE and not heard.asks("fits", "size", "throughput")


def _write_machine(draft: Draft, probe: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    """What was asked of the machine: its own figures first, else what the sources say."""
    words = draft.words
    draft.sized = [probe]
    own = topics.asked_headline(probe, heard, words)
    bill = cost_bill.bill_of(draft, probe, defaults) if heard.asks("cost") else None
    priced = cost_headlines.hardware_headline(bill, question) if bill and heard.intent == "cost" else None
    if bill and priced:
        draft.headline = priced
        cost_answer.say_price(bill)
        topics.say_asked(draft, probe, heard, speed=False)
        passages.say_explanation(draft, question)
    elif own is not None:
        draft.headline = own
        topics.say_asked(draft, probe, heard, speed=False)
        passages.say_explanation(draft, question)
    elif passages.write_explanation(draft, question):
        draft.sized = []  # nothing was worked out, so there is nothing to start
    else:
        draft.sized = []
        _write_several(draft, probe, heard, question)
        topics.say_asked(draft, probe, heard, speed=False)
    cite_devices([probe], draft.sources)


def _write_several(draft: Draft, probe: Sized, heard: Heard, question: str) -> None:
    """What several cards cost where they are slow together; else it is the model that is missing."""
    words = draft.words
    if len(probe.devices) < _SEVERAL or not (is_about_speed(question) or "speed" in question.casefold()):
        draft.material.add_names([probe.hardware])
        draft.headline = words.text("leads", "depends", hardware=probe.hardware)
        return
    kind, topic = ("training", "data_parallel") if heard.intent == "finetune" else ("cards", "tensor_parallel")
    told = words.text("leads", f"slow_{kind}")
    draft.headline = with_mark(told, draft.sources.topic(topic, told))
    draft.say("note", words.text("leads", f"slow_{kind}_next"), draft.title("next_step"))


def _write_models(draft: Draft, sized: Sized, heard: Heard, defaults: Defaults) -> None:
    found = runnable(sized.spec, defaults)
    if found:
        best_model.write_choice(draft, sized, found, False, defaults)
        topics.say_asked(draft, found[0], heard, speed=False)
        return
    draft.headline = draft.words.text("headline", "runnable_none", hardware=sized.hardware)
    draft.sized = [sized]
