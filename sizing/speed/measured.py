"""Public measurements carried as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any


@lru_cache(maxsize=1)
def load_rows() -> tuple[Mapping[str, Any], ...]:
    """The measured rows as they stand in `data/measured_speed.json`."""
    text = resources.files("sizing.speed").joinpath("data/measured_speed.json").read_text(encoding="utf-8")
    return tuple(json.loads(text))


def spec_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The workload of a measured row, as a WorkloadSpec in plain data."""
    given, produced, prior = row.get("input_tokens"), row.get("output_tokens"), row.get("prior_context_tokens")
    alone = 1 if row["scenario"] in ("single_stream", "prefill") else None
    spec = {
        "id": row["id"],
        "task": row.get("task", "inference"),
        "model": {"id": row["model"]},
        "weights": row.get("weights"),
        "kv_cache": row.get("kv_dtype"),
        "engine": {
            "name": row.get("engine"), "version": row.get("engine_version"), "as_of": row.get("as_of"),
            "backend": row.get("backend"), "max_num_seqs": row.get("max_num_seqs"), "file_size_gib": row.get("file_size_gib"),
        },
        "context_tokens": (given or 0) + (produced or 0) + (prior or 0) or None,
        "input_tokens": given,
        "output_tokens": produced,
        "prior_context_tokens": prior,
        "concurrency": row.get("concurrency") or alone,
        "load": row.get("load") or {},
        "hardware": [{"accelerator": row["accelerator"], "count": row.get("gpus", 1)}],
        "parallel": {"tensor": row.get("tp"), "pipeline": row.get("pp"), "data": row.get("dp")},
        "host": row.get("host") or {},
    }  # fmt: skip
    return spec
