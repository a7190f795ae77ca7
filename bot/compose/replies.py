"""One function for each kind of turn: it fills the draft and gives the Turn to keep."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from bot import explain, own_documents
from bot.answer import AssumptionView
from bot.compose import (
    alternatives,
    comparison,
    counting,
    leading,
    origin,
    passages,
    purpose,
    room,
    sizing_answer,
    special,
)
from bot.compose.changes import change_text, named_in
from bot.compose.common import write_fault
from bot.compose.draft import Draft
from bot.compose.faults import field_label
from bot.compose.labels import option_label
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, size
from bot.thread import Spec, ThreadState, Turn
from bot.understand.device_details import MOST_DEVICES
from bot.understand.request import Clarify
from bot.written import literal
from sizing.defaults import Defaults

# Without an answer to these nothing is worked out; an open contradiction is asked beside the answer for the last value.
_SOURCES_MAY_ANSWER = ("explain", "system", "rag", "power", "cost", "finetune", "throughput")
_MUST_ASK = ("impossible", "ambiguous_word", "empty", "nothing_to_size")
_LONGEST_QUOTE: Final = 60
_WHY_HEADLINES = ("why_headline", "why_formulas", "why_inputs", "why_sources")


def unreadable(draft: Draft, text: str, limit: int) -> None:
    """An empty message, or one too long to read."""
    words = draft.words
    draft.headline = words.text("error", "too_long", limit=limit) if text.strip() else words.text("error", "empty")
    draft.material.add_text(draft.headline)


def fixed(draft: Draft, heard: Heard) -> None:
    """Help, a fresh start, or a friendly refusal of what is none of our business."""
    words = draft.words
    if heard.wish == "new":
        draft.headline = words.text("headline", "fresh")
    elif heard.wish == "help":
        draft.headline = words.text("refusal", "help")
        draft.lead = words.text("refusal", "help_more")
        draft.say("note", words.text("refusal", "try"))
    else:
        draft.intent = "out_of_scope"
        draft.headline = _courtesy(draft, heard) or words.text("refusal", "out_of_scope")
        draft.say("refusal", words.text("refusal", "try"))
    _own_words(draft)


_THANKS: Final = re.compile(r"\b(?:dank\w*|thank\w*|thx|merci)\b", re.IGNORECASE)


def _courtesy(draft: Draft, heard: Heard) -> str:
    """Thanks and greetings are no wishes to be declined."""
    if (heard.request.get("other") or {}).get("topic") != "small talk":
        return ""
    return draft.words.text("leads", "thanks" if _THANKS.search(draft.sources.query) else "hello")


def _own_words(draft: Draft) -> None:
    """Fixed texts quote example questions; their figures are our own words."""
    for text in (draft.headline, draft.lead, *(paragraph.text for paragraph in draft.paragraphs)):
        draft.material.add_text(text)


def undone(draft: Draft, thread: ThreadState, defaults: Defaults) -> None:
    """Back by one turn: the answer to the turn before is given again."""
    before = thread.undone().last_sized
    if before is None:
        draft.headline = draft.words.text("headline", "undone_all" if thread.turns else "nothing_to_undo")
        return
    _write_specs(draft, Heard(lang=draft.lang, intents=before.intents, specs=before.specs), before.text, defaults)
    draft.headline = f"{draft.words.text('headline', 'undone')} {draft.headline}"


def deeper(draft: Draft, thread: ThreadState, depth: int, defaults: Defaults) -> Turn | None:
    """ "Why?": one level deeper than the last time."""
    turn = thread.last_sized
    if turn is None:
        draft.headline = draft.words.text("refusal", "no_thread")
        return None
    several = [size(spec, defaults) for spec in (turn.specs if "compare" in turn.intents else _answered(turn)[:1])]
    sized = comparison.ranked(several)[0]
    if len(several) > 1 or sized.spec not in turn.specs:
        draft.lead = draft.words.text("explain", "why_of", label=option_label(sized, draft.words, with_model=True))
    draft.intent = "explain"
    draft.sized = [sized]
    deepest = explain.levels(sized)
    key = _WHY_HEADLINES[depth - 1] if depth <= deepest else "deepest" if deepest > 1 else "no_derivation"
    draft.headline = draft.words.text("explain", key)
    draft.paragraphs += explain.deeper(sized, depth, draft.words, draft.sources)
    draft.actions = ("why",) if depth < deepest else ()
    return Turn(
        text="", intent="explain", intents=turn.intents, specs=turn.specs, options=turn.options, why_depth=depth
    )


def _answered(turn: Turn) -> tuple[Spec, ...]:
    """What an answer was about: the options it proposed where the question left model or hardware open."""
    is_open = not all(spec.get("model") and spec.get("hardware") for spec in turn.specs)
    return turn.options if is_open and turn.options else turn.specs


def from_own_documents(draft: Draft, heard: Heard, text: str) -> Turn | None:
    """What the team's own documents say, where they are asked; None where they hold no answer."""
    return _turn(draft, heard, text) if own_documents.lead(draft, heard, text) else None


def worked_out(draft: Draft, heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> Turn | None:
    """A message that asks for figures or for an explanation."""
    open_point = heard.clarify.code if heard.clarify else ""
    if origin.write(draft, text, thread, defaults):
        return _same_turn(draft, heard, text, thread)
    if not counting.asks_how_many(text):
        heard = replace(heard, specs=counting.counted(heard.specs, thread, defaults))
    if open_point in ("", "nothing_to_size", "contradiction") and special.write(draft, heard, text, thread, defaults):
        return _turn(draft, heard, text)
    if not heard.specs and heard.request.get("other", {}).get("engines_compared"):
        question = draft.words.text("explain", "which_engine", question=text)
        if passages.write_explanation(draft, question):
            return _turn(draft, heard, text)
    if open_point in _MUST_ASK:
        return _asked_back(draft, heard, text)
    heard = _without_nameless(heard)
    if heard.intent == "explain" and _unnamed(heard) and passages.write_explanation(draft, text):
        return _turn(draft, heard, text)
    if any(_nameless(spec) for spec in heard.specs):
        return _asked_back(draft, heard, text)
    if _asks_about_last(heard, thread) and leading.asks_why(heard, text):
        return _explained(draft, heard, text, thread, defaults)
    if not any(_sizable(spec) for spec in heard.specs):
        proposal = purpose.propose(heard, text, thread, defaults)
        return _proposed(draft, heard, text, proposal, defaults) if proposal else _without_spec(draft, heard, text)
    heard = room.place(draft, heard, text, defaults)
    _write_specs(draft, heard, text, defaults)
    if heard.clarify is not None:
        draft.say("clarify", clarify_text(heard.clarify, draft))
    _say_changes(draft, heard, thread)
    return _turn(draft, heard, text)


def _proposed(draft: Draft, heard: Heard, text: str, proposal: purpose.Proposal, defaults: Defaults) -> Turn:
    """A budget and a purpose: hardware for the largest model made for it."""
    heard = replace(heard, specs=(proposal.spec,))
    _write_specs(draft, heard, text, defaults)
    purpose.say(draft, proposal)
    return _turn(draft, heard, text)


def _asks_about_last(heard: Heard, thread: ThreadState) -> bool:
    """A "why …?" that changes nothing asks about the answer before."""
    last = thread.last_sized
    return last is not None and heard.intent == "explain" and heard.specs == last.specs and not heard.clicked


def _explained(draft: Draft, heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> Turn:
    """An explanation of the last estimate: its own reasons, behind what a source says whose title the question names."""
    last = thread.last_sized
    sized = size(_answered(last)[0] if last else heard.specs[0], defaults)
    draft.sized = [sized]
    told = leading.causes(draft, sized, heard, text)
    if explain.is_about_speed(text) or not passages.write_explanation(draft, text, named=True):
        first, *rest = told or [draft.words.text("explain", "why_headline")]
        draft.headline, draft.lead = first, " ".join(rest)
    else:
        draft.say("why", " ".join(told), draft.title("why"))
    draft.actions = ("why",)
    told_of = _turn(draft, heard, text)
    return told_of.model_copy(update={"options": last.options}) if last else told_of


def _turn(draft: Draft, heard: Heard, text: str) -> Turn:
    delta: Spec = {"clicked": True} if heard.clicked else {}
    return Turn(
        text=text, intent=heard.intent, intents=heard.intents, specs=heard.specs, request=dict(heard.request), delta=delta,
        options=tuple(option.spec for option in draft.options), labels=heard.labels,
    )  # fmt: skip


def _same_turn(draft: Draft, heard: Heard, text: str, thread: ThreadState) -> Turn:
    """A question on a figure changes nothing of what is talked of."""
    last = thread.last_sized
    return _turn(draft, heard if last is None else replace(heard, intents=last.intents, specs=last.specs), text)


def _sizable(spec: Spec) -> bool:
    return bool(spec.get("model") or spec.get("hardware"))


def _unnamed(heard: Heard) -> bool:
    """No hardware that can be sized on."""
    return not any(spec.get("hardware") and not _nameless(spec) for spec in heard.specs)


def _without_nameless(heard: Heard) -> Heard:
    """ "What kind of card?", "a laptop for …", "at most three cards" ask for hardware: a card without a name is the answer."""
    limits = ("form", "max_devices")
    limited = any((spec.get("constraints") or {}).get(name) for spec in heard.specs for name in limits)
    if not limited and (not heard.asks("size") or heard.asks("fits")):
        return heard
    specs = tuple(
        {key: value for key, value in spec.items() if key != "hardware" or not _nameless(spec)} for spec in heard.specs
    )
    return replace(heard, specs=specs)


def _nameless(spec: Spec) -> bool:
    """Hardware of which nothing is known: "our server", "my laptop"."""
    return any(not (entry.get("accelerator") or entry.get("memory_gb")) for entry in spec.get("hardware") or ())


def _without_spec(draft: Draft, heard: Heard, text: str) -> Turn | None:
    """Nothing to size: an explanation from our notes, or one question back."""
    if heard.asks(*_SOURCES_MAY_ANSWER) and passages.write_explanation(draft, text):
        return _turn(draft, heard, text)
    return _asked_back(draft, heard, text)


def _asked_back(draft: Draft, heard: Heard, text: str) -> Turn:
    """One question, because nothing can be worked out without its answer."""
    draft.intent = "clarify"
    draft.headline = _question(draft, heard)
    draft.say("clarify", draft.words.text("refusal", "try"))
    _own_words(draft)
    return _turn(draft, heard, text)


_QUESTIONS = {"context_tokens": "context", "concurrency": "concurrency"}


def ask_back(draft: Draft, assumed: AssumptionView) -> None:
    """The question on which the verdict hangs, beside the answer for what was assumed."""
    words = draft.words
    taken = assumed.value.partition(" (")[0]
    if assumed.field in _QUESTIONS:
        question = words.text("clarify", _QUESTIONS[assumed.field])
    else:
        others = words.listed([taken, *(other.label for other in assumed.alternatives)], "or")
        question = words.text("clarify", "which_one", label=assumed.label, names=others)
        draft.material.add_names([taken, *(other.label for other in assumed.alternatives)])
    draft.say("clarify", words.text("clarify", "flips", question=question))


def _question(draft: Draft, heard: Heard) -> str:
    if heard.clarify is None and any(_nameless(spec) for spec in heard.specs):
        named = all(spec.get("model") for spec in heard.specs)
        return draft.words.text("clarify", "hardware" if named else "model_and_hardware")
    return clarify_text(heard.clarify, draft)


def clarify_text(clarify: Clarify | None, draft: Draft) -> str:
    """The question that reading alone must ask."""
    words = draft.words
    code = clarify.code if clarify else "nothing_to_size"
    if clarify is None or code == "nothing_to_size":
        return words.text("clarify", _open_point(clarify))
    label = words.listed([_label(field, words) for field in clarify.fields])
    values = literal(words.listed(clarify.values))
    draft.material.add_text(" ".join(clarify.values))
    key = "impossible_bare" if code == "impossible" and not values else code
    asked = words.text("clarify", key, label=label[:1].upper() + label[1:], values=values, word=values)
    return " ".join([asked, *_what_works(clarify, words)]) if code == "impossible" else asked


def _what_works(clarify: Clarify, words: Wording) -> list[str]:
    """What the fields of impossible values may hold instead."""
    known = (field for field in clarify.fields if words.has("works", field))
    return list(dict.fromkeys(words.text("works", field, most=MOST_DEVICES) for field in known))


def _open_point(clarify: Clarify | None) -> str:
    fields = clarify.fields if clarify else ()
    known = {"models": "model", "hardware": "hardware", "context_tokens": "context", "concurrency": "concurrency"}
    return known[fields[0]] if len(fields) == 1 and fields[0] in known else "generic"


def _label(field: str, words: Wording) -> str:
    return field_label({"models": "model", "devices": "hardware"}.get(field, field), words)


def _write_specs(draft: Draft, heard: Heard, question: str, defaults: Defaults) -> None:
    several = len(heard.specs) > 1
    sized = (
        alternatives.sized_alternatives(heard.specs, heard, defaults)
        if several
        else [size(spec, defaults) for spec in heard.specs]
    )
    sound = [one for one in sized if one.estimate.ok]
    if len(sound) > 1:
        comparison.write(draft, sound, heard, defaults)
    elif len(sized) > 1 and not sound:
        write_fault(draft, sized[0])
    else:
        sizing_answer.write_single(draft, (sound or sized)[0], heard, question, defaults)


def _say_changes(draft: Draft, heard: Heard, thread: ThreadState) -> None:
    specs = heard.specs
    before = thread.last_sized
    if before is None or len(before.specs) != 1 or len(specs) != 1:
        return
    text = change_text(before.specs[0], specs[0], draft.words)
    if not text and (told := _unchanged(draft, heard, before, specs)):
        draft.headline = f"{told} {draft.headline}"
    if text:
        for spec in (before.specs[0], specs[0]):
            draft.material.add_data(spec)
            draft.material.add_names(named_in(spec))
        _first(draft, text)


def _unchanged(draft: Draft, heard: Heard, before: Turn, specs: tuple[Spec, ...]) -> str:
    """What a turn says that goes on with the thread and changes nothing: its wish holds already, or cannot be set."""
    request = heard.request
    if heard.clicked or heard.clarify or request.get("follow_up") != "keep" or specs != before.specs:
        return ""
    if request.get("said"):
        return draft.words.text("change", "same")
    asked = str(request.get("text") or draft.sources.query).strip(" ?!.")
    if heard.intents != before.intents or len(asked) > _LONGEST_QUOTE:
        return ""
    draft.material.add_text(asked)
    return draft.words.text("change", "unread", asked=literal(asked))


def _first(draft: Draft, text: str) -> None:
    from bot.answer import Paragraph

    draft.paragraphs.insert(0, Paragraph(kind="change", title=draft.title("change"), text=text))


def describes(sized: Sized) -> str:
    """The hardware and model of a deployment in a few words."""
    return f"{sized.figures['model']} · {sized.hardware}"
