"""Answer → a file to keep: Markdown to read, CSV for a spreadsheet, JSON for a program."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import Any, Literal

from bot.answer import Answer, Table
from bot.reply.plain import cited
from bot.reply.wording import wording

Format = Literal["markdown", "csv", "json"]
SUFFIXES: dict[Format, str] = {"markdown": ".md", "csv": ".csv", "json": ".json"}

_FENCE = re.compile(r"`{3,}")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|])")
# A cell that begins like this is run as a formula by spreadsheets; a leading apostrophe makes it text.
_FORMULA_STARTS = ("=", "+", "@", "\t", "\r")
_NEGATIVE_NUMBER = re.compile(r"^-[\d.,\s]+(?:\s?\w+)?$")


def export(answer: Answer, kind: Format) -> str:
    """The answer in one of the formats."""
    return {"markdown": markdown, "csv": csv_table, "json": json_text}[kind](answer)


def json_text(answer: Answer) -> str:
    return answer.model_dump_json(indent=2) + "\n"


def markdown(answer: Answer) -> str:
    """The whole answer with its table, commands and sources."""
    words = wording(answer.lang)
    parts = [f"**{_plain(answer.headline)}**", _plain(answer.lead)]
    parts += [_markdown_table(answer.table)] if answer.table else []
    parts += [
        f"**{_plain(p.title)}** {_plain(p.text)}" if p.title else _plain(p.text)
        for p in (*answer.paragraphs, *answer.details)
    ]
    if answer.assumptions:
        listed = [f"- {_plain(a.label)}: {_plain(a.value)}" for a in answer.assumptions]
        parts.append("\n".join([f"**{words.text('ui', 'assumed')}**", "", *listed]))
    if answer.calculations:
        sums = [f"- `{_sum(step)}`" for step in answer.calculations]
        parts.append("\n".join([f"**{words.text('ui', 'calculations')}**", "", *sums]))
    parts += [f"{_plain(c.title)}\n\n{_fenced(c.code, c.language)}" for c in answer.commands]
    if answer.citations:
        parts.append(
            "\n".join(
                [f"**{words.text('ui', 'sources')}**", "", *(f"- {_plain(cited(c, words))}" for c in answer.citations)]
            )
        )
    return "\n\n".join(part for part in parts if part) + "\n"


def _sum(step: Mapping[str, Any]) -> str:
    """`load = size_gb / rate_gb_s = 5.71429 s (size_gb = 40, rate_gb_s = 7)`: as a program has it, in both languages."""
    inputs = ", ".join(f"{name} = {value:.6g}" for name, value in step["inputs"].items())
    return f"{step['quantity']} = {step['formula']} = {step['value']:.6g} {step['unit']} ({inputs})".replace("  ", " ")


def csv_table(answer: Answer) -> str:
    """The options as CSV; an answer without a table gives its headline and assumptions."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in _rows(answer):
        writer.writerow([_safe_cell(cell) for cell in row])
    return buffer.getvalue()


def _rows(answer: Answer) -> list[tuple[str, ...]]:
    if answer.table:
        return [answer.table.columns, *answer.table.rows]
    return [(answer.headline,), *((a.label, a.value) for a in answer.assumptions)]


def _safe_cell(cell: str) -> str:
    dangerous = cell.startswith(_FORMULA_STARTS) or (cell.startswith("-") and not _NEGATIVE_NUMBER.match(cell))
    return f"'{cell}" if dangerous else cell


def _markdown_table(table: Table) -> str:
    lines = [f"{_plain(table.caption)}", "", _line(table.columns), _line(["---"] * len(table.columns), raw=True)]
    return "\n".join([*lines, *(_line(row) for row in table.rows)])


def _line(cells: tuple[str, ...] | list[str], raw: bool = False) -> str:
    return "| " + " | ".join(cell if raw else _plain(cell) for cell in cells) + " |"


def _fenced(code: str, language: str) -> str:
    longest = max((len(run) for run in _FENCE.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text.replace("\n", " "))
