"""Checks of texts and interactive elements of Block Kit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground import limits

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Fault:
    """What is wrong at which place of a payload."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} [json-pointer:{self.pointer}]"


Check = Callable[[Json, str], Iterator[Fault]]


def keys(part: Json, at: str, required: Sequence[str], optional: Sequence[str]) -> Iterator[Fault]:
    """Missing and unknown fields."""
    for name in required:
        if part.get(name) in (None, "", [], {}):
            yield Fault(f"{at}/{name}", f"missing required field: {name}")
    for name in part:
        if name not in (*required, *optional, "type", "block_id"):
            yield Fault(f"{at}/{name}", f"unknown field: {name}")


def short(part: Json, at: str, name: str, most: int) -> Iterator[Fault]:
    """A string field that must be text of at most `most` characters."""
    value = part.get(name)
    if value is None:
        return
    if not isinstance(value, str):
        yield Fault(f"{at}/{name}", f"must be a string, not {type(value).__name__}")
    elif len(value) > most:
        yield Fault(f"{at}/{name}", f"must be less than {most + 1} characters, has {len(value)}")


def text(part: Any, at: str, most: int, *, plain: bool = False) -> Iterator[Fault]:
    """A text object."""
    if not isinstance(part, Mapping):
        yield Fault(at, "must be a text object")
        return
    kinds = ("plain_text",) if plain else ("plain_text", "mrkdwn")
    if part.get("type") not in kinds:
        yield Fault(f"{at}/type", f"must be one of {', '.join(kinds)}")
    optional = ("emoji",) if part.get("type") == "plain_text" else ("verbatim",)
    yield from keys(part, at, ("text",), optional)
    yield from short(part, at, "text", most)


def options(part: Json, at: str, most: int) -> Iterator[Fault]:
    """The options of a select, radio group or overflow menu."""
    given = part.get("options")
    if not isinstance(given, list) or not given:
        yield Fault(f"{at}/options", "must have at least 1 option")
        return
    if len(given) > most:
        yield Fault(f"{at}/options", f"no more than {most} options allowed, has {len(given)}")
    for n, option in enumerate(given):
        yield from _option(option, f"{at}/options/{n}")
    values = [option.get("value") for option in given if isinstance(option, Mapping)]
    if len(set(values)) < len(values):
        yield Fault(f"{at}/options", "option values must be unique")


def _option(option: Any, at: str) -> Iterator[Fault]:
    if not isinstance(option, Mapping):
        yield Fault(at, "must be an option object")
        return
    yield from keys(option, at, ("text", "value"), ("description", "url"))
    yield from text(option.get("text"), f"{at}/text", limits.OPTION_TEXT_CHARS)
    yield from short(option, at, "value", limits.OPTION_VALUE_CHARS)
    if "description" in option:
        yield from text(option["description"], f"{at}/description", limits.OPTION_TEXT_CHARS)


def _confirm(part: Json, at: str) -> Iterator[Fault]:
    confirm = part.get("confirm")
    if confirm is None:
        return
    yield from keys(confirm, f"{at}/confirm", tuple(limits.CONFIRM_CHARS), ("style",))
    for name, most in limits.CONFIRM_CHARS.items():
        yield from text(confirm.get(name), f"{at}/confirm/{name}", most, plain=name != "text")


def _button(part: Json, at: str) -> Iterator[Fault]:
    yield from keys(part, at, ("text",), ("action_id", "value", "url", "style", "confirm", "accessibility_label"))
    yield from text(part.get("text"), f"{at}/text", limits.BUTTON_TEXT_CHARS, plain=True)
    yield from short(part, at, "value", limits.BUTTON_VALUE_CHARS)
    yield from short(part, at, "url", limits.URL_CHARS)
    yield from short(part, at, "accessibility_label", limits.ACCESSIBILITY_CHARS)
    if part.get("style") not in (None, "primary", "danger"):
        yield Fault(f"{at}/style", "must be primary or danger")


def _select(part: Json, at: str) -> Iterator[Fault]:
    yield from keys(part, at, ("options",), ("action_id", "placeholder", "initial_option", "confirm", "focus_on_load"))
    yield from options(part, at, limits.SELECT_OPTIONS)
    if "placeholder" in part:
        yield from text(part["placeholder"], f"{at}/placeholder", limits.PLACEHOLDER_CHARS, plain=True)
    if "initial_option" in part and part["initial_option"] not in part.get("options", []):
        yield Fault(f"{at}/initial_option", "must be one of the options")


def _conversations(part: Json, at: str) -> Iterator[Fault]:
    optional = ("action_id", "placeholder", "initial_conversations", "filter", "max_selected_items", "focus_on_load")
    yield from keys(part, at, (), optional)
    if "placeholder" in part:
        yield from text(part["placeholder"], f"{at}/placeholder", limits.PLACEHOLDER_CHARS, plain=True)


def _choices(part: Json, at: str) -> Iterator[Fault]:
    most = limits.OVERFLOW_OPTIONS if part["type"] == "overflow" else limits.RADIO_OPTIONS
    optional = ("action_id", "confirm", "initial_option", "initial_options", "focus_on_load")
    yield from keys(part, at, ("options",), optional)
    yield from options(part, at, most)


def _image(part: Json, at: str) -> Iterator[Fault]:
    yield from keys(part, at, ("alt_text",), ("image_url", "slack_file", "title"))
    yield from short(part, at, "alt_text", limits.ALT_TEXT_CHARS)
    yield from short(part, at, "image_url", limits.URL_CHARS)
    if ("image_url" in part) == ("slack_file" in part):
        yield Fault(at, "exactly one of image_url and slack_file is required")


def _feedback(part: Json, at: str) -> Iterator[Fault]:
    yield from keys(part, at, ("positive_button", "negative_button"), ("action_id",))
    for name in ("positive_button", "negative_button"):
        button = part.get(name)
        if isinstance(button, Mapping):
            yield from keys(button, f"{at}/{name}", ("text", "value"), ("accessibility_label",))
            yield from text(button.get("text"), f"{at}/{name}/text", limits.BUTTON_TEXT_CHARS, plain=True)
            yield from short(button, f"{at}/{name}", "value", limits.BUTTON_VALUE_CHARS)


def _icon_button(part: Json, at: str) -> Iterator[Fault]:
    yield from keys(
        part, at, ("icon", "text"), ("action_id", "value", "confirm", "accessibility_label", "visible_to_user_ids")
    )
    yield from text(part.get("text"), f"{at}/text", limits.BUTTON_TEXT_CHARS, plain=True)


def _input(part: Json, at: str) -> Iterator[Fault]:
    optional = (
        "action_id", "placeholder", "initial_value", "multiline", "min_length", "max_length", "focus_on_load",
        "dispatch_action_config", "is_decimal_allowed", "min_value", "max_value",
    )  # fmt: skip
    yield from keys(part, at, (), optional)
    if "placeholder" in part:
        yield from text(part["placeholder"], f"{at}/placeholder", limits.PLACEHOLDER_CHARS, plain=True)


ELEMENTS: Final[Mapping[str, Check]] = {
    "button": _button, "static_select": _select, "multi_static_select": _select,
    "multi_conversations_select": _conversations, "overflow": _choices,
    "radio_buttons": _choices, "checkboxes": _choices, "image": _image, "feedback_buttons": _feedback,
    "icon_button": _icon_button, "plain_text_input": _input, "number_input": _input,
}  # fmt: skip


def element(part: Any, at: str, allowed: Sequence[str]) -> Iterator[Fault]:
    """An element of a block; `allowed` are the kinds that fit there."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(kind, str) or kind not in allowed:
        yield Fault(f"{at}/type", f"unsupported element type: {kind!r}")
        return
    yield from ELEMENTS[kind](part, at)
    yield from short(part, at, "action_id", limits.ID_CHARS)
    if kind != "image":
        yield from _confirm(part, at)
