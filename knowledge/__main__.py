"""`python -m knowledge add|search|list|remove|refresh|status`: JSON Lines out, one object a line; progress goes to stderr."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from knowledge.analyse import Language
from knowledge.records import SHARED_TEAM, StoredDocument
from knowledge.service import Change, Knowledge, Progress
from knowledge.settings import take_env_file
from sizing.errors import UserError
from sizing.json_lines import read_object, tolerant, written

_PROBLEM = 2


class Question(BaseModel):
    """A line of `search`; `k` is from 1 to 100."""

    id: Any = None
    query: str
    k: int = Field(default=5, ge=1, le=100)
    lang: Language | None = None
    topics: tuple[str, ...] = ()


def main(arguments: list[str] | None = None, name: str = "python -m knowledge") -> int:
    """The exit code: 0 when every line was answered, 2 when the command itself could not run. `name` stands in the help."""
    options = _parser(name).parse_args(arguments)
    try:
        take_env_file()
        knowledge = Knowledge()
        command: Callable[[Knowledge, argparse.Namespace], int] = options.run
        return command(knowledge, options)
    except UserError as error:
        print(f"{error.field}: {error.message}", file=sys.stderr)
        return _PROBLEM


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=name, description="The documents that answers cite. JSON Lines out; progress on stderr."
    )
    parser.add_argument("--team", default=SHARED_TEAM, help="whose documents; without it those shared by all")
    commands = parser.add_subparsers(required=True)
    add = commands.add_parser(
        "add", help="add documents (PDF, Word, HTML, Markdown, text), folders of them, or addresses"
    )
    add.add_argument("paths", nargs="+", metavar="PATH")
    add.set_defaults(run=_add)
    search = commands.add_parser("search", help='answer lines of {"id", "query", "k", "lang"} from stdin')
    search.set_defaults(run=_search)
    commands.add_parser("list", help="list the documents").set_defaults(run=_list)
    remove = commands.add_parser("remove", help="remove documents by name, id or path")
    remove.add_argument("names", nargs="+", metavar="NAME")
    remove.set_defaults(run=_remove)
    commands.add_parser("refresh", help="read changed files again").set_defaults(run=_refresh)
    commands.add_parser("status", help="what there is and how it is searched").set_defaults(run=_status)
    return parser


def _add(knowledge: Knowledge, options: argparse.Namespace) -> int:
    for path in options.paths:
        if path.startswith(("http://", "https://")):
            _say(_outcome(knowledge.add_url(path, team=options.team), path))
            continue
        for outcome in knowledge.add([Path(path)], team=options.team):
            _say(_outcome(outcome, path))
    _build(knowledge)
    return 0


def _refresh(knowledge: Knowledge, options: argparse.Namespace) -> int:
    for outcome in knowledge.refresh(team=options.team):
        _say(_outcome(outcome, ""))
    _build(knowledge)
    return 0


def _remove(knowledge: Knowledge, options: argparse.Namespace) -> int:
    for name in options.names:
        try:
            for change in knowledge.remove(name, team=options.team):
                _say(_outcome(change, name))
        except UserError as error:
            _say(_outcome(error, name))
    _build(knowledge)
    return 0


def _list(knowledge: Knowledge, options: argparse.Namespace) -> int:
    for document in knowledge.list(team=options.team):
        _say({"ok": True, **_described(document)})
    return 0


def _status(knowledge: Knowledge, options: argparse.Namespace) -> int:
    _say({"ok": True, **knowledge.status(team=options.team).__dict__})
    return 0


def _search(knowledge: Knowledge, options: argparse.Namespace) -> int:
    _build(knowledge)
    for line in tolerant(sys.stdin):
        if line.strip():
            _say(_answer(knowledge, line, options.team))
    return 0


def _answer(knowledge: Knowledge, line: str, team: str) -> dict[str, Any]:
    try:
        asked = read_object(line, '{"id": 1, "query": "…"}')
    except UserError as error:
        return _refused(None, error)
    try:
        question = Question.model_validate(asked)
        result = knowledge.search(question.query, lang=question.lang, k=question.k, topics=question.topics, team=team)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        return _refused(asked.get("id"), UserError(field, asked.get(field), f"{field}: {first['msg']}."))
    except UserError as error:
        return _refused(asked.get("id"), error)
    return {
        "id": question.id, "ok": True, "answerable": result.answerable, "answerable_by": result.by_kind,
        "method": result.method, "outage": result.outage, "hits": [asdict(h) for h in result.hits],
    }  # fmt: skip


def _refused(identity: Any, error: UserError) -> dict[str, Any]:
    return {"id": identity, "ok": False, "error": error.to_dict()}


def _outcome(outcome: Change | UserError, path: str) -> dict[str, Any]:
    if isinstance(outcome, UserError):
        return {"ok": False, "path": str(outcome.value or path), "error": outcome.to_dict()}
    return {"ok": True, "action": outcome.action, "chunks": outcome.chunks, **_described(outcome.document)}


def _described(document: StoredDocument) -> dict[str, Any]:
    added = datetime.fromtimestamp(document.added_at, UTC).isoformat(timespec="seconds")
    return {**asdict(document), "added_at": added}


def _say(answer: dict[str, Any]) -> None:
    tolerant(sys.stdout).write(written(answer))
    sys.stdout.flush()


def _build(knowledge: Knowledge) -> None:
    """Brings the vectors up to date, with a bar on stderr where there is anything to do."""
    if not knowledge.stale():
        return
    with _bar() as progress:
        knowledge.build(progress)


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    tasks: dict[str, TaskID] = {}
    with Bar(console=Console(stderr=True)) as bar:

        def advance(kind: str, done: int, total: int) -> None:
            if kind not in tasks:
                tasks[kind] = bar.add_task(f"index of {kind}s", total=total)
            bar.update(tasks[kind], completed=done, total=total)

        yield advance


if __name__ == "__main__":
    sys.exit(main())
