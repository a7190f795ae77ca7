"""Hardware without a model: what runs on it, or what was asked about the hardware itself."""

from __future__ import annotations

from bot.compose import cost_answer, cost_bill, cost_headlines, passages, topics
from bot.compose.assumptions import assumption_views
from bot.compose.common import write_fault
from bot.compose.draft import Draft
from bot.compose.runnable import PROBE, first_choice, runnable, runnable_table, shown_rows
from bot.explain import cite_devices
from bot.heard import Heard
from bot.sized import Sized, size
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults

# These are about the machine, not about models that would run on it.
_ABOUT_THE_MACHINE = ("power", "system", "explain", "cost", "rag")


def write(draft: Draft, sized: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    """The reverse question, unless the message is about power, price, the box or a cause."""
    probe = size({**sized.spec, "model": {"id": PROBE}}, defaults)
    if not probe.estimate.ok:
        write_fault(draft, probe)
    elif heard.intent in _ABOUT_THE_MACHINE and not heard.asks("fits", "size", "throughput"):
        _write_machine(draft, probe, heard, question, defaults)
    else:
        _write_models(draft, sized, heard, defaults)


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
    elif not passages.write_explanation(draft, question):
        draft.headline = words.text("explain", "no_source")
        topics.say_asked(draft, probe, heard, speed=False)
    cite_devices([probe], draft.sources)


def _write_models(draft: Draft, sized: Sized, heard: Heard, defaults: Defaults) -> None:
    words = draft.words
    found = runnable(sized.spec, defaults)
    key = "runnable" if found else "runnable_none"
    draft.headline = words.text("headline", key, hardware=sized.hardware, count=len(found))
    draft.sized, draft.options = [sized], found
    draft.material.add(len(found))
    if found:
        shown = shown_rows(found, first_choice(found, defaults, coding=False), coding=False)
        draft.options = shown
        draft.material.add_text(" ".join(catalogue().models[one.spec["model"]["id"]].released or "" for one in shown))
        draft.table = runnable_table(shown, words)
        topics.say_asked(draft, found[0], heard, speed=False)
        draft.assumptions = assumption_views(found[0], words)
        cite_devices(found[:1], draft.sources)
