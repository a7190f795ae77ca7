"""Parses one HTML, PDF or Word document in a process of its own, with limits on time and memory; run as `python -m knowledge.isolated`."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from knowledge.blocks import Block, Source

Reader = Literal["pdf", "html", "docx"]

SECONDS = 60
MEMORY_BYTES = 2 * 1024**3
_GRACE_SECONDS = 5
_MOST_OUTPUT_BYTES = 40 * 1024**2


class Refused(ValueError):
    """A document that is not read; the message says why and ends without a full stop."""


def run(reader: Reader, content: bytes, name: str) -> Source:
    """The document as read by a child process. Raises Refused."""
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder, "document"), Path(folder, "answer.json")
        file.write_bytes(content)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "knowledge.isolated", reader, str(file), str(answer), name, str(SECONDS)],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
                capture_output=True, timeout=SECONDS + _GRACE_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise Refused(f"reading it took more than {SECONDS} s") from error
        if done.returncode or not answer.exists():
            raise Refused(
                f"reading it needs more than {MEMORY_BYTES // 1024**3} GiB of memory or {SECONDS} s, or it is damaged"
            )
        return _source(json.loads(answer.read_text(encoding="utf-8")))


def _source(answer: dict[str, object]) -> Source:
    if "refused" in answer:
        raise Refused(str(answer["refused"]))
    blocks = answer["blocks"]
    assert isinstance(blocks, list)
    return Source(str(answer["title"]), tuple(Block(**{**b, "headings": tuple(b["headings"])}) for b in blocks))


def _limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_OUTPUT_BYTES, _MOST_OUTPUT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(reader: str, file: Path, name: str) -> dict[str, object]:
    if reader == "html":
        from knowledge.readers import html

        return asdict(html.read(file.read_text(encoding="utf-8"), name))
    from knowledge.readers import docx, pdf

    try:
        return asdict((docx if reader == "docx" else pdf).read_file(file, name))
    except (docx.Refused, pdf.Refused) as error:
        return {"refused": str(error)}


def main() -> None:
    """Reader, file, answer file, name, seconds: the answer is a Source as JSON, or {"refused": why}."""
    reader, file, answer, name, seconds = sys.argv[1:]
    _limit(int(seconds))
    Path(answer).write_text(json.dumps(_read(reader, Path(file), name)), encoding="utf-8")


if __name__ == "__main__":
    main()
