"""The one pipeline: text and thread in, a finished Answer and the next thread out; the same for every surface.

text + thread → understand → Request → apply to the thread → resolve → Estimates → reasons → passages → explain → Answer
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.answer import Answer, Lang
from bot.attached import MAX_CHARACTERS
from bot.compose import next_step, replies, wishes
from bot.compose.contradictions import say_contradictions
from bot.compose.draft import Draft, finish
from bot.compose.readings import reading_views
from bot.explain import DEEPEST, Sources
from bot.heard import Heard, hear, of_click
from bot.open_question import decided, open_question
from bot.own_documents import say_beside
from bot.sized import engine_defaults
from bot.thread import Configs, Context, Spec, TeamDefaults, ThreadState, Turn
from sizing.catalogue.names import find
from sizing.defaults import Defaults
from sizing.errors import UserError

__all__ = ["Context", "TeamDefaults", "ThreadState", "act", "respond"]

# Wishes about the answer before are something to do themselves.
_NEW_WORK = (None, "compare")


def respond(text: str, thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
    """The answer to a message in a thread, and the thread after it. Never raises for anything a person may write."""
    if not text.strip() or len(text) > MAX_CHARACTERS:
        return _unreadable(text, thread, context), thread
    return _turn(hear(text, thread, context.reader), text, thread, context)


def act(action: str, payload: Mapping[str, Any], thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
    """A click: `change` merges `payload["delta"]` into the last specs; the other actions are those of `bot.answer.Action`."""
    delta = payload.get("delta")
    heard = of_click(action, dict(delta) if isinstance(delta, Mapping) else {}, thread, thread.lang or "en")
    return _turn(heard, "", thread, context)


def _turn(heard: Heard, text: str, thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
    lang = _lang(heard.lang, context)
    heard = decided(_with_hub(heard, context), engine_defaults(context.defaults))
    draft = _draft(heard, lang, context, text)
    turn = _write(draft, heard, text, thread, context)
    if turn is not None and (draft.sized or heard.clarify is not None):
        _say_readings(draft, heard, engine_defaults(context.defaults))
    if turn is not None and heard.wish is None and draft.intent != "clarify":
        say_contradictions(draft, text)
        say_beside(draft, text)
    if heard.wish in _NEW_WORK:
        next_step.add(draft, context.defaults)
    after = thread.undone() if heard.wish == "undo" else ThreadState() if heard.wish == "new" else thread
    return _finished(draft, context), after.add(turn, lang) if turn else after


def _write(draft: Draft, heard: Heard, text: str, thread: ThreadState, context: Context) -> Turn | None:
    """Fills the draft; the Turn to keep, or None where the message leaves no trace in the thread."""
    defaults = engine_defaults(context.defaults)
    if heard.wish == "undo":
        replies.undone(draft, thread, defaults)
        return None
    if heard.wish is None and not heard.clicked and (turn := replies.from_own_documents(draft, heard, text)):
        return turn
    if heard.wish in ("new", "help") or not heard.in_scope:
        replies.fixed(draft, heard)
        return None
    if heard.wish in ("launch", "loadtest", "cheaper", "export") and thread.last_sized:
        wishes.granted(draft, heard.wish, thread.last_sized, defaults)
        return None
    if heard.wish == "why":
        return replies.deeper(draft, thread, min(_depth(thread) + 1, DEEPEST), defaults)
    return replies.worked_out(draft, heard, text, thread, defaults)


def _say_readings(draft: Draft, heard: Heard, defaults: Defaults) -> None:
    """The reader's assumptions beside the engine's; one question at most, and only where its answer would turn the verdict."""
    own = reading_views(heard, draft.words)
    draft.assumptions = (*own, *(view for view in draft.assumptions if view.field not in {one.field for one in own}))
    asked_already = any(paragraph.kind == "clarify" for paragraph in draft.paragraphs)
    if (
        asked_already
        or not draft.asks_back
        or len(draft.sized) != 1
        or not heard.specs
        or not heard.specs[0].get("hardware")
    ):
        return
    open_one = open_question(draft.sized[0], draft.assumptions, defaults)
    if open_one is not None:
        replies.ask_back(draft, open_one)


def _with_hub(heard: Heard, context: Context) -> Heard:
    """Configurations from the hub for repository ids that the catalogue lacks, where an operator allows it."""
    if context.hub is None or not heard.specs:
        return heard
    return replace(heard, specs=tuple(_completed(spec, context.hub) for spec in heard.specs))


def _completed(spec: Spec, hub: Configs) -> Spec:
    name = (spec.get("model") or {}).get("id") or ""
    if "/" not in name or find(name, "model", False).id is not None:
        return spec
    try:
        return {**spec, "model": {"id": name, "config": hub.config(name)}}
    except UserError:
        return spec


def _unreadable(text: str, thread: ThreadState, context: Context) -> Answer:
    lang = _lang(thread.lang or "en", context)
    draft = _draft(Heard(lang=lang, intents=("clarify",)), lang, context, "")
    replies.unreadable(draft, text, MAX_CHARACTERS)
    return _finished(draft, context)


def _lang(read: Lang, context: Context) -> Lang:
    return context.lang or context.defaults.lang or read


def _draft(heard: Heard, lang: Lang, context: Context, text: str) -> Draft:
    draft = Draft(
        lang=lang, intent=heard.intent, sources=Sources(context.knowledge, lang, text), in_scope=heard.in_scope
    )
    draft.material.add_text(text)
    draft.material.add_data(context.defaults.model_dump())
    return draft


def _finished(draft: Draft, context: Context) -> Answer:
    return finish(draft, context.answer_id or uuid.uuid4().hex, context.phraser)


def _depth(thread: ThreadState) -> int:
    return thread.last.why_depth if thread.last else 0
