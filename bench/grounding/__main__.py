"""How far answers can be traced: `python -m bench.grounding [--questions FILE …] [--sample N] [--show N]`. See README.md."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.grounding.mutated import caught
from bench.grounding.recorded import Asked, asked
from bench.grounding.support import Judged, judged
from bench.grounding.trace import ORIGINS, Traced, traced
from bot.thread import Context
from knowledge.service import Knowledge
from knowledge.settings import Settings

HERE = Path(__file__).parent


def main() -> int:
    options = _options()
    rows = [json.loads(line) for file in options.questions for line in file.read_text("utf-8").splitlines() if line]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        knowledge = Knowledge(Settings(data, f"sqlite:///{data / 'knowledge.db'}", embeddings=options.embeddings))
        knowledge.build()
        turns = list(asked(rows, Context(knowledge=knowledge)))
    console = Console(width=160)
    _numbers(console, turns, options.show)
    _support(console, turns, options.show)
    if options.mutate:
        _mutations(console, rows, options.show)
    if options.sample:
        _sample(console, [judged(turn) for turn in turns], options.sample)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, nargs="+", default=[HERE / "questions.jsonl"])
    parser.add_argument("--embeddings", help="a model, or off")
    parser.add_argument("--show", type=int, default=20, help="print up to N misses of each kind")
    parser.add_argument(
        "--mutate", action="store_true", help="alter every number in turn and count what the guard stops"
    )
    parser.add_argument("--sample", type=int, default=0, help="print N judgements at random, to be read by a person")
    return parser.parse_args()


def _mutations(console: Console, rows: Sequence[Mapping[str, Any]], show: int) -> None:
    found = list(caught(rows, Context()))
    for where in ("text", "written"):
        own = [each for each in found if each.where == where]
        stopped = sum(each.caught for each in own)
        console.print(f"altered in the {where}: the guard stops {stopped} of {len(own)} ({stopped / len(own):.3f})")
        for each in [one for one in own if not one.caught][:show]:
            console.print(f"{each.id}: {each.shown!r}", markup=False, highlight=False)


def _numbers(console: Console, turns: Sequence[Asked], show: int) -> None:
    found: list[tuple[Asked, Traced]] = [(turn, each) for turn in turns for each in traced(turn)]
    origins, chance = Counter(t.origin for _, t in found), Counter(t.by_chance for _, t in found)
    table = Table("origin", "numbers", "share", "an altered number", title="numbers, by the independent check")
    for origin in (*ORIGINS, None):
        table.add_row(
            str(origin or "untraced"),
            str(origins[origin]),
            f"{origins[origin] / len(found):.3f}",
            f"{chance[origin] / len(found):.3f}",
        )
    console.print(table)
    by_guard = sum(len(turn.answer.unverified_numbers) for turn in turns)
    console.print(f"{len(turns)} answers, {len(found)} numbers; the guard's own report: {by_guard} untraced")
    for turn, each in [pair for pair in found if pair[1].origin is None][:show]:
        console.print(f"{turn.id} {each.part}: {each.number.text!r}", markup=False, highlight=False)


def _support(console: Console, turns: Sequence[Asked], show: int) -> None:
    found = [judged(turn) for turn in turns]
    answers = [each for each in found if each.outcome != "not an answer"]
    by_kind: dict[str, Counter[str]] = {}
    for each in answers:
        by_kind.setdefault(each.kind, Counter())[each.outcome] += 1
    columns = ("supported", "wrong topic", "claim not in passage", "no citation")
    table = Table("main reason", *columns, title="is the main reason supported by what is cited?")
    for kind, counts in sorted(by_kind.items(), key=lambda pair: -pair[1].total()):
        table.add_row(kind, *(str(counts[column] or "") for column in columns))
    console.print(table)
    right = sum(each.outcome == "supported" for each in answers)
    console.print(
        f"{right} of {len(answers)} answers ({right / len(answers):.3f}); {len(found) - len(answers)} ask back, refuse or help"
    )
    for each in [one for one in answers if one.outcome != "supported"][:show]:
        cited = f"{each.citation.title} › {each.citation.section}" if each.citation else "-"
        console.print(
            f"{each.id} {each.outcome}: {each.kind}: {each.sentence[:110]!r} ← {cited}", markup=False, highlight=False
        )


def _sample(console: Console, found: Sequence[Judged], size: int) -> None:
    answers = [each for each in found if each.outcome != "not an answer"]
    for each in random.Random(0).sample(answers, min(size, len(answers))):
        cited = f"{each.citation.title} › {each.citation.section}" if each.citation else "-"
        console.print(
            f"\n{each.id} [{each.outcome}] {each.kind}: {each.sentence}\n   {cited}\n   {each.passage}",
            markup=False,
            highlight=False,
        )


if __name__ == "__main__":
    sys.exit(main())
