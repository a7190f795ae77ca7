"""Computations in processes of their own, so that answers use every core and an acknowledgement never waits for one.

One process works on one computation at a time. Whichever ends its process, by a fault of a library or for want of memory,
or does not end in time, harms no other: its process is replaced and whoever asked is told.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from queue import LifoQueue
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_END_S: Final = 2.0
_NICE: Final = 5


class ComputationFault(Exception):
    """No result came of a computation."""


class ComputationEnded(ComputationFault):
    """The process ended in the middle of the computation: trying again is likely to end the next one."""


class ComputationHung(ComputationFault):
    """The computation did not end in time; its process was ended."""


class ComputationFailed(ComputationFault):
    """The computation raised; the text names what, and a note has where."""


class Processes:
    """A fixed number of processes, each started at its first use. Safe to use from as many threads."""

    def __init__(self, count: int, timeout_s: float, prepare: Callable[[], object], preload: str) -> None:
        """`prepare` is run first in each of them; `preload` names the module that they share in memory."""
        methods = multiprocessing.get_all_start_methods()
        # Not a fork of this process: its threads would leave locks behind that nobody opens.
        self._start: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if hasattr(self._start, "set_forkserver_preload"):
            self._start.set_forkserver_preload([preload])
        self._prepare, self.timeout_s = prepare, timeout_s
        # Last in, first out: one that runs is used before another is started.
        self._idle: LifoQueue[_Process | None] = LifoQueue()
        self._all: set[_Process] = set()
        self._lock, self._closed = threading.Lock(), False
        for _ in range(count):
            self._idle.put(None)

    def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of a function of a module, its arguments and result being picklable; waits while all are busy.

        Raises:
            ComputationEnded, ComputationHung, ComputationFailed: see there.
        """
        process = self._idle.get()
        try:
            process = process or self._started()
            result: R = process.run(work, args, kwargs, self.timeout_s)
        except (ComputationEnded, ComputationHung):
            self._drop(process)
            process = None
            raise
        finally:
            self._idle.put(process)
        return result

    def _started(self) -> _Process:
        with self._lock:
            if self._closed:
                raise ComputationEnded("closed")
            process = _Process(self._start, self._prepare)
            self._all.add(process)
        try:
            process.ready()
        except ComputationFault:
            self._drop(process)
            raise
        return process

    def _drop(self, process: _Process | None) -> None:
        if process is not None:
            self._all.discard(process)
            process.end()

    def close(self) -> None:
        """End them all, whatever they are at."""
        with self._lock:
            self._closed = True
        for process in list(self._all):
            process.end()


class _Process:
    def __init__(self, start: Any, prepare: Callable[[], object]) -> None:
        self._ours, theirs = start.Pipe()
        self._process = start.Process(target=_serve, args=(theirs, prepare), daemon=True, name="answers")
        self._process.start()
        theirs.close()
        self._ending, self._ended = threading.Lock(), False

    def ready(self) -> None:
        """Wait until it has prepared itself, however long that takes on a crowded machine.

        Raises:
            ComputationEnded, ComputationFailed: it could not.
        """
        self._received(None)

    def run(self, work: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], timeout_s: float) -> Any:
        try:
            self._ours.send((work, args, kwargs))
        except OSError:
            raise ComputationEnded("the process had ended before") from None
        return self._received(timeout_s)

    def _received(self, timeout_s: float | None) -> Any:
        try:
            if not self._ours.poll(timeout_s):
                raise ComputationHung(f"no result within {timeout_s:g} s")
            result, fault = self._ours.recv()
        except (EOFError, OSError):
            raise ComputationEnded("the computation ended its process") from None
        if fault is not None:
            failed = ComputationFailed(fault[0])
            failed.add_note(fault[1])
            raise failed
        return result

    def end(self) -> None:
        """Whoever waits for a result and whoever closes may both come here; a connection stands no second close."""
        with self._ending:
            if not self._ended:
                self._ended = True
                self._process.kill()
                self._process.join(_END_S)
                self._ours.close()


def _serve(pipe: Connection, prepare: Callable[[], object]) -> None:
    """The life of a process: computations one after the other, until whoever asks for them is gone."""
    # A Ctrl-C in the terminal reaches the whole group; who ends first, and how, is the parent's affair.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Who acknowledges goes first where both want the processor.
    if hasattr(os, "nice"):
        os.nice(_NICE)
    with contextlib.suppress(EOFError, OSError):
        pipe.send(_carried_out(prepare, (), {}))
        while True:
            pipe.send(_carried_out(*pipe.recv()))


def _carried_out(work: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The result, or what was raised and where: an exception itself need not survive the way to another process."""
    try:
        return work(*args, **kwargs), None
    # Raised again where the computation was asked for, as if it had run there.
    except Exception as error:  # noqa: BLE001
        return None, (f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))
