"""Blocks of any answer stay within Slack's limits, as the double checks them; what they show is what the answer says."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.answer import Alternative, Answer, AssumptionView, Chart, ChartBar, Citation, Command, Paragraph, Table
from bot.reply import limits
from bot.reply.blocks import as_text, blocks, render
from bot.reply.labels import label, labels
from bot.reply.mrkdwn import bold, cut, escape, fence, link, literal
from bot.reply.split import split
from playground.blocks import check_blocks, text_size

_CHARACTERS = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), include_characters="\n`*<>&@!#|")


def _texts(most: int) -> st.SearchStrategy[str]:
    """Short texts, and now and then one of any length."""
    long = st.builds(
        lambda unit, n: (unit * n)[:most], st.text(_CHARACTERS, min_size=1, max_size=12), st.integers(1, most)
    )
    return st.one_of(st.text(_CHARACTERS, max_size=40), long)


_cells = st.one_of(st.just(""), st.just(" "), _texts(600))


@st.composite
def _tables(draw: st.DrawFn) -> Table:
    width = draw(st.integers(1, 25))
    row = st.tuples(*[_cells] * width)
    rows = draw(st.lists(row, max_size=3)) * draw(st.integers(0, 60))
    return Table(caption=draw(_texts(2000)), columns=draw(row), rows=tuple(rows))


_alternatives = st.lists(st.builds(Alternative, label=_texts(200), delta=st.just({})), max_size=3).flatmap(
    lambda few: st.integers(0, 40).map(lambda n: tuple(few * n))
)
_assumptions = st.builds(
    AssumptionView, field=st.just("f"), label=_texts(400), value=_texts(400), alternatives=_alternatives
)
_actions = st.lists(st.sampled_from(["why", "compare", "cheaper", "launch", "loadtest", "export", "undo"]), unique=True)

ANSWERS = st.builds(
    Answer,
    id=st.just("0123456789abcdef01234567"),
    lang=st.sampled_from(["de", "en"]),
    intent=st.just("fits"),
    headline=_texts(5_000),
    lead=_texts(9_000),
    table=st.none() | _tables(),
    paragraphs=st.lists(
        st.builds(Paragraph, kind=st.just("why"), title=_texts(300), text=_texts(20_000)), max_size=6
    ).map(tuple),
    commands=st.lists(st.builds(Command, title=_texts(300), code=_texts(8_000)), max_size=3).map(tuple),
    assumptions=st.lists(_assumptions, max_size=20).map(tuple),
    citations=st.lists(
        st.builds(Citation, n=st.integers(1, 99), title=_texts(600), section=_texts(300), source=_texts(300)),
        max_size=20,
    ).map(tuple),
    actions=_actions.map(tuple),
)
_patient = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


@_patient
@given(ANSWERS, st.booleans())
def test_every_message_of_every_answer_is_within_the_limits(answer: Answer, private: bool) -> None:
    reply = render(answer, private=private, said_before="<@U1> asked")
    assert 1 <= len(reply.messages) <= limits.MESSAGES
    for message in reply.messages:
        assert check_blocks(list(message.blocks)) == []
        assert text_size(message.blocks) <= 13_200
        assert len(message.text) <= 4_000
        assert not re.search(r"<[@!#](?!U1>)", message.text + str(message.blocks))
    assert sum(block["type"] == "table" for message in reply.messages for block in message.blocks) <= 1
    assert reply.messages[-1].blocks[-1]["type"] == "context_actions"
    assert blocks(answer) == render(answer).messages[0].blocks


@_patient
@given(ANSWERS)
def test_the_text_for_refused_blocks_is_short_and_harmless(answer: Answer) -> None:
    parts = as_text(answer)
    assert len(parts) <= limits.MESSAGES
    for part in parts:
        assert 0 < len(part) <= 4_000
        assert part.count("```") % 2 == 0
        assert not re.search(r"<[@!#]|&(?!amp;|lt;|gt;)", part)


@_patient
@given(_texts(20_000), st.integers(60, 4_000))
def test_a_split_loses_nothing_and_leaves_no_fence_open(text: str, most: int) -> None:
    parts = split(text, most)
    assert all(0 < len(part) <= most for part in parts)
    assert all(part.count("```") % 2 == 0 for part in parts) or text.count("```") % 2
    kept = "".join("".join(parts).replace("```", "").split())
    assert kept == "".join(text.replace("```", "").split()) or "`" in text


def test_a_fence_that_is_cut_is_closed_and_opened_again() -> None:
    code = "\n".join(f"line {n}" for n in range(40))
    parts = split(f"Before.\n\n```\n{code}\n```\n\nAfter.", 120)
    assert all(part.count("```") % 2 == 0 for part in parts)
    assert [part for part in parts if part.startswith("```\nline")]
    assert "".join(parts).count("line ") == 40


def test_a_fence_with_a_very_long_label_makes_few_parts() -> None:
    assert len(split(f"```{'x' * 5_000}\ncode\n```", 4_000)) <= 3


_PROSE = st.text(st.sampled_from("ab .\n"), max_size=80).map(lambda text: f"P{text}")
_CODE = st.lists(st.text(st.sampled_from("abc =-"), max_size=30), min_size=1, max_size=4).map("\n".join)


@given(st.lists(st.one_of(_PROSE, _CODE.map(lambda code: f"```\n{code}\n```")), max_size=12), st.integers(200, 600))
def test_a_fence_that_fits_a_part_is_never_cut(paragraphs: list[str], most: int) -> None:
    parts = split("\n\n".join(paragraphs), most)
    assert all(len(part) <= most for part in parts)
    for fenced in (one for one in paragraphs if one.startswith("```")):
        assert any(fenced.strip() in part for part in parts)


def test_a_private_answer_says_where_its_chart_is() -> None:
    bars = tuple(
        ChartBar(label=name, weights_gib=1, kv_cache_gib=1, activations_gib=1, overhead_gib=1, capacity_gib=8)
        for name in "ab"
    )
    answer = Answer(id="1", lang="en", intent="fits", headline="Yes.", chart=Chart(title="t", alt_text="a", bars=bars))
    said = [str(message.blocks) for message in render(answer, private=True).messages]
    assert any(label("en", "chart_when_shared") in text for text in said)
    assert not any(label("en", "chart_when_shared") in str(message.blocks) for message in render(answer).messages)
    alone = answer.model_copy(update={"chart": Chart(title="t", alt_text="a", bars=bars[:1])})
    assert label("en", "chart_when_shared") not in str(render(alone, private=True).messages[0].blocks)


def test_a_split_prefers_paragraphs_to_lines_to_sentences() -> None:
    text = "One. Two.\n\nThree. Four.\nFive."
    assert split(text, 8 + 13) == ["One. Two.", "Three. Four.", "Five."]


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (escape("a<b & <!here>"), "a&lt;b &amp; &lt;!here&gt;"),
        (literal("<@U1> <= 32k"), "‹@U1> <= 32k"),
        (bold("2*3 is\nsix"), "*2∗3 is six*"),
        (bold(""), ""),
        (fence("a ``` b"), "```\na ``\N{ZERO WIDTH SPACE}` b\n```"),
        (link("https://x.example/a?b=1&c", "a|b"), "<https://x.example/a?b=1&amp;c|a¦b>"),
        (link("javascript:alert(1)", "x"), "x"),
        (link("https://x.example/<!here>", "x"), "x"),
        (escape(cut("<" * 10, 5)), "&lt;&lt;&lt;&lt;…"),
    ],
)
def test_markup(made: str, wanted: str) -> None:
    assert made == wanted


def _answer(**fields: Any) -> Answer:
    return Answer(**{"id": "abc", "lang": "en", "intent": "fits", "headline": "No: 122 GiB are missing."} | fields)


def test_an_answer_as_blocks() -> None:
    answer = _answer(
        lead="Weights need 39.6 GiB.",
        table=Table(caption="What fits", columns=("Option", "Margin"), rows=(("2 × H100", "9 GiB"),)),
        paragraphs=(Paragraph(kind="flip", title="What flips it:", text="With 8k it fits [1]."),),
        assumptions=(
            AssumptionView(
                field="weights", label="Format", value="Q4_K_M", alternatives=(Alternative(label="FP8", delta={}),)
            ),
            AssumptionView(field="reserve", label="Reserve", value="10%"),
        ),
        citations=(Citation(n=1, title="KV cache", section="Size", source="https://x.example/kv"),),
        actions=("why",),
    )

    def mark(text: str) -> dict[str, Any]:
        return {"type": "mrkdwn", "text": text, "verbatim": True}

    def plain(text: str) -> dict[str, Any]:
        return {"type": "plain_text", "text": text, "emoji": False}

    def vote(text: str, value: str) -> dict[str, Any]:
        return {"text": plain(text), "value": value, "accessibility_label": text}

    def cell(text: str) -> dict[str, Any]:
        return {"type": "raw_text", "text": text}

    [message] = render(answer).messages
    assert message.text == "No: 122 GiB are missing. Weights need 39.6 GiB."
    assert list(message.blocks) == [
        {"type": "section", "text": mark("*No: 122 GiB are missing.* Weights need 39.6 GiB.")},
        {"type": "context", "elements": [mark("What fits")]},
        {
            "type": "table",
            "column_settings": [{"is_wrapped": True}, {"is_wrapped": True}],
            "rows": [[cell("Option"), cell("Margin")], [cell("2 × H100"), cell("9 GiB")]],
        },
        {"type": "section", "text": mark("*What flips it:* With 8k it fits [1].")},
        {"type": "context", "elements": [mark("*Assumed:* Format: Q4_K_M · Reserve: 10%")]},
        {
            "type": "actions",
            "block_id": "assume:abc",
            "elements": [
                {
                    "type": "static_select",
                    "action_id": "assume:0",
                    "placeholder": plain("Format: Q4_K_M"),
                    "options": [{"text": plain("FP8"), "value": "0:0"}],
                }
            ],
        },
        {
            "type": "actions",
            "block_id": "actions:abc",
            "elements": [{"type": "button", "action_id": "do:why", "text": plain("Why?"), "value": "abc"}],
        },
        {"type": "context", "elements": [mark("*Sources:* [1] <https://x.example/kv|KV cache, Size>")]},
        {
            "type": "context_actions",
            "elements": [
                {
                    "type": "feedback_buttons",
                    "action_id": "feedback",
                    "positive_button": vote("Helpful", "+:abc"),
                    "negative_button": vote("Not helpful", "-:abc"),
                }
            ],
        },
    ]


def test_only_a_private_answer_can_be_shared() -> None:
    def ids(private: bool) -> list[str]:
        found = render(_answer(actions=("why",)), private=private).messages[0].blocks
        return [e["action_id"] for block in found for e in block.get("elements", []) if "action_id" in e]

    assert (ids(private=True), ids(private=False)) == (["share", "do:why", "feedback"], ["do:why", "feedback"])


def test_both_languages_have_the_same_texts_with_the_same_fields() -> None:
    def fields(text: str) -> set[str]:
        return set(re.findall(r"\{(\w+)\}", text))

    german, english = labels("de"), labels("en")
    assert {key: fields(text) for key, text in german.items()} == {key: fields(text) for key, text in english.items()}
    assert label("de", "failed", id="x1").endswith("x1")
