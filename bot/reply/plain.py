"""Answer → terminal (Rich) and plain text. Pure: builds renderables and strings, prints nothing by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from bot.answer import Answer, AssumptionView, Chart, ChartBar, Citation, Table
from bot.reply.wording import Wording, wording

_GAP = 3  # what a column takes beside its longest cell
_MOST_CELLS = 36
_FEWEST_CELLS = 16
_PARTS = (
    ("weights_gib", "cyan"),
    ("kv_cache_gib", "magenta"),
    ("activations_gib", "yellow"),
    ("overhead_gib", "white"),
)


def render(answer: Answer) -> RenderableType:
    """The answer as one Rich renderable. Texts are never read as markup: they may hold anything."""
    return Group(*_parts(answer))


def text(answer: Answer, width: int = 100) -> str:
    """The answer as plain text without control codes."""
    console = Console(width=width, color_system=None, force_terminal=False, highlight=False, emoji=False)
    with console.capture() as captured:
        console.print(render(answer))
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip() + "\n"


def _parts(answer: Answer) -> Iterator[RenderableType]:
    words = wording(answer.lang)
    yield Text(answer.headline, style="bold")
    if answer.lead:
        yield Text(answer.lead)
    yield from _paragraphs(answer, first=True)
    if answer.chart:
        yield Padding(_Bars(answer.chart, answer.lang), (1, 0, 0, 0))
    if answer.table:
        yield Padding(_Grid(answer.table), (1, 0, 0, 0))
    yield from _paragraphs(answer, first=False)
    if answer.assumptions:
        yield Padding(_assumptions(answer.told_assumptions, words.text("ui", "assumed")), (1, 0, 0, 0))
    for command in answer.commands:
        yield Padding(Text(command.title, style="bold"), (1, 0, 0, 0))
        yield Padding(Text(command.code, style="green"), (0, 0, 0, 2))
    if answer.citations:
        yield Padding(_sources(answer.citations, words), (1, 0, 0, 0))


def _paragraphs(answer: Answer, first: bool) -> Iterator[RenderableType]:
    """What changed stands right under the verdict; everything else below the table."""
    for paragraph in answer.paragraphs:
        if (paragraph.kind == "change") == first:
            title = Text(f"{paragraph.title} ", style="bold") if paragraph.title else Text()
            yield Padding(title + Text(paragraph.text), (0 if first else 1, 0, 0, 0))


def _table(table: Table) -> RichTable:
    shown = RichTable(
        title=table.caption, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for column in table.columns:
        shown.add_column(Text(column), overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(cell) for cell in row))
    return shown


def _assumptions(assumptions: tuple[AssumptionView, ...], title: str) -> Text:
    shown = Text(f"{title} ", style="bold")
    for index, assumption in enumerate(assumptions):
        shown.append("" if index == 0 else " · ", style="not bold")
        shown.append(f"{assumption.label}: {assumption.told}", style="not bold")
        if assumption.alternatives:
            choices = " | ".join(choice.label for choice in assumption.alternatives)
            shown.append(f" [{choices}]", style="not bold dim")
    return shown


def _sources(citations: tuple[Citation, ...], words: Wording) -> Text:
    shown = Text(f"{words.text('ui', 'sources')} ", style="bold dim")
    shown.append(" · ".join(cited(citation, words) for citation in citations), style="not bold dim")
    return shown


def cited(citation: Citation, words: Wording) -> str:
    """`[1] Note “KV cache”, “Formula” (after vLLM documentation)`."""
    where = words.text("cite", citation.kind, title=citation.title)
    section = words.text("cite", "section", section=citation.section) if citation.section else ""
    key = "source" if citation.kind == "note" else "sheet_source"
    source = words.text("cite", key, source=citation.source) if citation.source else ""
    return f"[{citation.n}] {where}{section}{source}"


class _Grid:
    """A table where it fits the width; else each row as its name with what its columns say, which reads better than folded cells."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = (self.table.columns, *self.table.rows)
        widths = [max(len(row[place]) for row in rows) for place in range(len(self.table.columns))]
        if sum(widths) + _GAP * len(widths) <= options.max_width:
            yield _table(self.table)
            return
        yield Text(self.table.caption, style="bold")
        for row in self.table.rows:
            yield Text(f"\n {row[0]}", style="bold")
            told = (f"{column}: {cell}" for column, cell in zip(self.table.columns[1:], row[1:], strict=True))
            yield Padding(Text(" · ".join(told)), (0, 0, 0, 3))


class _Bars:
    """The chart in characters: a bar per option, its limit marked."""

    def __init__(self, chart: Chart, lang: Any) -> None:
        self.chart = chart
        self.words = wording(lang)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        figures = max(len(self._figures(bar)) for bar in self.chart.bars)
        width = min(
            max(len(bar.label) for bar in self.chart.bars), max(12, options.max_width - figures - _FEWEST_CELLS - 4)
        )
        cells = max(_FEWEST_CELLS, min(_MOST_CELLS, options.max_width - width - figures - 4))
        scale = max(max(_total(bar), bar.capacity_gib) for bar in self.chart.bars)
        for bar in self.chart.bars:
            label = bar.label if len(bar.label) <= width else bar.label[: width - 1] + "…"
            yield Text(f"{label:<{width}}  ") + self._bar(bar, scale, cells) + Text(f"  {self._figures(bar)}")
        yield self._legend()

    def _bar(self, bar: ChartBar, scale: float, width: int) -> Text:
        cells = [style for name, style in _PARTS for _ in range(round(getattr(bar, name) / scale * width))]
        limit = min(width - 1, round(bar.capacity_gib / scale * width))
        shown = Text()
        for index in range(width):
            filled = index < len(cells)
            symbol = "│" if index == limit else "█" if filled else "·"
            shown.append(symbol, style="bold red" if index == limit else cells[index] if filled else "dim")
        return shown

    def _figures(self, bar: ChartBar) -> str:
        return f"{self.words.number(_total(bar))} / {self.words.gib(bar.capacity_gib)}"

    def _legend(self) -> Text:
        shown = Text()
        for name, style in _PARTS:
            shown.append("█ ", style=style).append(
                f"{self.words.label('parts', name.removesuffix('_gib'))}  ", style="dim"
            )
        return shown.append("│ ", style="bold red").append(self.words.label("parts", "capacity"), style="dim")


def _total(bar: ChartBar) -> float:
    return bar.weights_gib + bar.kv_cache_gib + bar.activations_gib + bar.overhead_gib
