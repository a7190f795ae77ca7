"""Bill of materials of the environment it runs in, in CycloneDX 1.5 JSON, and a short report of licences on stderr.

`python scripts/sbom.py > sbom.json`. It reports and fails nothing: what it finds is for people to judge.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib.metadata import Distribution, distributions
from typing import Any


def component(found: Distribution) -> dict[str, Any]:
    """One installed package."""
    name, version = str(found.metadata["Name"]), found.version
    entry: dict[str, Any] = {
        "type": "library", "name": name, "version": version, "purl": f"pkg:pypi/{name.lower().replace('_', '-')}@{version}",
    }  # fmt: skip
    licence = licence_of(found)
    return entry | ({"licenses": [{"license": {"name": licence}}]} if licence else {})


def licence_of(found: Distribution) -> str | None:
    """Its licence expression, its classifier, or the first line of what it says."""
    told = found.metadata.get("License-Expression")
    if told:
        return str(told)
    classified = [
        line.rpartition(" :: ")[2] for line in found.metadata.get_all("Classifier", []) if "License ::" in line
    ]
    if classified:
        return " AND ".join(sorted(classified))
    lines = str(found.metadata.get("License") or "").strip().splitlines()
    return lines[0][:80] if lines else None


def bill() -> dict[str, Any]:
    """All packages, in order of their names; the same environment gives the same bill."""
    packages = {str(found.metadata["Name"]).lower(): found for found in distributions() if found.metadata["Name"]}
    components = [component(packages[name]) for name in sorted(packages)]
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components}


def main() -> int:
    found = bill()
    json.dump(found, sys.stdout, indent=1)
    counted = Counter(
        licence["license"]["name"]
        for entry in found["components"]
        for licence in entry.get("licenses", [{"license": {"name": "not told"}}])
    )
    sys.stderr.write(f"{len(found['components'])} packages\n")
    sys.stderr.writelines(f"{count:>5}  {name}\n" for name, count in counted.most_common())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
