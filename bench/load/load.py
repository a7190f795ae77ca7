"""Ten slash commands and five questions a second, with the real pipeline: acknowledgements, answers, memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Final

from bench.load.replicas import Deployment, Replica, deployed
from bot.database import engine_for
from bot.inbox import Inbox
from playground.delivery import Delivery
from playground.slack import Slack
from playground.workspace import Channel, User

# Four of five name their hardware. Users and contexts differ from one question to the next, as they do among people: what was
# computed before is of little use.
TEXTS: Final = (
    "Llama 3.1 8B in FP8 on an L4, {k}k context, {users} users",
    "Passt Qwen3 32B in Q4_K_M auf eine RTX 4090 mit {k}k Kontext?",
    "llama3.3-70b q4 {k}k x{users} on 2x4090",
    "Wie schnell läuft Mistral Small 3.1 24B in FP8 auf einer L40S mit {users} Nutzern?",
    "Which GPU for Llama 3.1 8B in FP8, {users} concurrent chats of {k}k?",
    "gpt-oss-20b on an RTX 4090, {users} parallel chats, {k}k",
    "Does Gemma 3 27B in bf16 fit on an A100 80GB with {k}k context?",
    "Qwen3 8B AWQ auf 1x RTX 3090, {users} Nutzer, {k}k",
    "Llama 3.3 70B FP8 on 2x H100, {users} users with {k}k, vLLM",
    "Was brauchen wir für ein 70B-Modell mit {users} Nutzern?",
)
_CONTEXTS_K: Final = (4, 6, 8, 12, 16, 20, 24, 32, 48, 64)
_MOST_USERS: Final = 60
_PEOPLE: Final = 40
_PATIENCE_S: Final = 120.0
_Way = Callable[..., Awaitable[None]]


@dataclass
class Load:
    """Seconds until each acknowledgement and each answer; MiB of each replica over time."""

    acks_s: list[float] = field(default_factory=list)
    answers_s: list[float] = field(default_factory=list)
    unanswered: int = 0
    doubled: int = 0
    refused: int = 0
    memory_mib: list[list[float]] = field(default_factory=list)
    load_average: tuple[float, float] = (0.0, 0.0)
    cpu_s: float = 0.0
    double_cpu_s: float = 0.0
    """Processor time of the replicas, and of the double with whoever asks, while the load was on."""

    def row(self) -> dict[str, object]:
        """What is worth a line of a table."""
        early, late = self.memory_mib[len(self.memory_mib) // 4], self.memory_mib[-1]
        return {
            "asked": len(self.acks_s),
            "ack p50": round(statistics.median(self.acks_s), 3),
            "ack p99": round(quantile(self.acks_s, 0.99), 3),
            "ack max": round(max(self.acks_s), 3),
            "answer p50": round(quantile(self.answers_s, 0.5), 2),
            "answer p95": round(quantile(self.answers_s, 0.95), 2),
            "answer max": round(max(self.answers_s), 2),
            "unanswered": self.unanswered,
            "doubled": self.doubled,
            "refused acks": self.refused,
            "MiB after a quarter": [round(found) for found in early],
            "MiB at the end": [round(found) for found in late],
            "CPU s of replicas, an answer": round(self.cpu_s / max(1, len(self.answers_s)), 4),
            "CPU s of the double, an answer": round(self.double_cpu_s / max(1, len(self.answers_s)), 4),
            "load average before, after": self.load_average,
        }


def quantile(values: list[float], share: float) -> float:
    """The nearest-rank quantile; NaN of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


async def load(
    database: str, data: Path, *, replicas: int, seconds: float, slash_per_s: float = 10.0, questions_per_s: float = 5.0
) -> Load:
    """Put the load on so many replicas for a while, wait for what is open, count."""
    found, before = Load(), os.getloadavg()[0]
    # Without vectors: building them takes minutes on a busy machine and is no part of answering.
    async with deployed(replicas, database, data, SIZEWISE_EMBEDDINGS="off") as deployment:
        await _warm(deployment)
        watching = asyncio.create_task(_memory(deployment.replicas, found))
        spent_s, own_s = _cpu_s(deployment.replicas), time.process_time()
        asked = await _ask(deployment, seconds, slash_per_s, questions_per_s, found)
        await _settle(database, deployment.slack, asked, found)
        found.cpu_s, found.double_cpu_s = _cpu_s(deployment.replicas) - spent_s, time.process_time() - own_s
        watching.cancel()
    found.load_average = (round(before, 1), round(os.getloadavg()[0], 1))
    return found


@dataclass
class _Asked:
    """A question on its way. `posted` looks when its answer was posted, None while there is none."""

    at: float
    posted: Callable[[], float | None]


async def _warm(deployment: Deployment) -> None:
    """One question to each replica that is no part of the count: a server is warm before its busy morning."""
    anna = deployment.slack.workspace.add_user("warm")
    channel = deployment.slack.workspace.add_channel("warm", anna)
    for n in range(len(TEXTS)):
        question = await deployment.slack.mention(anna, channel, _text(n, random.Random(n)))
        await deployment.slack.answer(question, timeout_s=300)


def _text(number: int, chance: random.Random) -> str:
    users, context_k = chance.randint(1, _MOST_USERS), chance.choice(_CONTEXTS_K)
    return TEXTS[number % len(TEXTS)].format(users=users, k=context_k)


def _cpu_s(replicas: list[Replica]) -> float:
    return sum(replica.cpu_s for replica in replicas)


async def _memory(replicas: list[Replica], found: Load) -> None:
    while True:
        found.memory_mib.append([replica.resident_mib for replica in replicas])
        await asyncio.sleep(1)


async def _ask(
    deployment: Deployment, seconds: float, slash_per_s: float, questions_per_s: float, found: Load
) -> list[_Asked]:
    slack, asked = deployment.slack, list[_Asked]()
    people = [slack.workspace.add_user(f"person{n}") for n in range(_PEOPLE)]
    channels = [slack.workspace.add_channel(f"c{n}", *people) for n in range(_PEOPLE)]
    running: set[asyncio.Task[None]] = set()
    chance = random.Random(7)
    ways: list[tuple[float, _Way]] = [(slash_per_s, _slash), (questions_per_s, _question)]
    due = sorted(((n / rate, n, way) for rate, way in ways for n in range(round(seconds * rate))), key=itemgetter(0))
    started = time.monotonic()
    for when, n, way in due:
        await asyncio.sleep(max(0.0, started + when - time.monotonic()))
        place = n % _PEOPLE
        task = asyncio.create_task(way(slack, people[place], channels[place], _text(n, chance), asked, found))
        running.add(task)
        task.add_done_callback(running.discard)
    await asyncio.gather(*running)
    return asked


async def _slash(slack: Slack, user: User, channel: Channel, text: str, asked: list[_Asked], found: Load) -> None:
    at = time.time()
    delivery = await slack.slash(user, channel, text)
    _acknowledged(found, [delivery])
    issued = slack.workspace.response_urls[str(delivery.payload["response_url"])]
    # What is not acknowledged is an error that its asker sees at once, and nothing follows.
    while delivery.acknowledged and not issued.uses and time.time() - at < _PATIENCE_S:
        await asyncio.sleep(0.02)
    now = time.time()
    asked.append(_Asked(at, lambda: now if issued.uses else None))


async def _question(slack: Slack, user: User, channel: Channel, text: str, asked: list[_Asked], found: Load) -> None:
    place = len(slack.deliverer.log)
    at = time.time()
    root = await slack.mention(user, channel, text)
    own = [d for d in slack.deliverer.log[place:] if (d.payload.get("event") or {}).get("ts") == root.ts]
    _acknowledged(found, own)

    def posted() -> float | None:
        said = slack.answers(root)
        parts = Counter(str((message.metadata or {}).get("event_payload")) for message in said)
        found.doubled += sum(count - 1 for count in parts.values())
        return float(said[0].ts) if said else None

    asked.append(_Asked(at, posted))


def _acknowledged(found: Load, deliveries: list[Delivery]) -> None:
    for delivery in deliveries:
        found.acks_s.append(delivery.attempts[0].seconds)
        found.refused += not delivery.attempts[0].acknowledged


async def _settle(database: str, slack: Slack, asked: list[_Asked], found: Load) -> None:
    engine = engine_for(database)
    inbox = Inbox(engine)
    with contextlib.suppress(TimeoutError):
        await slack.until(lambda: inbox.waiting() == 0 and not slack.deliverer.busy, _PATIENCE_S, "rest")
    engine.dispose()
    for one in asked:
        posted = one.posted()
        if posted is None:
            found.unanswered += 1
        else:
            found.answers_s.append(posted - one.at)


__all__ = ["TEXTS", "Load", "load"]
