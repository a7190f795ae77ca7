"""`python -m bench.work`: encoders, pictures and speech against public measurements; prints a row each and the median error by kind.

The shares and buffers of `sizing.work` were set on these very rows: read the errors as a fit, not as a forecast.
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

from sizing.engine import estimate_data

ROWS = Path(__file__).with_name("rows.jsonl")


def estimated(row: dict[str, Any]) -> tuple[float, float]:
    """(measured, estimated) of the figure that a row carries."""
    hardware = [{"accelerator": row["accelerator"]}]
    if row["kind"] == "encoder":
        spec = {"task": "embedding", "model": row["model"], "weights": row["weights"], "input_tokens": row["tokens"]}
        work = estimate_data({**spec, "hardware": hardware}).work or {}
        return row["tokens_s"], work["tokens_s"]["expected"]
    if row["kind"] == "picture":
        work = (
            estimate_data(
                {"task": "image", "model": row["model"], "weights": row["weights"], "hardware": hardware}
            ).work
            or {}
        )
        return row["peak_gib"], work[f"{row['placement']}_gib"]
    work = estimate_data({"task": "transcription", "model": row["model"], "hardware": hardware}).work or {}
    return row["real_time"], work["real_time"]["expected"]


def main() -> None:
    errors: dict[str, list[float]] = defaultdict(list)
    for line in ROWS.read_text("utf-8").splitlines():
        row = json.loads(line)
        measured, value = estimated(row)
        errors[row["kind"]].append(abs(value - measured) / measured)
        print(
            f"{row['kind']:14} {row['model']:26} {row['accelerator']:12} {measured:10.1f} {value:10.1f} {value / measured - 1:+.0%}"
        )
    for kind, found in errors.items():
        print(f"{kind}: {len(found)} rows, median error {statistics.median(found):.1%}, largest {max(found):.1%}")


if __name__ == "__main__":
    main()
