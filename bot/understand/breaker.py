"""A circuit breaker: who has failed several times in a row is left alone for a while, so that nobody waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Breaker:
    """Opens after `most_failures` in a row; then one call every `pause_s` seconds tries whether the other side is back."""

    most_failures: int = 3
    pause_s: float = 60.0
    clock: Callable[[], float] = time.monotonic
    _failures: int = 0
    _closed_until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def allows(self) -> bool:
        """Whether a call may be made now; where it is the one that tries, the next has to wait for another pause."""
        with self._lock:
            if self._failures < self.most_failures:
                return True
            now = self.clock()
            if now < self._closed_until:
                return False
            self._closed_until = now + self.pause_s
            return True

    def succeeded(self) -> None:
        """An answer came, whatever it says: everything is asked again."""
        with self._lock:
            self._failures = 0

    def failed(self) -> bool:
        """Counts a failure; True where this one opens the breaker."""
        with self._lock:
            self._failures += 1
            opens = self._failures == self.most_failures
            if opens:
                self._closed_until = self.clock() + self.pause_s
            return opens
