"""`sizewise prices`: bring in newer prices, and show which are in use."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot import prices

app = typer.Typer(
    help="Newer prices than the catalogue's.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_Replace = Annotated[bool, typer.Option("--replace", help="Forget the prices imported before.")]


@app.command("import")
def import_csv(
    file: Annotated[Path, typer.Argument(help="The CSV file: a header line, then one price a line.")],
    replace: _Replace = False,
) -> None:
    """Take the rows of a CSV file; bad ones are named and left out.

    Needed: kind (buy: street price of one piece; quote: your own offer;
    rent: an instance an hour), accelerator, amount, currency (EUR, USD),
    date (2026-11-30), source. As wanted: condition (new, used),
    net (yes, no), country (DE), memory_gb, provider, instance, count.
    Comma or semicolon between them.
    """
    raise typer.Exit(_take(prices.read_csv(file), replace))


@app.command()
def gpuhunt(replace: _Replace = False) -> None:
    """Take today's on-demand offers as gpuhunt collects them (needs the package and a network)."""
    raise typer.Exit(_take(prices.read_gpuhunt(), replace))


@app.command()
def show() -> None:
    """Print the imported prices, one JSON object a line."""
    for row in prices.load(prices.data_dir()):
        sys.stdout.write(row.model_dump_json(exclude_none=True) + "\n")


def _take(found: prices.Imported, replace: bool) -> int:
    """0 where anything was taken in; 1 where every row was bad."""
    kept = prices.save(found.rows, prices.data_dir(), replace)
    for line, reason in found.skipped:
        sys.stderr.write(f"line {line} left out: {reason}\n")
    sys.stdout.write(f"{len(found.rows)} prices taken, {len(found.skipped)} left out, {kept} kept\n")
    return 0 if found.rows or not found.skipped else 1


def main(arguments: list[str]) -> int:
    """The exit code of `sizewise prices ARGUMENTS`; faults of a whole file are the caller's to print."""
    result = app(args=arguments, prog_name="sizewise prices", standalone_mode=False)
    return result if isinstance(result, int) else 0
