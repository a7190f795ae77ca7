"""Computations in processes: one that ends, hangs or raises harms no other, and none outlives who asked for it."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.processes import ComputationEnded, ComputationFailed, ComputationHung, Processes


@contextlib.contextmanager
def running(count: int = 1, timeout_s: float = 60.0, prepare: Callable[[], object] = os.getpid) -> Iterator[Processes]:
    found = Processes(count, timeout_s, prepare, "os")
    try:
        yield found
    finally:
        found.close()


def test_one_process_serves_one_computation_after_the_other() -> None:
    with running() as processes:
        first = processes.run(os.getpid)
        assert first != os.getpid()
        assert processes.run(os.getpid) == first
        assert processes.run(math.hypot, 3, 4) == 5.0


def test_as_many_run_at_once_as_there_are_processes(tmp_path: Path) -> None:
    """Two that wait for each other, through a pipe in the file system, both come to their end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with running(2) as processes, ThreadPoolExecutor(2) as pool:
        written = pool.submit(processes.run, pipe.write_text, "met")
        assert processes.run(pipe.read_text) == "met"
        assert written.result() == 3


def test_one_that_ends_its_process_is_told_and_the_next_gets_a_new_one() -> None:
    with running() as processes:
        before = processes.run(os.getpid)
        with pytest.raises(ComputationEnded):
            processes.run(os._exit, 9)
        assert processes.run(os.getpid) not in (before, os.getpid())


def test_one_that_hangs_is_ended() -> None:
    with running(timeout_s=0.2) as processes:
        with pytest.raises(ComputationHung):
            processes.run(time.sleep, 600)
        with running() as others:
            assert others.run(math.sqrt, 4) == 2.0


def test_what_one_raises_is_told_with_its_place() -> None:
    with running() as processes:
        before = processes.run(os.getpid)
        with pytest.raises(ComputationFailed, match="ValueError: math domain error") as raised:
            processes.run(math.sqrt, -1)
        assert "Traceback" in raised.value.__notes__[0]
        assert processes.run(os.getpid) == before


@pytest.mark.parametrize(
    ("prepare", "fault"),
    [(functools.partial(math.sqrt, -1), ComputationFailed), (functools.partial(os._exit, 3), ComputationEnded)],
)
def test_a_process_that_cannot_prepare_itself_says_why(
    prepare: Callable[[], object], fault: type[Exception]
) -> None:  # fmt: skip
    with running(prepare=prepare) as processes:
        for _ in range(2):
            with pytest.raises(fault):
                processes.run(os.getpid)


def test_closing_ends_what_runs() -> None:
    with running() as processes, ThreadPoolExecutor(1) as pool:
        processes.run(os.getpid)
        hanging = pool.submit(processes.run, time.sleep, 600)
        processes.close()
        with pytest.raises(ComputationEnded):
            hanging.result()
        with pytest.raises(ComputationEnded):
            processes.run(os.getpid)


def test_a_process_may_be_ended_from_several_threads_at_once() -> None:
    with running() as processes, ThreadPoolExecutor(8) as pool:
        processes.run(os.getpid)
        [process] = processes._all
        together = threading.Barrier(8)

        def end() -> None:
            together.wait()
            process.end()

        for done in [pool.submit(end) for _ in range(8)]:
            done.result()


_KILLED = """
import os, signal
from bot.processes import Processes
if __name__ == "__main__":
    print(Processes(1, 60.0, os.getpid, "os").run(os.getpid), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_none_outlives_a_process_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(_KILLED, "utf-8")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    said = subprocess.run([sys.executable, script], env=environment, stdout=subprocess.PIPE, check=False, text=True)
    child = int(said.stdout)
    deadline = time.monotonic() + 60
    while _runs(child):
        assert time.monotonic() < deadline, "the process goes on without anybody who asks"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """Whether a process is there, and not only its entry, which stays until somebody asks how it ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return "Z" not in Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    return False
