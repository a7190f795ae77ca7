"""Regression gate: accuracy on the carried public measurements may not fall behind what it was, with a margin for new cases."""

import pytest

from bench.memory.__main__ import Point, left_out, points, summary, verdicts


@pytest.fixture(scope="module")
def found() -> tuple[Point, ...]:
    return points()


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
    here = [point for point in found if point.figure == figure]
    for result in (summary(here), left_out(here)):
        assert (result.median <= median, result.p90 <= p90) == (True, True), result


def test_runs_that_worked_are_said_to_fit_and_others_not() -> None:
    judged = verdicts()
    assert judged["worked"][0] >= 0.97 * judged["worked"][1]
    assert judged["failed"][0] >= 0.80 * judged["failed"][1]
