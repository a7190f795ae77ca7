"""Deployments for the tests of speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sizing.estimate import Speed
from sizing.memory.inference import plan_inference
from sizing.memory.plan import MemoryPlan
from sizing.resolve import Resolved, resolve
from sizing.spec import parse_spec
from sizing.speed.model import predict

Deploy = Callable[..., tuple[Resolved, MemoryPlan]]
Say = Callable[..., Speed]


def _deployment(**spec: Any) -> tuple[Resolved, MemoryPlan]:
    resolved = resolve(parse_spec(spec))
    return resolved, plan_inference(resolved)


def _speed(**spec: Any) -> Speed:
    said = predict(*_deployment(**spec))
    assert said is not None
    return said


@pytest.fixture
def deploy() -> Deploy:
    """A spec's fields → the resolved spec and its memory plan."""
    return _deployment


@pytest.fixture
def say() -> Say:
    """A spec's fields → its speed."""
    return _speed
