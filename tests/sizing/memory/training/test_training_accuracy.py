"""The gate on accuracy against public training peaks, with a margin over what is reached."""

from __future__ import annotations

import statistics

from bench.training.__main__ import error, rows


def test_known_rows_stay_near_their_measured_peak() -> None:
    errors = sorted(error(row, withheld=False) for row in rows() if row["known"])
    assert len(errors) >= 60
    assert statistics.median(errors) <= 0.08
    assert errors[int(0.9 * len(errors))] <= 0.33


def test_a_framework_never_measured_is_not_far_off() -> None:
    errors = sorted(error(row, withheld=True) for row in rows() if row["known"])
    assert statistics.median(errors) <= 0.15
