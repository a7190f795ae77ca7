"""Answer → Block Kit. Pure: data in, messages out; what they weigh is bounded in one place, `bot.reply.limits`.

Ids that a click brings back: `action_id` names what to do, `block_id` ends in the answer's id. The option of an
assumption's select is `field index:alternative index`; what it means is looked up in the stored answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.answer import Answer, AssumptionView, Citation, Command, Paragraph, Table
from bot.reply import limits
from bot.reply.export import markdown
from bot.reply.labels import label
from bot.reply.mrkdwn import bold, bold_within, cut, escape, fence, link, literal, mrkdwn, plain
from bot.reply.split import split
from bot.reply.wording import wording

Block = dict[str, Any]

ACTION: Final = "do:"
ASSUME: Final = "assume:"
SHARE: Final = "share"
FEEDBACK: Final = "feedback"
# One bar says no more than the sentence above it.
CHART_BARS: Final = 2


@dataclass(frozen=True)
class Message:
    """One Slack message. `text` is what a notification and a screen reader say: a sentence with the verdict."""

    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Attachment:
    """A file for what is too long for messages."""

    name: str
    title: str
    content: str


@dataclass(frozen=True)
class Reply:
    """An answer as Slack shows it."""

    messages: tuple[Message, ...]
    file: Attachment | None = None


def render(answer: Answer, *, private: bool = False, said_before: str = "") -> Reply:
    """The messages of an answer, in order. A private one carries the button that shares it.

    `said_before` is mrkdwn shown above the answer, e.g. who asked.
    """
    opening = [_context(said_before)] if said_before else []
    first, *more = _opening_sections(answer)
    head = [*opening, first, *_table_blocks(answer)]
    body, tail = [*more, *_body(answer)], list(_tail(answer, private))
    groups, complete = _grouped(head, body, tail, answer)
    messages = tuple(
        Message(_notification(answer, n, len(groups)), tuple(group)) for n, group in enumerate(groups, start=1)
    )
    return Reply(messages, None if complete else attachment(answer))


def blocks(answer: Answer) -> tuple[Block, ...]:
    """The blocks of an answer's first, and nearly always only, message."""
    return render(answer).messages[0].blocks


def attachment(answer: Answer) -> Attachment:
    """The whole answer as a Markdown file."""
    title = label(answer.lang, "file_title", headline=answer.headline)
    return Attachment(f"sizewise-{answer.id}.md", cut(literal(title), 200), markdown(answer))


def as_text(answer: Answer) -> tuple[str, ...]:
    """The answer in mrkdwn without blocks, for when Slack refuses those; at most `limits.MESSAGES` parts."""
    parts = split("\n\n".join(_paragraphs_of_text(answer)), limits.TEXT_CHARS - limits.OPTION_CHARS)
    if len(parts) <= limits.MESSAGES:
        return tuple(parts)
    return (*parts[: limits.MESSAGES - 1], f"{parts[limits.MESSAGES - 1]}\n{label(answer.lang, 'rest_left_out')}")


def _paragraphs_of_text(answer: Answer) -> Iterator[str]:
    yield bold(answer.headline) + (f" {escape(answer.lead)}" if answer.lead else "")
    if answer.table:
        yield fence(_monospace(answer.table))
    for paragraph in answer.paragraphs:
        yield _titled(paragraph.title, escape(paragraph.text))
    if answer.assumptions:
        yield _assumed(answer)
    for command in answer.commands:
        yield f"{bold(command.title)}\n{fence(command.code)}"
    if answer.citations:
        yield "\n".join(_sources_parts(answer))


def _monospace(table: Table) -> str:
    rows = [table.columns, *table.rows]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _notification(answer: Answer, number: int, count: int) -> str:
    said = answer.headline if number > 1 else f"{answer.headline} {answer.lead}"
    said = escape(cut(" ".join(said.split()), limits.NOTIFICATION_CHARS))
    return said if number == 1 else label(answer.lang, "more", n=number, count=count, headline=said)


def _opening_sections(answer: Answer) -> list[Block]:
    """Headline and lead: one section, unless the lead is very long."""
    return list(_sections(answer.lead, before=_bold(answer.headline) or "–", joint=" "))


def _table_blocks(answer: Answer) -> Iterator[Block]:
    if answer.table and answer.table.columns:
        yield _context(escape(cut(answer.table.caption, limits.CELL_CHARS)) or "–")
        yield _table(answer.table)


def _body(answer: Answer) -> Iterator[Block]:
    for paragraph in answer.paragraphs:
        yield from _paragraph(paragraph)
    for command in answer.commands:
        yield from _command(command)


def _paragraph(paragraph: Paragraph) -> Iterator[Block]:
    yield from _sections(paragraph.text, before=bold(cut(paragraph.title, limits.OPTION_CHARS)), joint=" ")


def _titled(title: str, text: str) -> str:
    return f"{bold(title)} {text}" if title else text


def _bold(text: str) -> str:
    """A bold lead-in that leaves room in its section for what follows."""
    return bold_within(text, limits.NOTIFICATION_CHARS, limits.SECTION_CHARS - 200)


def _sections(text: str, *, before: str, joint: str) -> Iterator[Block]:
    """Sections of a text that may be long; `before` is mark-up that opens the first."""
    room = limits.SECTION_CHARS - len(before) - len(joint)
    parts = [escape(part) for part in split(text, room, lambda part: len(escape(part)))]
    first = joint.join(part for part in (before, *parts[:1]) if part)
    for part in (first, *parts[1:]):
        if part.strip():
            yield {"type": "section", "text": mrkdwn(part)}


def _command(command: Command) -> Iterator[Block]:
    title = _bold(command.title)
    room = limits.SECTION_CHARS - len(title) - len(fence("")) - 1
    for n, part in enumerate(split(command.code, room, lambda part: len(fence(part)))):
        yield {"type": "section", "text": mrkdwn(f"{title}\n{fence(part)}" if n == 0 else fence(part))}


def _table(table: Table) -> Block:
    """A table block within its limits; no cell is empty, since Slack refuses the whole message for one."""
    columns = limits.TABLE_COLUMNS
    rows = [table.columns[:columns], *(row[:columns] for row in table.rows[: limits.TABLE_ROWS - 1])]
    share = max(1, limits.TABLE_CHARS // max(1, sum(len(row) for row in rows)))
    return {
        "type": "table", "column_settings": [{"is_wrapped": True} for _ in rows[0]],
        "rows": [[_cell(cell, min(limits.CELL_CHARS, share)) for cell in row] for row in rows],
    }  # fmt: skip


def _cell(text: str, most: int) -> Block:
    shown = cut(literal(" ".join(text.split())), most)
    return {"type": "raw_text", "text": shown or "–"}


def _context(text: str) -> Block:
    return {"type": "context", "elements": [mrkdwn(text)]}


def _tail(answer: Answer, private: bool) -> Iterator[Block]:
    if answer.assumptions:
        yield from _assumption_blocks(answer)
    if private and answer.chart and len(answer.chart.bars) >= CHART_BARS:
        yield _context(escape(label(answer.lang, "chart_when_shared")))
    buttons = list(_buttons(answer, private))
    if buttons:
        yield {"type": "actions", "block_id": f"actions:{answer.id}", "elements": buttons[: limits.ACTIONS_A_BLOCK]}
    if answer.citations:
        yield _context(_cut_at(_sources_parts(answer), limits.CONTEXT_CHARS, " · "))
    yield _feedback(answer)


def _assumption_blocks(answer: Answer) -> Iterator[Block]:
    yield _context(_cut_at([_assumed(answer)], limits.CONTEXT_CHARS, ""))
    selects = _selects(answer.told_assumptions)
    if selects:
        yield {"type": "actions", "block_id": f"assume:{answer.id}", "elements": selects}


def _selects(assumptions: Sequence[AssumptionView]) -> list[Block]:
    selects: list[Block] = []
    for n, view in enumerate(assumptions):
        select = _select(n, view) if view.alternatives else None
        if select and _cost([*selects, select]) <= limits.SELECT_CHARS and len(selects) < limits.SELECTS:
            selects.append(select)
    return selects


def _assumed(answer: Answer) -> str:
    shown = " · ".join(escape(f"{view.label}: {view.told}") for view in answer.told_assumptions)
    return f"{bold(wording(answer.lang).label('ui', 'assumed'))} {shown}"


def _select(number: int, view: AssumptionView) -> Block:
    alternatives = view.alternatives[: limits.SELECT_OPTIONS]
    return {
        "type": "static_select",
        "action_id": f"{ASSUME}{number}",
        "placeholder": plain(f"{view.label}: {_taken(view)}", limits.PLACEHOLDER_CHARS),
        "options": [
            {"text": plain(choice.label or "–", limits.OPTION_CHARS), "value": f"{number}:{n}"}
            for n, choice in enumerate(alternatives)
        ],
    }


def _taken(view: AssumptionView) -> str:
    """The select shows what was taken; a reason stands in the line above it."""
    return view.value.removesuffix(f" ({view.reason})") if view.reason else view.value


def _buttons(answer: Answer, private: bool) -> Iterator[Block]:
    if private:
        yield _button(SHARE, label(answer.lang, SHARE), answer.id) | {"style": "primary"}
    for action in answer.actions:
        yield _button(f"{ACTION}{action}", label(answer.lang, action), answer.id)


def _button(action_id: str, text: str, value: str) -> Block:
    return {"type": "button", "action_id": action_id, "text": plain(text, limits.BUTTON_CHARS), "value": value}


def _feedback(answer: Answer) -> Block:
    def vote(key: str, sign: str) -> Block:
        text = label(answer.lang, key)
        return {"text": plain(text, limits.BUTTON_CHARS), "value": f"{sign}:{answer.id}", "accessibility_label": text}

    element = {
        "type": "feedback_buttons", "action_id": FEEDBACK,
        "positive_button": vote("helpful", "+"), "negative_button": vote("not_helpful", "-"),
    }  # fmt: skip
    return {"type": "context_actions", "elements": [element]}


def _sources_parts(answer: Answer) -> list[str]:
    title = bold(wording(answer.lang).label("ui", "sources"))
    first, *rest = answer.citations
    return [f"{title} {_cited(first)}", *map(_cited, rest)]


def _cited(citation: Citation) -> str:
    where = cut(f"{citation.title}, {citation.section}" if citation.section else citation.title, 200)
    return f"[{citation.n}] {link(citation.source, where)}"


def _cut_at(parts: Sequence[str], most: int, joint: str) -> str:
    """As many whole parts as fit: mark-up is never cut in the middle, except for a single one that is too long."""
    shown = ""
    for part in parts:
        longer = f"{shown}{joint}{part}" if shown else part
        if len(longer) > most - 1:
            return f"{shown}…" if shown else f"{part[: most - 1].rsplit('·', 1)[0]}…"
        shown = longer
    return shown


def _grouped(head: list[Block], body: list[Block], tail: list[Block], answer: Answer) -> tuple[list[list[Block]], bool]:
    """The blocks in messages, and whether all of them found a place. Controls stand in the last message."""
    groups = [head]
    reserved = _cost(tail) + limits.NOTIFICATION_CHARS
    for block in body:
        last = len(groups) == limits.MESSAGES
        room = limits.MESSAGE_CHARS - (reserved if last else 0)
        blocks = limits.MESSAGE_BLOCKS - (len(tail) + 1 if last else 0)
        if _cost([*groups[-1], block]) <= room and len(groups[-1]) < blocks:
            groups[-1].append(block)
        elif last:
            return _closed(groups, [_context(label(answer.lang, "rest_in_file")), *tail]), False
        else:
            groups.append([block])
    return _closed(groups, tail), True


def _closed(groups: list[list[Block]], tail: list[Block]) -> list[list[Block]]:
    if _cost([*groups[-1], *tail]) <= limits.MESSAGE_CHARS and len(groups[-1]) + len(tail) <= limits.MESSAGE_BLOCKS:
        groups[-1].extend(tail)
        return groups
    return [*groups, tail]


def _cost(blocks: Iterable[Any]) -> int:
    """Characters of all texts in blocks, as Slack counts them."""
    return sum(_characters(block) for block in blocks)


def _characters(part: Any) -> int:
    if isinstance(part, dict):
        return sum(
            len(value) if name in ("text", "alt_text") and isinstance(value, str) else _characters(value)
            for name, value in part.items()
        )
    return sum(map(_characters, part)) if isinstance(part, (list, tuple)) else 0
