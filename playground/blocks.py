"""Checks of blocks, of a message's blocks together, and of views."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from playground import limits
from playground.elements import Check, Fault, Json, element, keys, short, text

Surface = Literal["message", "home", "modal"]

INTERACTIVE: Final = ("button", "static_select", "multi_static_select", "overflow", "radio_buttons", "checkboxes")
_ACCESSORIES: Final = (*INTERACTIVE, "image")
_INPUTS: Final = (
    "plain_text_input",
    "number_input",
    "static_select",
    "multi_static_select",
    "multi_conversations_select",
    "radio_buttons",
    "checkboxes",
)
_PARAGRAPH = re.compile(r"\n\s*\n")


def _section(block: Json, at: str) -> Iterator[Fault]:
    yield from keys(block, at, (), ("text", "fields", "accessory", "expand"))
    if not block.get("text") and not block.get("fields"):
        yield Fault(at, "either text or fields is required")
    if "text" in block:
        yield from text(block["text"], f"{at}/text", limits.SECTION_TEXT_CHARS)
    fields = block.get("fields", [])
    if len(fields) > limits.SECTION_FIELDS:
        yield Fault(f"{at}/fields", f"no more than {limits.SECTION_FIELDS} items allowed")
    for n, field in enumerate(fields):
        yield from text(field, f"{at}/fields/{n}", limits.FIELD_CHARS)
    if "accessory" in block:
        yield from element(block["accessory"], f"{at}/accessory", _ACCESSORIES)


def _header(block: Json, at: str) -> Iterator[Fault]:
    yield from keys(block, at, ("text",), ("level",))
    yield from text(block.get("text"), f"{at}/text", limits.HEADER_CHARS, plain=True)


def _divider(block: Json, at: str) -> Iterator[Fault]:
    yield from keys(block, at, (), ())


def _context(block: Json, at: str) -> Iterator[Fault]:
    yield from keys(block, at, ("elements",), ())
    parts = block.get("elements") or []
    if len(parts) > limits.CONTEXT_ELEMENTS:
        yield Fault(f"{at}/elements", f"no more than {limits.CONTEXT_ELEMENTS} items allowed")
    for n, part in enumerate(parts):
        if isinstance(part, Mapping) and part.get("type") == "image":
            yield from element(part, f"{at}/elements/{n}", ("image",))
        else:
            yield from text(part, f"{at}/elements/{n}", limits.SECTION_TEXT_CHARS)


def _elements(block: Json, at: str, most: int, allowed: Sequence[str]) -> Iterator[Fault]:
    yield from keys(block, at, ("elements",), ())
    parts = block.get("elements") or []
    if len(parts) > most:
        yield Fault(f"{at}/elements", f"no more than {most} items allowed, has {len(parts)}")
    for n, part in enumerate(parts):
        yield from element(part, f"{at}/elements/{n}", allowed)
    ids = [part.get("action_id") for part in parts if isinstance(part, Mapping) and part.get("action_id")]
    if len(set(ids)) < len(ids):
        yield Fault(f"{at}/elements", "action_id must be unique within a block")


def _actions(block: Json, at: str) -> Iterator[Fault]:
    yield from _elements(block, at, limits.ACTIONS_ELEMENTS, INTERACTIVE)


def _context_actions(block: Json, at: str) -> Iterator[Fault]:
    yield from _elements(block, at, limits.CONTEXT_ACTIONS_ELEMENTS, ("feedback_buttons", "icon_button"))


def _image(block: Json, at: str) -> Iterator[Fault]:
    yield from element({k: v for k, v in block.items() if k != "block_id"}, at, ("image",))
    if "title" in block:
        yield from text(block["title"], f"{at}/title", limits.FIELD_CHARS, plain=True)


def _markdown(block: Json, at: str) -> Iterator[Fault]:
    yield from keys(block, at, ("text",), ())
    yield from short(block, at, "text", limits.MARKDOWN_CHARS)


def _rich_text(block: Json, at: str) -> Iterator[Fault]:
    yield from keys(block, at, ("elements",), ())


def _table(block: Json, at: str) -> Iterator[Fault]:
    yield from keys(block, at, ("rows",), ("column_settings",))
    rows = block.get("rows") or []
    if len(rows) > limits.TABLE_ROWS:
        yield Fault(f"{at}/rows", f"no more than {limits.TABLE_ROWS} rows allowed, has {len(rows)}")
    if len({len(row) for row in rows}) > 1:
        yield Fault(f"{at}/rows", "all rows must have the same number of cells")
    for n, row in enumerate(rows):
        if not 0 < len(row) <= limits.TABLE_COLUMNS:
            yield Fault(f"{at}/rows/{n}", f"1 to {limits.TABLE_COLUMNS} cells allowed, has {len(row)}")
        for m, cell in enumerate(row):
            yield from _cell(cell, f"{at}/rows/{n}/{m}")
    if sum(len(each) for each in _texts({"rows": rows})) > limits.TABLE_CHARS:
        yield Fault(f"{at}/rows", f"no more than {limits.TABLE_CHARS} characters over all cells")


def _cell(cell: Any, at: str) -> Iterator[Fault]:
    kind = cell.get("type") if isinstance(cell, Mapping) else None
    if kind not in ("raw_text", "raw_number", "rich_text"):
        yield Fault(f"{at}/type", f"unsupported cell type: {kind!r}")
    elif kind == "raw_text" and not str(cell.get("text", "")).strip():
        yield Fault(f"{at}/text", "must be more than 0 characters")


def _input(block: Json, at: str) -> Iterator[Fault]:
    yield from keys(block, at, ("label", "element"), ("hint", "optional", "dispatch_action"))
    yield from text(block.get("label"), f"{at}/label", limits.INPUT_LABEL_CHARS, plain=True)
    if "hint" in block:
        yield from text(block["hint"], f"{at}/hint", limits.INPUT_LABEL_CHARS, plain=True)
    yield from element(block.get("element"), f"{at}/element", _INPUTS)


BLOCKS: Final[Mapping[str, Check]] = {
    "section": _section, "header": _header, "divider": _divider, "context": _context, "actions": _actions,
    "context_actions": _context_actions, "image": _image, "markdown": _markdown, "rich_text": _rich_text,
    "table": _table, "input": _input,
}  # fmt: skip

_NOT_IN: Final[Mapping[Surface, frozenset[str]]] = {
    "message": frozenset({"input"}),
    "home": frozenset({"table", "markdown", "context_actions"}),
    "modal": frozenset({"table", "markdown", "context_actions"}),
}


def check_blocks(blocks: Any, surface: Surface = "message") -> list[Fault]:
    """Every fault of a list of blocks, as Slack's server would find it."""
    if not isinstance(blocks, list):
        return [Fault("/blocks", "must be an array")]
    return [*_each(blocks, surface), *_together(blocks, surface)]


def _each(blocks: list[Any], surface: Surface) -> Iterator[Fault]:
    for n, block in enumerate(blocks):
        kind = block.get("type") if isinstance(block, Mapping) else None
        if not isinstance(kind, str) or kind not in BLOCKS or kind in _NOT_IN[surface]:
            yield Fault(f"/blocks/{n}/type", f"unsupported block type: {kind!r}")
            continue
        yield from BLOCKS[kind](block, f"/blocks/{n}")
        yield from short(block, f"/blocks/{n}", "block_id", limits.ID_CHARS)


def _together(blocks: list[Any], surface: Surface) -> Iterator[Fault]:
    parts = [block for block in blocks if isinstance(block, Mapping)]
    most = limits.BLOCKS_PER_MESSAGE if surface == "message" else limits.BLOCKS_PER_VIEW
    if (count := sum(expanded(block) for block in parts)) > most:
        yield Fault("/blocks", f"no more than {most} items allowed, has {count}")
    ids = [block["block_id"] for block in parts if block.get("block_id")]
    if len(set(ids)) < len(ids):
        yield Fault("/blocks", "block_id must be unique")
    if sum(block.get("type") == "table" for block in parts) > limits.TABLES_PER_MESSAGE:
        yield Fault("/blocks", "only one table is allowed")
    if (
        sum(len(str(block.get("text", ""))) for block in parts if block.get("type") == "markdown")
        > limits.MARKDOWN_CHARS
    ):
        yield Fault("/blocks", f"markdown blocks together exceed {limits.MARKDOWN_CHARS} characters")


def expanded(block: Json) -> int:
    """How many blocks Slack makes of one: a markdown block becomes one a paragraph."""
    if block.get("type") != "markdown":
        return 1
    return len([part for part in _PARAGRAPH.split(str(block.get("text", ""))) if part.strip()])


def text_size(blocks: Sequence[Any]) -> int:
    """Characters over all texts of a message's blocks, what `msg_blocks_too_long` counts."""
    return sum(len(part) for block in blocks for part in _texts(block))


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        for name, value in part.items():
            if name in ("text", "alt_text", "title") and isinstance(value, str):
                yield value
            else:
                yield from _texts(value)
    elif isinstance(part, list):
        for item in part:
            yield from _texts(item)


def check_view(view: Any) -> list[Fault]:
    """Every fault of a modal or Home view."""
    if not isinstance(view, Mapping) or view.get("type") not in ("modal", "home"):
        return [Fault("/type", "must be modal or home")]
    surface: Surface = "home" if view["type"] == "home" else "modal"
    return [*_frame(view, surface), *check_blocks(view.get("blocks"), surface)]


def _frame(view: Json, surface: Surface) -> Iterator[Fault]:
    if len(json.dumps(view).encode()) > limits.VIEW_BYTES:
        yield Fault("", f"view exceeds {limits.VIEW_BYTES} bytes")
    yield from short(view, "", "private_metadata", limits.PRIVATE_METADATA_CHARS)
    yield from short(view, "", "callback_id", limits.ID_CHARS)
    if surface == "modal":
        for name in ("title", "submit", "close"):
            if name in view or name == "title":
                yield from text(view.get(name), f"/{name}", limits.VIEW_TITLE_CHARS, plain=True)
        inputs = any(isinstance(block, Mapping) and block.get("type") == "input" for block in view.get("blocks", []))
        if inputs and "submit" not in view:
            yield Fault("/submit", "a view with inputs needs a submit button")


__all__ = ["Fault", "check_blocks", "check_view", "expanded", "text_size"]
