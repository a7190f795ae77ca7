"""How long the engine takes: `python -m bench.engine_time [--count 1000]`, in seconds of processor time of one process.

The specs are those of all measurements that the repository carries (servers, local engines, speeds, training, encoders and pictures),
drawn evenly with a fixed seed. Processor time, since a machine that does other things as well says little by the clock; both are printed.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sizing.engine import estimate, estimate_data
from sizing.measured import cases
from sizing.measured_training import rows
from sizing.spec import WorkloadSpec, parse_spec
from sizing.speed.measured import load_rows, spec_of

Spec = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]


def carried() -> list[Spec]:
    """The workload of every carried measurement."""
    local = (ROOT / "memory_local" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    read = [*map(json.loads, local), *rows()]
    return [*(dict(case.spec) for case in cases()), *map(spec_of, load_rows()), *(row["spec"] for row in read)]


def mixed(count: int) -> list[Spec]:
    """`count` specs, the same at every run."""
    found, dice = carried(), random.Random(7)
    return [{**dice.choice(found), "id": number} for number in range(count)]


def command_s(specs: Sequence[Spec]) -> tuple[float, float]:
    """(processor, clock) seconds of `python -m sizing estimate` over all specs, start included."""
    lines = "".join(json.dumps(spec) + "\n" for spec in specs)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "sizing", "estimate"]
    subprocess.run(command, input=lines, text=True, check=True, stdout=subprocess.DEVNULL, cwd=ROOT.parent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.perf_counter() - started


def each_ms(parsed: Sequence[WorkloadSpec], work: Callable[[WorkloadSpec], object]) -> float:
    """Mean milliseconds of processor time of one call."""
    started = time.process_time()
    for spec in parsed:
        work(spec)
    return 1000 * (time.process_time() - started) / len(parsed)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    specs = mixed(parser.parse_args().count)
    used, clock = command_s(specs)
    print(f"python -m sizing estimate, {len(specs)} specs: {used:.2f} s of processor time, {clock:.2f} s by the clock")
    parsed = [parse_spec(spec) for spec in specs]
    bare = partial(estimate, derivation=False)
    print(f"one estimate in process, models met for the first time:  {each_ms(parsed, bare):.2f} ms")
    print(f"one estimate in process, models known:                   {each_ms(parsed, bare):.2f} ms")
    print(f"with derivation and nearest measurements:                {each_ms(parsed, estimate):.2f} ms")
    print(
        f"from plain data, with the machine around it as well:     {each_ms(parsed, lambda s: estimate_data(s.model_dump())):.2f} ms"
    )


if __name__ == "__main__":
    main()
