"""Write beside every carried measurement what makes it comparable, so that the nearest ones are found without resolving all.

python -m bench.speed.annotate
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from sizing.resolve import resolve
from sizing.spec import parse_spec
from sizing.speed.measured import likeness, load_rows, spec_of

DATA = Path("sizing/speed/data/measured_speed.json")


def main() -> None:
    """Annotate in place; a second run changes nothing."""
    lines = []
    for row in load_rows():
        like = asdict(likeness(resolve(parse_spec(spec_of(row)))))
        lines.append(json.dumps({**row, "like": like}, separators=(",", ":"), ensure_ascii=False))
    DATA.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
