"""`llama-bench` and `llama-batched-bench`: their tables, one row a test."""

from __future__ import annotations

import re
from typing import Final

from bot.understand.logs.figures import gib, number
from sizing.observation import Observation

_HEADER: Final = re.compile(r"^\|\s*model\s*\|.*\bt/s\s*\|", re.MULTILINE)
_PP, _TG = re.compile(r"^pp ?(\d+)(?: @ d(\d+))?$"), re.compile(r"^tg ?(\d+)(?: @ d(\d+))?$")
_SIZE: Final = re.compile(r"([\d.]+) ([GM]iB)")


_BATCHED: Final = re.compile(r"^\|\s*PP\s*\|\s*TG\s*\|\s*B\s*\|.*\bS_TG t/s\s*\|", re.MULTILINE)


def read_batched(text: str) -> Observation | None:
    """The row of `llama-batched-bench` with most sequences at once; None where there is no such table."""
    header = _BATCHED.search(text)
    if not header:
        return None
    columns = _cells(header[0])
    lines = [_cells(line) for line in text[header.end() :].splitlines() if re.match(r"\|\s*\d", line)]
    rows = [dict(zip(columns, line, strict=False)) for line in lines if len(line) >= len(columns)]
    if not rows:
        return None
    row = {name: number(value) for name, value in max(rows, key=lambda one: number(one["B"])).items()}
    return Observation(
        sources=("llama-bench",),
        engine="llama.cpp",
        concurrency=row["B"],
        input_tokens=row["PP"],
        output_tokens=row["TG"],
        prefill_tok_s=row["S_PP t/s"],
        output_tok_s_total=row["S_TG t/s"],
        decode_tok_s=row["S_TG t/s"] / row["B"],
    )


def read(text: str) -> Observation | None:
    """The largest prompt test and the first writing test; None where there is no such table."""
    header = _HEADER.search(text)
    if not header:
        return None
    columns = _cells(header[0])
    rows = [
        dict(zip(columns, _cells(line), strict=False))
        for line in text[header.end() :].splitlines()
        if line.startswith("|")
    ]
    prompts = [(row, match) for row in rows if (match := _PP.match(row.get("test", "")))]
    written = [(row, match) for row in rows if (match := _TG.match(row.get("test", "")))]
    if not prompts and not written:
        return None
    first = (written or prompts)[0][0]
    size = _SIZE.search(first.get("size", ""))
    return Observation(
        sources=("llama-bench",),
        engine="llama.cpp",
        model=first.get("model"),
        file_gib=gib(size[1], size[2]) if size else None,
        prefill_tok_s=_rate(prompts[0][0]) if prompts else None,
        input_tokens=number(prompts[0][1][1]) if prompts else None,
        decode_tok_s=_rate(written[0][0]) if written else None,
        output_tokens=number(written[0][1][1]) if written else None,
        context_tokens=int(written[0][1][2]) if written and written[0][1][2] else None,
        concurrency=1.0 if written else None,
    )


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _rate(row: dict[str, str]) -> float | None:
    match = re.match(r"[\d.]+", row.get("t/s", ""))
    return float(match[0]) if match else None
