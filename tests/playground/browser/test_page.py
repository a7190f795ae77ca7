"""What a person does in the playground, in a real browser: mention, thread, slash, share, form, settings, keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest

ANSWER_MS = 60_000
BOT = "article:has(.badge)"


def _ask(page: Any, text: str) -> None:
    page.fill("#composer-text", text)
    page.press("#composer-text", "Enter")


def _reply(page: Any, text: str) -> str:
    before = page.locator(f"#replies {BOT} .section").count()
    page.fill("#thread-text", text)
    page.press("#thread-text", "Enter")
    page.wait_for_function(
        "before => document.querySelectorAll('#replies article:has(.badge) .section').length > before",
        arg=before, timeout=ANSWER_MS,
    )  # fmt: skip
    return str(page.locator(f"#replies {BOT}:has(.section)").last.inner_text())


@pytest.fixture
def thread(page: Any) -> Any:
    """A thread with an answer."""
    _ask(page, "@sizewise Reicht eine RTX 4090 für Llama 3.3 70B mit 32k Kontext für 10 Leute?")
    page.wait_for_selector(f"#replies {BOT} .section", timeout=ANSWER_MS)
    return page


def test_the_page_says_that_it_is_not_slack(page: Any) -> None:
    assert "not Slack" in page.locator("#notice").inner_text()
    assert "not Slack" in page.title()


def test_a_mention_is_answered_in_its_thread_and_goes_on_without_one(thread: Any, picture: Any) -> None:
    first = thread.locator(f"#replies {BOT}").first
    assert first.locator(".section").first.inner_text().startswith("Nein: es fehlen rund")
    assert first.locator("table thead th").first.inner_text() == "Option"
    thread.wait_for_selector("#replies figure.file img", timeout=ANSWER_MS)
    chart = thread.locator("#replies figure.file img").first
    thread.wait_for_function("() => document.querySelector('#replies figure.file img').naturalWidth > 500")
    assert "GiB" in chart.get_attribute("alt")
    picture("answer-with-chart")
    thread.evaluate("document.getElementById('replies').scrollTop = 0")
    picture("answer")
    assert "FP8" in _reply(thread, "und mit fp8?")
    picture("and-with-fp8")
    assert "L40S" in _reply(thread, "vergleich das mit 2x L40S")
    picture("compared")
    assert "GiB" in _reply(thread, "warum?")
    picture("why")


def test_a_button_and_a_select_re_run_the_answer(thread: Any) -> None:
    count = thread.locator(f"#replies {BOT} .section").count()
    thread.locator("#replies [data-action='do:cheaper']").first.click()
    thread.wait_for_function(
        "n => document.querySelectorAll('#replies .section').length > n", arg=count, timeout=ANSWER_MS
    )
    count = thread.locator(f"#replies {BOT} .section").count()
    thread.locator("#replies select[data-action^='assume:']").first.select_option(index=1)
    thread.wait_for_function(
        "n => document.querySelectorAll('#replies .section').length > n", arg=count, timeout=ANSWER_MS
    )


def test_a_slash_answer_is_private_until_shared(page: Any, picture: Any) -> None:
    page.locator("[data-place]", has_text="general").click()
    page.locator("#who").select_option(label="Bert (en-GB)")
    page.locator("[data-place]", has_text="general").click()
    _ask(page, "/size llama3.3-70b q4 32k x10 on 2x4090")
    private = page.locator("#stream article.private:has([data-action=share])")
    private.wait_for(timeout=ANSWER_MS)
    assert "Only visible to you" in private.inner_text()
    picture("slash-answer")
    page.locator("#who").select_option(label="Anna (de-DE)")
    page.locator("[data-place]", has_text="general").click()
    page.wait_for_timeout(300)
    assert page.locator("#stream article.private").count() == 0
    page.locator("#who").select_option(label="Bert (en-GB)")
    page.locator("[data-place]", has_text="general").click()
    page.locator("[data-action=share]").click()
    page.wait_for_selector("#stream article:not(.private) .section", timeout=ANSWER_MS)
    picture("shared")


def test_the_person_chosen_stays_chosen_while_the_page_is_slow(page: Any) -> None:
    page.evaluate(
        """() => { const real = window.fetch; window.fetch = async (...said) => {
        const found = await real(...said);
        if (String(said[0]).includes("/page/state")) await new Promise((done) => setTimeout(done, 400));
        return found; }; }"""
    )
    _ask(page, "nothing for the bot")
    page.locator("#who").select_option(label="Bert (en-GB)")
    page.locator("[data-place]", has_text="general").click()
    page.wait_for_timeout(1500)
    assert page.locator("#who option:checked").inner_text() == "Bert (en-GB)"
    assert page.locator("[aria-current=page]").inner_text() == "# general"


def test_home_settings_and_form_by_keyboard(page: Any, picture: Any) -> None:
    page.locator("[data-place=home]").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".home h3")
    picture("home")
    page.locator("[data-action='home:defaults']").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#input-owned")
    page.fill("#input-owned", "nothing of that kind")
    page.keyboard.press("Enter")
    page.wait_for_selector("#input-owned-error")
    assert page.evaluate("document.activeElement.id") == "input-owned"
    picture("settings")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="hidden")
    page.locator("[data-action='home:form']").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#input-model")
    page.fill("#input-model", "Qwen3-32B")
    page.fill("#input-hardware", "2x L40S")
    picture("form")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog", state="hidden", timeout=ANSWER_MS)
    page.locator("#app-places button").first.click()
    page.wait_for_selector("#stream .replies", timeout=ANSWER_MS)
    page.wait_for_selector("#prompts button")
    picture("direct-message")


def test_a_message_shortcut_fills_the_form(page: Any) -> None:
    _ask(page, "wir denken an Qwen3-32B in FP8 auf 2x L40S")
    said = page.locator("#stream article", has_text="wir denken an").last
    said.hover()
    said.get_by_role("button", name="Size this").click()
    page.wait_for_selector("#input-model", timeout=ANSWER_MS)
    assert page.input_value("#input-hardware") == "2x L40S"
    page.keyboard.press("Escape")


def test_every_control_has_a_name_and_the_focus_is_seen(page: Any) -> None:
    nameless = page.evaluate(
        """[...document.querySelectorAll('button, select, textarea, input')].filter(each => each.checkVisibility()
           && !(each.getAttribute('aria-label') || each.textContent.trim() || each.labels?.length)).map(each => each.outerHTML)"""
    )
    assert nameless == []
    page.keyboard.press("Tab")
    assert "Skip" in page.evaluate("document.activeElement.textContent")
    for _ in range(6):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_escape_closes_the_thread_and_text_never_runs(thread: Any) -> None:
    _reply(thread, "<img src=x onerror=alert(1)> <script>alert(1)</script> 20 Nutzer")
    assert thread.locator("#replies script, #replies img[src=x]").count() == 0
    thread.keyboard.press("Escape")
    assert thread.locator("#thread").is_hidden()
    assert re.match(r"\d+ repl", thread.locator("#stream .replies").last.inner_text())
