"""What the bot's guard catches: every number of every answer is altered in turn, in the finished text and as it is written.

In the text: an eighth higher, at least one step of its last digit, as a language model or a slip of a later hand would. As written:
a value an eighth higher handed to the wording, as a mistake of a composer would, in the same sentence and unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from bot import conversation
from bot.answer import Answer
from bot.compose.draft import Draft
from bot.guard import untraced
from bot.thread import Context, ThreadState
from bot.written import Figure

Where = Literal["text", "written"]

# Names, dates and citation marks apart: a digit that touches a letter, a hyphen, a slash or a bracket is none of a figure.
_FIGURE: Final = re.compile(r"(?<![\w.,/\[-])\d+(?:[.,]\d+)?(?![\w/]|[.,]\d|-\w)")
_MORE: Final = 8 / 7


@dataclass(frozen=True)
class Mutation:
    """An altered number: where it was altered, the text around it or the figure, and whether the guard stopped it."""

    id: str
    where: Where
    shown: str
    caught: bool


def caught(rows: Iterable[Mapping[str, Any]], context: Context) -> Iterator[Mutation]:
    """Every mutation of every answer to the questions."""
    for row in rows:
        thread = ThreadState()
        for turn in row.get("turns") or [row["text"]]:
            with _drafts() as drafts:
                answer, thread = conversation.respond(
                    turn["text"] if isinstance(turn, Mapping) else str(turn), thread, context
                )
            yield from (
                each
                for draft in drafts
                for each in (*_in_texts(row["id"], answer, draft), *_as_written(row["id"], answer, draft))
            )


@contextmanager
def _drafts() -> Iterator[list[Draft]]:
    finish, kept = conversation.finish, list[Draft]()

    def keeping(draft: Draft, *rest: Any) -> Answer:
        kept.append(draft)
        return finish(draft, *rest)

    conversation.finish = keeping
    try:
        yield kept
    finally:
        conversation.finish = finish


def _texts(answer: Answer) -> list[str]:
    cells = (cell for row in (answer.table.rows if answer.table else ()) for cell in row)
    return [answer.headline, answer.lead, *(f"{part.title} {part.text}" for part in answer.paragraphs), *cells]


def _in_texts(ident: str, answer: Answer, draft: Draft) -> Iterator[Mutation]:
    for text in _texts(answer):
        for found in _FIGURE.finditer(text):
            changed = text[: found.start()] + _altered(found[0]) + text[found.end() :]
            around = changed[max(0, found.start() - 20) : found.end() + 20]
            yield Mutation(ident, "text", around, bool(untraced(changed, answer.lang, draft.material)))


def _altered(number: str) -> str:
    sign = "," if "," in number else "."
    value, decimals = float(number.replace(",", ".")), len(number.partition(sign)[2])
    return f"{max(value + 10.0**-decimals, value * _MORE):.{decimals}f}".replace(".", sign)


def _as_written(ident: str, answer: Answer, draft: Draft) -> Iterator[Mutation]:
    """Figures that stand in the answer, as the wording wrote them."""
    texts = [" ".join(re.split(r"\s", text)).lower() for text in _texts(answer)]
    for figure in draft.written.figures:
        stands = any(True for text in texts for _ in figure.places_in(text))
        if stands and figure.values and figure.values[0] and draft.material.accounts_for(figure):
            wrong = _wrong(figure)
            shown = f"{figure.before}[{figure.shown}: {wrong.values}]{figure.after}"
            yield Mutation(ident, "written", shown, not draft.material.accounts_for(wrong))


def _wrong(figure: Figure) -> Figure:
    """The figure with other values; a count grows by one at least."""
    whole = all(value.is_integer() for value in figure.values)
    values = (float(max(value + 1, round(value * _MORE))) if whole else value * _MORE for value in figure.values)
    return replace(figure, values=tuple(values))
