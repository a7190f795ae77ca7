"""A budget and a purpose are enough for a proposal: a model, hardware within the budget, and what costs less."""

import pytest

from bot.testing import Conversation
from sizing.catalogue.load import catalogue
from sizing.reverse import classes_of

CASES = [
    ("Which GPU should I buy for a local coding assistant, budget 2000 euro?", "coding", 2000, 2),
    ("Welche Karte soll ich für einen lokalen Coding-Assistenten kaufen? Budget 2000 Euro", "coding", 2000, 2),
    ("Welche Karte für einen lokalen Chatbot, Budget 1500 Euro?", "general", 1500, 2),
    ("budget is $50k, we need on-prem for 300 employees, chat assistant. what do we buy?", "general", 50000, 4),
]


@pytest.mark.parametrize(("text", "kind", "budget", "most_cards"), CASES)
def test_a_budget_and_a_purpose_get_a_proposal(text: str, kind: str, budget: float, most_cards: int) -> None:
    said = Conversation().say(text).expect(r"within this budget|in diesem Budget")
    spec = said.spec
    assert kind in classes_of(catalogue().models[spec["model"]["id"]])
    assert spec["targets"]["budget"] == budget
    assert sum(entry["count"] for entry in spec["hardware"]) <= most_cards
    assert said.answer.estimates[0]["verdict"] == "fits"
    assert said.answer.assumptions[0].field == "model"
    assert not said.answer.unverified_numbers


def test_the_purpose_stays_through_a_thread() -> None:
    talk = Conversation()
    first = talk.say("Which GPU should I buy for a local coding assistant, budget 2000 euro?")
    dearer = talk.say("and with a budget of 12000 euro?")
    sizes = [catalogue().models[said.spec["model"]["id"]].params_total for said in (first, dearer)]
    assert sizes[0] < sizes[1]
    assert "coding" in classes_of(catalogue().models[dearer.spec["model"]["id"]])


@pytest.mark.parametrize("text", ["Which GPU should I buy?", "Welche Karte soll ich kaufen?"])
def test_without_a_budget_the_workload_is_asked_for(text: str) -> None:
    assert Conversation().say(text).answer.intent == "clarify"
