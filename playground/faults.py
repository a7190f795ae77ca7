"""Trouble on purpose: Web API calls that fail, stall, or succeed without the caller hearing of it."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Kind = Literal["error", "status", "limit", "slow", "lost", "garbage", "redirect"]

# Calls a minute by tier; `chat.postMessage` has one a second and channel with short bursts.
_TIERS: Final = {1: 1, 2: 20, 3: 50, 4: 100}
_TIER_OF: Final = {
    "chat.update": 3, "chat.delete": 3, "conversations.replies": 3, "conversations.history": 3, "reactions.add": 3,
    "chat.postEphemeral": 4, "views.open": 4, "views.update": 4, "views.publish": 4, "users.info": 4,
    "files.getUploadURLExternal": 4, "files.completeUploadExternal": 4,
}  # fmt: skip
_POST_BURST: Final = 5


@dataclass
class Plan:
    """One planned fault. `lost` carries the call out and drops the connection before answering."""

    kind: Kind
    value: Any = None
    times: int = 1


@dataclass
class Faults:
    """Faults by method, each used up `times` times, in the order planned."""

    clock: Callable[[], float]
    enforce_rates: bool = False
    plans: dict[str, deque[Plan]] = field(default_factory=lambda: defaultdict(deque))
    _calls: dict[tuple[str, str], deque[float]] = field(default_factory=lambda: defaultdict(deque))

    def plan(self, method: str, kind: Kind, value: Any = None, times: int = 1) -> None:
        self.plans[method].append(Plan(kind, value, times))

    async def next(self, method: str) -> Plan | None:
        """The fault that this call meets; a `slow` one is waited out here."""
        waiting = self.plans[method]
        if not waiting:
            return None
        plan = waiting[0]
        plan.times -= 1
        if plan.times <= 0:
            waiting.popleft()
        if plan.kind == "slow":
            await asyncio.sleep(plan.value)
            return None
        return plan

    def retry_after_s(self, method: str, channel: str) -> int | None:
        """Seconds to wait where the call exceeds its rate, else None."""
        if not self.enforce_rates:
            return None
        if method == "chat.postMessage":
            return self._over((method, channel), _POST_BURST, float(_POST_BURST))
        tier = _TIER_OF.get(method)
        return self._over((method, ""), _TIERS[tier], 60.0) if tier else None

    def _over(self, key: tuple[str, str], most: int, window_s: float) -> int | None:
        calls, now = self._calls[key], self.clock()
        while calls and now - calls[0] >= window_s:
            calls.popleft()
        if len(calls) >= most:
            return max(1, round(window_s - (now - calls[0])))
        calls.append(now)
        return None
