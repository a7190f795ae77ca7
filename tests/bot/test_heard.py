"""Wishes: whole messages about the answer before."""

import pytest

from bot.heard import hear, wish_in
from bot.thread import ThreadState


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("why?", "why"), ("Warum?", "why"), ("/why", "why"), ("und warum", "why"), ("how come?", "why"),
        ("cheaper?", "cheaper"), ("geht's günstiger?", "cheaper"), ("und billiger?", "cheaper"),
        ("launch command please", "launch"), ("Startbefehl", "launch"), ("Lasttest bitte", "loadtest"), ("load test", "loadtest"),
        ("undo", "undo"), ("zurück", "undo"), ("new", "new"), ("Hilfe!", "help"), ("/help", "help"),
        ("why does vLLM take 90 %?", None), ("new card for Llama 3", None), ("Llama 3.1 8B on a 4090", None), ("", None),
    ],
)  # fmt: skip
def test_wishes(text: str, wish: str | None) -> None:
    assert wish_in(text) == wish


@pytest.mark.parametrize(
    ("text", "lang"), [("Passt das auf eine 4090?", "de"), ("does it fit a 4090?", "en"), ("günstiger?", "de")]
)
def test_languages(text: str, lang: str) -> None:
    assert hear(text, ThreadState()).lang == lang


def test_a_short_message_keeps_the_language_of_its_thread() -> None:
    assert hear("fp8?", ThreadState(lang="de")).lang == "de"
