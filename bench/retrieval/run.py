"""Measures retrieval: recall@5, answerable or not, time of a warm search, time of a build. See README.md."""

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge.records import Kind
from knowledge.service import Knowledge, SearchResult
from knowledge.settings import Settings

HERE = Path(__file__).parent
K = 5


@dataclass(frozen=True)
class Asked:
    """A question with what was found, how fast, and the place of the first right hit (None: none was right)."""

    lang: str
    answerable: bool
    said: bool
    place: int | None
    milliseconds: float


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        settings = Settings(data, f"sqlite:///{data / 'knowledge.db'}", embeddings=options.embeddings)
        knowledge = Knowledge(settings)
        kind: Kind = "document" if options.documents else "note"
        if options.documents:
            list(knowledge.add([options.documents]))
        started, busy = time.perf_counter(), time.process_time()
        knowledge.build()
        taken = f"{time.perf_counter() - started:.1f} s ({time.process_time() - busy:.1f} s of CPU)"
        print(f"build {taken}, {knowledge.status().message}")
        knowledge.warm()
        rows = [json.loads(line) for line in options.questions.read_text(encoding="utf-8").splitlines()]
        _report([_ask(knowledge, kind, row) for row in rows])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path)
    parser.add_argument("--questions", type=Path, default=HERE / "questions.jsonl")
    parser.add_argument("--embeddings", help="a model, or off")
    return parser.parse_args()


def _ask(knowledge: Knowledge, kind: Kind, row: dict[str, object]) -> Asked:
    started = time.perf_counter()
    found = knowledge.search(str(row["query"]), lang=row["lang"], k=10, kinds=(kind,))  # type: ignore[arg-type]
    taken = (time.perf_counter() - started) * 1000
    right = [n for n, _ in enumerate(found.hits) if _is_right(found, n, row)]
    answerable = bool(row.get("topics") or row.get("gold_regex"))
    return Asked(str(row["lang"]), answerable, found.answerable, right[0] if right else None, taken)


def _is_right(found: SearchResult, place: int, row: dict[str, object]) -> bool:
    hit = found.hits[place]
    if row.get("topics"):
        return bool(set(hit.topics) & set(row["topics"]))  # type: ignore[call-overload]
    also = row.get("also") or []
    patterns = [row.get("gold_regex"), *(a["gold_regex"] for a in also)]  # type: ignore[attr-defined]
    return any(p and re.search(p, hit.text) for p in patterns)


def _report(asked: Sequence[Asked]) -> None:
    for lang in ("de", "en"):
        rows = [a for a in asked if a.lang == lang and a.answerable]
        recall = sum(a.place is not None and a.place < K for a in rows) / max(1, len(rows))
        print(f"{lang} n={len(rows)} recall@{K}={recall:.3f}")
    rates = [[a.said is want for a in asked if a.answerable is want] for want in (True, False)]
    balanced = statistics.mean(sum(r) / len(r) for r in rates if r)
    said = ", ".join(f"{name} {sum(r)}/{len(r)}" for name, r in zip(("answered", "refused"), rates, strict=True))
    print(f"answerable: rightly {said}, balanced={balanced:.3f}")
    times = sorted(a.milliseconds for a in asked)
    print(f"search, warm: median {statistics.median(times):.1f} ms, 90 % {times[int(0.9 * len(times))]:.1f} ms")


if __name__ == "__main__":
    sys.exit(main())
