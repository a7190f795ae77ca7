"""Tables pasted into a message: a cell is read with the label of its column, and each row is one case.

Columns are divided by bars, tabs, semicolons or at least two blanks; the first line names them. A table of two columns
between bars is a list of labels with values, which folding has turned into one already.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_LEAST_COLUMNS = 3
_LONGEST_CELL = 60
_DIVIDERS = (re.compile(r"\|"), re.compile(r"\t+"), re.compile(r";"), re.compile(r"(?<=\S) {2,}(?=\S)"))
_RULE = re.compile(r"[\s|:+=\-_]*$")
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table with the label of its column; `row` is one number for each row of the message."""

    start: int
    end: int
    label: str
    row: int


@lru_cache(maxsize=4)
def table_cells(folded: str) -> tuple[Cell, ...]:
    """All cells below a head, in order."""
    return tuple(_cells(folded))


def cell_at(folded: str, place: int) -> Cell | None:
    """The cell that holds a place."""
    cells = table_cells(folded)
    at = _index(cells, place)
    return cells[at] if at is not None else None


def row_of(folded: str, place: int) -> tuple[Cell, ...]:
    """The cells of the row in which a place stands."""
    cells = table_cells(folded)
    at = _index(cells, place)
    if at is None:
        return ()
    first, last = at, at + 1
    while first > 0 and cells[first - 1].row == cells[at].row:
        first -= 1
    while last < len(cells) and cells[last].row == cells[at].row:
        last += 1
    return cells[first:last]


def _index(cells: Sequence[Cell], place: int) -> int | None:
    before = bisect_right(cells, place, key=lambda cell: cell.start) - 1
    return before if before >= 0 and place < cells[before].end else None


def in_rows_of_their_own(folded: str, places: Sequence[int]) -> bool:
    """Whether each of several places stands in another row of a table."""
    rows = [cell.row for place in places if (cell := cell_at(folded, place))]
    return len(rows) == len(places) == len(set(rows))


def _cells(folded: str) -> Iterator[Cell]:
    head: list[tuple[int, int]] = []
    divider: re.Pattern[str] | None = None
    for number, line in enumerate(_LINE.finditer(folded)):
        if _RULE.match(line.group()):
            continue
        row = _split(folded, line.start(), line.end(), divider) if divider else []
        if head and len(row) == len(head):
            for (start, end), (left, right) in zip(row, head, strict=True):
                yield Cell(start, end, folded[left:right], number)
            continue
        divider, head = _head(folded, line.start(), line.end())


def _head(folded: str, start: int, end: int) -> tuple[re.Pattern[str] | None, list[tuple[int, int]]]:
    """The divider of a line of labels and where they stand; a label does not begin with a figure."""
    for divider in _DIVIDERS:
        cells = _split(folded, start, end, divider)
        if len(cells) >= _LEAST_COLUMNS and not any(folded[a].isdigit() or b - a > _LONGEST_CELL for a, b in cells):
            return divider, cells
    return None, []


def _split(folded: str, start: int, end: int, divider: re.Pattern[str]) -> list[tuple[int, int]]:
    bounds = [start]
    for found in divider.finditer(folded, start, end):
        bounds += [found.start(), found.end()]
    bounds.append(end)
    pairs = [_stripped(folded, a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=True)]
    return [(a, b) for a, b in pairs if a < b]


def _stripped(folded: str, start: int, end: int) -> tuple[int, int]:
    while start < end and folded[start].isspace():
        start += 1
    while end > start and folded[end - 1].isspace():
        end -= 1
    return start, end
