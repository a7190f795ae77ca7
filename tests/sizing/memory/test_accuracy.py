"""Regression gate: accuracy on the carried public measurements may not fall behind what it was, with a margin for new cases."""

from collections.abc import Mapping

import pytest

from bench.memory.__main__ import Point, left_out, points, points_left_out, summary, verdicts
from bench.memory.refit import FITTED, as_without
from sizing.memory.serving import constants


@pytest.fixture(scope="module")
def found() -> tuple[Point, ...]:
    return points()


@pytest.fixture(scope="module")
def apart() -> Mapping[tuple[str, str], Point]:
    return points_left_out()


@pytest.mark.parametrize(
    ("figure", "median", "p90"),
    [
        ("weights", 0.005, 0.06),
        ("KV for a length", 0.003, 0.03),
        ("KV capacity", 0.02, 0.10),
        ("concurrency", 0.02, 0.10),
        ("activations + overhead", 0.25, 0.40),
    ],
)
def test_errors_stay_small(found: tuple[Point, ...], figure: str, median: float, p90: float) -> None:
    result = summary([point for point in found if point.figure == figure])
    assert (result.median <= median, result.p90 <= p90) == (True, True), result


@pytest.mark.parametrize(
    ("figure", "median", "p90"),
    [
        ("weights", 0.005, 0.06),
        ("KV for a length", 0.003, 0.03),
        ("KV capacity", 0.02, 0.35),
        ("concurrency", 0.04, 0.35),
        ("activations + overhead", 0.25, 0.65),
    ],
)
def test_errors_stay_bounded_where_the_source_was_never_read(
    found: tuple[Point, ...], apart: Mapping[tuple[str, str], Point], figure: str, median: float, p90: float
) -> None:
    result = left_out([point for point in found if point.figure == figure], apart)
    assert (result.median <= median, result.p90 <= p90) == (True, True), result


def test_fitting_again_leaves_the_engine_as_it_was() -> None:
    before = {entry.name: getattr(constants, entry.name) for entry in FITTED}
    with as_without("https://github.com/llm-d-incubation/llm-d-planner/pull/205"):
        assert constants.NON_TORCH_FROM_014_GIB == 0.13  # nobody else measured it
    assert {entry.name: getattr(constants, entry.name) for entry in FITTED} == before


def test_runs_that_worked_are_said_to_fit_and_others_not() -> None:
    judged = verdicts()
    assert judged["worked"][0] >= 0.97 * judged["worked"][1]
    assert judged["failed"][0] >= 0.80 * judged["failed"][1]
