"""The form, the comparison, the settings, Home, the direct message, the stop button, the chart."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import pytest

from bot.answer import Chart, ChartBar
from bot.form import Fields, faults, filled_from, question
from bot.reply import views
from bot.reply.labels import label, labels
from bot.slack import forms
from bot.slack.needs import SHORTCUTS, SUBCOMMANDS, manifest
from bot.thread import TeamDefaults
from playground.modals import after_submission, element, on_top

pytestmark = pytest.mark.anyio


def _values(**fields: str) -> dict[str, Any]:
    """A form's state: texts, and choices by their value."""
    chosen = ("weights", "engine", "place", "currency", "lang")
    return {
        name: {views.INPUT: {"selected_option": {"value": value}} if name in chosen else {"value": value or None}}
        for name, value in fields.items()
    }


SIZED = _values(
    model="Llama 3.3 70B", hardware="2x RTX 4090", weights="fp8", context="8192", users="4", engine=views.ANY, rest=""
)


async def _open(chat: Any, user: Any, callback: str = views.SIZE_FORM) -> Any:
    await chat.slack.until(
        lambda: (shown := on_top(chat.slack.workspace, user.id)) and shown.view.get("callback_id") == callback,
        what="the form",
    )
    return on_top(chat.slack.workspace, user.id)


async def _home(chat: Any, user: Any) -> list[dict[str, Any]]:
    await chat.slack.open_home(user)
    await chat.slack.until(lambda: user.id in chat.slack.workspace.homes, what="Home")
    return list(chat.slack.workspace.homes[user.id].view["blocks"])


async def _press(chat: Any, user: Any, blocks: list[dict[str, Any]], action_id: str) -> None:
    shown = chat.slack.workspace.homes[user.id]
    for n, block in enumerate(blocks):
        for place in ["accessory"] if "accessory" in block else range(len(block.get("elements", []))):
            _, used = element(blocks, n, place)
            if str(used.get("action_id", "")).startswith(action_id):
                await chat.slack.act_in_view(user, shown, {name: used[name] for name in ("type", "action_id", "value")})
                return
    raise LookupError(action_id)


async def test_a_form_shows_a_loading_view_first(chat: Any) -> None:
    await chat.slack.slash(chat.bert, chat.channel, "form llama 3.3 70b on 2x4090")
    shown = await _open(chat, chat.bert)
    opened = [method for method, _ in chat.slack.calls if method.startswith("views.")]
    assert opened == ["views.open", "views.update"]
    first = next(args for method, args in chat.slack.calls if method == "views.open")
    assert label("en", "loading_text") in str(first["view"])
    filled = {block["block_id"]: block["element"].get("initial_value") for block in shown.view["blocks"]}
    assert (filled["model"], filled["hardware"]) == ("meta-llama/Llama-3.3-70B-Instruct", "2x RTX 4090")


async def test_a_form_from_a_slash_line_is_answered_to_its_asker(chat: Any) -> None:
    await chat.slack.slash(chat.bert, chat.channel, "form")
    shown = await _open(chat, chat.bert)
    assert after_submission(chat.slack.workspace, shown, await chat.slack.submit(chat.bert, shown, SIZED)) == {}
    await chat.slack.until(lambda: any(m.blocks for m in chat.slack.private(chat.bert)), what="a private answer")
    await chat.idle()
    assert chat.responder.asked == [
        "Does Llama 3.3 70B in fp8, context 8192 tokens, 4 concurrent requests run on 2x RTX 4090?"
    ]
    assert [m for m in chat.slack.workspace.messages if m.bot_id] == []


async def test_a_message_shortcut_answers_in_the_thread_of_the_message_and_names_the_asker(chat: Any) -> None:
    said = await chat.slack.say(chat.anna, chat.channel, "we think of Qwen3-32B on an L40S")
    await chat.slack.shortcut(chat.bert, forms.SIZE_THIS, said)
    shown = await _open(chat, chat.bert)
    await chat.slack.submit(chat.bert, shown, SIZED)
    answer = await chat.slack.answer(said)
    assert f"<@{chat.bert.id}> asks:" in str(answer.blocks[0])
    await chat.idle()
    await chat.slack.say(chat.anna, chat.channel, "thanks", thread=said.ts)
    await chat.idle()
    assert len(chat.slack.answers(said)) == 1


async def test_submitting_a_form_twice_answers_once(chat: Any) -> None:
    said = await chat.slack.say(chat.anna, chat.channel, "we think of Qwen3-32B on an L40S")
    await chat.slack.shortcut(chat.bert, forms.SIZE_THIS, said)
    shown = await _open(chat, chat.bert)
    for _ in range(3):
        await chat.slack.submit(chat.bert, shown, SIZED)
    await chat.idle()
    assert len(chat.slack.answers(said)) == 1


async def test_compare_in_thread_goes_on_from_what_was_sized(chat: Any) -> None:
    asked = await chat.slack.mention(chat.bert, chat.channel, "one")
    await chat.slack.shortcut(chat.bert, forms.COMPARE, await chat.slack.answer(asked))
    shown = await _open(chat, chat.bert, views.COMPARE_FORM)
    await chat.slack.submit(chat.bert, shown, _values(**{"with": "2x L40S"}))
    answer = await chat.slack.answer(asked, 2)
    assert answer.text == "one | compare that with 2x L40S"


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"model": "no such thing 9000"}, "model"),
        ({"model": "Llama 3.3 70B", "hardware": "a lot"}, "hardware"),
        ({"model": "Llama 3.3 70B", "context": "0"}, "context"),
        ({"model": "Llama 3.3 70B", "context": "-5"}, "context"),
        ({"model": "Llama 3.3 70B", "users": "many"}, "users"),
        ({"model": "Llama 3.3 70B", "users": "²"}, "users"),
    ],
)
async def test_errors_stand_at_their_field(chat: Any, fields: dict[str, str], at: str) -> None:
    await chat.slack.slash(chat.bert, chat.channel, "form")
    shown = await _open(chat, chat.bert)
    delivery = await chat.slack.submit(chat.bert, shown, _values(**fields))
    found = after_submission(chat.slack.workspace, shown, delivery)
    assert set(found["errors"]) == {at}
    assert on_top(chat.slack.workspace, chat.bert.id) is shown
    assert chat.responder.asked == []


async def test_a_form_outlives_an_expired_trigger_without_an_answer_lost(chat: Any) -> None:
    chat.slack.faults.plan("views.open", "error", "expired_trigger_id")
    await chat.slack.slash(chat.bert, chat.channel, "form")
    await chat.idle()
    assert on_top(chat.slack.workspace, chat.bert.id) is None
    assert (await chat.slack.answer(await chat.slack.mention(chat.bert, chat.channel, "two"))).text == "two"


async def test_settings_are_kept_for_the_team_and_strict_channels_hold(chat: Any) -> None:
    asked = await chat.slack.mention(chat.bert, chat.channel, "one")
    await chat.slack.answer(asked)
    await chat.slack.slash(chat.bert, chat.channel, "defaults")
    shown = await _open(chat, chat.bert, views.DEFAULTS_FORM)
    values = _values(
        owned="4x RTX 4090", place="own", currency="USD", electricity="0,25", lang="de", reserve="15", quality="4.5"
    )
    values["strict"] = {views.INPUT: {"selected_conversations": [chat.channel.id]}}
    await chat.slack.submit(chat.bert, shown, values)
    expected = TeamDefaults(
        owned=({"accelerator": "nvidia-rtx-4090", "count": 4},), cloud=False, currency="USD", electricity_per_kwh=0.25,
        lang="de", reserve_share=0.15, min_bits=4.5, strict_channels=(chat.channel.id,),
    )  # fmt: skip
    assert chat.room.store.defaults("T0DOUBLE01") == expected
    await chat.slack.say(chat.anna, chat.channel, "and now?", thread=asked.ts)
    await chat.idle()
    assert len(chat.slack.answers(asked)) == 1
    await chat.slack.mention(chat.anna, chat.channel, "and now?", thread=asked.ts)
    await chat.slack.answer(asked, 2)


@pytest.mark.parametrize(
    ("name", "value"), [("reserve", "90"), ("reserve", ""), ("quality", "0"), ("electricity", "x"), ("owned", "what")]
)
async def test_settings_that_make_no_sense_are_refused_at_their_field(chat: Any, name: str, value: str) -> None:
    await chat.slack.slash(chat.bert, chat.channel, "defaults")
    shown = await _open(chat, chat.bert, views.DEFAULTS_FORM)
    good = {
        "owned": "",
        "place": "any",
        "currency": "EUR",
        "electricity": "",
        "lang": "any",
        "reserve": "10",
        "quality": "4",
    }
    delivery = await chat.slack.submit(chat.bert, shown, _values(**(good | {name: value})))
    assert set(after_submission(chat.slack.workspace, shown, delivery)["errors"]) == {name}
    assert chat.room.store.defaults("T0DOUBLE01") == TeamDefaults()


async def test_only_admins_change_the_settings(chat: Any) -> None:
    """Who is none reads them; and what is sent all the same, from a form opened before the rights went, is refused."""
    good = _values(owned="", place="any", currency="USD", electricity="", lang="any", reserve="10", quality="4")
    await chat.slack.slash(chat.anna, chat.channel, "defaults")
    await chat.slack.until(lambda: "Admins" in str(_top(chat, chat.anna)), what="settings to read")
    assert [block["type"] for block in on_top(chat.slack.workspace, chat.anna.id).view["blocks"]] == ["section"] * 2
    await chat.slack.slash(chat.bert, chat.channel, "defaults")
    shown = await _open(chat, chat.bert, views.DEFAULTS_FORM)
    delivery = await chat.slack.submit(chat.anna, shown, good)
    assert "Admins" in str(delivery.last.body["view"])
    assert chat.room.store.defaults("T0DOUBLE01") == TeamDefaults()


async def test_where_slack_does_not_tell_who_administers_nobody_changes_settings(chat: Any) -> None:
    await chat.slack.slash(chat.bert, chat.channel, "defaults")
    shown = await _open(chat, chat.bert, views.DEFAULTS_FORM)
    chat.slack.faults.plan("users.info", "error", "internal_error", 9)
    good = _values(owned="", place="any", currency="USD", electricity="", lang="any", reserve="10", quality="4")
    assert (await chat.slack.submit(chat.bert, shown, good)).last.body["response_action"] == "update"
    assert chat.room.store.defaults("T0DOUBLE01") == TeamDefaults()


async def test_a_team_may_let_everyone_change_its_settings(start: Any) -> None:
    async with start("http", settings_by="everyone") as chat:
        await chat.slack.slash(chat.anna, chat.channel, "defaults")
        await _open(chat, chat.anna, views.DEFAULTS_FORM)


def _top(chat: Any, user: Any) -> Any:
    shown = on_top(chat.slack.workspace, user.id)
    return shown.view if shown else None


async def test_an_outsider_changes_no_settings(chat: Any) -> None:
    await chat.slack.slash(chat.bert, chat.channel, "defaults")
    shown = await _open(chat, chat.bert, views.DEFAULTS_FORM)
    stranger = chat.slack.workspace.add_user("mallory", team="T0FOREIGN1")
    good = _values(owned="", place="any", currency="USD", electricity="", lang="any", reserve="10", quality="4")
    await chat.slack.submit(stranger, shown, good)
    assert chat.room.store.defaults("T0DOUBLE01") == TeamDefaults()


async def test_an_outsider_opens_no_form_and_is_not_answered(chat: Any) -> None:
    stranger = chat.slack.workspace.add_user("mallory", team="T0FOREIGN1")
    said = await chat.slack.say(chat.anna, chat.channel, "we think of Qwen3-32B on an L40S")
    for callback in SHORTCUTS:
        assert (await chat.slack.shortcut(stranger, callback, said)).acknowledged
    await chat.slack.shortcut(chat.bert, forms.SIZE_THIS, said)
    await chat.slack.submit(stranger, await _open(chat, chat.bert), SIZED)
    await chat.idle()
    assert on_top(chat.slack.workspace, stranger.id) is None
    assert chat.responder.asked == []


async def test_home_asks_in_the_direct_message_and_remembers(chat: Any) -> None:
    await _press(chat, chat.bert, await _home(chat, chat.bert), views.ASK)
    direct = chat.slack.workspace.direct(chat.bert.id)
    await chat.slack.until(
        lambda: sum(m.channel == direct.id for m in chat.slack.workspace.messages) == 2, what="an answer"
    )
    await chat.idle()
    example = label("en", "home_example_list").splitlines()[0]
    root, answer = [m for m in chat.slack.workspace.messages if m.channel == direct.id]
    assert (answer.thread_ts, answer.text) == (root.ts, example)
    await chat.slack.direct(chat.bert, "and then?", thread=root.ts)
    assert (await chat.slack.answer(root, 2)).text == f"{example} | and then?"
    mine, others = str(await _home(chat, chat.bert)), str(await _home(chat, chat.anna))
    assert label("en", "home_recent") in mine
    assert label("de", "home_recent") not in others


async def test_home_opens_the_form_and_the_settings(chat: Any) -> None:
    blocks = await _home(chat, chat.bert)
    await _press(chat, chat.bert, blocks, views.OPEN_FORM)
    shown = await _open(chat, chat.bert)
    await chat.slack.submit(chat.bert, shown, SIZED)
    await chat.slack.until(lambda: len(chat.responder.asked) == 1, what="the question of the form")
    await _press(chat, chat.bert, blocks, views.OPEN_DEFAULTS)
    await _open(chat, chat.bert, views.DEFAULTS_FORM)


async def test_help_names_the_ways_that_work_inside_a_thread(chat: Any) -> None:
    await chat.slack.slash(chat.anna, chat.channel, "help")
    [shown] = chat.slack.private(chat.anna)
    assert shown.text == label("de", "help_text")
    assert all(name in shown.text for name, _ in SHORTCUTS.values())
    assert chat.responder.asked == []


async def test_prompts_are_offered_in_the_direct_message(chat: Any) -> None:
    await chat.slack.open_home(chat.anna, "messages")
    await chat.slack.until(lambda: bool(chat.slack.workspace.prompts), what="prompts")
    [offered] = chat.slack.workspace.prompts
    assert [each["message"] for each in offered["prompts"]] == label("de", "home_example_list").splitlines()


async def test_the_stop_button_ends_the_work_and_says_so(start: Any) -> None:
    hold = threading.Event()
    async with start("http") as chat:
        chat.responder.hold = hold
        asked = await chat.slack.mention(chat.bert, chat.channel, "one")
        await chat.slack.until(lambda: chat.responder.asked == ["one"], what="work")
        event = {
            "type": "agent_session_stopped",
            "channel": chat.channel.id,
            "thread_ts": asked.ts,
            "user": chat.bert.id,
        }
        await chat.slack.event(event, chat.channel)
        assert (await chat.slack.shown(chat.bert)).text == label("en", "stopped")
        hold.set()
        chat.responder.hold = None
        await chat.idle()
        assert chat.slack.answers(asked) == []
        await chat.slack.say(chat.bert, chat.channel, "two", thread=asked.ts)
        assert (await chat.slack.answer(asked)).text.endswith("two")


async def test_the_stop_button_ends_what_another_process_works_on(start: Any) -> None:
    """Slack tells one process of the click, and it need not be the one that holds the question."""
    hold = threading.Event()
    async with start("http") as chat:
        chat.responder.hold = hold
        asked = await chat.slack.mention(chat.bert, chat.channel, "one")
        await chat.slack.until(lambda: chat.responder.asked == ["one"], what="work")
        # As this process would know of it, had another one taken it up.
        chat.room.worker._of_thread.clear()
        event = {
            "type": "agent_session_stopped", "channel": chat.channel.id, "thread_ts": asked.ts, "user": chat.bert.id,
        }  # fmt: skip
        await chat.slack.event(event, chat.channel)
        assert (await chat.slack.shown(chat.bert)).text == label("en", "stopped")
        hold.set()
        chat.responder.hold = None
        await chat.slack.say(chat.bert, chat.channel, "two", thread=asked.ts)
        assert (await chat.slack.answer(asked)).text == "two"
        await chat.idle()
        assert len(chat.slack.answers(asked)) == 1
        assert [error for _, error in chat.dead()] == ["stopped by the asker"]


async def test_a_slow_answer_in_a_direct_message_can_be_stopped_and_its_session_comes_to_rest(start: Any) -> None:
    hold = threading.Event()
    async with start("http") as chat:
        chat.responder.hold = hold
        asked = await chat.slack.direct(chat.bert, "one")
        sessions, where = chat.slack.workspace.sessions, (asked.channel, asked.ts)
        await chat.slack.until(lambda: sessions.get(where) == "processing", what="a stop button")
        hold.set()
        await chat.slack.answer(asked)
        await chat.slack.until(lambda: sessions[where] == "active", what="rest")
        assert chat.slack.workspace.complaints == []


BARS = tuple(
    ChartBar(label=name, weights_gib=5, kv_cache_gib=3, activations_gib=1, overhead_gib=1, capacity_gib=20)
    for name in "ab"
)


def _pictures(chat: Any) -> list[dict[str, Any]]:
    return [file for m in chat.slack.workspace.messages for file in m.files if file["name"].endswith(".png")]


async def test_a_chart_comes_below_the_first_answer_with_a_text_that_says_the_same(chat: Any) -> None:
    chart = Chart(title="Memory", alt_text="a: 10 of 20 GiB; b: 10 of 20 GiB", bars=BARS)
    chat.responder.change = lambda answer: answer.model_copy(update={"chart": chart})
    asked = await chat.slack.mention(chat.bert, chat.channel, "one")
    await chat.slack.until(lambda: bool(_pictures(chat)), what="a chart")
    [picture] = _pictures(chat)
    assert (picture["title"], picture["alt_txt"]) == ("Memory", chart.alt_text)
    assert chat.slack.workspace.files[picture["id"]]["content"].startswith(b"\x89PNG")
    await chat.idle()
    await chat.slack.say(chat.bert, chat.channel, "two", thread=asked.ts)
    await chat.slack.answer(asked, 2)
    await chat.idle()
    assert len(_pictures(chat)) == 1


async def test_an_answer_stands_without_its_chart(start: Any) -> None:
    async with start("http") as chat:
        chart = Chart(title="Memory", alt_text="a and b", bars=BARS)
        chat.responder.change = lambda answer: answer.model_copy(update={"chart": chart})
        chat.slack.faults.plan("files.getUploadURLExternal", "error", "missing_scope")
        asked = await chat.slack.mention(chat.bert, chat.channel, "one")
        assert (await chat.slack.answer(asked)).text == "one"
        await chat.idle()
        assert (chat.dead(), _pictures(chat)) == ([], [])


def test_a_form_filled_from_a_message_asks_the_same() -> None:
    fields = filled_from(
        "Reicht eine RTX 4090 für Llama 3.3 70B in FP8 mit 32k Kontext, 10 gleichzeitige Anfragen, vLLM?"
    )
    assert fields == Fields(
        model="meta-llama/Llama-3.3-70B-Instruct", hardware="1x RTX 4090", weights="fp8", context="32768", users="10",
        engine="vLLM",
    )  # fmt: skip
    for lang in ("de", "en"):
        assert faults(fields, lang) == {}
        assert filled_from(question(fields, lang)) == fields


def test_both_languages_have_the_same_texts_with_the_same_fields() -> None:
    german, english = labels("de"), labels("en")
    assert german.keys() == english.keys()
    fields = re.compile(r"\{(\w+)\}")
    assert {key: set(fields.findall(text)) for key, text in english.items()} == {
        key: set(fields.findall(text)) for key, text in german.items()
    }


@pytest.mark.parametrize("callback", sorted(SHORTCUTS))
async def test_every_shortcut_of_the_manifest_opens_a_form(chat: Any, callback: str) -> None:
    said = await chat.slack.say(chat.anna, chat.channel, "we think of Qwen3-32B on an L40S")
    await chat.slack.shortcut(chat.anna, callback, said)
    await chat.slack.until(lambda: on_top(chat.slack.workspace, chat.anna.id) is not None, what="a form")


def test_shortcuts_and_prompts_keep_slacks_limits() -> None:
    features = manifest()["features"]
    assert len(features["shortcuts"]) <= 10
    assert all(len(each["name"]) <= 24 and len(each["description"]) <= 150 for each in features["shortcuts"])
    assert len(features["agent_view"]["agent_description"]) <= 300
    assert len(features["agent_view"]["suggested_prompts"]) <= 4
    assert all(len(label(lang, "home_example_list").splitlines()) <= 4 for lang in ("de", "en"))


def test_subcommands_are_words_that_no_question_begins_with() -> None:
    assert SUBCOMMANDS == ("help", "form", "defaults")
    assert json.dumps(views.defaults_form("de", TeamDefaults()))
