"""Modals and the Home tab. Pure: data in, a view out; a form's block ids are the names of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from bot.answer import Lang
from bot.form import ENGINES, FORMATS, Fields
from bot.reply import names
from bot.reply.labels import label
from bot.reply.mrkdwn import bold, cut, escape, fence, mrkdwn, plain
from bot.thread import TeamDefaults

View = dict[str, Any]
Block = dict[str, Any]

SIZE_FORM: Final = "size_form"
COMPARE_FORM: Final = "compare_form"
DEFAULTS_FORM: Final = "defaults_form"
INPUT: Final = "value"
OPEN_FORM: Final = "home:form"
OPEN_DEFAULTS: Final = "home:defaults"
ASK: Final = "home:ask"

_TITLE_CHARS: Final = 24
_LABEL_CHARS: Final = 200
_BUTTON_CHARS: Final = 75
_HEADER_CHARS: Final = 150
_QUESTION_CHARS: Final = 1_500
_FREE_CHARS: Final = 500
_MODEL_CHARS: Final = 150
_RECENT_CHARS: Final = 300
ANY: Final = "any"


def loading(lang: Lang, title: str) -> View:
    """What is shown within the trigger's three seconds."""
    return {
        "type": "modal", "title": plain(label(lang, title), _TITLE_CHARS), "close": plain(label(lang, "close"), _TITLE_CHARS),
        "blocks": [{"type": "section", "text": mrkdwn(escape(label(lang, "loading_text")))}],
    }  # fmt: skip


def _modal(lang: Lang, callback: str, title: str, submit: str, where: str, blocks: list[Block]) -> View:
    return loading(lang, title) | {
        "callback_id": callback, "submit": plain(label(lang, submit), _TITLE_CHARS), "private_metadata": where, "blocks": blocks,
    }  # fmt: skip


def size_form(lang: Lang, fields: Fields, where: str) -> View:
    """The form of a workload."""
    blocks = [
        _text(lang, "model", "form_model", fields.model, hint="form_model_hint", most=_MODEL_CHARS, optional=False),
        _text(lang, "hardware", "form_hardware", fields.hardware, hint="form_hardware_hint"),
        _choice(
            "weights", label(lang, "form_weights"), _offers(label(lang, "form_weights_any"), FORMATS), fields.weights
        ),
        _text(lang, "context", "form_context", fields.context, most=12),
        _text(lang, "users", "form_users", fields.users, most=12),
        _choice("engine", label(lang, "form_engine"), _offers(label(lang, "form_engine_any"), ENGINES), fields.engine),
        _text(lang, "rest", "form_task", fields.rest, hint="form_task_hint", multiline=True),
    ]
    return _modal(lang, SIZE_FORM, "form_title", "form_submit", where, blocks)


def compare_form(lang: Lang, where: str) -> View:
    """What to compare the sized workload with."""
    block = _text(lang, "with", "compare_with", "", hint="compare_hint", optional=False)
    return _modal(lang, COMPARE_FORM, "compare_title", "compare_submit", where, [block])


def defaults_form(lang: Lang, defaults: TeamDefaults) -> View:
    """The team's settings."""
    places = (
        (ANY, label(lang, "defaults_place_any")),
        ("cloud", label(lang, "defaults_place_cloud")),
        ("own", label(lang, "defaults_place_own")),
    )
    langs = tuple((each, label(lang, f"defaults_lang_{each}")) for each in (ANY, "de", "en"))
    place = {True: "cloud", False: "own", None: ANY}[defaults.cloud]
    blocks = [
        {"type": "context", "elements": [mrkdwn(escape(label(lang, "defaults_who")))]},
        _text(lang, "owned", "defaults_owned", owned_text(defaults), hint="defaults_owned_hint"),
        _choice("place", label(lang, "defaults_place"), places, place),
        _choice("currency", label(lang, "defaults_currency"), (("EUR", "EUR"), ("USD", "USD")), defaults.currency),
        _text(lang, "electricity", "defaults_electricity", _number(defaults.electricity_per_kwh), most=12),
        _choice("lang", label(lang, "defaults_lang"), langs, defaults.lang or ANY),
        _text(lang, "reserve", "defaults_reserve", _number(defaults.reserve_share * 100), most=6),
        _text(lang, "quality", "defaults_quality", _number(defaults.min_bits), most=6),
        _channels(lang, defaults.strict_channels),
    ]
    return _modal(lang, DEFAULTS_FORM, "defaults_title", "defaults_submit", "", blocks)


def defaults_shown(lang: Lang, defaults: TeamDefaults) -> View:
    """The team's settings for who may not change them."""
    said = (label(lang, "defaults_admins"), summary(lang, defaults))
    return loading(lang, "defaults_title") | {"blocks": [_section(escape(text)) for text in said]}


def owned_text(defaults: TeamDefaults) -> str:
    return ", ".join(f"{part.get('count') or 1}x {names.device(str(part['accelerator']))}" for part in defaults.owned)


def _number(value: float | None) -> str:
    return "" if value is None else f"{round(value, 4):g}"


def _text(
    lang: Lang, name: str, title: str, value: str, *, hint: str = "", most: int = _FREE_CHARS, optional: bool = True,
    multiline: bool = False,
) -> Block:  # fmt: skip
    element: Block = {"type": "plain_text_input", "action_id": INPUT, "multiline": multiline, "max_length": most}
    if value:
        element["initial_value"] = value[:most]
    block = {
        "type": "input", "block_id": name, "label": plain(label(lang, title), _LABEL_CHARS), "optional": optional, "element": element,
    }  # fmt: skip
    return block | ({"hint": plain(label(lang, hint), _LABEL_CHARS)} if hint else {})


def _offers(usual: str, choices: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return ((ANY, usual), *((choice, choice) for choice in choices))


def _choice(name: str, title: str, choices: Sequence[tuple[str, str]], chosen: str) -> Block:
    options = [{"text": plain(shown, _BUTTON_CHARS), "value": value} for value, shown in choices]
    initial = next((option for option in options if option["value"] == chosen), options[0])
    element = {"type": "static_select", "action_id": INPUT, "options": options, "initial_option": initial}
    return {"type": "input", "block_id": name, "label": plain(title, _LABEL_CHARS), "element": element}


def _channels(lang: Lang, chosen: Sequence[str]) -> Block:
    element: Block = {
        "type": "multi_conversations_select", "action_id": INPUT,
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }  # fmt: skip
    if chosen:
        element["initial_conversations"] = list(chosen)
    return {
        "type": "input", "block_id": "strict", "label": plain(label(lang, "defaults_strict"), _LABEL_CHARS), "optional": True,
        "element": element,
    }  # fmt: skip


def home(lang: Lang, defaults: TeamDefaults, recent: Sequence[str]) -> View:
    """The Home tab of a person: what to ask, what they asked, what the team has set."""
    doors = [
        _button(OPEN_FORM, label(lang, "home_form"), "form") | {"style": "primary"},
        _button(OPEN_DEFAULTS, label(lang, "home_defaults"), "defaults"),
    ]
    blocks: list[Block] = [
        {"type": "header", "text": plain(label(lang, "home_title"), _HEADER_CHARS)},
        _section(escape(label(lang, "home_intro"))),
        {"type": "actions", "block_id": "home:doors", "elements": doors},
        {"type": "divider"},
        _section(bold(label(lang, "home_examples"))),
        *_questions(lang, "example", "home_try", label(lang, "home_example_list").splitlines()),
    ]
    if recent:
        blocks += [{"type": "divider"}, _section(bold(label(lang, "home_recent")))]
        blocks += _questions(lang, "recent", "home_again", recent)
    blocks += [
        {"type": "divider"},
        _section(f"{bold(label(lang, 'home_channel'))}\n{fence(label(lang, 'home_follow_ups'))}"),
        _section(f"{bold(label(lang, 'home_slash'))}\n{fence(label(lang, 'example_slash'))}"),
        {"type": "context", "elements": [mrkdwn(escape(label(lang, "home_thread")))]},
        {"type": "context", "elements": [mrkdwn(f"{bold(label(lang, 'home_now'))} {escape(summary(lang, defaults))}")]},
    ]
    return {"type": "home", "blocks": blocks}


def summary(lang: Lang, defaults: TeamDefaults) -> str:
    """The team's settings in a line."""
    place = {True: "defaults_place_cloud", False: "defaults_place_own", None: "defaults_place_any"}[defaults.cloud]
    parts = [
        f"{label(lang, 'defaults_owned')}: {owned_text(defaults) or label(lang, 'home_none')}",
        f"{label(lang, 'defaults_place')}: {label(lang, place)}",
        f"{label(lang, 'defaults_currency')}: {defaults.currency}",
        f"{label(lang, 'defaults_reserve')}: {_number(defaults.reserve_share * 100)}",
    ]
    return cut(" · ".join(parts), _QUESTION_CHARS)


def _section(text: str) -> Block:
    return {"type": "section", "text": mrkdwn(text)}


def _button(action_id: str, text: str, value: str) -> Block:
    return {"type": "button", "action_id": action_id, "text": plain(text, _BUTTON_CHARS), "value": value}


def _questions(lang: Lang, kind: str, button: str, questions: Sequence[str]) -> list[Block]:
    """Each with a button that asks it; one too long for a button's value is only shown."""
    return [
        _section(escape(cut(text, _RECENT_CHARS)))
        | (
            {"accessory": _button(f"{ASK}:{kind}:{n}", label(lang, button), text)}
            if len(text) <= _QUESTION_CHARS
            else {}
        )
        for n, text in enumerate(questions)
    ]
