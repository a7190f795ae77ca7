"""The commands of `sizewise`. Heavy modules are imported by the command that needs them, so that `ask` starts fast."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.operations.commands import register as register_operations

app = typer.Typer(
    help="Which hardware does this AI workload need? Ask in German or English.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COULD_NOT_RUN = 2
# A script that feeds a million lines must not hold them all; a person's message is far shorter.
_PIPED_COLUMNS = 120


class Language(StrEnum):
    de = "de"
    en = "en"


class ExportFormat(StrEnum):
    markdown = "markdown"
    csv = "csv"
    json = "json"


_Lang = Annotated[Language | None, typer.Option("--lang", help="Answer in this language whatever the question is in.")]
_Sources = Annotated[bool, typer.Option("--sources/--no-sources", help="Look up and cite notes and documents.")]


@app.command()
def ask(
    text: Annotated[
        list[str] | None, typer.Argument(help='The question, e.g. "Llama 3.3 70B on 2x4090, 10 users?"')
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as one JSON object.")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Read JSON Lines on stdin, write one answer a line.")] = False,
    chart: Annotated[Path | None, typer.Option(help="Write the bar chart to this PNG file.")] = None,
    export: Annotated[ExportFormat | None, typer.Option(help="Print the answer in a format to keep.")] = None,
    model_file: Annotated[
        Path | None, typer.Option(help="A model's config.json or GGUF file, for a model nobody knows.")
    ] = None,
    lang: _Lang = None,
    sources: _Sources = True,
) -> None:
    """Answer one question."""
    from bot.surroundings import context_for

    context = context_for(lang.value if lang else None, sources)
    if jsonl:
        from bot.ask_jsonl import answer_lines
        from sizing.json_lines import tolerant

        _write_lines(answer_lines(tolerant(sys.stdin), context))
        return
    question = " ".join(text or [])
    _answer_once(_with_file(question, model_file) if model_file else question, context, as_json, chart, export)


def _with_file(question: str, path: Path) -> str:
    from bot.model_files import with_file
    from sizing.errors import UserError

    try:
        return with_file(question, path)
    except UserError as fault:
        typer.echo(fault.message, err=True)
        raise typer.Exit(COULD_NOT_RUN) from fault


def _answer_once(text: str, context: Any, as_json: bool, chart: Path | None, export: ExportFormat | None) -> None:
    from bot.conversation import respond
    from bot.thread import ThreadState

    answer, _ = respond(text, ThreadState(), context)
    if as_json:
        from bot.ask_jsonl import as_json as answer_json

        _write_lines([answer_json(answer)])
    elif export:
        from bot.reply.export import export as exported

        sys.stdout.write(exported(answer, export.value))
    else:
        _print(answer)
    if chart and answer.chart:
        from bot.reply.chart import png

        chart.write_bytes(png(answer.chart, answer.lang))
    elif chart:
        typer.echo(f"This answer has no chart: {chart} is not written.", err=True)


@app.command()
def chat(
    thread: Annotated[str | None, typer.Option(help="Keep this conversation under a name, and go on with it.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Forget what was said in the thread named.")] = False,
    lang: _Lang = None,
    sources: _Sources = True,
) -> None:
    """A conversation: "and with fp8?", "vergleich das mit 2x L40S", "why?". It begins anew unless a thread is named."""
    from bot.chat import run
    from bot.surroundings import context_for

    run(thread, new, context_for(lang.value if lang else None, sources))


@app.command()
def parse() -> None:
    """Read JSON Lines with "text" or "turns" on stdin and print what was understood."""
    from bot.understand.parse_cli import parse_lines
    from sizing.json_lines import tolerant

    raise typer.Exit(parse_lines(tolerant(sys.stdin), tolerant(sys.stdout)))


@app.command()
def serve() -> None:
    """Answer in Slack."""
    from bot.settings import Settings
    from bot.slack.serve import main as serve_slack

    raise typer.Exit(serve_slack(Settings()))


@app.command()
def doctor() -> None:
    """Say what is set up, what is missing and where to set it."""
    from bot.doctor import main as examine

    raise typer.Exit(examine(write=sys.stdout.write))


@app.command()
def feedback(
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many votes, newest first.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List what people thought of the answers."""
    from bot.feedback import show

    show(most, as_json, sys.stdout.write)


@app.command()
def playground(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of this machine to serve the page on.")] = 8321,
) -> None:
    """Try the bot in a browser, without Slack."""
    from bot.slack.try_out import main as play

    raise typer.Exit(play(port))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def knowledge(context: typer.Context) -> None:
    """The documents that answers cite: add, list, remove, refresh, search."""
    from knowledge.__main__ import main as manage

    raise typer.Exit(manage(context.args or ["--help"], "sizewise knowledge"))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def prices(context: typer.Context) -> None:
    """Newer prices than the catalogue's: import a CSV, ask gpuhunt, show what is in use."""
    from bot.prices_cli import main as manage

    raise typer.Exit(manage(context.args or ["--help"]))


register_operations(app)


def _print(answer: Any) -> None:
    from rich.console import Console

    from bot.reply.plain import render

    # A pipe has no width of its own; 80 columns would fold every row of the table.
    width = None if sys.stdout.isatty() else _PIPED_COLUMNS
    Console(highlight=False, emoji=False, width=width).print(render(answer))


def _write_lines(objects: Iterable[dict[str, Any]]) -> None:
    from sizing.json_lines import tolerant, written

    out = tolerant(sys.stdout)
    for found in objects:
        out.write(written(found))
        sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Entry point of `sizewise`: the exit code, 2 with one sentence where a command cannot run."""
    from knowledge.settings import take_env_file
    from sizing.errors import SizewiseError

    try:
        take_env_file()
        app(args=arguments, prog_name="sizewise")
    except SizewiseError as fault:
        sys.stderr.write(f"sizewise: {fault}\n")
        return COULD_NOT_RUN
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except _faults_of_setup() as fault:
        from bot.setup_faults import sentence

        said = sentence(fault)
        if said is None:
            raise
        sys.stderr.write(f"sizewise: {said}\n")
        return COULD_NOT_RUN
    return 0


def _faults_of_setup() -> tuple[type[Exception], ...]:
    """Looked up once something has gone wrong: the database's own exceptions come with all of SQLAlchemy."""
    from bot.setup_faults import FAULTS_OF_SETUP

    return FAULTS_OF_SETUP
