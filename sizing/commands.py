"""Lines ready to copy: the engine's launch line that realises an estimate, and the load test that checks it."""

from __future__ import annotations

from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.estimate import Estimate
from sizing.launch_lines.command import LaunchCommand
from sizing.launch_lines.load import load_tests
from sizing.launch_lines.local import local_lines
from sizing.launch_lines.servers import SERVERS
from sizing.resolve import resolve
from sizing.spec import WorkloadSpec

__all__ = ["LaunchCommand", "launch", "load_test"]


def launch(spec: WorkloadSpec, estimate: Estimate, defaults: Defaults = ENGINE_DEFAULTS) -> tuple[LaunchCommand, ...]:
    """The lines that start the workload as estimated; empty for an engine without a command line of its own.

    Raises:
        UserError: the spec cannot be resolved.
    """
    resolved = resolve(spec, defaults)
    if resolved.engine.name in SERVERS:
        return (SERVERS[resolved.engine.name](resolved),)
    return local_lines(resolved, estimate)


def load_test(
    spec: WorkloadSpec, estimate: Estimate, defaults: Defaults = ENGINE_DEFAULTS
) -> tuple[LaunchCommand, ...]:
    """The lines that put the workload's load on the running engine and measure it.

    Raises:
        UserError: the spec cannot be resolved.
    """
    return load_tests(resolve(spec, defaults), estimate)
