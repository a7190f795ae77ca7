"""Work off the event loop: threads for the database and for small sums, processes or threads for answers.

Pools of their own, so that recording a question never waits behind the answering of others, and a form's check, for
which Slack waits, never behind an answer. Processes where the real pipeline answers: then every core is used, and what
computes does not take the interpreter's lock from who acknowledges.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

from sqlalchemy.exc import TimeoutError as WaitedTooLong

from bot.processes import Processes

P = ParamSpec("P")
R = TypeVar("R")

# Far above what a transaction takes (a lease of a thousand open questions 35 ms). Slack itself gives up after three seconds.
DATABASE_S: Final = 15.0
URGENT_S: Final = 10.0
_DATABASE_THREADS = 4
_URGENT_THREADS = 3
_COMPUTE_THREADS = 2


class Offload:
    """The pools. `close` does not wait for an answer that hangs."""

    def __init__(self, answer_workers: int, processes: Processes | None = None) -> None:
        self._database = ThreadPoolExecutor(_DATABASE_THREADS, "database")
        self._urgent = ThreadPoolExecutor(_URGENT_THREADS, "urgent")
        self._compute = ThreadPoolExecutor(_COMPUTE_THREADS, "compute")
        self._answers = ThreadPoolExecutor(answer_workers, "answers")
        self._pools = (self._answers, self._compute, self._urgent, self._database)
        self._processes = processes

    async def database(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a transaction.

        Raises:
            SQLAlchemyError: it failed, or took too long and may yet come about: every transaction of ours may be repeated.
        """
        return await self._in_time(self._database, functools.partial(work, *args, **kwargs), DATABASE_S)

    async def urgent(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a transaction that Slack waits for: never behind those of the turns in hand.

        Raises:
            SQLAlchemyError: as above.
        """
        return await self._in_time(self._urgent, functools.partial(work, *args, **kwargs), URGENT_S)

    async def at_leisure(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a transaction that may take as long as it takes: a migration, what deletes much."""
        return await self._run(self._database, functools.partial(work, *args, **kwargs))

    async def compute(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a small computation, such as the check of a form: never behind an answer."""
        return await self._run(self._compute, functools.partial(work, *args, **kwargs))

    async def answer(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run what answers; waits while all workers are busy."""
        return await self._run(self._answers, functools.partial(work, *args, **kwargs))

    async def apart(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a heavy function of a module where answers are run; arguments and result must survive the way to a process.

        Raises:
            ComputationFault: its process gave no result.
        """
        if self._processes is None:
            return await self.answer(work, *args, **kwargs)
        return await self.answer(functools.partial(self._processes.run, work, *args, **kwargs))

    async def _in_time(self, pool: ThreadPoolExecutor, work: Callable[[], R], seconds: float) -> R:
        """A server that accepts and never answers looks like one that is away; its thread is free when it answers or is gone."""
        try:
            async with asyncio.timeout(seconds):
                return await self._run(pool, work)
        except TimeoutError:
            raise WaitedTooLong(f"the database did not answer within {seconds:g} s") from None

    @staticmethod
    async def _run(pool: ThreadPoolExecutor, work: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(pool, work)

    def hanging(self, patience_s: float = 1.0) -> bool:
        """Whether threads are held by something that does not end, once closed: the interpreter would wait for them for ever."""
        until = time.monotonic() + patience_s
        threads = [thread for pool in self._pools for thread in pool._threads]
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        return any(thread.is_alive() for thread in threads)

    def close(self) -> None:
        if self._processes is not None:
            self._processes.close()
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)
