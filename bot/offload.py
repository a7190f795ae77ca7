"""Work off the event loop: a few threads for the database, a bounded number for computing.

Pools of their own, so that recording a question never waits behind the answering of others. Threads and not processes: the
engine and the index are loaded once, and two busy threads leave the event loop its turn every few milliseconds.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_DATABASE_THREADS = 4
_URGENT_THREADS = 3


class Offload:
    """The pools. `close` does not wait for a computation that hangs."""

    def __init__(self, compute_workers: int) -> None:
        self._database = ThreadPoolExecutor(_DATABASE_THREADS, "database")
        self._urgent = ThreadPoolExecutor(_URGENT_THREADS, "urgent")
        self._compute = ThreadPoolExecutor(compute_workers, "compute")

    async def database(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a transaction."""
        return await self._run(self._database, functools.partial(work, *args, **kwargs))

    async def urgent(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a transaction that Slack waits for: never behind those of the turns in hand."""
        return await self._run(self._urgent, functools.partial(work, *args, **kwargs))

    async def compute(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a computation; waits while all workers are busy."""
        return await self._run(self._compute, functools.partial(work, *args, **kwargs))

    @staticmethod
    async def _run(pool: ThreadPoolExecutor, work: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(pool, work)

    def close(self) -> None:
        for pool in (self._compute, self._urgent, self._database):
            pool.shutdown(wait=False, cancel_futures=True)
