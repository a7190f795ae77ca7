"""Questions in flight while replicas are killed: how many answers come, how many are missing, how many come twice."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench.load.replicas import Deployment, deployed
from bot.database import engine_for
from bot.inbox import Inbox
from playground.slack import Slack
from playground.workspace import Message

_PEOPLE = 50
_SETTINGS = {"SIZEWISE_POLL_S": "0.2", "SIZEWISE_BUSY_ABOVE": "100000"}


@dataclass(frozen=True)
class Survival:
    """What the double counted. `most_in_flight` is the largest number of questions asked and not answered at a time.

    `out_of_order` counts threads whose questions all arrived at the first try and were answered in another order;
    `overtaken` those where a question reached the bot only after one asked later, because its delivery was repeated.
    """

    questions: int
    kills: int
    answers: int
    lost: int
    doubled: int
    out_of_order: int
    overtaken: int
    most_in_flight: int
    repeated_deliveries: int
    states: dict[str, int]
    seconds: float
    missing: list[str]
    dead: list[str]


@dataclass
class _Asked:
    root: Message
    texts: list[str]
    ts: list[str]


async def survive(
    database: str, data: Path, *, replicas: int, questions: int, kills: int, answers_in_s: float = 0.5, lease_s: float = 5.0,
    seed: int = 1,
) -> Survival:  # fmt: skip
    """Ask `questions` (a third of them quick follow-ups), kill a replica `kills` times at random, count."""
    options = _SETTINGS | {"REPLICA_ANSWERS_IN_S": str(answers_in_s), "SIZEWISE_LEASE_S": str(lease_s)}
    started = time.monotonic()
    async with deployed(replicas, database, data, **options) as deployment:
        watch = _Watch(deployment, questions)
        kill = _kill(deployment, kills, questions, random.Random(seed))
        # Alone and down, a process cannot be told of a question, and Slack gives up after three repeats.
        killer = asyncio.create_task(kill) if replicas > 1 else None
        asked = await _ask(deployment.slack, questions, watch)
        await (killer or kill)
        with contextlib.suppress(TimeoutError):
            await _rest(deployment, database, questions)
        return _count(deployment, asked, questions, kills, watch.most, database, time.monotonic() - started)


class _Watch:
    def __init__(self, deployment: Deployment, questions: int) -> None:
        self.slack, self.questions, self.most = deployment.slack, questions, 0

    def look(self, asked: int) -> None:
        self.most = max(self.most, asked - answered(self.slack))


def answered(slack: Slack) -> int:
    """Messages of the bot in channels."""
    return sum(1 for message in slack.workspace.messages if message.bot_id)


async def _ask(slack: Slack, questions: int, watch: _Watch) -> list[_Asked]:
    """Threads with up to three questions each, the follow-ups sent before the first is answered; many people at once."""
    people = [slack.workspace.add_user(f"person{n}") for n in range(_PEOPLE)]
    channels = [slack.workspace.add_channel(f"c{n}", *people) for n in range(_PEOPLE)]
    plan: list[list[str]] = []
    while (left := questions - sum(map(len, plan))) > 0:
        number = len(plan)
        plan.append([f"q{number}.{part}" for part in range(min(left, (1, 1, 3)[number % 3]))])
    sent = 0

    async def person(place: int) -> list[_Asked]:
        nonlocal sent
        found = []
        for texts in plan[place::_PEOPLE]:
            root = await slack.mention(people[place], channels[place], texts[0])
            later = [await slack.say(people[place], channels[place], text, thread=root.ts) for text in texts[1:]]
            sent += len(texts)
            watch.look(sent)
            found.append(_Asked(root, texts, [root.ts, *(message.ts for message in later)]))
        return found

    return [asked for found in await asyncio.gather(*map(person, range(_PEOPLE))) for asked in found]


async def _kill(deployment: Deployment, kills: int, questions: int, chance: random.Random) -> None:
    """Kill spread over the run: before the nth kill so many answers must have come; at an arbitrary moment after."""
    for n in range(kills):
        wanted = n * questions * 9 // 10 // max(1, kills)
        await _until_answered(deployment.slack, wanted)
        await asyncio.sleep(chance.random() * 0.3)
        replica = chance.choice(deployment.replicas)
        await replica.kill()
        await replica.start()


async def _until_answered(slack: Slack, wanted: int) -> None:
    await slack.until(lambda: answered(slack) >= wanted, 150, f"{wanted} answers")


async def _rest(deployment: Deployment, database: str, questions: int) -> None:
    engine = engine_for(database)
    inbox = Inbox(engine)
    slack = deployment.slack
    await _until_answered(slack, questions)
    await slack.until(lambda: inbox.waiting() == 0 and not slack.deliverer.busy, 60, "rest")
    engine.dispose()


def _repeated(slack: Slack) -> set[str]:
    """The messages whose delivery was repeated, by `ts`."""
    late = (delivery for delivery in slack.deliverer.log if len(delivery.attempts) > 1)
    return {str(delivery.payload.get("event", {}).get("ts")) for delivery in late}


def _fate(slack: Slack, thread: list[str]) -> list[list[str]]:
    """For each message of a thread, the attempts to deliver it: status, seconds it took."""
    found = []
    for ts in thread:
        deliveries = [d for d in slack.deliverer.log if d.payload.get("event", {}).get("ts") == ts]
        found.append([f"{reply.status} in {reply.seconds:.1f} s" for d in deliveries for reply in d.attempts])
    return found


def _count(
    deployment: Deployment, asked: list[_Asked], questions: int, kills: int, most: int, database: str, seconds: float
) -> Survival:
    doubled = out_of_order = overtaken = 0
    repeated_ts = _repeated(deployment.slack)
    missing: list[str] = []
    for one in asked:
        said = [message.text for message in deployment.slack.answers(one.root)]
        wanted = [" | ".join(one.texts[: place + 1]) for place in range(len(one.texts))]
        counted = Counter(text.rpartition(" | ")[2] for text in said)
        missing += [
            f"{text} of {one.texts}: {_fate(deployment.slack, one.ts)}" for text in one.texts if not counted[text]
        ]
        doubled += sum(count - 1 for count in counted.values())
        if said != wanted and set(counted) == set(one.texts) and len(said) == len(wanted):
            if repeated_ts & set(one.ts):
                overtaken += 1
            else:
                out_of_order += 1
    engine = engine_for(database)
    states, dead = Inbox(engine).states(), [f"{key}: {error}" for key, error in Inbox(engine).dead_letters()]
    engine.dispose()
    repeated = sum(len(delivery.attempts) - 1 for delivery in deployment.slack.deliverer.log)
    return Survival(
        questions, kills, answered(deployment.slack), len(missing), doubled, out_of_order, overtaken, most, repeated, states,
        round(seconds, 1), missing[:20], dead[:20],
    )  # fmt: skip
