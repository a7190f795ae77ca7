"""Newer prices than the catalogue's: a CSV of the team's (street prices, quotes, rents), or what `gpuhunt` collects where it is installed.

Every row is checked by itself; bad ones are named with their line and left out. What passed is kept as JSON Lines in the data directory
and handed to the engine as a price book.
"""

from __future__ import annotations

import csv
import datetime
import importlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from sizing.catalogue.names import find
from sizing.errors import SizewiseError
from sizing.places import countries
from sizing.prices import Price, PriceBook, Rate, catalogue_prices

FILE = "prices.jsonl"
COLUMNS = (
    "kind", "accelerator", "amount", "currency", "date", "source", "condition", "net", "country", "memory_gb", "provider", "instance",
    "count",
)  # fmt: skip
_NEEDED = ("kind", "accelerator", "amount", "currency", "date", "source")
_MOST_ROWS = 20_000
_TRUE = frozenset({"true", "yes", "ja", "1", "net", "netto"})
_FALSE = frozenset({"false", "no", "nein", "0", "gross", "brutto"})
_GERMAN = {"kauf": "buy", "angebot": "quote", "miete": "rent", "neu": "new", "gebraucht": "used"}
_GERMAN_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")


def data_dir() -> Path:
    """Where imported prices are kept: SIZEWISE_DATA_DIR, else the user's data directory."""
    named = os.environ.get("SIZEWISE_DATA_DIR")
    return Path(named) if named else user_data_path("sizewise")


class PriceImportError(SizewiseError):
    """The file or source as a whole cannot be read."""


class PriceRow(BaseModel):
    """One price as imported. `kind`: `buy` is a street price of one piece, `quote` the team's own, `rent` an instance an hour."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    kind: Literal["buy", "quote", "rent"]
    accelerator: str = Field(min_length=1, max_length=200)
    amount: float = Field(gt=0, le=1e9, allow_inf_nan=False)
    currency: Literal["EUR", "USD"]
    date: datetime.date
    source: str = Field(min_length=1, max_length=500)
    condition: Literal["new", "used"] = "new"
    net: bool = True
    country: str | None = Field(default=None, pattern=r"^[A-Z]{2}$")
    memory_gb: float | None = Field(default=None, gt=0)
    provider: str | None = None
    instance: str | None = None
    count: int = Field(default=1, ge=1, le=64)

    @field_validator("currency", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.strip().upper().replace("€", "EUR").replace("$", "USD") if isinstance(value, str) else value

    @field_validator("kind", "condition", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        word = value.strip().lower() if isinstance(value, str) else value
        return _GERMAN.get(word, word) if isinstance(word, str) else word

    @field_validator("date", mode="before")
    @classmethod
    def _day_first(cls, value: object) -> object:
        found = _GERMAN_DATE.fullmatch(value.strip()) if isinstance(value, str) else None
        return f"{found[3]}-{found[2]:0>2}-{found[1]:0>2}" if found else value

    @field_validator("net", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        word = value.strip().lower() if isinstance(value, str) else value
        return True if word in _TRUE else False if word in _FALSE else value

    @field_validator("country", mode="before")
    @classmethod
    def _code(cls, value: object) -> object:
        found = countries(value) if isinstance(value, str) else None
        return next(iter(found)) if found is not None and len(found) == 1 else value

    @field_validator("accelerator")
    @classmethod
    def _known(cls, value: str) -> str:
        match = find(value, "accelerator")
        if match.id is None:
            near = f"; did you mean {', '.join(match.suggestions)}?" if match.suggestions else ""
            raise ValueError(f"unknown accelerator {value!r}{near}")
        return match.id

    @field_validator("date")
    @classmethod
    def _past(cls, value: datetime.date) -> datetime.date:
        if value > datetime.date.today() + datetime.timedelta(days=1):
            raise ValueError(f"{value} lies in the future")
        return value


@dataclass
class Imported:
    """What an import took in, and for each row it left out the line and why."""

    rows: list[PriceRow] = field(default_factory=list)
    skipped: list[tuple[int, str]] = field(default_factory=list)


def read_csv(path: Path) -> Imported:
    """The rows of a CSV file with a header line; comma or semicolon, decimal point or comma.

    Raises:
        PriceImportError: no such file, no header with the needed columns, or not a text file.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as fault:
        raise PriceImportError(f"{path} cannot be read: {fault.strerror or type(fault).__name__}") from None
    except UnicodeDecodeError:
        raise PriceImportError(f"{path} is no UTF-8 text: save it as CSV UTF-8") from None
    lines = text.splitlines()
    header = lines[0] if lines else ""
    reader = csv.DictReader(lines, delimiter=";" if header.count(";") > header.count(",") else ",")
    names = [name.strip().lower() for name in reader.fieldnames or ()]
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise PriceImportError(f"{path} lacks the columns {', '.join(missing)}; known are {', '.join(COLUMNS)}")
    reader.fieldnames = names
    return _checked((number, _filled(row)) for number, row in enumerate(reader, start=2))


def _filled(row: Mapping[str | None, Any]) -> dict[str, Any]:
    """Cells that say something; decimal commas become points."""
    found = {str(name): value for name, value in row.items() if name is not None and value not in (None, "")}
    for name in ("amount", "memory_gb"):
        if isinstance(found.get(name), str):
            found[name] = _number(found[name])
    return found


def _number(text: str) -> str:
    """ "1.234,50", "1,234.50", "1 234,5" → a number Python reads."""
    plain = text.replace(" ", "").replace("\N{NO-BREAK SPACE}", "").replace("'", "").strip("€$")
    last = max(plain.rfind(","), plain.rfind("."))
    if last < 0:
        return plain
    whole, cents = plain[:last].replace(",", "").replace(".", ""), plain[last + 1 :]
    thousands = len(cents) == 3 and plain[last] == ","
    return whole + cents if thousands else f"{whole}.{cents}"


def _checked(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> Imported:
    found = Imported()
    for number, row in rows:
        if len(found.rows) >= _MOST_ROWS:
            found.skipped.append((number, f"more than {_MOST_ROWS} rows"))
            return found
        try:
            found.rows.append(PriceRow.model_validate(row))
        except ValidationError as fault:
            found.skipped.append((number, _reason(fault)))
    return found


def _reason(fault: ValidationError) -> str:
    first = fault.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    return f"{name}: {first['msg'].removeprefix('Value error, ')}"


def read_gpuhunt(query: Callable[..., Iterable[Any]] | None = None) -> Imported:
    """On-demand offers as `gpuhunt` collects them today from the providers' own pages and its catalogue.

    Raises:
        PriceImportError: gpuhunt is not installed, or the network does not let it through.
    """
    ask = query or _gpuhunt_query()
    today = datetime.date.today().isoformat()
    try:
        items = list(ask(min_gpu_count=1, spot=False))
    except OSError as fault:
        raise PriceImportError(f"gpuhunt reached no price source: {fault}") from None
    return _checked(enumerate((_offer(item, today) for item in items), start=1))


def _gpuhunt_query() -> Callable[..., Iterable[Any]]:
    try:
        gpuhunt = importlib.import_module("gpuhunt")
    except ImportError:
        raise PriceImportError(
            "gpuhunt is not installed; `pip install gpuhunt` adds it, or import a CSV file"
        ) from None
    query: Callable[..., Iterable[Any]] = gpuhunt.query
    return query


def _offer(item: Any, today: str) -> dict[str, Any]:
    memory = f" {item.gpu_memory:g}GB" if item.gpu_memory else ""
    return {
        "kind": "rent", "accelerator": f"{item.gpu_name}{memory}", "amount": item.price, "currency": "USD", "date": today,
        "source": f"gpuhunt: {item.provider}", "provider": str(item.provider), "instance": item.instance_name, "count": item.gpu_count,
    }  # fmt: skip


def save(rows: Iterable[PriceRow], directory: Path, replace: bool = False) -> int:
    """Keeps rows in the data directory, beside those kept before; returns how many there are now. A newer row of the same thing wins."""
    kept = {} if replace else {_key(row): row for row in load(directory)}
    for row in rows:
        before = kept.get(_key(row))
        if before is None or before.date <= row.date:
            kept[_key(row)] = row
    directory.mkdir(parents=True, exist_ok=True)
    fresh = directory / f"{FILE}.new"
    fresh.write_text("".join(row.model_dump_json(exclude_none=True) + "\n" for row in kept.values()), encoding="utf-8")
    fresh.replace(directory / FILE)
    return len(kept)


def _key(row: PriceRow) -> tuple[object, ...]:
    return (row.kind, row.accelerator, row.condition, row.memory_gb, row.provider, row.instance, row.count, row.country)


def load(directory: Path) -> tuple[PriceRow, ...]:
    """The rows kept in the data directory; () where there are none. A damaged line is left out."""
    path = directory / FILE
    if not path.exists():
        return ()
    return tuple(_lines(path.read_text(encoding="utf-8")))


def _lines(text: str) -> Iterator[PriceRow]:
    for line in text.splitlines():
        try:
            yield PriceRow.model_validate(json.loads(line))
        except (ValidationError, json.JSONDecodeError):
            continue


def book(directory: Path) -> PriceBook | None:
    """The catalogue's prices with the imported ones; None where nothing was imported."""
    path = directory / FILE
    return _book(path, path.stat().st_mtime_ns) if path.exists() else None


@lru_cache(maxsize=4)
def _book(path: Path, _changed: int) -> PriceBook:
    return as_book(load(path.parent))


def as_book(rows: Iterable[PriceRow]) -> PriceBook:
    """The catalogue's prices with these rows beside them."""
    bought: dict[str, list[Price]] = {}
    rates: list[Rate] = []
    for row in rows:
        if row.kind == "rent":
            rates.append(_rate(row))
        else:
            bought.setdefault(row.accelerator, []).append(_price(row))
    return catalogue_prices().extended(bought, rates)


def _price(row: PriceRow) -> Price:
    basis: Literal["quote", "imported"] = "quote" if row.kind == "quote" else "imported"
    return Price(
        row.amount,
        row.currency,
        basis,
        row.date.isoformat(),
        row.source,
        row.net,
        row.condition,
        row.country,
        row.memory_gb,
        row.provider,
    )


def _rate(row: PriceRow) -> Rate:
    provider = row.provider or row.source
    return Rate(
        row.accelerator, row.count, row.amount, row.currency, provider, row.instance or "", row.country, row.date.isoformat(), row.source,
        "offer", False, basis="imported",
    )  # fmt: skip
