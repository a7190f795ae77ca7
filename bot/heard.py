"""What a message asks, as the pipeline needs it: the reading of `bot.understand` applied to the thread."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from bot.answer import Lang
from bot.model_files import config_in, without_config
from bot.specs import delta_of, merged
from bot.thread import SecondReader, Spec, ThreadState

if TYPE_CHECKING:
    from bot.understand.request import Assumption, Request

Wish = Literal["why", "cheaper", "compare", "launch", "loadtest", "export", "undo", "new", "help"]

# A whole message that is one of these is a wish about the answer before, not a new workload.
_WISH_WORDS: Final[tuple[tuple[Wish, tuple[str, ...]], ...]] = (
    ("why", (r"(?:and |und )?(?:why|warum|wieso|weshalb)(?: (?:is that|so|das|denn|nicht|not|though|ist das so))?",
             r"how (?:so|come)", r"wie kommt(?:'s| das)", r"explain(?: that)?", r"erklär(?:e)?(?: das| mir das)?",
             r"genauer", r"more detail", r"mehr details?", r"tiefer", r"deeper")),
    ("cheaper", (r"(?:(?:and|und|something|anything|was|etwas|geht(?:'s| es| das)?(?: auch)?) )?"
                 r"(?:cheaper|günstiger(?:es)?|billiger(?:es)?)",)),
    ("launch", (r"(?:the |der |den )?(?:launch|start)[- ]?(?:command|befehl|line|zeile)?(?: please| bitte)?",)),
    ("loadtest", (r"(?:the |der |einen )?(?:load[- ]?test|lasttest)[- ]?(?:command|befehl|plan)?(?: please| bitte)?",)),
    ("export", (r"export(?:ieren)?",)),
    ("undo", (r"undo", r"zurück", r"rückgängig", r"nimm das zurück", r"take that back", r"back", r"revert")),
    ("new", (r"new", r"neu", r"von vorne?", r"start over", r"reset", r"neue frage", r"new question")),
    ("help", (r"help", r"hilfe", r"was kannst du", r"what can you do")),
)  # fmt: skip
_WISHES: Final[tuple[tuple[Wish, re.Pattern[str]], ...]] = tuple(
    (wish, re.compile(rf"^\W*(?:{'|'.join(words)})\W*$", re.IGNORECASE)) for wish, words in _WISH_WORDS
)


# More lines than these may be a program's.
_LINES_OF_A_PERSON: Final = 2
_RESULT: Final = "benchmark result"
_GERMAN_WISH: Final = re.compile(
    r"hilfe|warum|wieso|weshalb|wie kommt|erklär|genauer|günstiger|billiger|zurück|rückgängig|neue?\b|befehl|last|kannst"
)
# Words that nobody writes in a German sentence; "undo", "export" and "reset" are buttons in both.
_ENGLISH_WISH: Final = re.compile(
    r"why|how (?:so|come)|explain|more detail|deeper|cheaper|that back|start over|new question|what can|please"
)
_FOLLOW_UPS: Final[Mapping[str, Wish]] = {"undo": "undo"}


@dataclass(frozen=True)
class Heard:
    """One message in its thread. `specs` are those after this turn, one for each alternative compared."""

    lang: Lang
    in_scope: bool = True
    intents: tuple[str, ...] = ()
    specs: tuple[Spec, ...] = ()
    wish: Wish | None = None
    clarify: Any = None
    readings: tuple[Any, ...] = ()
    missing: tuple[str, ...] = ()
    clicked: bool = False
    request: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[dict[str, str], ...] = ()

    @property
    def intent(self) -> str:
        return self.intents[0] if self.intents else "clarify"

    def asks(self, *intents: str) -> bool:
        """Whether any of these is asked, by words or by a button."""
        return any(intent in self.intents or intent == self.wish for intent in intents)


def of_click(action: str, delta: Spec, thread: ThreadState, lang: Lang) -> Heard:
    """A button or select: the thread's specs, changed where the click carries a change."""
    turn = thread.last_sized
    specs = tuple(merged(spec, delta) for spec in turn.specs) if turn else ()
    intents = (turn.intents or (turn.intent,)) if turn else ()
    wish: Any = action if action in {name for name, _ in _WISHES} or action == "compare" else None
    return Heard(
        lang=lang, intents=tuple(intents), specs=specs, wish=wish, clicked=True, readings=_standing_readings(thread)
    )


def _standing_readings(thread: ThreadState) -> tuple[Assumption, ...]:
    """The assumptions of the last message read; whether the specs still rest on them is for the answer to see."""
    from bot.understand.request import Assumption

    said = next((turn.request for turn in reversed(thread.turns) if turn.text and turn.request), {})
    return tuple(Assumption.model_validate(reading) for reading in said.get("assumptions", ()))


def wish_in(text: str) -> Wish | None:
    """The wish that a whole message is, or None."""
    short = text.strip()
    return next((wish for wish, pattern in _WISHES if pattern.match(short)), None) if len(short) <= 60 else None


def hear(text: str, thread: ThreadState, reader: SecondReader | None = None) -> Heard:
    """What a message asks in its thread; `reader` may point to words that the rules leave unread."""
    from bot.understand.specs import specs_of

    requests, labels = _readings(text, thread, reader)
    said = [*(turn.text for turn in thread.turns if turn.text), text]
    now = requests[-1]
    config = next((found for turn in reversed(said) if (found := config_in(turn))), None)
    specs = _with_config([dict(spec) for spec in specs_of(now)], config)
    if any(turn.delta for turn in thread.turns) and len(requests) > 1:
        specs = _after_clicks([dict(spec) for spec in specs_of(requests[-2])], specs, thread)
    return Heard(
        lang=_lang(now.lang, thread, _spoken(text)),
        in_scope=now.in_scope or config is not None or wish_in(text) is not None or _is_ours(text),
        intents=tuple(now.intents or ([now.intent] if now.intent else [])),
        specs=tuple(specs),
        wish=wish_in(text) or _FOLLOW_UPS.get(now.follow_up or ""),
        clarify=None if config and now.clarify and now.clarify.code == "nothing_to_size" else now.clarify,
        readings=tuple(now.assumptions),
        missing=tuple(now.missing),
        request=now.model_dump(mode="json", exclude={"text", "overruled", "unread"}),
        labels=labels,
    )


def _readings(
    text: str, thread: ThreadState, reader: SecondReader | None
) -> tuple[list[Request], tuple[dict[str, str], ...]]:
    """Each turn read with those before it, and the words that a second reader has pointed to in the last one."""
    from bot.understand.llm import Label, labelled
    from bot.understand.read import read

    done: list[Request] = []
    for turn in thread.turns:
        if turn.text:
            kept = [Label.model_validate(label) for label in turn.labels]
            done.append(labelled(read(_spoken(turn.text), thread=done), kept))
    now = read(_spoken(text), thread=done)
    labels = reader.for_question().labels(now) if reader is not None else ()
    return [*done, labelled(now, labels)], tuple(label.model_dump() for label in labels)


def _spoken(text: str) -> str:
    """What a person said, without a file or a result that was pasted; a result alone is called by its name."""
    from bot.understand.logs.reader import without_results

    plain = without_config(text)
    spoken = without_results(plain)
    return spoken if spoken.strip() or not plain.strip() else _RESULT


def _is_ours(text: str) -> bool:
    """A pasted log, or a question of planning or operation, even where no word of the message is one of the reader's."""
    from bot.understand.planning import topic_of

    return topic_of(text) is not None or _holds_log(text)


def _holds_log(text: str) -> bool:
    from bot.understand.logs.reader import observe

    seen = observe(text)
    return seen is not None and seen.sources != ("figures",)


def _with_config(specs: list[Spec], config: Spec | None) -> list[Spec]:
    """The specs with a pasted `config.json` where no model is named."""
    if config is None:
        return specs
    return [
        spec if spec.get("model") else {**spec, "model": {"config": config}}
        for spec in specs or [{"task": "inference"}]
    ]


def _after_clicks(before: list[Spec], now: list[Spec], thread: ThreadState) -> list[Spec]:
    """What this message changed, applied to the specs as clicks have left them."""
    kept = list(thread.last_sized.specs) if thread.last_sized else []
    if len(before) != len(now) or len(kept) != len(now):
        return now
    return [merged(spec, delta_of(old, new)) for spec, old, new in zip(kept, before, now, strict=True)]


def _lang(read: str, thread: ThreadState, text: str) -> Lang:
    """The language of the message; of the thread where a message is too short to tell ("fp8?", "50 users").

    A wish in a word ("warum?") speaks its own language, whatever was spoken before.
    """
    if wish_in(text):
        if _GERMAN_WISH.search(text.casefold()):
            return "de"
        if _ENGLISH_WISH.search(text.casefold()):
            return "en"
    if thread.lang and len(text.split()) <= 3:
        return thread.lang
    read = _around_a_log(text) or read
    return "de" if read == "de" else "en" if read == "en" else thread.lang or "en"


def _around_a_log(text: str) -> str | None:
    """Programs speak English: around their output it is the line before, or the one behind, that a person wrote."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= _LINES_OF_A_PERSON or not _holds_log(text):
        return None
    told = {_told_language(lines[0]), _told_language(lines[-1])}
    return "de" if "de" in told else "en" if "en" in told else None


def _told_language(line: str) -> str | None:
    """The language of a line; None where its words do not tell."""
    from bot.understand.language import language
    from bot.understand.text import fold

    folded, umlauts = fold(line).folded, any(sign in "äöüß" for sign in line.casefold())
    found = {language(folded, umlauts, "de"), language(folded, umlauts, "en")}
    return found.pop() if len(found) == 1 else None
