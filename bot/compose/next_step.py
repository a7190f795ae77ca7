"""Every answer ends in something to do: a line to copy, the next measurement, or what to write next."""

from __future__ import annotations

from typing import Final

from bot.answer import Command
from bot.compose.draft import Draft
from bot.compose.labels import option_label
from bot.compose.launching import launch_commands
from bot.sized import Sized, engine_defaults
from bot.thread import TeamDefaults

# Titles of paragraphs that are something to do already.
_DONE: Final = ("next", "next_step")
_WORK: Final = frozenset({"embedding", "reranking", "transcription", "image", "video"})
# Answers that may do without a deployment: naming one gives figures of its own.
_OPEN: Final = frozenset({"explain", "system", "finetune", "power"})
_LONGEST_LINE: Final = 260
# Wider than this there is FP8 to go to, down to this a format of four bits.
_WIDE_BITS: Final = 9.0
_NARROW_BITS: Final = 5.0
_SHORTER: Final = (8192, 4096, 2048)


def add(draft: Draft, defaults: TeamDefaults) -> None:
    """The last paragraph; none where the answer has one, gives commands, asks back or declines."""
    _say_old_mark(draft)
    titles = {draft.title(key) for key in _DONE}
    kinds = {paragraph.kind for paragraph in draft.paragraphs}
    asks = bool(kinds & {"refusal", "derivation"}) or ("clarify" in kinds and not draft.sized)
    if not draft.in_scope or not draft.headline or draft.commands or asks:
        return
    if any(paragraph.title in titles for paragraph in draft.paragraphs):
        return
    key = _key(draft)
    if key is None:
        return
    if draft.instead is not None and key in ("change_to", "change"):
        draft.commands = _named(_start(draft, draft.instead, defaults), draft.instead, draft)
    if key == "start" and "change" in kinds:
        key = "start_by_hand"  # a thread that goes on needs no line with every turn
    if key == "start":
        draft.commands = _start(draft, draft.sized[0], defaults)
        key = "measure" if draft.commands else "start_by_hand"
    draft.say("note", draft.words.text("todo", key, **_params(draft)), draft.title("next_step"))


def _say_old_mark(draft: Draft) -> None:
    """What the mark of an old price in the table means, where nothing has said so."""
    words = draft.words
    mark = words.text("cost", "as_of_old_short", text="", date="").rpartition(",")[2]
    legend = words.text("cost", "old")
    marked = draft.table is not None and any(cell.endswith(mark) for row in draft.table.rows for cell in row)
    if marked and all(legend not in paragraph.text for paragraph in draft.paragraphs):
        draft.say("note", legend)


def _named(commands: tuple[Command, ...], sized: Sized, draft: Draft) -> tuple[Command, ...]:
    """A line for something else than was asked says for what it is."""
    label = option_label(sized, draft.words)
    return tuple(
        one.model_copy(update={"title": draft.words.text("own", "command", title=one.title, label=label)})
        for one in commands
    )


def _key(draft: Draft) -> str | None:
    """What fits the kind of answer."""
    first = draft.sized[0] if draft.sized else None
    if draft.intent == "rag" and (first is None or _is_service(draft, first)):
        return "rag"
    if first is not None and draft.intent == "power":
        return "machine"
    if first is not None and not first.spec.get("model"):
        return "choose"
    if first is None or not first.estimate.ok:
        return "name" if draft.intent in _OPEN else None
    task = str(first.figures["task"])
    if task in _WORK:
        if first.estimate.fits:
            return "work"
        return None if any(paragraph.kind == "flip" for paragraph in draft.paragraphs) else "smaller"
    if task == "training":
        return "train" if first.estimate.fits else "train_less"
    return _for_verdict(draft, first)


def _is_service(draft: Draft, first: Sized) -> bool:
    """Documents are what the answer is about: beside the model there is something to import, to embed or to index."""
    told = {draft.title(key) for key in ("import", "index", "embedding")}
    return first.figures["task"] not in _WORK and any(paragraph.title in told for paragraph in draft.paragraphs)


def _for_verdict(draft: Draft, first: Sized) -> str | None:
    if len(draft.sized) > 1:
        fitting = sum(one.estimate.fits is True for one in draft.sized)
        return "compare" if fitting > 1 else "start_by_hand" if fitting else "change"
    if first.estimate.fits is False or (first.margin_gib or 0.0) < 0:
        return "change_to" if draft.hint else "change"
    if any(first is option for option in draft.options):
        return "before_ordering"
    return "start"


def _params(draft: Draft) -> dict[str, object]:
    first = draft.sized[0] if draft.sized else None
    speed = first.estimate.speed if first else None
    rate = speed.decode_tok_s_per_user if speed else None
    return {"hint": draft.hint, "low": rate.low if rate else 0.0, "tries": ", ".join(_tries(draft)) if first else ""}


def _tries(draft: Draft) -> list[str]:
    """What could be written next: only changes from what was worked out."""
    first, words = draft.sized[0], draft.words
    bits = first.resolved.weights.bits_per_weight if first.resolved else None
    narrower = None if bits is None or bits <= _NARROW_BITS else "fp8" if bits > _WIDE_BITS else "int4"
    context, cards = first.figures.get("context") or 0, 2 * len(first.devices)
    shorter = next((length for length in _SHORTER if length < context), None)
    tried = {"format": narrower, "context": shorter, "cards": cards or None}
    draft.material.add_data({"context_tokens": shorter, "count": cards})
    draft.material.add_names([narrower] if narrower else [])
    return [words.text("todo", f"try_{name}", value=value) for name, value in tried.items() if value]


def _start(draft: Draft, sized: Sized, defaults: TeamDefaults) -> tuple[Command, ...]:
    """The line that starts the deployment; none where the model has no name to load or the line needs files of its own."""
    speed = sized.estimate.speed
    if not (sized.spec.get("model") or {}).get("id") or speed is None or speed.decode_tok_s_per_user is None:
        return ()
    commands = launch_commands(sized, draft.words, engine_defaults(defaults))
    return commands if len(commands) == 1 and len(commands[0].code) <= _LONGEST_LINE else ()
