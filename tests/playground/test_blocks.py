"""The double refuses what Slack refuses."""

from __future__ import annotations

from typing import Any

import pytest

from playground.blocks import check_blocks, check_view, expanded, text_size


def mark(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def button(**fields: Any) -> dict[str, Any]:
    return {"type": "button", "text": plain("b"), "action_id": "a", "value": "v"} | fields


def select(count: int, **fields: Any) -> dict[str, Any]:
    choices = [{"text": plain(f"o{n}"), "value": str(n)} for n in range(count)]
    return {"type": "static_select", "action_id": "s", "options": choices} | fields


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": mark(text)}


def actions(*elements: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)} | fields


def table(*rows: list[str]) -> dict[str, Any]:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": cell} for cell in row] for row in rows]}


def vote(value: str) -> dict[str, Any]:
    return {"text": plain("x"), "value": value}


FEEDBACK = {"type": "feedback_buttons", "action_id": "f", "positive_button": vote("+"), "negative_button": vote("-")}

GOOD: list[list[dict[str, Any]]] = [
    [section("x" * 3000)],
    [{"type": "section", "fields": [mark("x" * 2000)] * 10}],
    [{"type": "header", "text": plain("x" * 150)}],
    [{"type": "divider"}],
    [{"type": "context", "elements": [mark("x")] * 10}],
    [actions(*[button(action_id=str(n)) for n in range(25)])],
    [actions(select(100), button())],
    [table(*[["a"] * 20] * 50)],
    [{"type": "image", "image_url": "https://x.example/a.png", "alt_text": "a"}],
    [{"type": "context_actions", "elements": [FEEDBACK]}],
    [{"type": "section", "text": mark("x"), "accessory": select(1)}],
    [section("x")] * 50,
    [{"type": "markdown", "text": "a\n\nb"}],
]


@pytest.mark.parametrize("blocks", GOOD, ids=range(len(GOOD)))
def test_what_slack_takes(blocks: list[dict[str, Any]]) -> None:
    assert check_blocks(blocks) == []


BAD: list[tuple[Any, str]] = [
    ("no list", "must be an array"),
    ([{"type": "blink"}], "unsupported block type"),
    ([section("")], "missing required field: text"),
    ([section("x" * 3001)], "must be less than 3001 characters"),
    ([{"type": "section"}], "either text or fields"),
    ([{"type": "section", "text": mark("x"), "colour": "red"}], "unknown field: colour"),
    ([{"type": "section", "fields": [mark("x")] * 11}], "no more than 10 items"),
    ([{"type": "header", "text": mark("x")}], "must be one of plain_text"),
    ([{"type": "header", "text": plain("x" * 151)}], "must be less than 151"),
    ([{"type": "context", "elements": [mark("x")] * 11}], "no more than 10 items"),
    ([{"type": "context", "elements": []}], "missing required field: elements"),
    ([actions(*[button(action_id=str(n)) for n in range(26)])], "no more than 25 items"),
    ([actions(button(), button())], "action_id must be unique"),
    ([actions(button(text=plain("x" * 76)))], "must be less than 76"),
    ([actions(button(value="x" * 2001))], "must be less than 2001"),
    ([actions(button(action_id="x" * 256))], "must be less than 256"),
    ([actions(button(style="blue"))], "must be primary or danger"),
    ([actions(select(101))], "no more than 100 options"),
    ([actions(select(0))], "at least 1 option"),
    ([actions(select(1, options=[{"text": plain("x"), "value": "v" * 151}]))], "must be less than 151"),
    ([actions(select(1, options=[{"text": plain("x"), "value": "v"}] * 2))], "must be unique"),
    ([actions(select(1, placeholder=plain("x" * 151)))], "must be less than 151"),
    ([table(["a"], [""])], "must be more than 0 characters"),
    ([table(["a", "b"], ["a"])], "same number of cells"),
    ([table(*[["a"]] * 101)], "no more than 100 rows"),
    ([table(["a"] * 21)], "1 to 20 cells"),
    ([table(["x" * 10_001])], "no more than 10000 characters"),
    ([table(["a"]), table(["b"])], "only one table"),
    ([{"type": "image", "image_url": "https://x.example"}], "missing required field: alt_text"),
    ([{"type": "image", "alt_text": "a"}], "exactly one of"),
    ([section("x")] * 51, "no more than 50 items allowed, has 51"),
    ([{"type": "markdown", "text": "\n\n".join("abc" for _ in range(51))}], "no more than 50 items allowed, has 51"),
    ([{"type": "markdown", "text": "x" * 12_001}], "must be less than 12001"),
    ([actions(button(), block_id="b"), {"type": "divider", "block_id": "b"}], "block_id must be unique"),
    (
        [{"type": "context_actions", "elements": [{"type": "feedback_buttons"}]}],
        "missing required field: positive_button",
    ),
    (
        [{"type": "input", "label": plain("x"), "element": {"type": "plain_text_input"}}],
        "unsupported block type: 'input'",
    ),
    ([{"type": "alert", "text": plain("x")}], "unsupported block type: 'alert'"),
    ([None], "unsupported block type: None"),
    ([{"type": "section", "text": "x"}], "must be a text object"),
]


@pytest.mark.parametrize(("blocks", "message"), BAD, ids=range(len(BAD)))
def test_what_slack_refuses(blocks: Any, message: str) -> None:
    assert any(message in str(fault) for fault in check_blocks(blocks)), check_blocks(blocks)


def test_markdown_counts_as_what_slack_makes_of_it() -> None:
    assert [expanded({"type": "markdown", "text": text}) for text in ("a", "a\n\nb", "a\nb\n\n\n- c")] == [1, 2, 2]


def test_text_size_counts_every_text() -> None:
    assert text_size([section("abc"), table(["de"]), actions(button(text=plain("f")))]) == 6


def _modal(**fields: Any) -> dict[str, Any]:
    return {"type": "modal", "title": plain("t"), "blocks": [section("x")]} | fields


INPUT = {
    "type": "input",
    "block_id": "i",
    "label": plain("x"),
    "element": {"type": "plain_text_input", "action_id": "a"},
}


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (_modal(title=plain("x" * 25)), "must be less than 25"),
        (_modal(private_metadata="x" * 3001), "must be less than 3001"),
        (_modal(blocks=[INPUT]), "needs a submit button"),
        (_modal(blocks=[section("x")] * 101), "no more than 100 items"),
        (_modal(callback_id="x" * 256), "must be less than 256"),
        ({"type": "home", "blocks": [table(["a"])]}, "unsupported block type: 'table'"),
        ({"type": "window"}, "must be modal or home"),
        (_modal(blocks=[section("x" * 3000)] * 90, private_metadata=""), "view exceeds 250000 bytes"),
    ],
    ids=range(8),
)
def test_views_that_slack_refuses(view: dict[str, Any], message: str) -> None:
    assert any(message in str(fault) for fault in check_view(view)), check_view(view)


def test_views_that_slack_takes() -> None:
    assert check_view(_modal()) == []
    assert check_view(_modal(blocks=[INPUT], submit=plain("Go"))) == []
    assert check_view({"type": "home", "blocks": [section("x")]}) == []
